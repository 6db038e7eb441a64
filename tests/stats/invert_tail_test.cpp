// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stats/invert_tail.hpp>
#include <cmath>
#include <limits>

using sb::stats::detail::where_it_falls_to;

TEST_CASE("the place where a tail has a value is that of its inverse by hand, wherever the search begins", "[invert_tail:oracle][invert_tail:property]") {
    for (double const near : {1e-9, 1.0, 1e6})
        for (double const p : {1e-200, 1e-12, 0.001, 0.5, 0.999}) {
            CHECK(where_it_falls_to([](double x) { return std::exp(-x); }, p, near) == Approx(-std::log(p)).epsilon(1e-13));
            CHECK(where_it_falls_to([](double x) { return 1 / (1 + x); }, p, near) == Approx((1 - p) / p).epsilon(1e-12)); // 1 + x keeps 13 digits of 0.001
        }
}

TEST_CASE("nothing left is infinitely far, all of it is at zero, and no share is nowhere", "[invert_tail:degenerate]") {
    auto const tail = [](double x) { return std::exp(-x); };
    CHECK(where_it_falls_to(tail, 0, 1) == std::numeric_limits<double>::infinity());
    CHECK(where_it_falls_to(tail, 1, 1) == 0);
    for (double const p : {-0.1, 1.1, std::nan("")}) CHECK(std::isnan(where_it_falls_to(tail, p, 1)));
    CHECK(where_it_falls_to([](double) { return 0.5; }, 0.4, 1) == std::numeric_limits<double>::infinity()); // a tail that never falls so low
}
