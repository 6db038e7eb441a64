// SPDX-License-Identifier: MIT
// Which parts of /etc a payload is shown, name by name. A caller who is not root keeps its supplementary groups in a
// sandbox, so files that only a group may read are left out.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace sb::sandbox {

class public_etc {
public:
    /// `etc` is the folder, `names` are files and folders in it. With `by_all` only files that everybody may read are taken.
    public_etc(int etc, bool by_all) : etc_{etc}, by_all_{by_all} {}

    /// Names below the folder, each of which is shown unchanged. A folder that is shown as a whole stays one name. A folder
    /// that contains something closed, or only a few small files, is replaced by the names in it: a small file is copied,
    /// which costs less than a mount.
    template <class Names>
    std::vector<std::string> of(Names const& names) {
        found_.clear();
        for (std::string_view const name : names)
            if (is_open_to(name)) take(std::string{name}, 0);
        return std::move(found_);
    }

    static constexpr std::size_t most_copied = 8; ///< entries of a folder that is copied
    static constexpr off_t largest_copied = 16 << 10; ///< bytes of a file in it

private:
    static constexpr std::size_t most_entries = 20'000;
    static constexpr int deepest = 16;

    struct contents {
        bool whole = true; ///< all of it may be shown
        bool small = true; ///< every file is small, none is a program, and there is no folder
        std::size_t entries = 0;
        std::vector<std::string> names = {}; ///< if `small`
    };

    bool may_show(struct stat const& facts) const noexcept {
        if (S_ISDIR(facts.st_mode)) return !by_all_ || (facts.st_mode & 05) == 05;
        return S_ISREG(facts.st_mode) && (!by_all_ || (facts.st_mode & 04));
    }
    /// Checks the folders on the way to it.
    bool is_open_to(std::string_view name) const {
        for (auto at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1)) {
            struct stat facts {};
            if (::fstatat(etc_, std::string{name.substr(0, at)}.c_str(), &facts, 0) != 0 || !S_ISDIR(facts.st_mode) || (by_all_ && !(facts.st_mode & 01))) return false;
        }
        return true;
    }
    void take(std::string const& name, int depth) { // NOLINT(misc-no-recursion)
        struct stat facts {};
        if (depth > deepest || found_.size() > most_entries || ::fstatat(etc_, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;
        if (!S_ISLNK(facts.st_mode) && !may_show(facts)) return;
        if (!S_ISDIR(facts.st_mode)) return found_.push_back(name);
        contents inside;
        look(name, inside, depth);
        if (inside.whole && (!inside.small || inside.entries == 0)) return found_.push_back(name);
        if (inside.whole) return found_.insert(found_.end(), inside.names.begin(), inside.names.end()), void();
        each_in(name, [&](char const* inner, unsigned char) {
            take(cat(name, "/", std::string_view{inner}), depth + 1);
            return true;
        });
    }
    void look(std::string const& name, contents& inside, int depth) { // NOLINT(misc-no-recursion)
        bool const read = each_in(name, [&](char const* inner, unsigned char kind) {
            if (++inside.entries > most_copied) inside.small = false;
            auto const path = inside.small || kind != DT_LNK ? cat(name, "/", std::string_view{inner}) : std::string{};
            if (inside.small) inside.names.push_back(path);
            if (kind == DT_LNK) return true;
            struct stat facts {};
            if (::fstatat(etc_, path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return true;
            if (S_ISLNK(facts.st_mode)) return true;
            if (!may_show(facts) || depth > deepest || inside.entries > most_entries) inside.whole = false;
            if (S_ISREG(facts.st_mode) && (facts.st_size > largest_copied || (facts.st_mode & 0111))) inside.small = false;
            if (S_ISDIR(facts.st_mode)) inside.small = false;
            if (S_ISDIR(facts.st_mode) && inside.whole) look(path, inside, depth + 1);
            return inside.whole;
        });
        if (!read) inside.whole = false;
    }
    template <class Use>
    bool each_in(std::string const& folder, Use use) const {
        int const fd = ::openat(etc_, folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        std::unique_ptr<DIR, int (*)(DIR*)> const names{fd < 0 ? nullptr : ::fdopendir(fd), &::closedir};
        if (!names) {
            if (fd >= 0) ::close(fd);
            return false;
        }
        while (auto const* const one = ::readdir(names.get()))
            if (std::string_view const name{one->d_name}; name != "." && name != ".." && !use(one->d_name, one->d_type)) break;
        return true;
    }

    int etc_;
    bool by_all_;
    std::vector<std::string> found_;
};

} // namespace sb::sandbox
