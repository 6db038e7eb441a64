// SPDX-License-Identifier: MIT
// Something tried in a child: what it does to itself (filters, rules, a kill) ends with it.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::test {

/// 0 when `attempt` gave no negative number, else its errno; -N when signal N ended the child. `prepare` comes before
/// and must give 0: 254 says that it did not.
template <class Prepare, class Attempt>
int in_child(Prepare prepare, Attempt attempt) {
    pid_t const child = ::fork();
    if (child == 0) {
        ::setsid(); // no terminal of ours to lose
        if (prepare() != 0) ::_exit(254);
        errno = 0;
        ::_exit(static_cast<long>(attempt()) < 0 ? errno : 0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
template <class Attempt>
int in_child(Attempt attempt) {
    return in_child([] { return 0; }, attempt);
}

/// What a shell's command prints, both streams, and how it ended (as `in_child` says; an exit status may be any).
struct spoken {
    std::string text;
    int end = 0;
};
template <class Prepare>
spoken say(Prepare prepare, char const* script) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return {"no pipe", 254};
    pid_t const child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], 1);
        ::dup2(ends[1], 2);
        if (prepare() != 0) ::_exit(254);
        ::execl("/bin/sh", "sh", "-c", script, nullptr);
        ::_exit(253);
    }
    ::close(ends[1]);
    spoken got;
    char block[4096];
    for (ssize_t n; (n = ::read(ends[0], block, sizeof block)) > 0;) got.text.append(block, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    got.end = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return got;
}

/// The text that `work` gives, in a child.
template <class Work>
std::string told_by_child(Work work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) return "no pipe";
    pid_t const child = ::fork();
    if (child == 0) {
        std::string const text = work();
        ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char block[4096];
    for (ssize_t n; (n = ::read(ends[0], block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return status == 0 ? text : text + "the child ended with status " + std::to_string(status);
}

} // namespace sb::test
