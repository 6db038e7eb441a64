// SPDX-License-Identifier: MIT
// What a payload does to whoever starts the next run, and to what is nobody's to change.
#include "soil.hpp"
#include <cstdint>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

namespace soil {

namespace {

/// `call` on process 1 in the shape of `prlimit` and its kin.
bool lower(pid_t pid) {
    rlimit const less{1 << 20, 1 << 20};
    return ::prlimit(pid, RLIMIT_STACK, &less, nullptr) == 0;
}

bool join_group_of_first() { return ::setpgid(0, 1) == 0 && ::setpriority(PRIO_PGRP, 0, 10) == 0; }

bool signals_to_first() {
    bool any = false;
    for (int s = 1; s < NSIG; ++s) any |= s != SIGKILL && s != SIGSTOP && ::kill(1, s) == 0;
    return any;
}

bool queue_to_first() {
    sigval value{};
    value.sival_int = 42;
    return ::sigqueue(1, SIGRTMIN + 3, value) == 0;
}

} // namespace

ways of_others() {
    return {
        {"first-limit", [] { return lower(1); }},
        {"first-processor", [] { return bind_to_one(1); }},
        {"first-policy", [] { return idle(1); }},
        {"first-priority", [] { return ::setpriority(PRIO_PROCESS, 1, 10) == 0; }},
        {"first-priority-group", [] { return ::setpriority(PRIO_PGRP, 1, 10) == 0; }},
        {"first-priority-user", [] { return ::setpriority(PRIO_USER, 0, 10) == 0; }},
        {"first-joined", join_group_of_first},
        {"first-io", [] { return rare_io(1, 1); }},
        {"first-io-group", [] { return rare_io(2, 1); }},
        {"first-io-user", [] { return rare_io(3, 0); }},
        {"first-signals", signals_to_first},
        {"first-queue", queue_to_first},
        {"first-traced", [] { return ::ptrace(PTRACE_SEIZE, 1, 0, 0) == 0; }},
        {"first-memory", [] { return ::open("/proc/1/mem", O_RDWR) >= 0; }},
        {"first-files", [] { return list("/proc/1/fd"); }},
        {"first-words", [] { return read_of("/proc/1/cmdline").find("hush") != std::string::npos || read_of("/proc/1/environ").find("hush") != std::string::npos; }},
        {"first-oom", [] { return write_to("/proc/1/oom_score_adj", "1000", O_WRONLY); }},
        {"kill-all", [] { return daemon_with([] { return ::kill(-1, SIGKILL) == 0; }); }},
        {"host-name", [] { return ::sethostname("soil", 4) == 0; }},
        {"mount", [] { return ::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0; }},
        {"namespace", [] { return ::unshare(CLONE_NEWUSER) == 0; }},
        {"kernel-knob", [] { return ::open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0 || ::open("/proc/sys/net/ipv4/ip_forward", O_WRONLY) >= 0; }},
        {"last-pid", [] { return write_to("/proc/sys/kernel/ns_last_pid", "1000", O_WRONLY); }},
        {"control-group", [] { return ::access("/sys/fs/cgroup", F_OK) == 0; }},
    };
}

} // namespace soil
