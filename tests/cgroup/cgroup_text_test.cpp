// SPDX-License-Identifier: MIT
// What is read about control groups and what is decided from it, against text recorded on several kinds of host.
#include "support/catch.hpp"
#include <sb/cgroup/cgroup_limits.hpp>
#include <sb/cgroup/cgroup_plan.hpp>
#include <sb/cgroup/cgroup_remove.hpp>

using namespace sb::cgroup;

namespace {

constexpr auto v1_mounts = "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
                           "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
                           "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
                           "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
                           "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr auto v1_groups = "9:name=systemd:/\n4:memory:/jobs/7\n2:cpu,cpuacct:/\n0::/\n";

constexpr auto v2_mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";
constexpr auto v2_groups = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n";

// inside a container: the folder of the container is mounted, and /proc/self/cgroup speaks of the whole hierarchy
constexpr auto bind_mounts = "700 690 0:32 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup memory rw,memory\n";
constexpr auto bind_groups = "4:memory:/docker/abc/inner\n";

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

TEST_CASE("hierarchies of a hybrid host are told apart, each with our place in it") {
    auto const all = read_hierarchies(std::string{v1_mounts}, std::string{v1_groups});
    REQUIRE(all.size() == 4);
    CHECK(all[0].controllers == std::vector<std::string>{"cpu", "cpuacct"});
    CHECK(all[0].own == "/sys/fs/cgroup/cpu,cpuacct");
    CHECK(all[1].own == "/sys/fs/cgroup/memory/jobs/7");
    CHECK(all[3].version == 2);
    CHECK(all[3].own == "/sys/fs/cgroup/unified");
}

TEST_CASE("the one hierarchy of a v2 host is found with our place in it") {
    auto const all = read_hierarchies(v2_mounts, v2_groups);
    REQUIRE(all.size() == 1);
    CHECK(all[0].version == 2);
    CHECK(all[0].own == "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope");
}

TEST_CASE("a hierarchy mounted from a folder of its own is read relative to that folder") {
    auto const inside = read_hierarchies(bind_mounts, bind_groups);
    REQUIRE(inside.size() == 1);
    CHECK(inside[0].own == "/sys/fs/cgroup/memory/inner");
    CHECK(read_hierarchies(bind_mounts, "4:memory:/docker/abcdef\n")[0].own.empty()); // another's, whose name begins alike
    CHECK(read_hierarchies(bind_mounts, "4:memory:/docker/abc\n")[0].own == "/sys/fs/cgroup/memory");
}

TEST_CASE("a place outside the cgroup namespace is no place") {
    CHECK(read_hierarchies(v2_mounts, "0::/../other\n")[0].own.empty());
}

TEST_CASE("a mount point with a blank in its name is read as it is") {
    auto const all = read_hierarchies("1 1 0:1 / /a\\040b rw - cgroup2 none rw\n", "0::/x\n");
    CHECK(all.at(0).own == "/a b/x");
}

TEST_CASE("broken lines name no hierarchy") {
    CHECK(read_hierarchies("", "").empty());
    CHECK(read_hierarchies("garbage\n - \n1 2 3 - cgroup2\n", "x\n:\n::\n").empty());
}

TEST_CASE("a number is found by its whole key") {
    constexpr auto events = "low 0\nhigh 0\nmax 24\noom 1\noom_kill 3\noom_group_kill 0\n";
    CHECK(keyed_number(events, "oom") == 1);
    CHECK(keyed_number(events, "oom_kill") == 3);
    CHECK(keyed_number(events, "max") == 24);
    CHECK_FALSE(keyed_number(events, "kill"));
    CHECK_FALSE(keyed_number("max", "max"));
    CHECK_FALSE(keyed_number("max x\n", "max"));
    CHECK(sb::lone_number("9223372036854771712\n") == 9223372036854771712);
    CHECK(sb::lone_number("-1\n") == -1);
    CHECK_FALSE(sb::lone_number("max\n"));
    CHECK_FALSE(sb::lone_number(""));
}

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

TEST_CASE("the folder that holds two groups is found by whole names") {
    CHECK(detail::shared_path("/c/job/a", "/c/job/b") == "/c/job");
    CHECK(detail::shared_path("/c/job", "/c/job/b/c") == "/c/job");
    CHECK(detail::shared_path("/c/job/b/c", "/c/job") == "/c/job");
    CHECK(detail::shared_path("/c/job", "/c/jobs") == "/c");
    CHECK(detail::shared_path("/c/job", "/c/job") == "/c/job");
}

TEST_CASE("a share of processor time is a quota in a short period, and no quota is under a millisecond") {
    CHECK(quota_for(0.5) == cpu_quota{10'000, 20'000});
    CHECK(quota_for(2) == cpu_quota{40'000, 20'000});
    CHECK(quota_for(0.05) == cpu_quota{1000, 20'000});
    CHECK(quota_for(0.01) == cpu_quota{1000, 100'000});
    CHECK(quota_for(0.001) == cpu_quota{1000, 1'000'000});
    for (double cores = 0.001; cores < 64; cores *= 1.13) CHECK(quota_for(cores).cores() == Approx(cores).epsilon(0.001));
}

TEST_CASE("limits of nothing and beyond the machine are refused, and the refusal names them") {
    machine_size const here{std::int64_t{8} << 30, 32768, 2};
    auto const refusal = [&](group_limits const& l) {
        auto const got = check(l, here);
        return got.has_error() ? got.error().what : std::string{};
    };
    CHECK(refusal({}).empty());
    CHECK(refusal({std::int64_t{8} << 30, 32768, 2}).empty());
    CHECK(refusal({1 << 20, 1, 0.001}).empty());
    CHECK(refusal({0, -1, -1}) == "a memory limit of 0 bytes is too small: a program needs at least 1048576 to start");
    CHECK(refusal({(std::int64_t{8} << 30) + 1, -1, -1}) == "a memory limit of 8589934593 bytes limits nothing: this machine has 8589934592");
    CHECK(refusal({-1, 0, -1}) == "a limit of 0 processes lets nothing start; give at least 1");
    CHECK(refusal({-1, 40000, -1}) == "a limit of 40000 processes limits nothing: this machine allows 32768");
    CHECK(refusal({-1, -1, 0}) == "a limit of 0.0000 processors is too small; give at least 0.001");
    CHECK(refusal({-1, -1, 2.5}) == "a limit of 2.50 processors limits nothing: 2 are usable here");
}

TEST_CASE("only names that carry the whole id are groups of a session") {
    CHECK(detail::is_group_of("sandbench-0123456789ab", "0123456789ab"));
    CHECK(detail::is_group_of("sandbench-0123456789ab.slot0", "0123456789ab"));
    CHECK_FALSE(detail::is_group_of("sandbench-0123456789abc.slot0", "0123456789ab"));
    CHECK_FALSE(detail::is_group_of("sandbench-1123456789ab", "0123456789ab"));
    CHECK_FALSE(detail::is_group_of("0123456789ab", "0123456789ab"));
    CHECK(is_session_id("0123456789ab"));
    CHECK_FALSE(is_session_id(""));
    CHECK_FALSE(is_session_id("0123456789aB"));
    CHECK_FALSE(is_session_id("0123456789a/"));
    CHECK_FALSE(is_session_id("0123456789abc"));
}
