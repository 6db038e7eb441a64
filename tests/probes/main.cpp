// SPDX-License-Identifier: MIT
// sb-probe NUMBER|NAME tag=WORD [KEY=VALUE…]: one probe, run inside a sandbox, says in one line of JSON what it achieved.
#include "facts.hpp"
#include "probe.hpp"
#include <cstdio>
#include <iterator>

namespace {

// in the order of their numbers, from 1
probes::probe* const all[] = {
    probes::fork_bomb, probes::thread_bomb, probes::memory_bomb, probes::cache_pressure, probes::disk_fill, probes::file_limit,
    probes::descriptors, probes::cpu_spin, probes::endless, probes::output_flood, probes::raw_bytes, probes::forged_records,
    probes::daemonise, probes::orphan_pipe, probes::time_bomb, probes::kill_others, probes::signal_supervisor, probes::supervisor_killed,
    probes::trace_others, probes::outside_proc, probes::proc_sys, probes::kernel_secrets, probes::sys_files, probes::cgroup_escape,
    probes::raise_limits, probes::mounts, probes::namespaces, probes::leave_root, probes::inherited, probes::overwrite_launcher,
    probes::terminal, probes::keyrings, probes::rare_calls, probes::odd_sockets, probes::path_sockets, probes::network,
    probes::result_races, probes::special_files, probes::set_user_id, probes::devices, probes::core_dump, probes::environment,
    probes::set_clock, probes::ipc_objects, probes::kernel_objects, probes::stubborn_files, probes::bombs, probes::neighbours,
    probes::forged_figures, probes::forged_ends, probes::forged_names, probes::bait, probes::report_flood, probes::jit_budget,
    probes::attributes, probes::disk_flush, probes::cache_eviction, probes::suid_left, probes::socket_options, probes::kernel_stores,
    probes::huge_pages, probes::ranks, probes::kept_groups, probes::host_at_work, probes::mapped_code, probes::folder_settings,
    probes::file_table, probes::sibling_quota, probes::socket_buffers, probes::crowd, probes::kernel_keeps};

/// A supervisor for controls, as careless as can be: runs a program; `stays` waits for it, else it ends as soon as the
/// program has written a byte to its descriptor ready=N.
int supervise(bool stays, char** words) {
    int ready[2];
    if (::pipe(ready) != 0) return 1;
    auto const pid = ::fork();
    if (pid < 0) return 1;
    if (pid == 0) {
        std::vector<char*> argv;
        for (; *words; ++words) argv.push_back(*words);
        auto word = "ready=" + std::to_string(ready[1]);
        argv.push_back(word.data()), argv.push_back(nullptr);
        ::close(ready[0]);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(ready[1]);
    if (!stays) {
        char byte = 0;
        return ::read(ready[0], &byte, 1) == 1 ? 0 : 1;
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

} // namespace

int main(int argc, char** argv) {
    std::string_view const what = argc > 1 ? argv[1] : "";
    if (what == "--euid") return ::geteuid() == 0 ? 42 : 0;
    if (argc > 2 && (what == "hold" || what == "launch")) return supervise(what == "hold", argv + 2);
    static_assert(std::size(all) == 71);
    for (auto const& each : probes::facts()) {
        if (what == "--list") std::printf("%d %s\n", each.number, each.name);
        if (what != each.name && what != std::to_string(each.number)) continue;
        probes::words const given{argc - 2, argv + 2};
        if (given.text("tag").empty()) {
            std::fputs("sb-probe: tag= is missing: a probe is run by sb-witness, which says what it may touch\n", stderr);
            return 2;
        }
        probes::attempts tried;
        all[each.number - 1](given, tried);
        tried.print(each.number, each.name);
        return 0;
    }
    if (what == "--list") return 0;
    std::fputs("sb-probe: which one? sb-probe --list\n", stderr);
    return 2;
}
