// SPDX-License-Identifier: MIT
// A limit on processes and threads that needs no control group, and tells how often it was in the way.
//
// How it works: three process namespaces lie in each other. The init and the payload are in the innermost; the one around it
// has numbers for so many and no more (pid_max, which each namespace has for itself since Linux 6.14); the outermost is the
// supervisor's. A fork takes a number in each, from the inside out. One too many finds none in the middle and fails with EAGAIN:
// then the innermost has counted one more than the outermost, and that is how many were refused. Nothing waits, nobody is
// asked, and what no longer lives but was not waited for counts, as in a control group.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/process/limits.hpp>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::process {

namespace detail {

inline constexpr char const* last_number = "/proc/sys/kernel/ns_last_pid";
/// Numbers below are given once, those from here on again and again (RESERVED_PIDS).
inline constexpr std::int64_t first_number = 300;

/// write_once with errno for its answer: between clone and exec nothing is allocated.
inline bool write_knob(char const* path, std::string_view text) {
    unique_fd const knob{::open(path, O_WRONLY | O_CLOEXEC)};
    auto const n = knob ? ::write(knob.get(), text.data(), text.size()) : -1;
    if (n >= 0 && n != static_cast<ssize_t>(text.size())) errno = EIO;
    return n == static_cast<ssize_t>(text.size());
}

/// In the first process of a namespace: leaves numbers for so many. False, and errno, where the kernel has one limit for all.
inline bool leave_numbers_for(std::int64_t tasks) {
    return write_knob(last_number, cat(first_number + 1)) && write_knob("/proc/sys/kernel/pid_max", cat(first_number + tasks));
}

} // namespace detail

/// The largest limit: of the kernel's numbers the first are given once, and the init takes one.
inline constexpr std::int64_t most_numbered = most_processes - detail::first_number - 1;

/// How many numbers the process namespace of whoever asks has given so far; -1 when the kernel does not say (it can where
/// processes can be checkpointed).
inline std::int64_t numbers_given() noexcept {
    unique_fd const file{::open(detail::last_number, O_RDONLY | O_CLOEXEC)};
    char text[32];
    auto const n = file ? ::read(file.get(), text, sizeof text) : -1;
    std::int64_t last = -1;
    if (n > 0) (void)std::from_chars(text, text + n, last);
    return last;
}

/// How the process between ends when the inner one did not end with 0.
inline constexpr int inner_failed = 255;

/// Clones a process for a namespace of its own within one that has numbers for it and `most` others. Returns as fork does: to
/// us the process between, which ends with that one. It exits with 0 when that did, with `inner_failed` when that did not, and
/// with an errno when the kernel did not give it what it needs.
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
    ::syscall(SYS_close_range, 0u, ~0u, 0u); // what the other holds must be closed when it is dead
    int status = 0;
    while (::waitpid(inner, &status, 0) < 0 && errno == EINTR) {}
    ::_exit(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : inner_failed);
}

} // namespace sb::process
