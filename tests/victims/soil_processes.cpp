// SPDX-License-Identifier: MIT
// What a payload leaves in processes, and does to itself and to the pipes that it was given.
#include "soil.hpp"
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <sched.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

namespace soil {

bool bind_to_one(pid_t pid) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return ::sched_setaffinity(pid, sizeof one, &one) == 0;
}

bool idle(pid_t pid) {
    sched_param const none{};
    return ::sched_setscheduler(pid, SCHED_IDLE, &none) == 0;
}

bool rare_io(int which, pid_t pid) { return ::syscall(SYS_ioprio_set, which, pid, (3 << 13)) == 0; }

namespace {

/// A child that the parent shares its memory with and waits for, and that never execs.
bool stay_in_vfork() {
    if (::fork() == 0) {
        static char stack[1 << 14];
        ::clone([](void*) -> int { stay(); }, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
    }
    return true;
}

bool sibling() {
    auto const pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) stay();
    return pid > 0;
}

bool silent_child() { // its end is no SIGCHLD
    auto const pid = ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) stay();
    return pid > 0;
}

bool stopped_ones() {
    for (int i = 0; i < 20; ++i)
        if (auto const pid = ::fork(); pid == 0) ::raise(SIGSTOP), stay();
    return true;
}

bool traced_one() {
    auto const pid = ::fork();
    if (pid == 0) stay();
    if (::ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT) != 0) return false;
    ::kill(pid, SIGTERM);
    return ::waitpid(pid, nullptr, __WALL) == pid;
}

bool many() {
    for (int i = 0; i < 100; ++i)
        if (::fork() == 0) stay();
    return true;
}

bool lease() {
    int const fd = ::open("file", O_RDONLY);
    return ::fcntl(fd, F_SETLEASE, F_RDLCK) == 0 && daemon_with([] { return true; });
}

bool lock(std::string const& path) {
    int const fd = ::open(path.c_str(), O_RDONLY);
    return ::flock(fd, LOCK_EX) == 0 && daemon_with([] { return true; });
}

bool timer_and_watch() {
    int const watch = ::inotify_init();
    itimerspec const soon{{0, 1'000'000}, {0, 1'000'000}};
    int const clock = ::timerfd_create(CLOCK_MONOTONIC, 0), memory = ::memfd_create("soil", 0);
    timer_t timer;
    return ::inotify_add_watch(watch, ".", IN_ALL_EVENTS) >= 0 && ::timerfd_settime(clock, 0, &soon, nullptr) == 0 && memory >= 0 && ::ftruncate(memory, 4096) == 0 &&
           ::timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0 && daemon_with([] { return true; });
}

bool change_pipes() {
    for (int const fd : {1, 2})
        if (::fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) != 0 || ::fcntl(fd, F_SETPIPE_SZ, 4096) < 0 || ::fcntl(fd, F_SETOWN, 1) == -12345) return false;
    return true;
}

bool mark_pipes() { // what stays with a pipe, or with an end that is shared
    bool all = true;
    for (int const fd : {1, 2, 3}) {
        timespec const old[2]{{7, 0}, {7, 0}};
        struct flock whole {};
        whole.l_type = F_WRLCK;
        std::uint64_t hint = 3;
        bool const good[] = {::fchmod(fd, 07755) == 0, ::futimens(fd, old) == 0, ::flock(fd, LOCK_EX) == 0, ::fcntl(fd, F_OFD_SETLK, &whole) == 0, ::fcntl(fd, F_SET_RW_HINT, &hint) == 0};
        all = std::all_of(std::begin(good), std::end(good), [](bool each) { return each; }) && all;
    }
    return all;
}

bool touch_pipes() {
    timespec const old[2]{{7, 0}, {7, 0}};
    return ::futimens(1, old) == 0 && ::futimens(2, old) == 0 && ::futimens(3, old) == 0;
}

bool lock_pipes() {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    return ::flock(1, LOCK_EX) == 0 && ::flock(2, LOCK_EX) == 0 && ::fcntl(1, F_OFD_SETLK, &whole) == 0 && ::fcntl(2, F_OFD_SETLK, &whole) == 0;
}

bool own_ways() { // all that a process can do to itself
    ::umask(0777);
    rlimit const few{8, 8};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::personality(ADDR_NO_RANDOMIZE);
    ::prctl(PR_SET_TIMERSLACK, 1'000'000'000);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    return ::setpriority(PRIO_PROCESS, 0, 19) == 0 && bind_to_one(0) && idle(0) && rare_io(1, 0) && write_to("/proc/self/oom_score_adj", "1000", O_WRONLY);
}

bool lose_folder() { return ::mkdir("gone", 0700) == 0 && ::chdir("gone") == 0 && ::rmdir("../gone") == 0; }

} // namespace

ways of_processes() {
    return {
        {"daemon", [] { return daemon_with([] { return true; }); }},
        {"many", many},
        {"stopped", stopped_ones},
        {"traced", traced_one},
        {"vfork", stay_in_vfork},
        {"sibling", sibling},
        {"silent-child", silent_child},
        {"own-ways", own_ways},
        {"folder-lost", lose_folder},
        {"pipes", change_pipes},
        {"pipes-marked", mark_pipes},
        {"pipes-touched", touch_pipes},
        {"pipes-locked", lock_pipes},
        {"timers", timer_and_watch},
        {"lock", [] { return lock("file") && lock(a_program()); }},
        {"lease", lease},
        {"session-priority", [] { return write_to("/proc/self/autogroup", "5", O_WRONLY); }},
    };
}

} // namespace soil
