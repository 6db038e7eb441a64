// SPDX-License-Identifier: MIT
// Empties a folder, whatever a hostile program put there: any depth, folders without permissions, links to elsewhere.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sb::files {

/// Removes the contents of `folder` and never leaves it: names are resolved one at a time and no link is followed. A tree of
/// any depth needs only two descriptors, because deeper folders are first moved up to the top.
inline result<void> empty_folder(int folder, std::string_view called) {
    std::uint64_t moved = 0;
    int last_code = 0;
    for (;;) {
        SB_TRY(auto const names, names_in(folder, called));
        if (names.empty()) return {};
        bool progress = false;
        for (auto const& name : names) {
            if (::unlinkat(folder, name.c_str(), 0) == 0 || ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) {
                progress = true;
                continue;
            }
            last_code = errno;
            auto inner = open_folder(folder, name.c_str());
            if (!inner && errno == EACCES) inner = unlock_folder(folder, name.c_str());
            if (!inner) continue;
            ::fchmod(inner.get(), 0700);
            SB_TRY(auto const within, names_in(inner.get(), cat(called, "/", name)));
            for (auto const& deep : within) {
                if (::unlinkat(inner.get(), deep.c_str(), 0) == 0 || ::unlinkat(inner.get(), deep.c_str(), AT_REMOVEDIR) == 0) {
                    progress = true;
                    continue;
                }
                (void)unlock_folder(inner.get(), deep.c_str()); // a folder's ".." changes when it moves, which needs write permission on the folder
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

} // namespace sb::files
