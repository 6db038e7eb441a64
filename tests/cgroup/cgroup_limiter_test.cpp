// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/made_up_group.hpp"
#include <sb/cgroup/cgroup_limiter.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace sb::cgroup;
using sb::test::made_up_group;

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// The files that a limiter writes, empty before each act: plain files keep what a shorter text does not cover.
struct group : made_up_group {
    int version;
    std::vector<char const*> names;
    explicit group(int v) : version{v} {
        names = v == 1 ? std::vector{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes", "pids.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"}
                       : std::vector{"memory.max", "memory.swap.max", "pids.max", "cpu.max"};
        clear();
        write("pids.current", "3\n");
    }
    void clear() const {
        for (auto const* const each : names) write(each, "");
    }
    /// All that was written, in the order of the names; "-" where nothing was.
    std::string written() const {
        std::string text;
        for (auto const* const each : names) {
            auto const now = read(each);
            text += sb::cat(text.empty() ? "" : "|", now.empty() ? "-" : now);
        }
        return text;
    }
};
struct limited : group {
    group_meter meter;
    cgroup_limiter limiter;
    explicit limited(int v) : group{v}, meter{places(v)}, limiter{places(v), "sb-x"} {}
    std::string impose(group_limits const& asked) {
        clear();
        auto const done = limiter.impose(asked, meter);
        return done.has_error() ? done.error().what : written();
    }
    /// Of 64 MiB, ten processes and half a processor.
    void check_in_force(std::optional<std::int64_t> socket_bytes) const {
        auto const& now = limiter.in_force();
        CHECK(now.memory_bytes == 64 * mebibyte);
        CHECK(now.swap_too);
        CHECK(now.pids == 10);
        CHECK(now.cores == 0.5);
        CHECK(now.socket_bytes == socket_bytes);
    }
};

} // namespace

TEST_CASE("limits are written as each version has them, and processes that are not the payload's do not count") {
    limited two{2};
    CHECK(two.impose({64 * mebibyte, 10, 0.5, 2 * mebibyte}) == "67108864|0|13|10000 20000");
    two.check_in_force(std::nullopt); // part of memory

    limited one{1};
    CHECK(one.impose({64 * mebibyte, 10, 0.5, 2 * mebibyte}) == "67108864|67108864|1048576|13|10000|20000");
    one.check_in_force(mebibyte); // senders wait at half of it
}

TEST_CASE("only what differs is written, and no limit is written as the kernel has it") {
    limited two{2};
    REQUIRE(two.impose({64 * mebibyte, 10, 0.5, -1}) == "67108864|0|13|10000 20000");
    CHECK(two.impose({64 * mebibyte, 10, 0.5, -1}) == "-|-|-|-");
    CHECK(two.impose({64 * mebibyte, 11, 0.5, -1}) == "-|-|14|-");
    CHECK(two.impose({}) == "max|max|max|max 100000");
    CHECK_FALSE(two.limiter.in_force().memory_bytes);
    CHECK_FALSE(two.limiter.in_force().pids);
    CHECK_FALSE(two.limiter.in_force().cores);
    CHECK(two.impose({}) == "-|-|-|-");

    limited one{1};
    REQUIRE(one.impose({64 * mebibyte, 10, 0.5, 2 * mebibyte}) == "67108864|67108864|1048576|13|10000|20000");
    CHECK(one.impose({}) == "-1|-1|-1|max|-1|-");
}

TEST_CASE("a limit of processes that was forgotten is written again, with those who are there now") {
    limited two{2};
    REQUIRE(two.impose({-1, 10, -1.0, -1}) == "-|-|13|-");
    two.limiter.forget_pids(), two.meter.forget();
    two.write("pids.current", "5\n");
    CHECK(two.impose({-1, 10, -1.0, -1}) == "-|-|15|-");
    CHECK(two.limiter.in_force().pids == 10);
}

TEST_CASE("a limit that the kernel does not take is an error, and one that no file can hold is not in force") {
    {
        limited two{2};
        auto places = two.places(2);
        for (auto const* const each : two.names) { // as a kernel without these files
            REQUIRE(::unlink((two / each).c_str()) == 0);
        }
        cgroup_limiter none{places, "sb-x"};
        CHECK_FALSE(none.impose({64 * mebibyte, 10, 0.5, -1}, two.meter).has_error());
        CHECK_FALSE(none.in_force().memory_bytes);
        CHECK_FALSE(none.in_force().pids);
        CHECK_FALSE(none.in_force().cores);
    }
    for (auto const& [name, asked, said] : std::vector<std::tuple<char const*, group_limits, char const*>>{
             {"memory.max", {64 * mebibyte, -1, -1.0, -1}, "limit memory to 67108864 in sb-x: "},
             {"pids.max", {-1, 10, -1.0, -1}, "limit processes in sb-x: "},
             {"cpu.max", {-1, -1, 0.5, -1}, "limit processor time to 0.500 processors in sb-x: "}}) {
        limited full{2};
        REQUIRE(::unlink((full / name).c_str()) == 0);
        REQUIRE(::symlink("/dev/full", (full / name).c_str()) == 0); // whoever writes to it is refused
        cgroup_limiter limiter{full.places(2), "sb-x"};
        auto const got = limiter.impose(asked, full.meter);
        REQUIRE(got.has_error());
        CHECK(got.error().what.substr(0, std::string{said}.size()) == said);
    }
}
