// SPDX-License-Identifier: MIT
// What programs that run as payloads share (probes, victims, workloads). It uses the C++ and the system's library alone: they are
// static, and run in any root.
#pragma once
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace payload {

/// Nothing where it cannot be opened; errno then has the reason.
inline std::optional<std::string> read_whole(std::string const& path, int flags = 0) {
    int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0) return std::nullopt;
    std::string text;
    char block[65536];
    for (ssize_t n; (n = ::read(fd, block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(n));
    ::close(fd);
    return text;
}

/// In one write; errno says why not.
inline bool write_whole(std::string const& path, std::string_view text, int flags = O_WRONLY, mode_t mode = 0644) {
    int const fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    bool const done = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    int const code = errno;
    if (fd >= 0) ::close(fd);
    errno = code;
    return done;
}

/// A byte of a file that has any. The null device in a file's place has none: errno is then ENODATA.
inline bool has_byte(std::string const& path) {
    int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return false;
    char byte = 0;
    auto const n = ::read(fd, &byte, 1);
    ::close(fd);
    if (n == 0) errno = ENODATA;
    return n > 0;
}

/// A file without a name, so that nothing stays whatever ends us.
inline int nameless_file(std::string path) {
    path += "/nameless-XXXXXX";
    int const fd = ::mkstemp(path.data());
    if (fd >= 0) ::unlink(path.c_str());
    return fd;
}

/// Writes up to `most` MiB. The number that were taken whole; errno says why not more.
inline long write_mib(int fd, long most) {
    static char block[1 << 20];
    std::memset(block, 'x', sizeof block);
    for (long i = 0; i < most; ++i)
        for (std::size_t at = 0; at < sizeof block;) {
            auto const n = ::write(fd, block + at, sizeof block - at);
            if (n <= 0) return i;
            at += static_cast<std::size_t>(n);
        }
    return most;
}

/// Does in a child what would change this process; its answer, or EINTR when a signal ended it.
template <class Act>
int in_child(Act act) {
    auto const pid = ::fork();
    if (pid < 0) return errno;
    if (pid == 0) ::_exit(act());
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/// Threads with small stacks that wait: `most`, or as many as it may have. `report(made, refused)` is called while they are there;
/// `refused` is the error of the first that was not made, or 0.
template <class Report>
void with_threads(long most, Report report) {
    static int hold[2];
    if (::pipe(hold) != 0) return report(0L, errno);
    pthread_attr_t small;
    ::pthread_attr_init(&small);
    ::pthread_attr_setstacksize(&small, 64 << 10);
    std::vector<pthread_t> made;
    int refused = 0;
    while (std::ssize(made) < most && refused == 0) {
        pthread_t thread{};
        refused = ::pthread_create(&thread, &small, [](void*) -> void* {
            char end = 0;
            while (::read(hold[0], &end, 1) < 0 && errno == EINTR) {}
            return nullptr;
        }, nullptr);
        if (refused == 0) made.push_back(thread);
    }
    report(static_cast<long>(made.size()), refused);
    ::close(hold[1]);
    for (auto const thread : made) ::pthread_join(thread, nullptr);
    ::close(hold[0]);
}

/// So many processes take something each (`take` gives false where it cannot) and hold it until all have it, or have ended. How
/// many held it to the end.
template <class Take>
long processes_that_hold(long count, Take take) {
    int ready[2], hold[2];
    if (::pipe(ready) != 0 || ::pipe(hold) != 0) return 0;
    char one = 1;
    for (long i = 0; i < count; ++i) {
        if (::fork() != 0) continue;
        ::close(ready[0]), ::close(hold[1]);
        if (!take()) ::_exit(1);
        bool const said = ::write(ready[1], &one, 1) == 1;
        ::close(ready[1]); // so that the parent sees the end of those that were killed
        ::_exit(said && ::read(hold[0], &one, 1) == 0 ? 0 : 1);
    }
    ::close(ready[1]), ::close(hold[0]);
    for (long said = 0; said < count && ::read(ready[0], &one, 1) == 1;) ++said;
    ::close(hold[1]);
    long held = 0;
    for (int status = 0; ::wait(&status) > 0;) held += status == 0; // who is killed to make room for another may have said so already
    return held;
}

} // namespace payload
