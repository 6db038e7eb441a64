// SPDX-License-Identifier: MIT
// The private folders of a run.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/files/session_folder.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::files {

/// HOME and TMPDIR of the current run: one pair for each worker, used again when a run left it unchanged.
class workspace {
public:
    /// In `session`, under `name`.
    static result<workspace> make(session_folder const& session, std::string const& name) {
        workspace made;
        made.path_ = cat(session.path(), "/", name), made.name_ = name;
        made.in_ = open_folder(session.fd(), "."); // must not share the session's lock
        if (!made.in_) return last_error("open", session.path());
        SB_TRY(made.fd_, make_folder(session.fd(), name, session.path()));
        SB_CHECK(made.renew());
        return made;
    }

    std::string home() const { return path_ + "/home"; }
    std::string tmp() const { return path_ + "/tmp"; }
    std::string const& path() const noexcept { return path_; }

    /// Prepares it for the next run: checks that it is as new, or makes it so. Call it when nothing of the last run is
    /// alive.
    result<void> clean() {
        if (pristine()) return {};
        return renew();
    }

    /// Moves both folders into a new one, which is kept, and begins with new folders.
    result<void> move_to(session_folder const& in, std::string const& kept) {
        SB_TRY(auto const to, make_folder(in.fd(), kept, in.path()));
        for (auto const* name : {"home", "tmp"})
            if (::renameat(fd_.get(), name, to.get(), name) != 0) return last_error("move to", cat(in.path(), "/", kept, "/", name));
        return renew();
    }
    /// Removes both folders with all that runs left there.
    void remove() {
        if (!empty_folder(fd_.get(), path_).has_error()) ::unlinkat(in_.get(), name_.c_str(), AT_REMOVEDIR);
    }

private:
    workspace() = default;
    static bool same(struct stat const& a, struct stat const& b) noexcept {
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_gid == b.st_gid &&
               // the times reveal a name that was made and removed again
               a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
               a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
    }
    /// True when only "." and ".." are there. 1 KiB holds the longest name, so one read is enough.
    static bool is_empty(int folder) noexcept {
        alignas(8) char entries[1024];
        if (::lseek(folder, 0, SEEK_SET) != 0) return false;
        auto const n = ::syscall(SYS_getdents64, folder, entries, sizeof entries);
        for (long at = 0; at < n;) {
            auto const* const name = entries + at + 19; // struct linux_dirent64: inode, offset, u16 length, type, name
            if (std::string_view{name} != "." && std::string_view{name} != "..") return false;
            std::uint16_t length = 0;
            std::memcpy(&length, entries + at + 16, sizeof length);
            at += length;
        }
        return n >= 0;
    }
    /// The two folders, and the folder around them, are the ones we made, unchanged and empty.
    bool pristine() const noexcept {
        struct stat now {};
        if (::fstat(fd_.get(), &now) != 0 || !same(now, facts_)) return false;
        for (auto const& each : {&home_, &tmp_})
            if (::fstatat(fd_.get(), each->name, &now, AT_SYMLINK_NOFOLLOW) != 0 || !same(now, each->facts) || !is_empty(each->fd.get()))
                return false;
        return true;
    }
    result<void> renew() {
        SB_CHECK(empty_folder(fd_.get(), path_));
        for (auto* each : {&home_, &tmp_}) {
            if (::mkdirat(fd_.get(), each->name, 0700) != 0) return last_error("make folder", cat(path_, "/", each->name));
            each->fd = open_folder(fd_.get(), each->name);
            if (::fstat(each->fd.get(), &each->facts) != 0) return last_error("stat", cat(path_, "/", each->name));
        }
        if (::fstat(fd_.get(), &facts_) != 0) return last_error("stat", path_);
        return {};
    }

    struct folder {
        char const* name;
        unique_fd fd;
        struct stat facts;
    };
    unique_fd in_, fd_;
    std::string name_, path_;
    struct stat facts_ {};
    folder home_{"home", unique_fd{}, {}}, tmp_{"tmp", unique_fd{}, {}};
};

} // namespace sb::files
