// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include <sb/core/exact_sum.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/sums.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace sb::stats;
using series = std::vector<double>;

TEST_CASE("sums from a value are those of whole numbers, which need no rounding", "[sums:oracle]") {
    for (std::size_t n = 0; n < 40; ++n) { // 1 … n, by the formulas for their sums
        series x;
        for (std::size_t i = 1; i <= n; ++i) x.push_back(static_cast<double>(i) + 1e9);
        auto const m = static_cast<double>(n);
        CHECK(sum_from(x, 1e9) == m * (m + 1) / 2);
        CHECK(squares_from(x, 1e9) == m * (m + 1) * (2 * m + 1) / 6);
        if (n > 0) CHECK((reach_of(x).least == 1e9 + 1 && reach_of(x).most == 1e9 + m));
    }
}

TEST_CASE("a sum does not depend on where all values lie, but for their own rounding", "[sums:property]") {
    sb::test::normal_values chance{3};
    for (std::size_t n = 1; n < 70; ++n) {
        auto const x = chance.many(n);
        double most = 0;
        series far = x;
        for (double const each : x) most = std::max(most, std::abs(each));
        for (double& each : far) each += 1048576;
        CHECK(sum_from(far, 1048576) == Approx(sum_from(x, 0)).margin(1e-9 * static_cast<double>(n)));
        auto const got = reach_of(x);
        CHECK((got.finite && std::max(-got.least, got.most) == most));
    }
}

TEST_CASE("moments of values at once are those of values one by one", "[moments:property][sums:property]") {
    sb::test::normal_values chance{4};
    for (std::size_t n = 1; n < 70; ++n)
        for (double const offset : {0.0, 1e9, -3e-200})
            for (double const scale : {1.0, 1e-150, 1e150}) {
                auto x = chance.many(n, 0, scale);
                for (double& each : x) each += offset;
                moments slow;
                for (double const each : x) slow.push(each);
                auto const got = moments::of(x);
                INFO("n " << n << " offset " << offset << " scale " << scale);
                CHECK(got.count() == slow.count());
                CHECK(*got.mean() == Approx(*slow.mean()).epsilon(1e-13).margin(1e-13 * scale));
                CHECK(got.squares() == Approx(slow.squares()).epsilon(1e-12).margin(0));
            }
}

TEST_CASE("where there is nothing to add up, or nothing finite, sums say so", "[sums:degenerate][moments:degenerate]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    CHECK(sum_from({}, 7) == 0);
    CHECK(squares_from({}, 7) == 0);
    for (std::size_t n = 1; n < 20; ++n)
        for (std::size_t at = 0; at < n; ++at)
            for (double const bad : {nan, infinite, -infinite}) {
                series x(n, 2.5);
                CHECK(reach_of(x).finite);
                x[at] = bad;
                CHECK_FALSE(reach_of(x).finite);
                CHECK_FALSE(std::isfinite(moments::of(x).squares()));
            }
    CHECK(moments::of(series(100, 0.1)).squares() == 0); // all the same: exactly nothing
    CHECK(*moments::of(series(100, 0.1)).mean() == 0.1);
    CHECK(moments::of({}).count() == 0);
    series const huge{1e308, 0, 1e308, 0, 1e308, 0};
    CHECK(*moments::of(huge).mean() == Approx(5e307)); // as one by one: the mean can be held, its spread cannot
    CHECK(std::isinf(moments::of(huge).squares()));
}
