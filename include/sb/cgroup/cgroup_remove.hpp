// SPDX-License-Identifier: MIT
// Kills what runs in our control groups and removes them. Our groups are recognized by name, whoever made them.
#pragma once
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/remove_tree.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <vector>

namespace sb::cgroup {

inline constexpr std::string_view group_prefix = "sandbench-";

/// Only what random_id makes: an id becomes part of the names of folders that are removed.
constexpr bool is_session_id(std::string_view id) noexcept {
    if (id.size() != 12) return false;
    for (char const c : id)
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    return true;
}

namespace detail {

inline bool is_cgroup_folder(int folder) noexcept {
    struct statfs facts {};
    return ::fstatfs(folder, &facts) == 0 && (facts.f_type == 0x27e0eb || facts.f_type == 0x63677270);
}

/// "sandbench-ID" or "sandbench-ID.word"
inline bool is_group_of(std::string_view name, std::string_view id) noexcept {
    if (!name.starts_with(group_prefix)) return false;
    name.remove_prefix(group_prefix.size());
    return name.starts_with(id) && (name.size() == id.size() || name[id.size()] == '.');
}

inline std::string read_at(int folder, char const* name) {
    unique_fd const file{::openat(folder, name, O_RDONLY | O_CLOEXEC)};
    std::string text;
    char block[4096];
    if (file)
        for (ssize_t n; (n = retry([&] { return ::read(file.get(), block, sizeof block); })) > 0;) text.append(block, static_cast<std::size_t>(n));
    return text;
}
inline result<void> write_at(int folder, char const* name, std::string_view text) {
    unique_fd const file{::openat(folder, name, O_WRONLY | O_CLOEXEC)};
    if (!file) return last_error("open", name);
    return write_once(file.get(), text, name);
}

inline result<std::vector<std::string>> child_groups(int folder, std::string_view called = {}) {
    SB_TRY(auto names, files::names_in(folder, called));
    std::erase_if(names, [&](std::string const& name) {
        struct stat facts {};
        return ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(facts.st_mode);
    });
    return names;
}

/// Kills each process listed in the group at `folder`, called `name`; true when there was none.
inline bool kill_listed(int folder, std::string_view name) {
    bool none = true;
    for (auto const& word : words(read_at(folder, "cgroup.procs"))) {
        auto const pid = static_cast<pid_t>(lone_number(word).value_or(0));
        if (pid <= 0) continue; // 0: in a pid namespace that we cannot see
        none = false;
        // another process may have the number by now: so open a pidfd first, then check once more
        unique_fd const held{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
        if (!held) continue;
        auto const there = read_file(cat("/proc/", pid, "/cgroup"));
        if (there.has_error() || there->find(name) == std::string::npos) continue;
        ::syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0);
    }
    return none;
}

/// Kills all that runs in a group and below, once. A v1 group is first forbidden to fork, so that this ends.
inline bool kill_group(int folder, std::string_view name) {
    if (!write_at(folder, "cgroup.kill", "1").has_error()) return read_at(folder, "cgroup.events").find("populated 0") != std::string::npos;
    (void)write_at(folder, "pids.max", "0");
    auto const inside = child_groups(folder);
    bool none = inside.has_value(); // processes in groups that we cannot see stay alive
    if (inside)
        for (auto const& inner : *inside)
            if (auto const deeper = files::open_folder(folder, inner.c_str()); deeper || errno != ENOENT) none &= deeper && kill_group(deeper.get(), name);
    return kill_listed(folder, name) && none;
}

/// Removes a group and those below it. They contain no process any more.
inline bool remove_group_tree(int parent, char const* name) {
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    auto const folder = files::open_folder(parent, name);
    if (!folder) return errno == ENOENT;
    if (auto const inside = child_groups(folder.get()))
        for (auto const& inner : *inside) (void)remove_group_tree(folder.get(), inner.c_str());
    return ::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

} // namespace detail

/// How long to wait for the end of killed processes.
inline constexpr std::int64_t removal_patience_ns = 5'000'000'000;

/// Kills what is in the groups of `id` in the folder `base` and removes these groups, except the one named `spare`. A `base`
/// that does not exist has none. A `base` that is not a cgroup folder is an error and is left unchanged.
inline result<void> remove_groups(std::string const& base, std::string_view id, std::string_view spare = {}) {
    auto const folder = files::open_folder(AT_FDCWD, base.c_str());
    if (!folder) {
        if (errno == ENOENT) return {};
        return last_error("open", base);
    }
    if (!detail::is_cgroup_folder(folder.get())) return system_error(base + ": not a control group folder, left alone");
    auto const until = monotonic_ns() + removal_patience_ns;
    SB_TRY(auto const groups, detail::child_groups(folder.get(), base));
    for (auto const& name : groups) {
        if (!detail::is_group_of(name, id) || name == spare) continue;
        for (std::int64_t wait = 50'000;; wait = std::min<std::int64_t>(wait * 2, 5'000'000)) {
            if (detail::remove_group_tree(folder.get(), name.c_str())) break;
            int const code = errno;
            if (code != EBUSY && code != ENOTEMPTY) return errno_error("remove group", cat(base, "/", name), code);
            if (auto const inner = files::open_folder(folder.get(), name.c_str())) (void)detail::kill_group(inner.get(), name);
            if (monotonic_ns() > until) return errno_error("remove group", cat(base, "/", name), code);
            nap(wait);
        }
    }
    return {};
}

/// Switches controllers off again in `base`, unless a group there needs them: another of ours, or one with a limit. False
/// when one stays on for that reason, or because the groups there cannot be read.
inline bool switch_off(std::string const& base, std::vector<std::string> const& names) {
    auto const folder = files::open_folder(AT_FDCWD, base.c_str());
    if (!folder || !detail::is_cgroup_folder(folder.get())) return true;
    auto const groups = detail::child_groups(folder.get());
    if (!groups) return false;
    auto const needs = [&](std::string const& group, std::string const& name) {
        if (group.starts_with(group_prefix)) return group.find(".supervisor") == std::string::npos;
        auto const inner = files::open_folder(folder.get(), group.c_str());
        if (!inner) return false;
        for (auto const* suffix : {".max", ".high", ".low", ".min", ".swap.max", ".weight"}) {
            auto const text = detail::read_at(inner.get(), cat(name, suffix).c_str());
            auto const value = trim(text);
            if (!value.empty() && !value.starts_with("max") && value != "0" && value != "100") return true;
        }
        return false;
    };
    bool none_needed = true;
    for (auto const& name : names)
        if (std::any_of(groups->begin(), groups->end(), [&](std::string const& g) { return needs(g, name); })) none_needed = false;
        else (void)detail::write_at(folder.get(), "cgroup.subtree_control", cat("-", name)); // refused where a group hands it further down
    return none_needed;
}

} // namespace sb::cgroup
