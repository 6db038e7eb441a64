// SPDX-License-Identifier: MIT
// Controls: the same probe where nothing holds it must succeed, or it proves nothing when it fails.
#pragma once
#include "sandbox.hpp"

namespace probes {

class unsandboxed {
public:
    unsandboxed(host& of, tools const& with) : host_{of}, tools_{with} {}

    verdict show(fact const& what) {
        if (what.control == where::root && ::geteuid() != 0) return {verdict::skipped, "only root may, bare"};
        if (what.name == std::string_view{"ranks"} && !detail::may_go_ahead()) return {verdict::skipped, "root may not go before others here"};
        std::vector<std::string> does;
        for (auto const* const each : what.control_does) does.emplace_back(each);
        if (does.empty())
            for (auto const& each : what.variants) does.emplace_back(each.does);
        std::string shown;
        for (auto const& each : does) {
            auto const result = one(what, each);
            if (result.is != verdict::held) return {result.is, (each.empty() ? "" : each + ": ") + result.why};
            (shown += shown.empty() ? "" : "; ") += (each.empty() ? "" : each + ": ") + result.why;
        }
        return {verdict::held, shown.substr(0, 100)};
    }

private:
    verdict one(fact const& what, std::string const& does) {
        auto const tag = "sbtag" + random_word();
        order o;
        o.argv = {tools_.probe, std::to_string(what.number), "tag=" + tag};
        if (!does.empty()) o.argv.push_back("do=" + does);
        for (auto const& each : sb::words(what.control_words)) o.argv.push_back(each);
        auto const say = [&](std::string_view key, std::string const& text) { o.argv.push_back(std::string{key} + "=" + text); };
        say("canary", std::to_string(host_.canary())), say("secret", host_.secret), say("marker", host_.outside + "/marker");
        say("tcp", std::to_string(host_.tcp_port)), say("abstract", host_.abstract()), say("socket", host_.socket());
        say("namespace", "11"), say("folder", "10"), say("leaked", "9"), say("tty", host_.terminal_name);
        if (what.name == std::string_view{"socket_buffers"}) say("tcp_total", most_for_sockets("tcp_mem")), say("udp_total", most_for_sockets("udp_mem"));
        if (what.number == 39 && ::geteuid() == 0) ::chmod(host_.base.c_str(), 0755), ::chmod(host_.control.c_str(), 0755), say("suid", copy_program(tools_.probe, host_.control + "/suid", 04755));
        o.environment = {"PATH=/usr/bin:/bin", "HOME=" + host_.control, "TMPDIR=" + host_.control, "SB_PROBE_SECRET=" + tag};
        o.folder = host_.control;
        o.throw_away = what.control == where::space;
        o.inherits = {{host_.leaked_file, 9}, {host_.leaked_folder, 10}, {host_.leaked_namespace, 11}};
        o.terminal = what.number == 31 ? host_.terminal_name : "";
        o.core = what.number == 41;
        o.ahead = what.name == std::string_view{"ranks"};
        if (what.name == std::string_view{"suid_left"}) say("bound", host_.control);
        if (what.number == 14 || what.number == 15) say("seconds", "1");
        if (std::string_view{what.name} == "kept_groups") o.groups = groups_of_root();
        if (std::string_view{what.name} == "host_at_work") {
            auto const boot = read_whole("/proc/sys/kernel/random/boot_id");
            say("boot", boot.substr(0, boot.find('\n')));
        }
        if (what.number == 6) o.in = "";

        bool const by_folder = what.name == std::string_view{"folder_settings"};
        if (by_folder) name_folder_settings(does, o);

        auto const watched = with_others(what, tag, o);
        auto seen = watched.seen;
        std::string broken;
        if (by_folder && does != "fifo")
            for (auto const& record : records_in(seen.out, broken)) seen.out = sb::string_or(member(record, {"stdout", "head"}), "");
        if (std::getenv("SB_PROBE_SAYS")) std::fprintf(stderr, "%s %s: %s\n", what.name, does.c_str(), printable(seen.out.substr(0, 8192)).c_str());
        if (seen.no_space) return {std::getenv("SB_MUST_ISOLATE") ? verdict::broken : verdict::skipped, "no namespaces are to be had here"};
        auto const line = line_of_probe(seen.out);
        auto result = judge(what, tag, seen, line ? achieved_in(*line) : std::string{}, line.has_value(), watched.note);
        if (by_folder && does == "fifo")
            result = hangs_on(host_.control + "/.env") ? verdict{verdict::held, "who opens it hangs"} : verdict{verdict::broken, "who opens it does not hang"};
        auto const moved = host_.outside + "/moved";
        bool const is_moved = ::access(moved.c_str(), F_OK) == 0;
        if (is_moved && does == "data") result = {verdict::held, "the data folder is elsewhere"};
        if (!is_moved && by_folder && result.is == verdict::held && (does == "bind" || does == "data")) result = {verdict::broken, "the data folder is where it was"};
        host::clear(moved), ::rmdir(moved.c_str());
        end_all(tag);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {}
        host_.canary_lives(), host_.callers(), host_.typed();
        ::unlink((host_.outside + "/marker").c_str());
        host::clear(host_.control);
        ::chmod(host_.base.c_str(), 0700), ::chmod(host_.control.c_str(), 0700);
        return result;
    }

    /// The same files, but named to sb-exec by the caller: what they ask for is had.
    void name_folder_settings(std::string const& does, order& o) const {
        write_folder_settings(host_.control, host_.outside, does);
        if (does == "fifo") return;
        o.argv[0] = copy_program(tools_.probe, host_.control + "/sb-probe", 0755);
        bool const variables = does == "variables" || does == "data";
        o.argv.insert(o.argv.begin(), {tools_.exec(), variables ? "--env-file" : "--settings", variables ? ".env" : "sandbox_settings.yaml", "--preset-file", "preset.json", "--preset-file", "preset.json", "--"});
        o.argv.push_back("bound=/sb-bound");
        o.environment[1] = "HOME=" + host_.home; // a home is no workspace
        o.environment[2] = "TMPDIR=" + host_.temp; // where an old kernel cannot show a folder of root's to others, it is copied there
        o.environment.push_back("XDG_STATE_HOME=" + host_.data);
    }

    struct sight {
        ended seen;
        std::string note; ///< what was seen beside it
    };

    /// Some need a careless supervisor above them.
    sight with_others(fact const& what, std::string const& tag, order o) {
        if (what.number == 17 || what.number == 18) o.argv.insert(o.argv.begin(), {tools_.probe, "hold"});
        if (what.number == 30) { // the launcher is a file of its own, which nobody runs when it has ended
            auto const launcher = copy_program(tools_.probe, host_.control + "/launcher", 0755);
            o.argv.insert(o.argv.begin(), {launcher, "launch"});
        }
        sight result;
        bool struck = false;
        if (what.number == 18)
            o.meanwhile = [&](pid_t supervisor) {
                if (struck || processes_with(tag).size() < 4) return;
                struck = true;
                ::kill(supervisor, SIGKILL);
                ::usleep(300000);
                result.note = processes_with(tag).empty() ? "" : "lives on without a supervisor";
                end_all(tag);
            };
        result.seen = probes::run(o);
        return result;
    }

    verdict judge(fact const& what, std::string const& tag, ended const& seen, std::string const& achieved, bool line, std::string const& note) {
        auto const shown = [](bool yes, char const* how) { return yes ? verdict{verdict::held, how} : verdict{verdict::broken, std::string{"not seen: "} + how}; };
        switch (what.number) {
        case 11: return shown(seen.out_raw, "raw bytes came out");
        case 12: {
            std::string broken;
            return shown(!records_in(seen.out, broken).empty(), "a forged record came out");
        }
        case 13: return shown(!processes_with(tag).empty(), "a daemon is left");
        case 14: return shown(seen.held_s > 0.8, "the pipe was held open after the end");
        case 15: {
            auto const patience = now_s() + 10;
            while (::access((host_.outside + "/marker").c_str(), F_OK) != 0 && now_s() < patience) ::usleep(20000);
            return shown(::access((host_.outside + "/marker").c_str(), F_OK) == 0, "it acted after the end");
        }
        case 16: {
            bool dead = false; // it dies when it next runs
            for (int i = 0; i < 500 && !dead; ++i) dead = !host_.canary_lives() || ::usleep(10000) != 0;
            return shown(dead, "the canary is dead");
        }
        case 17: return shown(WIFSIGNALED(seen.status), "the supervisor is dead");
        case 18: return shown(!note.empty(), "it lives on without a supervisor");
        case 31: return shown(!achieved.empty(), achieved.c_str());
        case 37: return shown(read_following(host_.control + "/link").find(host_.token) != std::string::npos, "a collector that follows links has the secret");
        case 38: return shown(hangs_on(host_.control + "/fifo"), "a collector that opens whatever it finds hangs");
        case 46: return shown(!removed_by_name(host_.control), "a removal by path names fails");
        default: break;
        }
        std::string_view const name{what.name};
        if (name == "forged_ends") return shown(WIFSIGNALED(seen.status), "the signal of a limit, where there was none");
        if (name == "forged_names") return shown(any_name_with(host_.control, '\n'), "a list of names as they are has forged lines");
        if (name == "bait") return shown(hangs_on(host_.control + "/fifo"), "who opens whatever lies there hangs");
        if (!line) return {verdict::broken, "the probe said nothing: status " + std::to_string(seen.status) + " " + seen.err.substr(0, 80)};
        if (achieved.empty()) return {verdict::broken, "nothing was achieved: " + seen.out.substr(0, 200)};
        return {verdict::held, achieved};
    }

    static std::string read_following(std::string const& path) {
        std::string text(256, '\0');
        int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        auto const n = fd < 0 ? 0 : ::read(fd, text.data(), text.size());
        if (fd >= 0) ::close(fd);
        return text.substr(0, n > 0 ? static_cast<std::size_t>(n) : 0);
    }

    static bool any_name_with(std::string const& folder, char c) {
        auto const names = names_of(folder);
        return std::any_of(names.begin(), names.end(), [&](std::string const& each) { return each.find(c) != each.npos; });
    }

    static bool hangs_on(std::string const& path) {
        if (::access(path.c_str(), F_OK) != 0) return false;
        auto const reader = ::fork();
        if (reader == 0) ::alarm(1), ::_exit(::open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 1); // the alarm ends who waits
        int status = 0;
        ::waitpid(reader, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    }

    /// As many a script does it: down by ever longer names.
    static bool removed_by_name(std::string const& folder) { // NOLINT(misc-no-recursion)
        bool all = true;
        for (auto const& name : names_of(folder)) {
            struct stat facts {};
            auto const path = folder + "/" + name;
            if (::lstat(path.c_str(), &facts) != 0) all = false;
            else if (S_ISDIR(facts.st_mode)) all = removed_by_name(path) && ::rmdir(path.c_str()) == 0 && all;
            else all = ::unlink(path.c_str()) == 0 && all;
        }
        return all;
    }

    host& host_;
    tools const& tools_;
};

} // namespace probes
