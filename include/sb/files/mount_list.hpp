// SPDX-License-Identifier: MIT
// The mounts of a tree, and which of them show the same files. Two mounts are compared by their file system and by the
// folder of it that they show, not by the names that lead there. A file system and another that is mounted over it count as
// two.
#pragma once
#include <sb/core/text.hpp>
#include <sb/files/path.hpp>
#include <charconv>
#include <cstdint>
#include <fcntl.h>
#include <iterator>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace sb::files {

/// A line of /proc/PID/mountinfo.
struct listed_mount {
    std::uint64_t id = 0;
    std::string device, root; ///< the file system, and its folder or file that is shown
    std::string point; ///< where the mount is visible
    bool writable = false; ///< as far as the mount's options say

    /// Does it show everything that `other` shows?
    bool covers(listed_mount const& other) const { return device == other.device && is_below(other.root, root); }
    /// The path at which it shows what `other` shows; it must cover `other`.
    std::string point_of(listed_mount const& other) const {
        std::string below = root == "/" ? other.root : other.root.substr(root.size());
        if (below == "/") below.clear();
        return point == "/" && !below.empty() ? below : point + below;
    }
};

/// `text` is the text of a mountinfo. Other lines are left out.
inline std::vector<listed_mount> read_mounts(std::string_view text) {
    auto const plain = [](std::string_view word) { // a space is written as \040
        std::string name;
        for (std::size_t i = 0; i < word.size(); ++i) {
            unsigned byte = 0;
            auto const* const digits = word.data() + i + 1;
            bool const escaped = word[i] == '\\' && word.size() - i > 3 && std::from_chars(digits, digits + 3, byte, 8).ptr == digits + 3;
            name += escaped ? static_cast<char>(byte) : word[i];
            if (escaped) i += 3;
        }
        return name;
    };
    std::vector<listed_mount> mounts;
    split(text, '\n', [&](std::string_view line) { // id parent device root point options …
        std::string_view words[6];
        std::size_t count = 0;
        split(line, ' ', [&](std::string_view word) {
            if (count < std::size(words)) words[count++] = word;
        });
        listed_mount one;
        if (count < std::size(words) || std::from_chars(words[0].data(), words[0].data() + words[0].size(), one.id).ec != std::errc{}) return;
        one.device = words[2], one.root = plain(words[3]), one.point = plain(words[4]);
        one.writable = words[5] != "ro" && !words[5].starts_with("ro,");
        mounts.push_back(std::move(one));
    });
    return mounts;
}

/// The number of the mount at `path`; 0: we see nothing there.
inline std::uint64_t mount_at(std::string const& path) {
    struct statx facts {};
    return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &facts) == 0 ? facts.stx_mnt_id : 0;
}

} // namespace sb::files
