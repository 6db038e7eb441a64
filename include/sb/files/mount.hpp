// SPDX-License-Identifier: MIT
// Mounts as descriptors: copied from a tree or newly made, changed while nobody sees them, then put in place.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <fcntl.h>
#include <initializer_list>
#include <linux/mount.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sb::files {

/// A copy of the mount at `path` with all mounts below it; nobody sees it before `attach`.
inline result<unique_fd> copy_mount(int at, std::string const& path, bool recursive = true) {
    unsigned const flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? unsigned{AT_RECURSIVE} : 0u) | (path.empty() ? unsigned{AT_EMPTY_PATH} : 0u);
    auto const fd = static_cast<int>(::syscall(SYS_open_tree, at, path.c_str(), flags));
    if (fd < 0) return last_error("open_tree", path);
    return unique_fd{fd};
}

namespace detail {
/// Sets the options of an opened file system, then carries out `command`.
inline result<void> configure(int context, std::initializer_list<std::pair<char const*, std::string>> options, unsigned command, std::string_view what, std::string_view type) {
    for (auto const& [name, text] : options) {
        auto const kind = text.empty() ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING;
        if (::syscall(SYS_fsconfig, context, kind, name, text.empty() ? nullptr : text.c_str(), 0) < 0)
            return last_error("fsconfig", cat(type, type.empty() ? "" : " ", std::string_view{name}, "=", text));
    }
    if (::syscall(SYS_fsconfig, context, command, nullptr, nullptr, 0) < 0) return last_error(what, type);
    return {};
}
} // namespace detail

/// A new file system of this type. Options are "name=value", or a name alone.
inline result<unique_fd> new_mount(std::string const& type, std::initializer_list<std::pair<char const*, std::string>> options, unsigned attributes) {
    unique_fd const context{static_cast<int>(::syscall(SYS_fsopen, type.c_str(), FSOPEN_CLOEXEC))};
    if (!context) return last_error("fsopen", type);
    SB_CHECK(detail::configure(context.get(), options, FSCONFIG_CMD_CREATE, "make file system", type));
    auto const fd = static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, attributes));
    if (fd < 0) return last_error("fsmount", type);
    return unique_fd{fd};
}

/// Changes options of the file system that this mount shows.
inline result<void> change_file_system(int mount, std::initializer_list<std::pair<char const*, std::string>> options) {
    unique_fd const context{static_cast<int>(::syscall(SYS_fspick, mount, "", FSPICK_EMPTY_PATH | FSPICK_CLOEXEC))};
    if (!context) return last_error("fspick");
    return detail::configure(context.get(), options, FSCONFIG_CMD_RECONFIGURE, "change file system", {});
}

/// Sets attributes (MOUNT_ATTR_…) on a mount and all below it.
inline result<void> change_mount(int mount, std::uint64_t set) {
    struct mount_attr change {};
    change.attr_set = set;
    if (set & MOUNT_ATTR_NOATIME) change.attr_clr = MOUNT_ATTR__ATIME; // the access-time attributes exclude each other
    if (::syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | AT_RECURSIVE, &change, sizeof change) < 0) return last_error("mount_setattr");
    return {};
}

/// Sets and clears attributes of the mount at `path`.
inline result<void> change_mount_at(std::string const& path, std::uint64_t set, std::uint64_t clear, bool recursive) {
    struct mount_attr change {};
    change.attr_set = set, change.attr_clr = clear;
    if (::syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), recursive ? AT_RECURSIVE : 0, &change, sizeof change) < 0) return last_error("mount_setattr", path);
    return {};
}

/// Shows the owners in a detached mount as this user namespace maps them. Not every file system supports this.
inline result<void> map_owners(int mount, int user_namespace) {
    struct mount_attr change {};
    change.attr_set = MOUNT_ATTR_IDMAP;
    change.userns_fd = static_cast<decltype(change.userns_fd)>(user_namespace);
    if (::syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &change, sizeof change) < 0) return last_error("mount_setattr", "to map owners");
    return {};
}

/// Puts a mount where everybody in this mount namespace sees it.
inline result<void> attach(int mount, std::string const& target) {
    if (::syscall(SYS_move_mount, mount, "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) < 0) return last_error("mount on", target);
    return {};
}

/// The same at an open place; `target` is for the error.
inline result<void> attach(int mount, int place, std::string const& target) {
    if (::syscall(SYS_move_mount, mount, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0) return last_error("mount on", target);
    return {};
}

/// Makes this mount the root and detaches the old one.
inline result<void> change_root(std::string const& to) {
    if (::chdir(to.c_str()) < 0) return last_error("change folder to", to);
    if (::syscall(SYS_pivot_root, ".", ".") < 0) return last_error("pivot_root", to);
    if (::umount2(".", MNT_DETACH) < 0) return last_error("unmount the old root");
    if (::chdir("/") < 0) return last_error("change folder to", "/");
    return {};
}

} // namespace sb::files
