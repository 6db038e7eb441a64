// SPDX-License-Identifier: MIT
// A limit on processes and threads that needs no control group and counts how often it refused one.
//
// How it works: three process namespaces are nested. The init and the payload are in the innermost. The middle one has only
// as many process numbers as the limit allows (pid_max, which each namespace has for itself since Linux 6.14). The outermost
// is the supervisor's. A fork takes a number in each, from the inside out. A fork beyond the limit finds no number in the
// middle and fails with EAGAIN. The innermost has then counted one more than the outermost, and the difference is the number
// of refused forks. Nothing waits and nobody is asked. A dead process that nobody has waited for counts, as in a control
// group.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/process/limits.hpp>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::process {

namespace detail {

inline constexpr char const* last_number = "/proc/sys/kernel/ns_last_pid";
/// Numbers below are given once. Numbers from here on are used again (RESERVED_PIDS).
inline constexpr std::int64_t first_number = 300;

/// Like write_once, but answers with errno: between clone and exec nothing is allocated.
inline bool write_knob(char const* path, std::string_view text) {
    unique_fd const knob{::open(path, O_WRONLY | O_CLOEXEC)};
    auto const n = knob ? ::write(knob.get(), text.data(), text.size()) : -1;
    if (n >= 0 && n != static_cast<ssize_t>(text.size())) errno = EIO;
    return n == static_cast<ssize_t>(text.size());
}

/// Does each process namespace have a pid_max of its own? Before Linux 6.14 there is one for the whole machine, and root could
/// change it from inside a namespace.
inline bool numbers_are_separate() noexcept {
    utsname here{};
    int major = 0, minor = 0;
    return ::uname(&here) == 0 && std::sscanf(here.release, "%d.%d", &major, &minor) == 2 && (major > 6 || (major == 6 && minor >= 14));
}
/// In the first process of a namespace: leaves numbers for so many tasks. False, with errno, where the kernel has one limit
/// for all namespaces.
inline bool leave_numbers_for(std::int64_t tasks) {
    if (!numbers_are_separate()) return errno = EACCES, false;
    return write_knob(last_number, cat(first_number + 1)) && write_knob("/proc/sys/kernel/pid_max", cat(first_number + tasks));
}

} // namespace detail

/// The largest limit: the kernel gives its first numbers only once, and the init takes one.
inline constexpr std::int64_t most_numbered = most_processes - detail::first_number - 1;

/// How many numbers the caller's process namespace has given so far; -1 when the kernel does not say. It says so where
/// processes can be checkpointed.
inline std::int64_t numbers_given() noexcept {
    unique_fd const file{::open(detail::last_number, O_RDONLY | O_CLOEXEC)};
    char text[32];
    auto const n = file ? ::read(file.get(), text, sizeof text) : -1;
    std::int64_t last = -1;
    if (n > 0) (void)std::from_chars(text, text + n, last);
    return last;
}

/// Exit status of the middle process when the inner one did not end with 0.
inline constexpr int inner_failed = 255;

/// Clones a process into a namespace of its own, within one that has numbers for it and `most` others. Returns as fork does;
/// the caller gets the pid of the middle process, which ends when the inner one ends. The middle process exits with 0 when
/// the inner one did, with `inner_failed` when it did not, and with an errno when the kernel refused what it needs.
inline pid_t clone_limited(std::int64_t most, int kinds) {
    auto const new_process = [](int flags) { return static_cast<pid_t>(::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr)); };
    auto const between = new_process(CLONE_NEWPID);
    if (between != 0) return between;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "sb-exec limit");
    if (!detail::leave_numbers_for(most + 1)) ::_exit(errno & 0xff);
    auto const inner = new_process(CLONE_NEWPID | kinds);
    if (inner == 0) return 0;
    if (inner < 0) ::_exit(errno & 0xff);
    ::syscall(SYS_close_range, 0u, ~0u, 0u); // the inner process's descriptors must be closed everywhere when it is dead
    int status = 0;
    while (::waitpid(inner, &status, 0) < 0 && errno == EINTR) {}
    ::_exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : inner_failed);
}

} // namespace sb::process
