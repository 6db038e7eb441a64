// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/kernel.hpp"
#include <sb/cgroup/cgroup_limits.hpp>
#include <limits>
#include <string>

using namespace sb::cgroup;

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

TEST_CASE("a share that is no number is refused") {
    machine_size const here{std::int64_t{8} << 30, 32768, 2};
    CHECK(check({-1, -1, std::numeric_limits<double>::quiet_NaN()}, here).has_error());
    CHECK(check({-1, -1, std::numeric_limits<double>::infinity()}, here).has_error());
    CHECK(check({-1, -1, 0.0009}, here).has_error());
    CHECK(check({-1, -1, 0}, here).error().on == sb::blame::caller);
}

TEST_CASE("what is not known of the machine bounds nothing, and the least is still held") {
    machine_size const unknown;
    CHECK_FALSE(check({std::int64_t{1} << 60, std::int64_t{1} << 40, 100'000}, unknown).has_error());
    CHECK(check({least_group_memory - 1, -1, -1}, unknown).has_error());
    CHECK(check({-1, 0, -1}, unknown).has_error());
    CHECK(check({-1, -1, least_group_cores / 2}, unknown).has_error());
}

TEST_CASE("the machine is as large as the kernel says") {
    auto const here = machine_size::read();
    auto const memory = sb::test::kernel::text_of("/proc/meminfo");
    REQUIRE(memory.starts_with("MemTotal:"));
    CHECK(here.memory_bytes == std::stoll(memory.substr(9)) * 1024);
    CHECK(here.pids == std::stoll(sb::test::kernel::text_of("/proc/sys/kernel/pid_max")));
    cpu_set_t ours;
    REQUIRE(::sched_getaffinity(0, sizeof ours, &ours) == 0);
    CHECK(here.cores == CPU_COUNT(&ours));
    CHECK_FALSE(check({here.memory_bytes, here.pids, static_cast<double>(here.cores)}, here).has_error());
    CHECK(check({here.memory_bytes + 1, -1, -1}, here).has_error());
}

TEST_CASE("limits are alike when all of them are") {
    group_limits const some{1 << 20, 5, 0.5, 4096};
    CHECK(some == group_limits{1 << 20, 5, 0.5, 4096});
    CHECK_FALSE(some == group_limits{1 << 20, 5, 0.5});
    CHECK_FALSE(some == group_limits{1 << 20, 5, 0.25, 4096});
    CHECK(group_limits{} == group_limits{sb::process::limits::none, sb::process::limits::none, sb::process::limits::none, sb::process::limits::none});
}
