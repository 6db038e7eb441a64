// SPDX-License-Identifier: MIT
// Empties a folder whatever a hostile program put there: any depth, folders without permissions, links to elsewhere.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace sb::isolate {

namespace detail {

inline unique_fd open_folder(int at, char const* name) {
    return unique_fd{::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

/// Names in a folder (`called` in an error), without "." and "..": all of them or an error, for one that cannot be listed
/// is not an empty one. Read through a descriptor of its own, so that no position is shared.
inline result<std::vector<std::string>> names_in(int folder, std::string_view called = {}) {
    auto again = open_folder(folder, ".");
    std::unique_ptr<DIR, int (*)(DIR*)> const all{again ? ::fdopendir(again.get()) : nullptr, &::closedir};
    if (!all) return last_error("list", called);
    (void)again.release(); // closedir closes it
    std::vector<std::string> names;
    for (;;) {
        errno = 0; // the end and a failure look alike but for this
        auto const* const entry = ::readdir(all.get());
        if (!entry && errno != 0) return last_error("list", called);
        if (!entry) return names;
        std::string_view const name{entry->d_name};
        if (name != "." && name != "..") names.emplace_back(name);
    }
}

} // namespace detail

/// Removes all that `folder` holds and never leaves it: names are resolved one at a time and no link is followed.
/// A tree of any depth takes two descriptors, for what lies deeper is first moved up to the top.
inline result<void> empty_folder(int folder, std::string_view called) {
    std::uint64_t moved = 0;
    int last_code = 0;
    for (;;) {
        SB_TRY(auto const names, detail::names_in(folder, called));
        if (names.empty()) return {};
        bool progress = false;
        for (auto const& name : names) {
            if (::unlinkat(folder, name.c_str(), 0) == 0 || ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) {
                progress = true;
                continue;
            }
            last_code = errno;
            auto inner = detail::open_folder(folder, name.c_str());
            if (!inner && errno == EACCES && ::fchmodat(folder, name.c_str(), 0700, 0) == 0) inner = detail::open_folder(folder, name.c_str());
            if (!inner) continue;
            ::fchmod(inner.get(), 0700);
            SB_TRY(auto const within, detail::names_in(inner.get(), cat(called, "/", name)));
            for (auto const& deep : within) {
                if (::unlinkat(inner.get(), deep.c_str(), 0) == 0 || ::unlinkat(inner.get(), deep.c_str(), AT_REMOVEDIR) == 0) {
                    progress = true;
                    continue;
                }
                // a folder's ".." changes when it moves, which takes write permission on the folder
                struct stat there {};
                if (::fstatat(inner.get(), deep.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(there.st_mode))
                    ::fchmodat(inner.get(), deep.c_str(), 0700, 0);
                std::string up;
                do up = cat(".sb-", ++moved);
                while (::faccessat(folder, up.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0);
                if (::renameat(inner.get(), deep.c_str(), folder, up.c_str()) == 0) progress = true;
                else last_code = errno;
            }
            if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) progress = true;
            else last_code = errno;
        }
        if (!progress) return errno_error("remove", cat(called, "/", names.front()), last_code);
    }
}

} // namespace sb::isolate
