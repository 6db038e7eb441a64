// SPDX-License-Identifier: MIT
// The mounts of a tree, and which of them show the same files: by what file system each shows and from which of its folders on,
// whatever names lead there. Two file systems of which one is laid over the other are two.
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
    std::string device, root; ///< which file system, and the folder or file in it that is shown
    std::string point; ///< where it is seen
    bool writable = false; ///< as far as the mount says

    /// Does it show all that `other` does?
    bool covers(listed_mount const& other) const { return device == other.device && is_below(other.root, root); }
    /// Where it shows what `other` does, which it covers.
    std::string point_of(listed_mount const& other) const {
        std::string below = root == "/" ? other.root : other.root.substr(root.size());
        if (below == "/") below.clear();
        return point == "/" && !below.empty() ? below : point + below;
    }
};

/// `text` is that of a mountinfo. What is no line of one is left out.
inline std::vector<listed_mount> read_mounts(std::string_view text) {
    auto const plain = [](std::string_view word) { // a space stands as \040
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
    std::vector<listed_mount> all;
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
        all.push_back(std::move(one));
    });
    return all;
}

/// The number of the mount that is seen at `path`; 0: nothing is there for us.
inline std::uint64_t mount_at(std::string const& path) {
    struct statx facts {};
    return ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &facts) == 0 ? facts.stx_mnt_id : 0;
}

} // namespace sb::files
