// SPDX-License-Identifier: MIT
// A file of the host's as payloads get it for standard input: to be read, and no more.
//
// How it works: who owns a file may change its mode, its times and its attributes through a descriptor that is only for reading,
// and where the caller is not root the payload is its owner. So the file is opened through a copy of its mount, on which nothing can
// be written. To copy a mount takes a right over mounts: a child has it here, or in a user namespace made for that, and passes the
// copy up. It is kept for as long as the name leads to the same file.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/isolate/mount.hpp>
#include <sb/isolate/order.hpp>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sb::isolate {

namespace detail {

/// A read-only copy of the mount of a single file; nothing where that cannot be had.
inline unique_fd copy_read_only(std::string const& path) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return unique_fd{};
    unique_fd const ours{ends[0]};
    unique_fd theirs{ends[1]};
    auto const pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        auto copy = copy_mount(AT_FDCWD, path, false);
        if (copy.has_error() && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) copy = copy_mount(AT_FDCWD, path, false);
        if (!copy.has_error() && !change_mount(copy->get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC).has_error()) {
            int const one[] = {copy->get()};
            (void)send_word(theirs.get(), {word::done, 0}, one, 1);
        }
        ::_exit(0);
    }
    theirs.reset();
    message text;
    int fds[most_passed];
    std::size_t count = 0;
    bool const said = pid > 0 && receive_word(ours.get(), text, fds, count) && count == 1;
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
    return unique_fd{said ? fds[0] : -1};
}

} // namespace detail

class input_file {
public:
    /// Another kind of file is not meant: a folder cannot be read, and to open a fifo waits for a writer.
    static bool takes(struct stat const& facts) noexcept { return S_ISREG(facts.st_mode) || S_ISCHR(facts.st_mode); }
    /// The name by which it is to be opened for this run. It is `path` itself where no mount can be copied, or not this one: then what
    /// its owner may do to it a payload of the owner's may do. Opened by this name a file never waits for a writer.
    result<std::string> name_of(std::string const& path) {
        struct stat now {};
        if (::stat(path.c_str(), &now) != 0) return path; // who opens it finds out why
        if (!takes(now)) return system_error(cat("open ", path, ": is not what it was, a file that can be read more than once"));
        if (path != path_ || now.st_dev != facts_.st_dev || now.st_ino != facts_.st_ino) {
            copy_ = detail::copy_read_only(path);
            path_ = path, facts_ = now;
            if (copy_ && ::fstat(copy_.get(), &facts_) != 0) return last_error("open", path); // it may lead to another meanwhile
        }
        return copy_ ? cat("/proc/self/fd/", copy_.get()) : path;
    }

private:
    std::string path_;
    struct stat facts_ {};
    unique_fd copy_;
};

} // namespace sb::isolate
