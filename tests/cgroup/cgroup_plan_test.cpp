// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/cgroup/cgroup_plan.hpp>

using namespace sb::cgroup;

namespace {

std::vector<controller> const everything{controller::memory, controller::pids, controller::cpu, controller::cpuacct};

v2_place place(std::string path, std::vector<std::string> available, std::vector<std::string> enabled) {
    v2_place one;
    one.path = std::move(path);
    one.available = std::move(available), one.enabled = std::move(enabled);
    one.can_switch = true;
    return one;
}
std::string const& why(v2_plan const& p, controller c) { return p.why_not[static_cast<std::size_t>(c)]; }

} // namespace

TEST_CASE("groups are made at the root of a v2 hierarchy when we are there, and what is off there is switched on") {
    auto root = place("/sys/fs/cgroup", {"cpuset", "cpu", "io", "memory", "pids"}, {"cpu", "pids"});
    root.root = true, root.strangers = 90;
    auto const plan = plan_v2(root, everything);
    CHECK(plan.usable);
    CHECK(plan.has == everything);
    CHECK(plan.switch_on == std::vector<controller>{controller::memory});
    CHECK_FALSE(plan.move_self);
}

TEST_CASE("alone in a delegated group we move into a child of it") {
    auto const plan = plan_v2(place("/sys/fs/cgroup/job", {"memory", "pids", "cpu"}, {}), everything);
    CHECK(plan.usable);
    CHECK(plan.has == everything);
    CHECK(plan.switch_on.size() == 3);
    CHECK(plan.move_self);
}

TEST_CASE("with others in our group it counts processor time alone, and the reason says how to have more") {
    auto own = place("/c/app.slice/term.scope", {"memory", "pids"}, {});
    own.strangers = 1;
    auto const plan = plan_v2(own, everything);
    CHECK(plan.usable);
    CHECK(plan.has == std::vector<controller>{controller::cpuacct});
    CHECK(plan.switch_on.empty());
    CHECK_FALSE(plan.move_self);
    CHECK(why(plan, controller::memory) == "/c/app.slice/term.scope cannot give children the memory controller: 1 other process is in it; start sb-exec alone in a group "
                                           "(systemd-run --scope -p Delegate=yes sb-exec …), or name one with --cgroup");
    CHECK(why(plan, controller::cpu) == "no cpu controller in /c/app.slice/term.scope; start sb-exec alone in a group (systemd-run --scope -p Delegate=yes sb-exec …), or "
                                        "name one with --cgroup");
}

TEST_CASE("a place that the caller names is taken from outside of it, and nobody moves there but our groups") {
    auto named = place("/c/mine", {"memory", "pids", "cpu"}, {"pids"});
    named.own = false, named.named = true;
    auto const plan = plan_v2(named, everything);
    CHECK(plan.has == everything);
    CHECK(plan.switch_on == std::vector<controller>{controller::memory, controller::cpu});
    CHECK_FALSE(plan.move_self);
    named.strangers = 2;
    auto const taken = plan_v2(named, everything);
    CHECK(taken.has == std::vector<controller>{controller::pids, controller::cpuacct});
    CHECK(why(taken, controller::memory) == "/c/mine cannot give children the memory controller: 2 other processes are in it");
}

TEST_CASE("where no group can be made the reason is given") {
    auto own = place("/c/user.slice/x", {"memory"}, {});
    own.cannot_make = "make group /c/user.slice/x/sandbench-0.probe: Permission denied", own.named = true;
    auto const plan = plan_v2(own, everything);
    CHECK_FALSE(plan.usable);
    CHECK(plan.has.empty());
    CHECK(why(plan, controller::memory) == own.cannot_make);
}

TEST_CASE("a hierarchy without controllers still counts processor time") {
    auto root = place("/sys/fs/cgroup/unified", {"hugetlb"}, {});
    root.root = true;
    auto const plan = plan_v2(root, everything);
    CHECK(plan.has == std::vector<controller>{controller::cpuacct});
    CHECK(why(plan, controller::memory) == "no memory controller in /sys/fs/cgroup/unified");
}

TEST_CASE("what is switched on already is used, whoever else is there and whoever may switch") {
    auto own = place("/c/own", {"memory", "pids", "cpu"}, {"memory", "pids", "cpu"});
    own.strangers = 5, own.can_switch = false;
    auto const plan = plan_v2(own, everything);
    CHECK(plan.has == everything);
    CHECK(plan.switch_on.empty());
    CHECK_FALSE(plan.move_self);
    for (auto const c : everything) CHECK(why(plan, c).empty());
}

TEST_CASE("a controller that is off where we may not switch is told with the file") {
    auto own = place("/c/own", {"memory"}, {});
    own.can_switch = false;
    auto const plan = plan_v2(own, {controller::memory});
    CHECK(plan.usable);
    CHECK(plan.has.empty());
    CHECK(why(plan, controller::memory).starts_with("the memory controller is off below /c/own, and its cgroup.subtree_control is not writable for us; start sb-exec alone"));
}

TEST_CASE("only what is wanted is planned") {
    auto const plan = plan_v2(place("/c/own", {"memory", "pids", "cpu"}, {}), {controller::pids});
    CHECK(plan.has == std::vector<controller>{controller::pids});
    CHECK(plan.switch_on == std::vector<controller>{controller::pids});
    CHECK(why(plan, controller::memory).empty());
    auto const nothing = plan_v2(place("/c/own", {"memory"}, {}), {});
    CHECK(nothing.usable);
    CHECK(nothing.has.empty());
    CHECK_FALSE(nothing.move_self);
}

TEST_CASE("no advice is given where it would not help: at a place that was named, and at the root") {
    auto named = place("/c/mine", {}, {});
    named.own = false, named.named = true;
    CHECK(why(plan_v2(named, everything), controller::memory) == "no memory controller in /c/mine");
    auto own = place("/c/x", {"memory"}, {});
    own.cannot_make = "make group /c/x/y: Permission denied";
    CHECK(why(plan_v2(own, everything), controller::memory) == sb::cat(own.cannot_make, "; ", own_group_advice));
}
