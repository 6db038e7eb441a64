// SPDX-License-Identifier: MIT
// Copies a folder that a hostile program may have filled: no link is followed, nothing special is opened, nothing waits, and what
// takes no room takes none in the copy.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/isolate/remove_tree.hpp>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

namespace sb::isolate {

struct tree_copy {
    std::int64_t files = 0, bytes = 0; ///< of data, holes left out
    std::int64_t inodes = 0; ///< files, folders and links
    std::vector<std::string> skipped; ///< with the reason, a few of them
    std::int64_t skipped_count = 0;
    std::vector<std::string> removed; ///< marks of an overlay that a name of the folder below is gone
};

struct tree_owner {
    uid_t uid;
    gid_t gid;
};

namespace detail {

class tree_copier {
public:
    tree_copier(std::optional<tree_owner> owner, std::int64_t most_bytes, tree_copy& told) : owner_{owner}, most_bytes_{most_bytes}, told_{told} {}

    result<void> folder(int from, int to, std::string const& called, int depth) {
        auto const names = names_in(from);
        if (names.has_error() && depth == 0) return names.error();
        if (names.has_error()) return skip(called, names.error().what), result<void>{};
        for (auto const& name : *names) {
            auto const path = called.empty() ? name : cat(called, "/", name);
            struct stat facts {};
            if (::fstatat(from, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
                skip(path, std::strerror(errno));
            } else if (S_ISREG(facts.st_mode)) {
                SB_CHECK(file(from, to, name, path, facts));
            } else if (S_ISDIR(facts.st_mode)) {
                if (depth >= deepest) skip(path, "too deep");
                else SB_CHECK(inner(from, to, name, path, facts, depth));
            } else if (S_ISLNK(facts.st_mode)) {
                SB_CHECK(link(from, to, name, path));
            } else if (S_ISCHR(facts.st_mode) && facts.st_rdev == 0) {
                if (told_.removed.size() < most_told) told_.removed.push_back(path);
            } else {
                skip(path, "neither a file nor a folder nor a link");
            }
        }
        return {};
    }

private:
    static constexpr int deepest = 256;
    static constexpr std::size_t most_told = 1000;

    void skip(std::string const& path, std::string_view why) {
        ++told_.skipped_count;
        if (told_.skipped.size() < most_told) told_.skipped.push_back(cat(path, ": ", why));
    }
    result<void> own(int to, std::string const& name, struct stat const& facts, bool is_link) const {
        if (owner_ && ::fchownat(to, name.c_str(), owner_->uid, owner_->gid, AT_SYMLINK_NOFOLLOW) != 0) return last_error("change owner of", name);
        if (!is_link && ::fchmodat(to, name.c_str(), facts.st_mode & 01777, 0) != 0) return last_error("change mode of", name);
        timespec const times[] = {facts.st_atim, facts.st_mtim};
        (void)::utimensat(to, name.c_str(), times, AT_SYMLINK_NOFOLLOW);
        return {};
    }
    result<void> file(int from, int to, std::string const& name, std::string const& path, struct stat const& facts) {
        unique_fd source{::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
        if (!source && errno == EACCES && ::fchmodat(from, name.c_str(), (facts.st_mode & 0777) | 0400, 0) == 0)
            source = unique_fd{::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
        struct stat opened {};
        if (!source || ::fstat(source.get(), &opened) != 0) return skip(path, std::strerror(errno)), result<void>{};
        if (!S_ISREG(opened.st_mode)) return skip(path, "changed while it was looked at"), result<void>{};
        // a file that has several names is copied under each
        auto const takes = std::min<std::int64_t>(opened.st_size, std::int64_t{opened.st_blocks} * 512);
        if (most_bytes_ >= 0 && takes > most_bytes_ - told_.bytes) return skip(path, "more than may be copied in all"), result<void>{};
        unique_fd const target{::openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
        if (!target) return last_error("make", path);
        ++told_.inodes;
        SB_CHECK(contents(source.get(), target.get(), opened.st_size, path));
        ++told_.files;
        return own(to, name, facts, false);
    }
    /// As much as there was when it was opened: whoever appends to it meanwhile is not waited for. Holes stay holes.
    result<void> contents(int source, int target, off_t size, std::string const& path) {
        for (off_t at = 0; at < size;) {
            auto begin = ::lseek(source, at, SEEK_DATA);
            if (begin < 0 && errno == ENXIO) break; // nothing but a hole is left
            if (begin < 0) begin = at; // a file system that knows of none
            if (begin >= size) break;
            auto const hole = ::lseek(source, begin, SEEK_HOLE);
            at = hole < 0 ? size : std::min(hole, size);
            SB_CHECK(range(source, target, begin, at, path));
        }
        struct stat now {};
        if (::fstat(source, &now) == 0) size = std::min(size, now.st_size);
        if (::ftruncate(target, size) != 0) return last_error("write", path);
        return {};
    }
    /// Up to `end`, or what the file's own is by now.
    result<void> range(int source, int target, off_t begin, off_t end, std::string const& path) {
        auto from = begin, to = begin;
        while (from < end) {
            auto const n = retry([&] { return ::copy_file_range(source, &from, target, &to, static_cast<std::size_t>(std::min<off_t>(end - from, most_at_once)), 0); });
            if (n < 0 && errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS) return last_error("copy", path);
            if (n < 0) return by_hand(source, target, from, end, path);
            if (n == 0) break;
            told_.bytes += n;
        }
        return {};
    }
    result<void> by_hand(int source, int target, off_t from, off_t end, std::string const& path) {
        char block[std::size_t{1} << 16];
        while (from < end) {
            auto const n = retry([&] { return ::pread(source, block, static_cast<std::size_t>(std::min<off_t>(end - from, sizeof block)), from); });
            if (n < 0) return last_error("read", path);
            if (n == 0) break;
            for (ssize_t at = 0; at < n;) {
                auto const written = retry([&] { return ::pwrite(target, block + at, static_cast<std::size_t>(n - at), from + at); });
                if (written < 0) return last_error("write", path);
                at += written;
            }
            told_.bytes += n;
            from += n;
        }
        return {};
    }
    result<void> inner(int from, int to, std::string const& name, std::string const& path, struct stat const& facts, int depth) {
        auto source = open_folder(from, name.c_str());
        if (!source && errno == EACCES && ::fchmodat(from, name.c_str(), 0700, 0) == 0) source = open_folder(from, name.c_str());
        if (!source) return skip(path, std::strerror(errno)), result<void>{};
        if (::mkdirat(to, name.c_str(), 0700) != 0) return last_error("make folder", path);
        ++told_.inodes;
        auto const target = open_folder(to, name.c_str());
        if (!target) return last_error("open", path);
        SB_CHECK(folder(source.get(), target.get(), path, depth + 1));
        return own(to, name, facts, false);
    }
    result<void> link(int from, int to, std::string const& name, std::string const& path) {
        char text[PATH_MAX];
        auto const n = ::readlinkat(from, name.c_str(), text, sizeof text - 1);
        if (n < 0) return skip(path, std::strerror(errno)), result<void>{};
        text[n] = '\0';
        if (::symlinkat(text, to, name.c_str()) != 0) return last_error("link", path);
        ++told_.inodes;
        if (owner_ && ::fchownat(to, name.c_str(), owner_->uid, owner_->gid, AT_SYMLINK_NOFOLLOW) != 0) return last_error("change owner of", path);
        return {};
    }

    static constexpr off_t most_at_once = off_t{1} << 30;

    std::optional<tree_owner> owner_;
    std::int64_t most_bytes_;
    tree_copy& told_;
};

} // namespace detail

/// Copies what `from` holds into the empty folder `to`: files, folders and links, with their modes and times, none of
/// them setuid, owned by `owner` where one is given, and no more than `most_bytes` of data (-1: all there is). Everything
/// else is skipped and told.
inline result<tree_copy> copy_tree(int from, int to, std::optional<tree_owner> owner = {}, std::int64_t most_bytes = -1) {
    tree_copy told;
    SB_CHECK(detail::tree_copier{owner, most_bytes, told}.folder(from, to, {}, 0));
    return told;
}

} // namespace sb::isolate
