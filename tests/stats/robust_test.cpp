// SPDX-License-Identifier: MIT
#include <sb/stats/robust.hpp>
#include "support/catch.hpp"
#include <cmath>
#include <limits>
#include <vector>

using sb::stats::fence_of;
using sb::stats::median_of;
using numbers = std::vector<double>;

TEST_CASE("a median is the middle, or the mean of two middles, and no number of nothing", "[robust:oracle][robust:degenerate]") {
    CHECK(std::isnan(median_of(numbers{})));
    CHECK(std::isnan(median_of(numbers{1, NAN, 2, 3})));
    CHECK(median_of(numbers{1.5e308, 1.5e308}) == 1.5e308);
    CHECK(median_of(numbers{1.5e308, 1.7e308}) == Approx(1.6e308));
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
    CHECK(std::isnan(fence_of(numbers{}).hi));
    CHECK_FALSE(fence_of(numbers{}).holds(0));
    CHECK_FALSE(fence_of(numbers{1, NAN, 2}).holds(1));
    CHECK(fence_of(numbers{-1.7e308, -1.7e308, 1.7e308, 1.7e308, 1.7e308}).holds(0)); // a spread beyond all doubles
    CHECK(fence_of(numbers{5}).holds(5));
}
