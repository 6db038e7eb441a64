// SPDX-License-Identifier: MIT
// The private folders of runs, in the system's temporary folder, and what dead owners left of theirs.
//
// How it works: a session owns one folder, "sb-exec-" and twelve random digits, mode 0700, which holds a label and a
// folder for each slot. The session and its slots share one lock on it (flock on one open description), so the lock is
// free exactly when all of them are dead. A later session removes folders that carry the label, belong to the same user
// and whose lock is free: all three, or it leaves them alone. A folder that has no
// label yet, or none any more, is called "….new": it gets its own name when it has lock and label, and loses it before they go.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/isolate/remove_tree.hpp>
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

namespace sb::isolate {

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

/// Removes run folders in `base` whose owners are dead; the number of them. A folder that cannot be removed stays, and
/// its name comes back in `stuck`; so does why `base` cannot be listed.
inline int sweep_dead_folders(std::string const& base, std::vector<std::string>& stuck) {
    int removed = 0;
    auto const root = detail::open_folder(AT_FDCWD, base.c_str());
    if (!root) return 0;
    auto const names = detail::names_in(root.get(), base);
    if (!names) return stuck.push_back(cat("what ", base, " may hold: ", names.error().what)), 0;
    for (auto const& name : *names) {
        if (!name.starts_with(detail::folder_prefix)) continue;
        auto const folder = detail::open_folder(root.get(), name.c_str());
        struct stat facts {}, there {};
        if (!folder || ::fstat(folder.get(), &facts) != 0 || facts.st_uid != ::geteuid()) continue;
        if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
        if (::fstatat(root.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0 || there.st_ino != facts.st_ino) continue; // it got its own name meanwhile
        auto called = name;
        if (!detail::is_unlabelled(name)) { // whoever makes one just now will make another
            if (!detail::is_label(folder.get())) continue;
            called += detail::unlabelled;
            if (::renameat(root.get(), name.c_str(), root.get(), called.c_str()) != 0) called = name;
        }
        auto const emptied = empty_folder(folder.get(), cat(base, "/", called));
        if (!emptied.has_error() && ::unlinkat(root.get(), called.c_str(), AT_REMOVEDIR) == 0) ++removed;
        else if (::faccessat(root.get(), called.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) stuck.push_back(cat(base, "/", called));
    }
    return removed;
}

/// The folder of a session. Whoever made it removes it; a forked slot lets it be.
class session_folder {
public:
    static result<session_folder> make(std::string const& base = temporary_folder()) {
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            std::uint64_t random = 0;
            if (::getrandom(&random, sizeof random, 0) != sizeof random) return last_error("getrandom");
            auto path = cat(base, "/", detail::folder_prefix);
            for (std::size_t i = 0; i < detail::name_digits; ++i, random >>= 4) path.push_back("0123456789abcdef"[random & 15]);
            auto const first = cat(path, detail::unlabelled);
            if (::mkdir(first.c_str(), 0700) != 0) {
                if (errno == EEXIST) continue;
                return last_error("make folder", first);
            }
            session_folder made;
            made.fd_ = detail::open_folder(AT_FDCWD, first.c_str());
            // a sweep may come in between, and take it for a dead one: then it is gone, and we make another
            if (!made.fd_ && errno == ENOENT) continue;
            made.path_ = first;
            made.owner_ = ::getpid();
            if (!made.fd_ || retry([&] { return ::flock(made.fd_.get(), LOCK_EX); }) != 0) return last_error("lock", first);
            unique_fd const label{::openat(made.fd_.get(), "owner", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
            if (!label && errno == ENOENT) continue;
            if (!label) return last_error("make", first + "/owner");
            SB_CHECK(write_all(label.get(), detail::label_text, first + "/owner"));
            if (::rename(first.c_str(), path.c_str()) != 0) return last_error("rename to", path);
            made.path_ = std::move(path);
            return made;
        }
        return system_error(cat("no free name for a folder in ", base));
    }
    session_folder(session_folder&& from) noexcept
        : fd_{std::move(from.fd_)}, path_{std::move(from.path_)}, owner_{std::exchange(from.owner_, -1)} {}
    session_folder& operator=(session_folder&& from) noexcept {
        std::swap(fd_, from.fd_), std::swap(path_, from.path_), std::swap(owner_, from.owner_);
        return *this;
    }
    ~session_folder() {
        if (owner_ == ::getpid()) (void)remove();
    }

    std::string const& path() const noexcept { return path_; }
    int fd() const noexcept { return fd_.get(); }
    /// Leaves it for a person to look at; without its label no later session takes it away.
    void keep() noexcept {
        owner_ = -1;
        ::unlinkat(fd_.get(), "owner", 0);
    }
    /// Takes it over after its maker died.
    void own() noexcept { owner_ = ::getpid(); }
    result<void> remove() {
        owner_ = -1;
        if (auto const last = cat(path_, detail::unlabelled); !path_.ends_with(detail::unlabelled) && ::rename(path_.c_str(), last.c_str()) == 0) path_ = last;
        SB_CHECK(empty_folder(fd_.get(), path_));
        if (::rmdir(path_.c_str()) != 0 && errno != ENOENT) return last_error("remove", path_);
        return {};
    }

private:
    static constexpr int most_attempts = 256; // a sweep beside us may take one after the other

    session_folder() = default;
    unique_fd fd_;
    std::string path_;
    pid_t owner_ = -1;
};

/// HOME and TMPDIR of the run at hand: one pair a slot, used again when a run left it as it was.
class workspace {
public:
    /// In `session`, under `name`.
    static result<workspace> make(session_folder const& session, std::string const& name) {
        workspace made;
        made.path_ = cat(session.path(), "/", name);
        if (::mkdir(made.path_.c_str(), 0700) != 0) return last_error("make folder", made.path_);
        made.fd_ = detail::open_folder(AT_FDCWD, made.path_.c_str());
        if (!made.fd_) return last_error("open", made.path_);
        SB_CHECK(made.renew());
        return made;
    }

    std::string home() const { return path_ + "/home"; }
    std::string tmp() const { return path_ + "/tmp"; }
    std::string const& path() const noexcept { return path_; }

    /// Ready for the next run: proven as new, or made so. To be called when nothing of the last run is alive.
    result<void> clean() {
        if (pristine()) return {};
        return renew();
    }

    /// Moves both folders into a new one and begins afresh.
    result<void> move_to(std::string const& kept) {
        if (::mkdir(kept.c_str(), 0700) != 0) return last_error("make folder", kept);
        for (auto const* name : {"home", "tmp"})
            if (::renameat(fd_.get(), name, AT_FDCWD, cat(kept, "/", name).c_str()) != 0) return last_error("move to", cat(kept, "/", name));
        return renew();
    }

private:
    workspace() = default;
    static bool same(struct stat const& a, struct stat const& b) noexcept {
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_gid == b.st_gid &&
               // a name that was made and removed again is seen by the times
               a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
               a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
    }
    /// True when nothing but "." and ".." is there. 1 KiB holds the longest name, so one look is enough.
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
    /// The two folders, and the one that holds them, are the ones we made, unchanged and empty.
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
            each->fd = detail::open_folder(fd_.get(), each->name);
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
    unique_fd fd_;
    std::string path_;
    struct stat facts_ {};
    folder home_{"home", unique_fd{}, {}}, tmp_{"tmp", unique_fd{}, {}};
};

} // namespace sb::isolate
