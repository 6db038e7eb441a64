// SPDX-License-Identifier: MIT
// Tries something in a child that ends at once and leaves nothing. So we see what this host allows instead of guessing.
//
// How it works: the child makes the attempt, writes "+" and its result or "-" and its error into a pipe, and exits. The
// parent reads the pipe to its end and then waits for the child. For an attempt inside a user namespace there are two more
// pipes: on `ready` the child reports that it has its namespace, and on `mapped` the parent reports that it has mapped the
// ids.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/process/payload_user.hpp>
#include <cerrno>
#include <csignal>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::process {

namespace detail {

inline result<std::string> said_by(int pipe) {
    std::string text;
    char block[512];
    for (;;) {
        auto const n = retry([&] { return ::read(pipe, block, sizeof block); });
        if (n <= 0) break;
        text.append(block, static_cast<std::size_t>(n));
    }
    if (text.empty()) return system_error("the test process died");
    if (text.front() == '+') return text.substr(1);
    return system_error(text.substr(1));
}

template <class Attempt>
[[noreturn]] void say_and_end(int pipe, Attempt const& attempt) {
    result<std::string> const got = attempt();
    auto const text = got.has_error() ? "-" + got.error().what : "+" + *got;
    [[maybe_unused]] auto const n = ::write(pipe, text.data(), text.size());
    ::_exit(0);
}

} // namespace detail

/// The result of `attempt` (a result<std::string>), run in a child.
template <class Attempt>
result<std::string> tried(Attempt const& attempt) {
    SB_TRY(auto ends, make_pipe());
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        detail::say_and_end(ends.write.get(), attempt);
    }
    ends.write.reset();
    auto said = detail::said_by(ends.read.get());
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    return said;
}

/// The same under the conditions of the process that makes a sandbox: in a user namespace in which it has every capability,
/// under the payload's user, and in namespaces of these kinds (CLONE_NEW…).
template <class Attempt>
result<std::string> tried_inside(process::payload_user const& user, int kinds, Attempt const& attempt) {
    SB_TRY(auto ready, make_pipe());
    SB_TRY(auto mapped, make_pipe());
    SB_TRY(auto ends, make_pipe());
    bool const root = ::geteuid() == 0;
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) {
        ready.read.reset(), mapped.write.reset();
        detail::say_and_end(ends.write.get(), [&]() -> result<std::string> {
            if (root) ::syscall(SYS_setgroups, 0, nullptr);
            if (::unshare(CLONE_NEWUSER) < 0) return last_error("make a user namespace");
            char one = 0;
            if (::write(ready.write.get(), &one, 1) != 1 || retry([&] { return ::read(mapped.read.get(), &one, 1); }) != 1) ::_exit(1);
            SB_CHECK(process::become_payload());
            if (kinds != 0 && ::unshare(kinds) < 0) return last_error("make namespaces");
            if ((kinds & CLONE_NEWNS) && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0) return last_error("make mounts private");
            return attempt();
        });
    }
    ready.write.reset(), mapped.read.reset(), ends.write.reset();
    char one = 0;
    result<void> done{};
    if (retry([&] { return ::read(ready.read.get(), &one, 1); }) == 1) {
        done = process::map_ids(child, process::sandbox_id, process::sandbox_id, user);
        if (!done.has_error() && ::write(mapped.write.get(), &one, 1) != 1) done = last_error("write");
    }
    mapped.write.reset(); // without an answer the child ends
    auto said = detail::said_by(ends.read.get());
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
    if (done.has_error()) return done.error();
    return said;
}

/// The trial could not begin. The finding about namespaces gives the reason.
inline bool never_began(error const& e) noexcept {
    for (std::string_view const step : {"make a user namespace", "make namespaces", "make mounts private", "change user"})
        if (e.what.starts_with(step)) return true;
    return false;
}

} // namespace sb::process
