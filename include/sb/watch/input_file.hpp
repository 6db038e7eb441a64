// SPDX-License-Identifier: MIT
// A file of the host's as payloads get it for standard input: to be read, and no more.
//
// How it works: who owns a file may change its mode, its times and its attributes through a descriptor that is only for reading,
// and where the caller is not root the payload is its owner. So the file is opened through a copy of its mount, on which nothing can
// be written. To copy a mount takes a right over mounts: a child has it here, or in a user namespace made for that, and passes the
// copy up. The file is opened and judged once: for all runs of a session it is the same, whatever has its name by then.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/mount.hpp>
#include <sb/files/pinned.hpp>
#include <sb/process/reaper_messages.hpp>
#include <sb/watch/job.hpp>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/mount.h>
#include <memory>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sb::watch {

namespace detail {

/// A read-only copy of the mount of a single file; nothing where that cannot be had.
inline unique_fd copy_read_only(files::pinned const& file) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return unique_fd{};
    unique_fd const ours{ends[0]};
    unique_fd theirs{ends[1]};
    auto const pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        auto copy = file.copy(false);
        if (copy.has_error() && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0)
            if (auto const here = file.here(); !here.has_error()) copy = files::copy_mount(here->get(), {}, false);
        if (!copy.has_error() && !files::change_mount(copy->get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC).has_error()) {
            int const one[] = {copy->get()};
            (void)process::send_message(theirs.get(), {process::word::done, 0}, one, 1);
        }
        ::_exit(0);
    }
    theirs.reset();
    process::message text;
    int fds[process::most_passed];
    std::size_t count = 0;
    bool const said = pid > 0 && process::receive_message(ours.get(), text, fds, count) && count == 1;
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
    return unique_fd{said ? fds[0] : -1};
}

} // namespace detail

/// Copies hold the same descriptors.
class input_file {
public:
    input_file() = default; ///< nothing to read

    /// What `path` names, once and for all: whoever may rename what leads there puts no other file in its place.
    static result<input_file> open(std::string const& path) {
        auto file = files::pinned::open(path);
        if (file.has_error()) return error{file.error().on, cat("open ", path, ": ", file.error().what)};
        input_file made;
        made.called_ = path, made.file_ = std::move(*file);
        return made;
    }
    /// From here on runs get it through a mount on which nothing can be written. Where no mount can be copied, or not this one, a
    /// payload of its owner's may do to it what its owner may.
    void guard() {
        if (!file_) return;
        if (auto copy = detail::copy_read_only(file_)) copy_ = std::make_shared<unique_fd const>(std::move(copy));
    }

    /// Another kind of file is not meant: a folder cannot be read, and to open a fifo waits for a writer.
    static bool takes(struct stat const& facts) noexcept { return S_ISREG(facts.st_mode) || S_ISCHR(facts.st_mode); }
    explicit operator bool() const noexcept { return static_cast<bool>(file_); }
    struct stat const& facts() const noexcept { return file_.facts(); } ///< when it was opened
    /// The name by which this process, and what it forks, opens it for each run. What `takes` takes never waits for a writer.
    std::string name() const { return file_ ? cat("/proc/self/fd/", copy_ ? copy_->get() : file_.fd()) : std::string{nothing_to_read}; }
    std::string const& called() const noexcept { return called_; } ///< as it was asked for
    /// Had it a name? Then it is gone when it has none any more.
    bool was_named() const noexcept { return file_ && file_.facts().st_nlink > 0; }

private:
    std::string called_{nothing_to_read};
    files::pinned file_;
    std::shared_ptr<unique_fd const> copy_;
};

} // namespace sb::watch
