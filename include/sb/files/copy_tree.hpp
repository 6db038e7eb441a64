// SPDX-License-Identifier: MIT
// Copies a folder that a hostile program may have filled. It follows no link, opens nothing special and never waits. Holes
// stay holes in the copy. Several names of one file stay names of one file. What cannot be copied is skipped and reported.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/process/look_as.hpp>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::files {

struct tree_copy {
    std::int64_t files = 0, bytes = 0; ///< of data, without holes
    std::int64_t inodes = 0; ///< files, folders and links
    std::vector<std::string> skipped; ///< a few of the skipped names, each with the reason
    std::int64_t skipped_count = 0;
    std::string failed; ///< the first entry that could be read but not be made again, with the reason: for callers who need a complete copy
    std::vector<std::string> removed; ///< an overlay's marks that a name of the folder below is gone; as many as are reported
    std::int64_t removed_count = 0;
};

struct tree_owner {
    uid_t uid;
    gid_t gid;
};

/// While it lives, a file that would be larger than RLIMIT_FSIZE causes an error and does not kill us: others chose the size
/// of the file.
class deaf_to_file_limit {
public:
    deaf_to_file_limit() {
        struct sigaction deaf {};
        deaf.sa_handler = SIG_IGN;
        ::sigaction(SIGXFSZ, &deaf, &before_);
    }
    deaf_to_file_limit(deaf_to_file_limit const&) = delete;
    deaf_to_file_limit& operator=(deaf_to_file_limit const&) = delete;
    ~deaf_to_file_limit() { ::sigaction(SIGXFSZ, &before_, nullptr); }

private:
    struct sigaction before_ {};
};

namespace detail {

class tree_copier {
public:
    tree_copier(int top, std::optional<tree_owner> owner, std::int64_t most_bytes, bool opens, std::optional<tree_owner> reader, tree_copy& told)
        : top_{top}, owner_{owner}, most_bytes_{most_bytes}, opens_{opens}, reader_{reader}, told_{told} {}

    result<void> folder(int from, int to, std::string const& called, int depth) {
        auto const names = names_in(from);
        if (names.has_error() && depth == 0) return names.error();
        if (names.has_error()) return skip(called, names.error().what), result<void>{};
        for (auto const& name : *names) {
            auto const path = called.empty() ? name : cat(called, "/", name);
            struct stat facts {};
            if (no_room_ >= most_without_room) {
                fail(path, ENOSPC);
            } else if (::fstatat(from, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
                skip(path, std::strerror(errno));
            } else if (S_ISREG(facts.st_mode)) {
                file(from, to, name, path, facts);
            } else if (S_ISDIR(facts.st_mode)) {
                if (depth >= deepest) skip(path, "nested too deeply");
                else inner(from, to, name, path, facts, depth);
            } else if (S_ISLNK(facts.st_mode)) {
                link(from, to, name, path);
            } else if (S_ISCHR(facts.st_mode) && facts.st_rdev == 0) {
                ++told_.removed_count;
                tell(told_.removed, path);
            } else {
                skip(path, "not a file, folder or link");
            }
        }
        return {};
    }

private:
    static constexpr int deepest = 256;
    static constexpr std::size_t most_told = 1000;
    static constexpr std::int64_t most_told_bytes = 256 << 10;

    /// Names may be as long as a path or longer, so their list is bounded too.
    void tell(std::vector<std::string>& list, std::string line) {
        if (list.size() >= most_told || told_bytes_ + static_cast<std::int64_t>(line.size()) > most_told_bytes) return;
        told_bytes_ += static_cast<std::int64_t>(line.size());
        list.push_back(std::move(line));
    }
    void skip(std::string const& path, std::string_view why) {
        ++told_.skipped_count;
        tell(told_.skipped, cat(path, ": ", why));
    }
    /// The entry exists but cannot be made again.
    void fail(std::string const& path, int code) {
        skip(path, std::strerror(code));
        if (told_.failed.empty()) told_.failed = cat(path, ": ", std::strerror(code));
        // one large file may leave room for others; several failures in a row end the copy
        if (code == ENOSPC || code == EDQUOT) ++no_room_;
    }
    /// 0, or an errno.
    int own(int to, std::string const& name, struct stat const& facts, bool is_link) const {
        if (owner_ && ::fchownat(to, name.c_str(), owner_->uid, owner_->gid, AT_SYMLINK_NOFOLLOW) != 0) return errno;
        if (!is_link && ::fchmodat(to, name.c_str(), facts.st_mode & 01777, 0) != 0) return errno;
        timespec const times[] = {facts.st_atim, facts.st_mtim};
        (void)::utimensat(to, name.c_str(), times, AT_SYMLINK_NOFOLLOW);
        return 0;
    }
    unique_fd open_source(int from, std::string const& name, int flags) const {
        std::optional<process::look_as> rights;
        if (reader_) rights.emplace(process::payload_user{reader_->uid, reader_->gid});
        return unique_fd{::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)};
    }
    void file(int from, int to, std::string const& name, std::string const& path, struct stat const& facts) {
        auto source = open_source(from, name, O_NONBLOCK);
        if (!source && errno == EACCES && opens_ && ::fchmodat(from, name.c_str(), (facts.st_mode & 0777) | 0400, 0) == 0)
            source = unique_fd{::openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
        struct stat opened {};
        if (!source || ::fstat(source.get(), &opened) != 0) return skip(path, std::strerror(errno));
        if (!S_ISREG(opened.st_mode)) return skip(path, "it changed while it was read");
        std::pair const number{opened.st_dev, opened.st_ino};
        if (opened.st_nlink > 1)
            if (auto const first = first_names_.find(number); first != first_names_.end() && ::linkat(top_, first->second.c_str(), to, name.c_str(), 0) == 0) {
                ++told_.files;
                return;
            } // if it cannot be linked it is copied again, as far as there is room for that
        auto const takes = std::min<std::int64_t>(opened.st_size, std::int64_t{opened.st_blocks} * 512);
        if (most_bytes_ >= 0 && takes > most_bytes_ - told_.bytes) return skip(path, "more than the total that may be copied");
        unique_fd const target{::openat(to, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
        if (!target) return fail(path, errno);
        auto const before = told_.bytes;
        int code = contents(source.get(), target.get(), opened.st_size);
        if (code == 0) code = own(to, name, facts, false);
        if (code != 0) { // a partial file is removed
            told_.bytes = before;
            ::unlinkat(to, name.c_str(), 0);
            return fail(path, code);
        }
        no_room_ = 0;
        ++told_.inodes, ++told_.files;
        auto const takes_in_mind = static_cast<std::int64_t>(path.size()) + entry_bytes;
        if (opened.st_nlink > 1 && path.size() < PATH_MAX && in_mind_ + takes_in_mind <= most_in_mind && first_names_.emplace(number, path).second) in_mind_ += takes_in_mind;
    }
    /// Copies as much as there was when the file was opened; does not wait for a process that appends to it meanwhile. Holes
    /// stay holes. 0, or an errno.
    int contents(int source, int target, off_t size) {
        for (off_t at = 0; at < size;) {
            auto begin = ::lseek(source, at, SEEK_DATA);
            if (begin < 0 && errno == ENXIO) break; // only a hole is left
            if (begin < 0) begin = at; // a file system that does not report holes
            if (begin >= size) break;
            auto const hole = ::lseek(source, begin, SEEK_HOLE);
            at = hole < 0 ? size : std::min(hole, size);
            if (int const code = range(source, target, begin, at); code != 0) return code;
        }
        struct stat now {};
        if (::fstat(source, &now) == 0) size = std::min(size, now.st_size);
        return ::ftruncate(target, size) == 0 ? 0 : errno;
    }
    /// Up to `end`, or up to the file's current end.
    int range(int source, int target, off_t begin, off_t end) {
        auto from = begin, to = begin;
        while (from < end) {
            auto const n = retry([&] { return ::copy_file_range(source, &from, target, &to, static_cast<std::size_t>(std::min<off_t>(end - from, most_at_once)), 0); });
            if (n < 0 && errno != EXDEV && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
            if (n < 0) return by_hand(source, target, from, end);
            if (n == 0) break;
            told_.bytes += n;
        }
        return 0;
    }
    int by_hand(int source, int target, off_t from, off_t end) {
        char block[std::size_t{1} << 16];
        while (from < end) {
            auto const n = retry([&] { return ::pread(source, block, static_cast<std::size_t>(std::min<off_t>(end - from, sizeof block)), from); });
            if (n < 0) return errno;
            if (n == 0) break;
            for (ssize_t at = 0; at < n;) {
                auto const written = retry([&] { return ::pwrite(target, block + at, static_cast<std::size_t>(n - at), from + at); });
                if (written < 0) return errno;
                at += written;
            }
            told_.bytes += n;
            from += n;
        }
        return 0;
    }
    void inner(int from, int to, std::string const& name, std::string const& path, struct stat const& facts, int depth) { // NOLINT(misc-no-recursion)
        auto source = open_source(from, name, O_DIRECTORY);
        if (!source && errno == EACCES && opens_ && ::fchmodat(from, name.c_str(), 0700, 0) == 0) source = open_folder(from, name.c_str());
        if (!source) return skip(path, std::strerror(errno));
        if (::mkdirat(to, name.c_str(), 0700) != 0) return fail(path, errno);
        auto const target = open_folder(to, name.c_str());
        if (!target) {
            int const code = errno;
            ::unlinkat(to, name.c_str(), AT_REMOVEDIR);
            return fail(path, code);
        }
        ++told_.inodes;
        (void)folder(source.get(), target.get(), path, depth + 1); // what cannot be listed is skipped, except the topmost folder
        if (int const code = own(to, name, facts, false); code != 0) fail(path, code);
    }
    void link(int from, int to, std::string const& name, std::string const& path) {
        char text[PATH_MAX];
        auto const n = ::readlinkat(from, name.c_str(), text, sizeof text - 1);
        if (n < 0) return skip(path, std::strerror(errno));
        text[n] = '\0';
        if (::symlinkat(text, to, name.c_str()) != 0) return fail(path, errno);
        if (owner_ && ::fchownat(to, name.c_str(), owner_->uid, owner_->gid, AT_SYMLINK_NOFOLLOW) != 0) {
            int const code = errno;
            ::unlinkat(to, name.c_str(), 0);
            return fail(path, code);
        }
        ++told_.inodes;
    }

    static constexpr off_t most_at_once = off_t{1} << 30;
    static constexpr int most_without_room = 3;
    static constexpr std::int64_t most_in_mind = std::int64_t{64} << 20, entry_bytes = 128; // for first names; a file whose first name is forgotten is copied again

    int top_; // of the copy
    std::map<std::pair<dev_t, ino_t>, std::string> first_names_; // in the copy, for files that have several names
    std::int64_t in_mind_ = 0, told_bytes_ = 0;
    int no_room_ = 0; // files in a row that found no room
    std::optional<tree_owner> owner_;
    std::int64_t most_bytes_;
    bool opens_;
    std::optional<tree_owner> reader_;
    tree_copy& told_;
};

} // namespace detail

/// Copies the contents of `from` into the empty folder `to`, which nobody else may change: files, folders and links, with
/// their modes and times. No copy is setuid. Copies belong to `owner` if one is given. At most `most_bytes` of data are
/// copied (-1: no limit). Everything else, and what cannot be made in `to`, is skipped and reported. The only error is that
/// `from` cannot be listed. `opens_closed` is for a tree that is ours and that nobody else changes meanwhile: what its modes
/// close to us is opened first. Where root copies for a `reader`, what is closed to that user is skipped.
inline result<tree_copy> copy_tree(int from, int to, std::optional<tree_owner> owner = {}, std::int64_t most_bytes = -1, bool opens_closed = false, std::optional<tree_owner> reader = {}) {
    tree_copy told;
    deaf_to_file_limit const meanwhile;
    SB_CHECK(detail::tree_copier{to, owner, most_bytes, opens_closed, reader, told}.folder(from, to, {}, 0));
    return told;
}

} // namespace sb::files
