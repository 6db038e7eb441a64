// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stats/incomplete_beta.hpp>
#include <cmath>

using sb::stats::detail::incomplete_beta;

TEST_CASE("where a whole number makes it a polynomial, it is that polynomial", "[incomplete_beta:oracle]") {
    for (double const x : {1e-6, 0.1, 0.3, 0.5, 0.8, 0.999}) {
        CHECK(incomplete_beta(2, 3, x, 1 - x) == Approx(6 * x * x - 8 * x * x * x + 3 * x * x * x * x).epsilon(1e-13));
        for (double const a : {0.5, 1.0, 7.0, 300.0}) {
            CHECK(incomplete_beta(a, 1, x, 1 - x) == Approx(std::pow(x, a)).epsilon(1e-12));
            CHECK(incomplete_beta(1, a, x, 1 - x) == Approx(-std::expm1(a * std::log1p(-x))).epsilon(1e-12));
        }
    }
}

TEST_CASE("of a half and a half it is the arc sine", "[incomplete_beta:oracle]") {
    for (double const x : {1e-10, 0.01, 0.25, 0.5, 0.9}) CHECK(incomplete_beta(0.5, 0.5, x, 1 - x) == Approx(2 / 3.14159265358979323846 * std::asin(std::sqrt(x))).epsilon(1e-13));
}

TEST_CASE("both sides together are all of it, and equal shares meet in the middle", "[incomplete_beta:property]") {
    for (double const a : {0.2, 1.5, 40.0, 5000.0}) {
        CHECK(incomplete_beta(a, a, 0.5, 0.5) == Approx(0.5).epsilon(1e-11));
        for (double const b : {0.3, 2.0, 900.0})
            for (double const x : {0.05, 0.4, 0.97}) CHECK(incomplete_beta(a, b, x, 1 - x) + incomplete_beta(b, a, 1 - x, x) == Approx(1).epsilon(1e-12));
    }
}

TEST_CASE("it is nothing at one end and all at the other", "[incomplete_beta:degenerate]") {
    CHECK(incomplete_beta(2, 3, 0, 1) == 0);
    CHECK(incomplete_beta(2, 3, 1, 0) == 1);
    CHECK(incomplete_beta(2, 3, -1, 2) == 0);
}
