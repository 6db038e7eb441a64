// SPDX-License-Identifier: MIT
// Probes that do not end when they should, and those that would end others.
#include "probe.hpp"
#include <csignal>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace probes {
namespace {

void deafen() {
    for (int const each : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU}) std::signal(each, SIG_IGN);
}

/// Leaves session, group and parent; returns in the caller when the daemon is there.
template <class Act> void as_daemon(bool keeps_output, Act act) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    auto const first = ::fork();
    if (first == 0) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
        deafen();
        if (!keeps_output) ::close(0), ::close(1), ::close(2);
        (void)!::write(ready[1], "r", 1);
        ::close(ready[0]), ::close(ready[1]);
        act();
        ::_exit(0);
    }
    ::close(ready[1]);
    char byte = 0;
    (void)!::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::waitpid(first, nullptr, 0);
}

} // namespace

void endless(words const& given, attempts& tried) {
    auto const seconds = given.number("seconds", 5);
    deafen();
    if (given.does("stop")) {
        auto const self = ::getpid();
        auto const waker = ::fork();
        if (waker == 0) wait_for(static_cast<double>(seconds)), ::kill(self, SIGCONT), ::_exit(0);
        ::raise(SIGSTOP);
    } else
        wait_for(static_cast<double>(seconds));
    tried.add("outlast " + std::to_string(seconds) + " s", true);
}

void daemonise(words const& given, attempts& tried) {
    as_daemon(false, [&] { wait_for(static_cast<double>(given.number("seconds", 20))); });
    tried.seen_outside("leave a daemon");
}

void orphan_pipe(words const& given, attempts& tried) {
    as_daemon(true, [&] { wait_for(static_cast<double>(given.number("seconds", 20))); });
    tried.seen_outside("leave an orphan with the pipes");
}

void time_bomb(words const& given, attempts& tried) {
    auto const marker = given.text("marker");
    as_daemon(false, [&] {
        wait_for(static_cast<double>(given.number("seconds", 1)));
        ::close(::open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    });
    tried.seen_outside("act after the end");
}

void kill_others(words const& given, attempts& tried) {
    auto const canary = static_cast<pid_t>(given.number("canary"));
    bool const alone = own_pid_namespace(given);
    tried.call("signal a process of the host", canary == ::getpid() ? (errno = ESRCH, -1) : ::kill(canary, SIGUSR1));
    tried.call("its group", ::kill(-canary, SIGUSR1));
    tried.call("everybody", ::kill(-1, 0)); // asks, sends nothing
    int const handle = static_cast<int>(::syscall(SYS_pidfd_open, canary, 0));
    tried.add("a descriptor of it", handle >= 0, errno);
    if (handle >= 0) ::close(handle);
    if (!alone) return tried.ask("know of the host's first process", ::kill(1, 0) == 0 || errno == EPERM);
    // here number 1 is the sandbox's own: whoever ends it ends us, and then no line is said
    for (int const each : {SIGTERM, SIGSTOP, SIGKILL, SIGSEGV}) ::kill(1, each);
    wait_for(0.1);
    tried.seen_outside("kill process 1");
}

void signal_supervisor(words const&, attempts& tried) {
    auto const parent = ::getppid();
    auto const group = ::getpgid(parent);
    std::signal(SIGTERM, SIG_IGN), std::signal(SIGHUP, SIG_IGN);
    tried.add("be in the supervisor's group", group > 0 && group == ::getpgrp(), ESRCH);
    tried.add("be in its session", ::getsid(parent) > 0 && ::getsid(parent) == ::getsid(0), ESRCH);
    ::kill(0, SIGTERM);
    // a child that asks for SIGKILL to be sent to its parent when it ends, and whose parent is no more
    auto const middle = ::fork();
    if (middle == 0) {
        auto const odd = ::syscall(SYS_clone, SIGKILL, nullptr, nullptr, nullptr, nullptr);
        if (odd == 0) wait_for(0.05);
        ::_exit(0);
    }
    ::waitpid(middle, nullptr, 0);
    auto const brother = ::syscall(SYS_clone, CLONE_PARENT | SIGKILL, nullptr, nullptr, nullptr, nullptr);
    if (brother == 0) ::_exit(0);
    wait_for(0.1);
    // a group or session that is not seen from here is 0, and -0 would be our own
    if (group > 1 && group != ::getpgrp()) ::kill(-group, SIGTERM);
    if (parent > 0) ::kill(parent, SIGTERM), ::kill(parent, SIGKILL);
    wait_for(0.1);
    tried.seen_outside("end the supervisor");
}

void supervisor_killed(words const& given, attempts& tried) {
    auto const seconds = static_cast<double>(given.number("seconds", 20));
    deafen();
    if (::fork() == 0) wait_for(seconds), ::_exit(0);
    as_daemon(true, [&] { wait_for(seconds); });
    wait_for(seconds);
    tried.add("outlive the supervisor", true);
}

} // namespace probes
