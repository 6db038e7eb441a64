// SPDX-License-Identifier: MIT
// A session's folder in the system's temporary folder, and the folders that dead sessions left there.
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
#include <string>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
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

} // namespace sb::files
