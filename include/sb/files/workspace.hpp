// SPDX-License-Identifier: MIT
// The private folders of runs, in the system's temporary folder, and the folders that dead owners left there.
//
// How it works: everything is made, renamed and removed by descriptor, below a folder that was checked (own_folder.hpp). A
// session owns one folder: "sb-exec-" and twelve random digits, mode 0700. It contains a label and a folder for each worker.
// The session and its workers share one lock on it (flock on one open description), so the lock is free exactly when all of
// them are dead. A later session removes a folder only if three things are true: it carries the label, it belongs to the
// same user, and its lock is free. A folder that has no label yet, or no longer has one, is called "….new". It gets its own
// name when it has lock and label, and loses that name before they go.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/sole.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::files {

/// $TMPDIR, else /tmp.
inline std::string temporary_folder() {
    char const* const named = std::getenv("TMPDIR");
    return named && *named ? named : "/tmp";
}

namespace detail {

inline constexpr std::string_view folder_prefix = "sb-exec-", label_name = "owner", label_text = "sandbench run folder\n",
                                  unlabelled = ".new";
inline constexpr std::size_t name_digits = 12;

inline bool is_unlabelled(std::string_view name) noexcept {
    return name.size() == folder_prefix.size() + name_digits + unlabelled.size() && name.ends_with(unlabelled);
}

inline bool is_label(int folder) {
    unique_fd const label{::openat(folder, "owner", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
    char text[label_text.size() + 1];
    auto const n = label ? ::read(label.get(), text, sizeof text) : -1;
    return n == static_cast<ssize_t>(label_text.size()) && std::string_view{text, label_text.size()} == label_text;
}

} // namespace detail

/// Removes run folders in `base` whose owners are dead; returns their number. A folder that cannot be removed stays, and its
/// name is added to `stuck`. If `base` cannot be listed, or is not safe to change, the reason is added to `stuck`.
inline int sweep_dead_folders(std::string const& base, std::vector<std::string>& stuck) {
    int removed = 0;
    auto const root = own_folder::open(base, for_temporary);
    if (root.has_error()) {
        if (::access(base.c_str(), F_OK) == 0 || errno != ENOENT) stuck.push_back(cat("cannot examine ", base, ": ", root.error().what));
        return 0;
    }
    auto const names = names_in(root->fd(), base);
    if (!names) return stuck.push_back(cat("cannot list ", base, ": ", names.error().what)), 0;
    for (auto const& name : *names) {
        if (!name.starts_with(detail::folder_prefix)) continue;
        auto const folder = open_folder(root->fd(), name.c_str());
        struct stat facts {}, there {};
        if (!folder || ::fstat(folder.get(), &facts) != 0 || facts.st_uid != ::geteuid()) continue;
        if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
        if (::fstatat(root->fd(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0 || there.st_ino != facts.st_ino) continue; // it got its own name meanwhile
        auto called = name;
        if (!detail::is_unlabelled(name)) { // if its maker is alive, it makes another
            if (!detail::is_label(folder.get())) continue;
            called += detail::unlabelled;
            if (::renameat(root->fd(), name.c_str(), root->fd(), called.c_str()) != 0) called = name;
        }
        auto const emptied = empty_folder(folder.get(), cat(base, "/", called));
        if (!emptied.has_error() && ::unlinkat(root->fd(), called.c_str(), AT_REMOVEDIR) == 0) ++removed;
        else if (::faccessat(root->fd(), called.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) stuck.push_back(cat(base, "/", called));
    }
    return removed;
}

/// The folder of a session. The process that made it removes it; a forked worker does not.
class session_folder {
public:
    static result<session_folder> make(std::string const& base = temporary_folder()) {
        SB_TRY(auto const in, own_folder::open(base, for_temporary));
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            std::uint64_t random = 0;
            if (::getrandom(&random, sizeof random, 0) != sizeof random) return last_error("getrandom");
            std::string name{detail::folder_prefix};
            for (std::size_t i = 0; i < detail::name_digits; ++i, random >>= 4) name.push_back("0123456789abcdef"[random & 15]);
            session_folder made{in, cat(name, detail::unlabelled)};
            auto const first = made.path();
            if (::mkdirat(in.fd(), made.name_.c_str(), 0700) != 0) {
                if (errno == EEXIST) continue;
                return last_error("make folder", first);
            }
            made.fd_ = open_folder(in.fd(), made.name_.c_str());
            // a sweep may run in between and take this folder for a dead one; if so, we make another
            if (!made.fd_ && errno == ENOENT) continue;
            made.owner_ = ::getpid();
            if (!made.fd_ || retry([&] { return ::flock(made.fd_.get(), LOCK_EX); }) != 0) return last_error("lock", first);
            unique_fd const label{::openat(made.fd_.get(), "owner", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
            if (!label && errno == ENOENT) continue;
            if (!label) return last_error("make", first + "/owner");
            SB_CHECK(write_all(label.get(), detail::label_text, first + "/owner"));
            if (::renameat(in.fd(), made.name_.c_str(), in.fd(), name.c_str()) != 0) return last_error("rename to", cat(in.path(), "/", name));
            made.call(std::move(name));
            return made;
        }
        return system_error(cat("cannot find a free name for a folder in ", base));
    }
    session_folder(session_folder&&) noexcept = default;
    session_folder& operator=(session_folder&& from) noexcept { return take_over(*this, std::move(from)); }
    ~session_folder() {
        if (owner_ == ::getpid()) (void)remove();
    }

    std::string const& path() const noexcept { return path_; }
    int fd() const noexcept { return fd_.get(); }
    /// Leaves it for a person to look at: without its label no later session removes it.
    void keep() noexcept {
        owner_ = -1;
        ::unlinkat(fd_.get(), "owner", 0);
    }
    /// Takes over the ownership after its maker died.
    void own() noexcept { owner_ = ::getpid(); }
    result<void> remove() {
        owner_ = -1;
        if (auto last = cat(name_, detail::unlabelled); !name_.ends_with(detail::unlabelled) && ::renameat(in_.fd(), name_.c_str(), in_.fd(), last.c_str()) == 0) call(std::move(last));
        SB_CHECK(empty_folder(fd_.get(), path_));
        if (::unlinkat(in_.fd(), name_.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return last_error("remove", path_);
        return {};
    }

private:
    static constexpr int most_attempts = 256; // a concurrent sweep may remove several

    session_folder(own_folder in, std::string name) : in_{std::move(in)} { call(std::move(name)); }
    void call(std::string name) { path_ = cat(in_.path(), "/", name), name_ = std::move(name); }

    own_folder in_;
    unique_fd fd_;
    std::string name_, path_;
    sole<pid_t, -1> owner_;
};

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
