// SPDX-License-Identifier: MIT
#include <sb/stats/order_trend.hpp>
#include <sb/stats/robust.hpp>
#include "support/catch.hpp"
#include <limits>
#include <vector>

using sb::stats::fence_of;
using sb::stats::median_of;
using sb::stats::order_trend_of;
using numbers = std::vector<double>;

TEST_CASE("a median is the middle, or the mean of two middles, and 0 of nothing", "[robust:oracle][robust:degenerate]") {
    CHECK(median_of(numbers{}) == 0);
    CHECK(median_of(numbers{7}) == 7);
    CHECK(median_of(numbers{9, 1}) == 5);
    CHECK(median_of(numbers{9, 1, 4}) == 4);
    CHECK(median_of(numbers{9, 1, 4, 5}) == 4.5);
}

TEST_CASE("a fence lies ten robust deviations around the median", "[robust:property]") {
    // median 12, deviations 0 0 1 1 2 2 3 38, their median 1.5
    numbers const series{10, 11, 12, 12, 13, 14, 9, 50};
    auto const found = fence_of(series, 0);
    CHECK(found.median == 12);
    CHECK(found.hi == Approx(12 + 14.826 * 1.5));
    CHECK(found.lo == Approx(12 - 14.826 * 1.5));
    CHECK_FALSE(found.holds(50));
    CHECK(found.holds(14));
}

TEST_CASE("a fence around equal values is a tenth of them wide, and one around nothing is none", "[robust:degenerate]") {
    auto const same = fence_of(numbers{2, 2, 2, 2, 2, 2, 3});
    CHECK(same.lo == Approx(1.8));
    CHECK(same.hi == Approx(2.2));
    CHECK_FALSE(same.holds(3));
    CHECK(fence_of(numbers{}).hi == 0);
    CHECK(fence_of(numbers{5}).holds(5));
}

TEST_CASE("a trend agrees with the textbook", "[order_trend:oracle]") {
    // hours of television by rising intelligence quotient: rho = -29/165, p = 0.627188 by Student's t
    auto const found = order_trend_of(numbers{2, 20, 28, 27, 50, 29, 7, 17, 6, 12});
    REQUIRE(found);
    CHECK(found->rho == Approx(-29.0 / 165));
    CHECK(found->p == Approx(0.627188).margin(5e-7));
}

TEST_CASE("a series that only rises or falls has the smallest p that its orders allow", "[order_trend:property]") {
    auto const up = order_trend_of(numbers{1, 2, 3, 4, 5}), down = order_trend_of(numbers{5, 4, 3, 2, 1});
    REQUIRE((up && down));
    CHECK(up->rho == 1);
    CHECK(down->rho == -1);
    CHECK(up->p == Approx(2.0 / 120));
    CHECK(down->p == Approx(2.0 / 120));
}

TEST_CASE("equal values share their rank", "[order_trend:property]") {
    // ranks 1.5 1.5 3.5 3.5 against 1 2 3 4: covariance 4, variances 4 and 5
    auto const found = order_trend_of(numbers{1, 1, 2, 2});
    REQUIRE(found);
    CHECK(found->rho == Approx(4 / std::sqrt(20.0)));
}

TEST_CASE("too few values, or values that are all equal, have no trend", "[order_trend:degenerate]") {
    CHECK_FALSE(order_trend_of(numbers{}));
    CHECK_FALSE(order_trend_of(numbers{1}));
    CHECK_FALSE(order_trend_of(numbers{1, 2}));
    CHECK_FALSE(order_trend_of(numbers(50, 3.0)));
}
