// SPDX-License-Identifier: MIT
// Where in a v2 hierarchy our groups can be made: decided from what was read, so that a recorded host is a test.
//
// How it works: a v2 group either holds processes or hands controllers to its children, never both; only the root of
// the hierarchy may do both. So there are three places for us, tried from the nearest: our own group, if we are alone
// in it (we then move into a child and back at the end); a group above it that hands controllers down already; the root,
// where a controller that is off may be switched on and is switched off again. Going up leaves the limits of the groups
// that are left: where one of those holds memory or processor time we stay under it. A limit of processes is taken along.
#pragma once
#include <sb/core/text.hpp>
#include <sb/isolate/cgroup_text.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sb::isolate {

/// One group on the way from our own up to where the hierarchy is mounted.
struct v2_level {
    std::string path;
    bool root = false; ///< of the whole hierarchy, not of a namespace
    std::vector<std::string> available, enabled; ///< cgroup.controllers, cgroup.subtree_control
    std::string cannot_make; ///< why no child can be made and no process moved here; empty: both can
    bool can_switch = false; ///< cgroup.subtree_control may be written
    int strangers = 0; ///< processes in it other than ours
    std::string holds; ///< "memory.max 1073741824": a limit that leaving it would lose; empty: none
    std::optional<std::int64_t> pids_max; ///< a limit that can be taken along
};

struct v2_plan {
    std::optional<std::size_t> level; ///< where; nothing: nowhere
    std::vector<controller> has; ///< of the wanted; cpuacct is everywhere
    std::vector<controller> switch_on; ///< those of them that are off
    bool move_self = false; ///< we must leave this group for a child of it first
    std::optional<std::int64_t> pids_max; ///< of the groups that are left
    std::string why_not[std::size(all_controllers)]; ///< for each wanted controller that is not in `has`
};

namespace detail {

struct v2_offer {
    std::vector<controller> has, switch_on;
    bool move_self = false;
    std::string why_not[std::size(all_controllers)];
};

inline v2_offer offer_of(v2_level const& at, bool own, std::vector<controller> const& wanted) {
    v2_offer offer;
    for (auto const c : wanted) {
        auto& why = offer.why_not[static_cast<std::size_t>(c)];
        auto const name = name_of(c);
        if (c == controller::cpuacct || contains(at.enabled, name)) offer.has.push_back(c);
        else if (!contains(at.available, name)) why = cat("no ", name, " controller in ", at.path);
        else if (!at.can_switch) why = cat("the ", name, " controller is off below ", at.path, " and we may not write its cgroup.subtree_control");
        else if (!at.root && !own) why = cat("the ", name, " controller is off below ", at.path, ", which is not ours");
        else if (!at.root && at.strangers > 0)
            why = cat(at.path, " cannot hand out the ", name, " controller: ", at.strangers, at.strangers == 1 ? " other process is" : " other processes are", " in it");
        else offer.has.push_back(c), offer.switch_on.push_back(c), offer.move_self |= !at.root;
    }
    return offer;
}

} // namespace detail

/// The place that gives most of what is wanted; of equals the nearest. `levels` begin with our own group.
inline v2_plan plan_v2(std::vector<v2_level> const& levels, std::vector<controller> const& wanted) {
    v2_plan best;
    std::optional<std::int64_t> left_pids;
    std::string last_wall; // why nothing further up can be used
    bool told = false;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        auto const& at = levels[i];
        if (!at.cannot_make.empty()) {
            if (!told)
                for (auto const c : wanted) best.why_not[static_cast<std::size_t>(c)] = at.cannot_make;
            told = true;
        } else {
            auto offer = detail::offer_of(at, i == 0, wanted);
            if (!best.level || offer.has.size() > best.has.size()) {
                best.level = i;
                best.has = std::move(offer.has);
                best.switch_on = std::move(offer.switch_on);
                best.move_self = offer.move_self;
                best.pids_max = left_pids;
                for (auto const c : wanted) best.why_not[static_cast<std::size_t>(c)] = std::move(offer.why_not[static_cast<std::size_t>(c)]);
                told = true;
            }
        }
        if (!at.holds.empty()) {
            last_wall = cat("; going further up would leave the limit ", at.holds, " of ", at.path);
            break;
        }
        if (at.pids_max) left_pids = left_pids ? std::min(*left_pids, *at.pids_max) : *at.pids_max;
    }
    for (auto& why : best.why_not)
        if (!why.empty()) why += last_wall;
    return best;
}

} // namespace sb::isolate
