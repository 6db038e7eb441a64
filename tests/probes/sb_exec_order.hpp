// SPDX-License-Identifier: MIT
// How sb-exec is called with a probe: its options, its environment, and the words that the probe is given.
#pragma once
#include "judge.hpp"
#include <algorithm>
#include <climits>
#include <cstdlib>

namespace probes {

/// Where the programs are: the probe beside the witness, the tools in $SB_BIN or in ../bin.
struct tools {
    std::string probe, bin;

    static tools find(char const* witness) {
        char real[PATH_MAX];
        std::string here = ::realpath("/proc/self/exe", real) ? real : witness;
        here.erase(here.rfind('/'));
        char const* const bin = std::getenv("SB_BIN");
        return {here + "/sb-probe", bin && *bin ? bin : here + "/../bin"};
    }
    bool probe_there() const { return ::access(probe.c_str(), X_OK) == 0; }
    std::string exec() const { return bin + "/sb-exec"; }
    std::vector<std::string> programs() const { return {exec(), probe}; } ///< that nobody may change
};

inline std::string copy_program(std::string const& from, std::string const& to, mode_t mode) {
    return write_whole(to, read_whole(from), mode) ? to : std::string{};
}

/// What a hostile folder says of its own sandbox, in the files that were once read unasked.
inline void write_folder_settings(std::string const& folder, std::string const& outside, std::string_view does) {
    auto const moved = outside + "/moved";
    write_whole(folder + "/preset.json", "{\"TIMEOUT\":20}\n", 0600); // two files of presets are counted in the data folder, whoever runs
    if (does == "isolate" || does == "variables") write_whole(folder + (does == "isolate" ? "/sandbox_settings.yaml" : "/other.yaml"), "sb-exec: {isolate: none}\n", 0644);
    if (does == "bind") write_whole(folder + "/sandbox_settings.yaml", "data_dir: " + moved + "\nsb-exec: {bind: ['" + outside + ":/sb-bound:ro']}\n", 0644);
    if (does == "variables") write_whole(folder + "/.env", "SANDBOX_SETTINGS_YAML=" + folder + "/other.yaml\n", 0644);
    if (does == "data") write_whole(folder + "/.env", "SANDBOX_DATA_DIR=" + moved + "\n", 0644);
    if (does == "fifo")
        for (auto const* const name : {"/.env", "/sandbox_settings.yaml"}) ::mkfifo((folder + name).c_str(), 0644);
}

/// A tenth of the table is what no session may get to, and no probe takes more of the host.
inline long most_files() { return std::atol(read_whole("/proc/sys/fs/file-max").c_str()) / 10; }

namespace detail {

inline std::string preset_for(fact const& what, variant const& run) {
    std::string text = "{\"SCENARIO_NAME\":\"" + std::string{what.name} + "\"";
    if (!std::string_view{run.preset}.empty()) text += "," + std::string{run.preset};
    if (std::string_view{run.preset}.find("TIMEOUT") == std::string_view::npos) text += ",\"TIMEOUT\":20";
    return text + "}\n";
}

/// A folder that is written by one name and seen by four: bound once more, a folder in it, and on top of the workspace.
template <class Say> void bind_for_code(host const& on, order& o, Say say) {
    auto const door = on.base + "/door";
    ::mkdir(door.c_str(), 0777), ::chmod(door.c_str(), 0777);
    ::chmod(on.work.c_str(), 0755), ::chmod(on.base.c_str(), 0711); // all of its folders but these are closed
    auto at = std::find(o.argv.begin(), o.argv.end(), "--");
    *(at + 1) = "/sb-programs/sb-probe"; // the workspace runs nothing at these levels
    o.argv.insert(at, {"--bind", door + ":/sb-door:rw", "--bind", door + ":/sb-again:ro", "--bind", on.base + ":/sb-base:ro", "--bind", door + ":" + on.work + "/door:rw",
                       "--bind", on.work + ":/sb-programs:ro"});
    say("bound", "/sb-door"), say("again", "/sb-again"), say("inner", "/sb-base/door"), say("nested", on.work + "/door");
}

} // namespace detail

/// The preset comes by standard input.
inline order order_for(host const& on, tools const& with, fact const& what, variant const& run, std::string const& tag) {
    order o;
    o.argv = {with.exec()};
    char const* const options = std::getenv("SB_PROBE_OPTIONS");
    for (auto const& each : sb::words(options ? options : "")) o.argv.push_back(each);
    for (auto const& each : sb::words(what.options)) o.argv.push_back(each);
    if (what.name == std::string_view{"suid_left"}) o.argv.insert(o.argv.end(), {"--bind", on.shared + ":/shared:rw"});
    for (auto const& each : {std::string{"--data-dir"}, on.data, std::string{"--"}, std::string{"./sb-probe"}, std::to_string(what.number), "tag=" + tag}) o.argv.push_back(each);
    if (*run.does) o.argv.push_back(std::string{"do="} + run.does);
    bool const by_folder = what.name == std::string_view{"folder_settings"};
    if (by_folder) o.argv.erase(std::find(o.argv.begin(), o.argv.end(), "--data-dir"), std::find(o.argv.begin(), o.argv.end(), "--"));
    if (by_folder) o.argv.insert(o.argv.begin() + 1, {"--preset-file", "preset.json", "--preset-file", "preset.json"});
    auto const say = [&](std::string_view key, std::string const& text) { o.argv.push_back(std::string{key} + "=" + text); };
    if (what.name == std::string_view{"file_table"}) say("files", std::to_string(most_files()));
    switch (what.number) {
    case 15: say("marker", on.outside + "/marker"); break;
    case 16: case 19: case 20: case 25: say("canary", std::to_string(on.canary())); break;
    case 30: say("canary", std::to_string(on.canary())), say("exe", with.exec()); break;
    case 27: say("namespace", "11"); break;
    case 28: say("folder", "10"); break;
    case 29: say("leaked", "9"); break;
    case 31: say("tty", on.terminal_name); break;
    case 34: say("abstract", on.abstract()); break;
    case 35: say("socket", on.socket()); break;
    case 36: say("tcp", std::to_string(on.tcp_port)); break;
    default: break;
    }
    if (std::string_view{what.name} == "host_at_work") {
        auto const boot = read_whole("/proc/sys/kernel/random/boot_id");
        say("boot", boot.substr(0, boot.find('\n')));
    }
    if (std::string_view{what.name} == "kept_groups") o.groups = groups_of_root();
    if (std::string_view{what.name} == "mapped_code") detail::bind_for_code(on, o, say);
    if (by_folder) say("canary", std::to_string(on.canary())), say("bound", "/sb-bound");
    if (what.number == 20 || what.number == 28 || what.number == 37) say("secret", on.secret);
    if (what.name == std::string_view{"socket_buffers"}) say("tcp_total", most_for_sockets("tcp_mem")), say("udp_total", most_for_sockets("udp_mem")), say("hold", "2");
    if (what.number == 39 && ::geteuid() == 0) say("suid", on.work + "/suid");
    if (what.name == std::string_view{"suid_left"}) say("bound", "/shared");
    o.ahead = what.name == std::string_view{"ranks"};
    o.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + on.home, "TMPDIR=" + on.temp, "LANG=C.UTF-8",
                     "SB_PROBE_SECRET=" + tag, "AWS_SECRET_ACCESS_KEY=" + tag, "LD_PRELOAD=/nonexistent/" + tag + ".so", "GCONV_PATH=/nonexistent/" + tag,
                     "HTTP_PROXY=http://" + tag + ".invalid", "SSH_AUTH_SOCK=" + on.socket(), "DBUS_SESSION_BUS_ADDRESS=unix:path=" + on.socket()};
    if (what.number != 42) o.environment.erase(o.environment.begin() + 6, o.environment.begin() + 9);
    if (char const* const named = std::getenv("SANDBOX_CGROUP")) o.environment.push_back(std::string{"SANDBOX_CGROUP="} + named);
    o.folder = on.work;
    o.in = detail::preset_for(what, run);
    if (by_folder) o.environment.push_back("XDG_STATE_HOME=" + on.data), o.in.clear();
    o.inherits = {{on.leaked_file, 9}, {on.leaked_folder, 10}, {on.leaked_namespace, 11}};
    o.terminal = on.terminal_name;
    return o;
}

} // namespace probes
