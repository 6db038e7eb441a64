// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/clock.hpp>
#include <cstdint>
#include <ctime>

TEST_CASE("a stamp is the time of UTC to the millisecond, cut off") {
    constexpr std::int64_t s = 1'000'000'000;
    CHECK(sb::utc_stamp(0) == "1970-01-01T00:00:00.000Z");
    CHECK(sb::utc_stamp(951'782'400 * s + 7'999'999) == "2000-02-29T00:00:00.007Z"); // date -u -d @951782400
    CHECK(sb::utc_stamp(2'000'000'000 * s + 890'000'000) == "2033-05-18T03:33:20.890Z");
    CHECK(sb::utc_stamp(-1) == "1969-12-31T23:59:59.999Z"); // before 1970 too
}

TEST_CASE("the clocks are the system's") {
    auto const before = std::time(nullptr);
    auto const seconds = sb::wall_ns() / 1'000'000'000;
    CHECK(seconds >= before - 1); // time() is that of the last tick
    CHECK(seconds <= std::time(nullptr) + 1);
    auto const first = sb::monotonic_ns(), second = sb::monotonic_ns();
    CHECK(second >= first);
}
