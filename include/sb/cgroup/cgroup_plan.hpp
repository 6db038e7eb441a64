// SPDX-License-Identifier: MIT
// Can we make groups at a place in a v2 hierarchy? This is decided from data that was read, so a recorded host is a test.
//
// How it works: the place is the group that we were started in, or the one that the caller names. Groups above our own
// belong to somebody else, whoever we are: a service manager or a batch system has put its limits there, and a group beside
// ours would escape them. A v2 group either holds processes or hands controllers to its children, never both; only the root
// of the hierarchy may do both. So we must be alone in our own group. We then move into a child of it, and back at the end.
#pragma once
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/text.hpp>
#include <string>
#include <vector>

namespace sb::cgroup {

/// A group as it was found.
struct v2_place {
    std::string path;
    bool own = true; ///< it is the group that we are in
    bool named = false; ///< the caller named it
    bool root = false; ///< of the whole hierarchy, not of a namespace
    std::vector<std::string> available, enabled; ///< cgroup.controllers, cgroup.subtree_control
    std::string cannot_make; ///< why we can make no child and move no process here; empty: we can do both
    bool can_switch = false; ///< cgroup.subtree_control may be written
    int strangers = 0; ///< processes in it that are not ours
};

struct v2_plan {
    bool usable = false; ///< we can make groups there, with these controllers or without
    std::vector<controller> has; ///< of the wanted controllers; cpuacct is everywhere
    std::vector<controller> switch_on; ///< those of them that are still off
    bool move_self = false; ///< we must first move from this group into a child of it
    std::string why_not[std::size(all_controllers)]; ///< for each wanted controller that is not in `has`
};

/// Advice for a caller who has no usable group.
inline constexpr std::string_view own_group_advice = "start sb-exec alone in a group (systemd-run --scope -p Delegate=yes sb-exec …), or name one with --cgroup";

inline v2_plan plan_v2(v2_place const& at, std::vector<controller> const& wanted) {
    v2_plan plan;
    plan.usable = at.cannot_make.empty();
    for (auto const c : wanted) {
        auto& why = plan.why_not[static_cast<std::size_t>(c)];
        auto const name = name_of(c);
        bool mended_by_place = true;
        if (!plan.usable) why = at.cannot_make;
        else if (c == controller::cpuacct || contains(at.enabled, name)) plan.has.push_back(c);
        else if (!contains(at.available, name)) why = cat("no ", name, " controller in ", at.path), mended_by_place = !at.root;
        else if (!at.can_switch) why = cat("the ", name, " controller is off below ", at.path, ", and its cgroup.subtree_control is not writable for us");
        else if (!at.root && at.strangers > 0)
            why = cat(at.path, " cannot give children the ", name, " controller: ", at.strangers, at.strangers == 1 ? " other process is" : " other processes are", " in it");
        else plan.has.push_back(c), plan.switch_on.push_back(c), plan.move_self |= at.own && !at.root;
        if (!why.empty() && !at.named && mended_by_place) why += cat("; ", own_group_advice);
    }
    return plan;
}

} // namespace sb::cgroup
