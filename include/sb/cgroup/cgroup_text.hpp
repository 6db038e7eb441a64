// SPDX-License-Identifier: MIT
// Parses what the kernel writes about control groups: text in, facts out. No file is opened here.
#pragma once
#include <sb/core/text.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cgroup {

/// What a group can do for a run. `cpuacct` counts processor time: v1's controller of that name, v2's cpu.stat.
enum class controller { memory, pids, cpu, cpuacct };
inline constexpr controller all_controllers[] = {controller::memory, controller::pids, controller::cpu, controller::cpuacct};

constexpr std::string_view name_of(controller c) noexcept {
    constexpr std::string_view names[] = {"memory", "pids", "cpu", "cpuacct"};
    return names[static_cast<std::size_t>(c)];
}

/// One mounted hierarchy, and our place in it.
struct cgroup_hierarchy {
    int version = 0; ///< 1 or 2
    std::vector<std::string> controllers; ///< on v1, as mounted; on v2 files list them
    std::string mount; ///< the folder it is mounted on
    std::string own; ///< folder of our own group; empty when it lies outside the mounted part
};

namespace detail {

/// mountinfo writes blank, tab, newline and backslash as \ooo.
inline std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto const digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
        if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
            plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
            i += 3;
        } else plain.push_back(text[i]);
    }
    return plain;
}

/// The path of `group` (of /proc/self/cgroup) when `root` of the hierarchy is mounted on `mount`.
inline std::string seen_at(std::string_view mount, std::string_view root, std::string_view group) {
    if (group.starts_with("/..")) return {}; // outside our cgroup namespace
    if (root != "/") {
        if (!group.starts_with(root) || (group.size() > root.size() && group[root.size()] != '/')) return {};
        group.remove_prefix(root.size());
    }
    if (group == "/") group = {};
    return cat(mount, group);
}

/// The deepest folder that contains both paths or is one of them.
inline std::string shared_path(std::string_view a, std::string_view b) {
    while (!(b == a || (b.starts_with(a) && b[a.size()] == '/'))) a = a.substr(0, a.rfind('/'));
    return std::string{a};
}

} // namespace detail

/// The hierarchies in /proc/self/mountinfo, with our place from /proc/self/cgroup. If a hierarchy has two mounts, the first
/// that shows our own group counts.
inline std::vector<cgroup_hierarchy> read_hierarchies(std::string_view mountinfo, std::string_view own_groups) {
    struct membership {
        std::vector<std::string> controllers;
        std::string group;
    };
    std::vector<membership> ours;
    split(own_groups, '\n', [&](std::string_view line) {
        auto const first = line.find(':'), second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) return;
        ours.push_back({words(line.substr(first + 1, second - first - 1), ","), std::string{line.substr(second + 1)}});
    });
    std::vector<cgroup_hierarchy> hierarchies;
    split(mountinfo, '\n', [&](std::string_view line) {
        auto const dash = line.find(" - ");
        if (dash == std::string_view::npos) return;
        auto const before = words(line.substr(0, dash)), after = words(line.substr(dash + 3));
        if (before.size() < 5 || after.size() < 3) return;
        cgroup_hierarchy h;
        if (after[0] == "cgroup2") h.version = 2;
        else if (after[0] == "cgroup") h.version = 1;
        else return;
        h.mount = detail::unescaped(before[4]);
        auto const options = words(after[2], ",");
        for (auto const& m : ours) {
            bool const same = h.version == 2 ? m.controllers.empty()
                                             : !m.controllers.empty() && std::all_of(m.controllers.begin(), m.controllers.end(), [&](auto const& c) {
                                                   return contains(options, c);
                                               });
            if (!same) continue;
            if (h.version == 1) h.controllers = m.controllers;
            h.own = detail::seen_at(h.mount, detail::unescaped(before[3]), m.group);
        }
        auto const known = std::find_if(hierarchies.begin(), hierarchies.end(), [&](auto const& a) { return a.version == h.version && a.controllers == h.controllers; });
        if (known == hierarchies.end()) hierarchies.push_back(std::move(h));
        else if (known->own.empty() && !h.own.empty()) *known = std::move(h);
    });
    return hierarchies;
}

/// The number after `key` in a file of "key value" lines; `key` is a whole word.
inline std::optional<std::int64_t> keyed_number(std::string_view text, std::string_view key) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        auto const end = std::min(text.find('\n', at), text.size());
        auto const line = text.substr(at, end - at);
        if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') {
            std::int64_t n = 0;
            auto const digits = line.substr(key.size() + 1);
            if (std::from_chars(digits.data(), digits.data() + digits.size(), n).ec == std::errc{}) return n;
            return std::nullopt;
        }
        at = end + 1;
    }
    return std::nullopt;
}

} // namespace sb::cgroup
