// SPDX-License-Identifier: MIT
// Can process namespaces hold a limit on processes here? Tried in namespaces that end at once.
#pragma once
#include <sb/process/task_limit.hpp>
#include <sb/process/tried.hpp>

namespace sb::process {

/// No error when they can, else the reason. Costs about a millisecond.
inline result<void> can_limit_tasks(payload_user const& user) {
    auto const done = tried_inside(user, 0, []() -> result<std::string> {
        auto const inner = clone_limited(0, 0);
        if (inner < 0) return last_error("make process namespaces");
        if (inner == 0) { // no number is left except our own
            auto const before = numbers_given();
            auto const child = ::fork();
            ::_exit(child < 0 && errno == EAGAIN && numbers_given() == before + 1 ? 0 : 1);
        }
        int status = 0;
        while (::waitpid(inner, &status, 0) < 0 && errno == EINTR) {}
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::string{};
        if (WIFEXITED(status) && WEXITSTATUS(status) != inner_failed) return errno_error("set pid_max of a process namespace (Linux 6.14)", {}, WEXITSTATUS(status));
        return system_error("process namespaces do not count forks that fail");
    });
    if (done.has_error()) return done.error();
    return {};
}

} // namespace sb::process
