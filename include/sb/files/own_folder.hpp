// SPDX-License-Identifier: MIT
// A folder for private things. It is checked once, then kept open and used by descriptor. Whoever owns a folder on the way
// to it, or may write there, could replace it and so decide what we make, and where, with our rights.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/pinned.hpp>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::files {

/// The purpose of the folder, for messages.
struct folder_use {
    std::string_view what, choose; ///< what the folder is called, and how to choose another
};
inline constexpr folder_use for_temporary{"temporary folder", "TMPDIR=DIR"}, for_data{"data folder", "--data-dir DIR or SANDBOX_DATA_DIR=DIR"};

namespace detail {

/// In a user namespace all users without a number there look alike: the host's root, who owns /, and others.
inline bool may_be_root_outside(uid_t owner) {
    auto const map = read_file("/proc/self/uid_map"), unmapped = read_file("/proc/sys/kernel/overflowuid");
    if (map.has_error() || unmapped.has_error()) return false;
    return map->find("4294967295") == std::string::npos && trim(*unmapped) == cat(owner);
}

/// Why others could change what the names in this folder lead to; empty: they cannot. In a sticky folder nobody can move
/// another user's files. Many users have a group of their own that may write to their home; root has no folder there.
inline std::string why_not_own(struct stat const& facts) {
    auto const me = ::geteuid();
    if (facts.st_uid != me && facts.st_uid != 0 && !may_be_root_outside(facts.st_uid)) return cat("belongs to uid ", facts.st_uid);
    auto const others = static_cast<mode_t>(me == 0 ? S_IWGRP | S_IWOTH : S_IWOTH);
    if ((facts.st_mode & others) == 0 || (facts.st_mode & S_ISVTX) != 0) return {};
    return cat("is writable by ", (facts.st_mode & S_IWOTH) != 0 ? std::string{"everybody"} : cat("group ", facts.st_gid), " and is not sticky");
}

} // namespace detail

class own_folder {
public:
    /// Blames the caller for a folder that others could replace, and the system for one that does not exist.
    static result<own_folder> open(std::string const& path, folder_use const& use) {
        struct stat facts {};
        bool const is_there = ::lstat(path.c_str(), &facts) == 0;
        auto found = pinned::open(path);
        if (found.has_error()) return error{is_there ? blame::caller : blame::system, cat(use.what, " ", path, ": ", found.error().what)};
        return judge(std::move(*found), use);
    }
    /// The same, but makes it and the folders above it, as `mkdir -p` does.
    static result<own_folder> make(std::string const& path, folder_use const& use) {
        std::vector<std::string> missing;
        SB_TRY(auto at, open_nearest(path, use, missing));
        for (auto const& name : missing) {
            if (::mkdirat(at.fd(), name.c_str(), 0700) != 0 && errno != EEXIST) return last_error("make folder", cat(at.path(), "/", name));
            auto inner = pinned::open_in(at.fd(), name);
            if (inner.has_error()) return system_error(cat(use.what, " ", path, ": ", inner.error().what));
            SB_TRY(at, judge(std::move(*inner), use));
        }
        return at;
    }
    /// Opens as much of the path as exists; `missing` gets the other names, from the top.
    static result<own_folder> open_nearest(std::string path, folder_use const& use, std::vector<std::string>& missing) {
        for (struct stat facts {}; !path.empty() && ::lstat(path.c_str(), &facts) != 0 && errno == ENOENT;) {
            while (path.size() > 1 && path.ends_with('/')) path.pop_back();
            auto const begin = path.rfind('/') + 1; // 0 if there is no slash
            missing.insert(missing.begin(), path.substr(begin));
            path.resize(begin);
        }
        return open(path.empty() ? "." : path, use);
    }

    int fd() const noexcept { return place_.fd(); } ///< O_PATH
    std::string const& path() const noexcept { return place_.path(); } ///< without links
    pinned const& place() const noexcept { return place_; }

private:
    explicit own_folder(pinned place) : place_{std::move(place)} {}

    /// Checks it and every folder above it.
    static result<own_folder> judge(pinned place, folder_use const& use) {
        auto const wrong = [&](std::string_view why) { return caller_error(cat(use.what, " ", place.path(), ": ", why, "; choose another with ", use.choose)); };
        if (!place.is_folder()) return system_error(cat(use.what, " ", place.path(), ": ", std::strerror(ENOTDIR)));
        struct stat now {}, below {};
        unique_fd at{::openat(place.fd(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        for (int depth = 0; depth < deepest; ++depth) {
            if (!at || ::fstat(at.get(), &now) != 0) return system_error(cat(use.what, " ", place.path(), ": cannot examine the folders above it: ", std::strerror(errno)));
            if (depth > 0 && pinned::identity_of(now) == pinned::identity_of(below)) return own_folder{std::move(place)}; // the root is its own parent
            if (auto const why = detail::why_not_own(now); !why.empty()) return wrong(depth == 0 ? why : cat(name_of(at.get()), " above it ", why));
            below = now;
            at = unique_fd{::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        }
        return wrong("is nested too deeply");
    }
    static std::string name_of(int folder) {
        char name[PATH_MAX];
        auto const n = ::readlink(cat("/proc/self/fd/", folder).c_str(), name, sizeof name);
        return {name, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
    }

    static constexpr int deepest = PATH_MAX;
    pinned place_;
};

} // namespace sb::files
