// SPDX-License-Identifier: MIT
// What is read about control groups, against text recorded on several kinds of host.
#include "support/catch.hpp"
#include <sb/cgroup/cgroup_text.hpp>

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

TEST_CASE("the folder that holds two groups is found by whole names") {
    CHECK(detail::shared_path("/c/job/a", "/c/job/b") == "/c/job");
    CHECK(detail::shared_path("/c/job", "/c/job/b/c") == "/c/job");
    CHECK(detail::shared_path("/c/job/b/c", "/c/job") == "/c/job");
    CHECK(detail::shared_path("/c/job", "/c/jobs") == "/c");
    CHECK(detail::shared_path("/c/job", "/c/job") == "/c/job");
}
