// SPDX-License-Identifier: MIT
// A folder or file of the host, kept open from the moment it was checked. So a process that may rename a part of its path
// can no longer replace it.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/mount.hpp>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::files {

/// Copies share the same descriptor, which is open as long as one of them lives.
class pinned {
public:
    pinned() = default; ///< holds nothing

    /// The current folder itself, whatever path leads to it by now.
    static result<pinned> current_folder() { return take(open_place(AT_FDCWD, ".")); }

    /// What `path` names. Where root is the caller, a link that belongs to another user is followed only to files of that
    /// user: otherwise the link's owner would decide what root shows. An error gives the reason, without the path.
    static result<pinned> open(std::string const& path) {
        if (path == ".") return current_folder();
        if (::geteuid() != 0) return take(open_place(AT_FDCWD, path.c_str()));
        return open_as(path, 0);
    }
    /// The same for any caller: links of `trusted` and of root are followed wherever they lead.
    static result<pinned> open_as(std::string const& path, uid_t trusted) {
        unique_fd found{open_without_links(path)};
        if (found || (errno != ELOOP && errno != ENOSYS && errno != EPERM)) return take(std::move(found));
        unique_fd const from{::open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        if (!from) return caller_error(std::strerror(errno));
        int links = 0;
        SB_TRY(auto place, walk(from.get(), path, trusted, links));
        return take(std::move(place));
    }
    /// A folder by its own name in an open folder; a link does not count as one.
    static result<pinned> open_in(int folder, std::string const& name) {
        return take(unique_fd{::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)});
    }

    explicit operator bool() const noexcept { return held_ != nullptr; }
    int fd() const noexcept { return held_ ? held_->place.get() : -1; } ///< O_PATH
    /// Its path when it was opened, without links.
    std::string const& path() const noexcept {
        static std::string const none;
        return held_ ? held_->path : none;
    }
    bool is_folder() const noexcept { return held_ && S_ISDIR(held_->facts.st_mode); }
    struct stat const& facts() const noexcept { return held_->facts; } ///< when it was opened

    bool is_same_as(struct stat const& other) const noexcept { return held_ && other.st_dev == held_->facts.st_dev && other.st_ino == held_->facts.st_ino; }
    /// Identifies a folder as long as it is open.
    using identity = std::pair<dev_t, ino_t>;
    static identity identity_of(struct stat const& facts) noexcept { return {facts.st_dev, facts.st_ino}; }

    /// The folder and those above it, up to the root: at the place where it was opened, even if it is mounted elsewhere too.
    std::vector<identity> line() const {
        std::vector<identity> folders;
        if (!held_) return folders;
        folders.push_back(identity_of(held_->facts));
        if (!is_folder()) return folders;
        unique_fd at{::openat(fd(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        for (struct stat now {}; at && folders.size() < deepest && ::fstat(at.get(), &now) == 0 && identity_of(now) != folders.back();) { // the root is its own parent
            folders.push_back(identity_of(now));
            at = unique_fd{::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        }
        return folders;
    }
    /// Is it `folder`, or inside it?
    bool lies_in(struct stat const& folder) const {
        auto const folders = line();
        return std::find(folders.begin(), folders.end(), identity_of(folder)) != folders.end();
    }

    /// A copy of its mount (and of all mounts below it), in the mount namespace in which it was opened.
    result<unique_fd> copy(bool recursive) const {
        auto made = copy_mount(fd(), {}, recursive);
        if (made.has_error()) return system_error(cat(path(), ": cannot be mounted from an open descriptor: ", made.error().what));
        return made;
    }
    /// The same file in this mount namespace, which is a copy of the one in which it was opened.
    result<unique_fd> here() const {
        for (auto const* const name : {path().c_str(), "."}) {
            unique_fd found{::open(name, O_PATH | O_CLOEXEC)};
            if (struct stat facts {}; found && ::fstat(found.get(), &facts) == 0 && is_same_as(facts)) return found;
        }
        return system_error(cat(path(), ": was replaced meanwhile; start again"));
    }

private:
    struct held {
        unique_fd place;
        std::string path;
        struct stat facts {};
    };
    static constexpr std::size_t deepest = PATH_MAX;
    static constexpr int most_links = 40;

    /// Tries it as a folder first: this triggers an automount.
    static unique_fd open_place(int at, char const* path, int flags = 0) {
        unique_fd found{::openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags)};
        if (!found && (errno == ENOTDIR || errno == ELOOP)) found = unique_fd{::openat(at, path, O_PATH | O_CLOEXEC | flags)};
        return found;
    }
    static unique_fd open_without_links(std::string const& path) {
        for (int const only : {O_DIRECTORY, 0}) {
            auto found = files::place_at(AT_FDCWD, path.c_str(), RESOLVE_NO_SYMLINKS, only);
            if (found || errno != ENOTDIR) return found;
        }
        return unique_fd{};
    }
    static result<pinned> take(unique_fd place) {
        if (!place) return caller_error(std::strerror(errno));
        auto made = std::make_shared<held>();
        char name[PATH_MAX];
        auto const n = ::readlink(cat("/proc/self/fd/", place.get()).c_str(), name, sizeof name);
        if (n < 0 || n >= static_cast<ssize_t>(sizeof name) || ::fstat(place.get(), &made->facts) != 0) return caller_error(std::strerror(n < 0 ? errno : ENAMETOOLONG));
        if (name[0] != '/') return caller_error("is not visible from this root folder");
        made->path.assign(name, static_cast<std::size_t>(n)), made->place = std::move(place);
        if (made->facts.st_nlink == 0 && S_ISDIR(made->facts.st_mode) && made->path.ends_with(" (deleted)")) return caller_error("was removed");
        pinned pin;
        pin.held_ = std::move(made);
        return pin;
    }
    /// Resolves one name after the other; each is opened once.
    static result<unique_fd> walk(int from, std::string_view path, uid_t trusted, int& links) { // NOLINT(misc-no-recursion): as deep as links may nest
        unique_fd at{::openat(from, path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        std::vector<std::string> names;
        split(path, '/', [&](std::string_view name) {
            if (!name.empty() && name != ".") names.emplace_back(name);
        });
        for (auto const& name : names) {
            if (!at) break;
            auto next = open_place(at.get(), name.c_str(), O_NOFOLLOW);
            struct stat facts {};
            if (!next || ::fstat(next.get(), &facts) != 0) return caller_error(std::strerror(errno));
            if (S_ISLNK(facts.st_mode)) {
                char text[PATH_MAX];
                auto const n = ::readlinkat(next.get(), "", text, sizeof text);
                if (n <= 0 || n >= static_cast<ssize_t>(sizeof text) || ++links > most_links) return caller_error(std::strerror(n < 0 ? errno : ELOOP));
                struct statfs about {};
                bool const is_magic = ::fstatfs(next.get(), &about) == 0 && static_cast<long>(about.f_type) == PROC_SUPER_MAGIC; // its text is not a path
                auto found = is_magic ? result<unique_fd>{open_place(at.get(), name.c_str())} : walk(at.get(), {text, static_cast<std::size_t>(n)}, trusted, links);
                if (found.has_error() || !*found) return found.has_error() ? found.error() : caller_error(std::strerror(errno));
                auto named = std::move(*found);
                struct stat target {};
                if (::fstat(named.get(), &target) != 0) return caller_error(std::strerror(errno));
                if (facts.st_uid != 0 && facts.st_uid != trusted && target.st_uid != facts.st_uid)
                    return caller_error(cat("goes through a link of uid ", facts.st_uid, " (\"", name, "\") to something that belongs to another user; name the folder itself"));
                next = std::move(named);
            }
            at = std::move(next);
        }
        if (!at) return caller_error(std::strerror(errno));
        return at;
    }

    std::shared_ptr<held const> held_;
};

} // namespace sb::files
