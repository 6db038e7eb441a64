// SPDX-License-Identifier: MIT
// Whether groups of ours can be made at a place in a v2 hierarchy: decided from what was read, so that a recorded host is a test.
//
// How it works: the place is the group that we were started in, or the one that the caller names. Groups above our own are
// somebody else's, whoever we are: a service manager or a batch system has put its limits there, and a group beside ours would be
// out of them. A v2 group either holds processes or hands controllers to its children, never both; only the root of the
// hierarchy may do both. So in our own group we must be alone: we then move into a child of it, and back at the end.
#pragma once
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/text.hpp>
#include <string>
#include <vector>

namespace sb::cgroup {

/// A group as it was found.
struct v2_place {
    std::string path;
    bool own = true; ///< we are in it
    bool named = false; ///< the caller has named it
    bool root = false; ///< of the whole hierarchy, not of a namespace
    std::vector<std::string> available, enabled; ///< cgroup.controllers, cgroup.subtree_control
    std::string cannot_make; ///< why no child can be made and no process moved here; empty: both can
    bool can_switch = false; ///< cgroup.subtree_control may be written
    int strangers = 0; ///< processes in it other than ours
};

struct v2_plan {
    bool usable = false; ///< groups can be made there, with these controllers or without
    std::vector<controller> has; ///< of the wanted; cpuacct is everywhere
    std::vector<controller> switch_on; ///< those of them that are off
    bool move_self = false; ///< we must leave this group for a child of it first
    std::string why_not[std::size(all_controllers)]; ///< for each wanted controller that is not in `has`
};

/// How a caller gets groups where there are none for him.
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
