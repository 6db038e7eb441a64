// SPDX-License-Identifier: MIT
// Builds the view of a sandbox, the part of the host that it shows, from what a caller names.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/path.hpp>
#include <sb/files/pinned.hpp>
#include <sb/sandbox/view.hpp>
#include <algorithm>
#include <fcntl.h>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace sb::local {

inline result<void> show_workspace(sandbox::view& shown, std::string const& folder) {
    SB_TRY(shown.work_place, sandbox::workspace_folder(folder));
    shown.work = shown.work_place.path();
    return {};
}

/// Takes the system folders from another place.
inline result<void> show_system(sandbox::view& shown, std::string const& folder) {
    auto root = files::pinned::open(folder);
    if (root.has_error()) return caller_error(cat("--root ", folder, ": ", root.error().what));
    shown.system = root->path();
    bool const any = std::any_of(std::begin(sandbox::system_folders), std::end(sandbox::system_folders),
                                 [&](std::string_view name) { return ::faccessat(root->fd(), std::string{name}.c_str(), F_OK, 0) == 0; });
    if (!any) return caller_error(cat("--root ", folder, ": has none of the system folders (usr, bin, lib)"));
    if (shown.system != "/") shown.system_place = std::move(*root);
    return {};
}

/// `SRC[:DST][:ro|rw]`. A system folder is read-only, so the place for the binding must exist in it.
inline result<void> show_binding(sandbox::view& shown, std::string const& text) {
    SB_TRY(auto made, sandbox::parse_binding(text));
    for (auto const name : sandbox::system_folders) {
        if (!files::is_below(made.target, cat("/", name))) continue;
        if (auto const path = cat(shown.system == "/" ? "" : shown.system, made.target); ::access(path.c_str(), F_OK) != 0)
            return caller_error(cat("--bind ", made.source, ":", made.target, ": there is no ", made.target, ", and /", name, " is read-only; choose another DST"));
    }
    shown.bindings.push_back(std::move(made));
    return {};
}

/// The folders of a PATH that are not shown yet, read-only. A relative folder is relative to the current folder of the
/// process that looks it up, and that is the workspace.
inline void show_folders(sandbox::view& shown, std::string_view path) {
    split(path, ':', [&](std::string_view folder) {
        if (!folder.starts_with('/')) return;
        auto real = files::pinned::open(std::string{folder});
        if (real.has_error() || sandbox::shows(shown, real->path()) || sandbox::is_root_folder(*real)) return;
        std::string target; // paths are compared by their names
        split(folder, '/', [&](std::string_view name) {
            if (!name.empty() && name != ".") target += cat("/", name);
        });
        if (std::any_of(shown.bindings.begin(), shown.bindings.end(), [&](sandbox::binding const& each) { return each.target == target; })) return;
        shown.bindings.push_back({real->path(), std::move(target), false, *real});
    });
}

} // namespace sb::local
