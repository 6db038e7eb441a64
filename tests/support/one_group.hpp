// SPDX-License-Identifier: MIT
// One control group of a test, and what is there of a session's groups.
#pragma once
#include "support/group.hpp"
#include <sb/cgroup/cgroup_remove.hpp>
#include <sb/files/folder.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sb::test {

inline constexpr std::int64_t mib = 1 << 20;

inline void skip(char const* why) { WARN("SKIPPED: " << why); }
inline void skip_before(int major, int minor, char const* why) { // what newer kernels have, we have failed to read
    REQUIRE_FALSE(kernel::is_at_least(major, minor));
    skip(why);
}

/// One group, ready for its first run.
struct group_for_test {
    cgroup::cgroup_host host = groups_here();
    std::optional<cgroup::cgroup> group;
    void make() {
        auto made = cgroup::cgroup::make(host, "test");
        INFO((made.has_error() ? made.error().what : std::string{}));
        REQUIRE_FALSE(made.has_error());
        group.emplace(std::move(*made));
        auto const settled = settle(*group);
        INFO((settled.has_error() ? settled.error().what : std::string{}));
        REQUIRE_FALSE(settled.has_error());
    }
    cgroup::limits_in_force hold(cgroup::group_limits const& l) {
        auto const got = group->hold(l);
        INFO((got.has_error() ? got.error().what : std::string{}));
        REQUIRE_FALSE(got.has_error());
        return *got;
    }
    void begin() {
        auto const began = group->begin();
        INFO((began.has_error() ? began.error().what : std::string{}));
        REQUIRE_FALSE(began.has_error());
    }
};

/// All folders of all hierarchies whose name has `id` in it.
inline std::vector<std::string> named(std::string const& folder, std::string const& id) {
    std::vector<std::string> found;
    auto const fd = files::open_folder(AT_FDCWD, folder.c_str());
    if (!fd) return found;
    auto const groups = cgroup::detail::child_groups(fd.get());
    for (auto const& name : groups ? *groups : std::vector<std::string>{}) {
        auto const path = cat(folder, "/", name);
        if (name.find(id) != std::string::npos) found.push_back(path);
        auto const deeper = named(path, id);
        found.insert(found.end(), deeper.begin(), deeper.end());
    }
    return found;
}

inline int died_of(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

} // namespace sb::test
