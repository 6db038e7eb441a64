// SPDX-License-Identifier: MIT
// A file of the host that payloads get as standard input: to read, and nothing else.
//
// How it works: the owner of a file may change its mode, times and attributes through a read-only descriptor, and where the
// caller is not root the payload is the owner. So the file is opened through a copy of its mount that is read-only. Copying
// a mount needs a right over mounts. A child has this right here, or in a user namespace made for that purpose, and passes
// the copy to its parent. The file is opened and checked once: all runs of a session use the same file, even if another file
// has its name by then.
#pragma once
#include <sb/core/channel.hpp>
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sb::watch {

namespace detail {

/// A read-only copy of the mount of a single file; empty where this is impossible.
inline unique_fd copy_read_only(files::pinned const& file) {
    auto between = make_channel();
    if (between.has_error()) return unique_fd{};
    auto& [ours, theirs] = *between;
    auto const pid = ::fork();
    if (pid == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        auto copy = file.copy(false);
        if (copy.has_error() && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0)
            if (auto const here = file.here(); !here.has_error()) copy = files::copy_mount(here->get(), {}, false);
        if (!copy.has_error() && !files::change_mount(copy->get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC).has_error()) {
            int const one[] = {copy->get()};
            (void)process::send_message(theirs.get(), {process::word::done, 0}, one);
        }
        ::_exit(0);
    }
    theirs.reset();
    process::message text;
    passed_files came;
    bool const said = pid > 0 && process::receive_message(ours.get(), text, came);
    while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
    return said ? came.take() : unique_fd{};
}

} // namespace detail

/// Copies share the same descriptors.
class input_file {
public:
    input_file() = default; ///< nothing to read

    /// Opens the file at `path` once: a process that may rename a part of the path cannot replace the file afterwards.
    static result<input_file> open(std::string const& path) {
        auto file = files::pinned::open(path);
        if (file.has_error()) return error{file.error().on, cat("open ", path, ": ", file.error().what)};
        input_file made;
        made.called_ = path, made.file_ = std::move(*file);
        return made;
    }
    /// From here on runs get it through a read-only mount. Where no mount can be copied, or not this one, a payload that
    /// runs as the file's owner may do to it what the owner may.
    void guard() {
        if (!file_) return;
        if (auto copy = detail::copy_read_only(file_)) copy_ = std::make_shared<unique_fd const>(std::move(copy));
    }

    /// Other kinds of file are refused: a folder cannot be read, and opening a fifo waits for a writer.
    static bool takes(struct stat const& facts) noexcept { return S_ISREG(facts.st_mode) || S_ISCHR(facts.st_mode); }
    explicit operator bool() const noexcept { return static_cast<bool>(file_); }
    struct stat const& facts() const noexcept { return file_.facts(); } ///< when it was opened
    /// The path by which this process and its forks open it for each run. A file that `takes` accepts never waits for a
    /// writer.
    std::string name() const { return file_ ? cat("/proc/self/fd/", copy_ ? copy_->get() : file_.fd()) : std::string{nothing_to_read}; }
    std::string const& called() const noexcept { return called_; } ///< the name that was requested
    /// Did it have a name when it was opened? Then it counts as removed when it no longer has one.
    bool was_named() const noexcept { return file_ && file_.facts().st_nlink > 0; }

private:
    std::string called_{nothing_to_read};
    files::pinned file_;
    std::shared_ptr<unique_fd const> copy_;
};

} // namespace sb::watch
