// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include <sb/stats/arma_search.hpp>
#include <sb/stats/minimise.hpp>
#include <array>
#include <cmath>
#include <span>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {
/// Long and bent (Rosenbrock), with its bottom at 1, 1.
struct valley {
    double x = 0, y = 0;
    double value(std::span<double const> at) { return x = at[0], y = at[1], x > 5 ? INFINITY : (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x); }
    void guess(std::span<double> to) const { to[0] = to[3] = 0.01, to[1] = to[2] = 0; }
    void gradient(std::span<double> to) const { to[0] = -2 * (1 - x) - 400 * x * (y - x * x), to[1] = 200 * (y - x * x); }
};
} // namespace

TEST_CASE("downhill ends at the bottom of a bent valley", "[minimise:oracle]") {
    valley function;
    std::array<double, 2> x{-1.2, 1};
    auto const got = minimise(function, x);
    CHECK(got.reached);
    CHECK(got.value < 1e-8);
    CHECK(x[0] == Approx(1).epsilon(1e-4));
    CHECK(x[1] == Approx(1).epsilon(1e-4));
    CHECK(got.values < 150);
}

TEST_CASE("downhill stays where there is nothing to go by", "[minimise:degenerate][arma_search:degenerate]") {
    valley function;
    std::array<double, 2> x{6, 1};
    auto got = minimise(function, x);
    CHECK_FALSE(got.reached);
    CHECK(std::isinf(got.value));
    CHECK(x[0] == 6);
    x = {1, 1};
    got = minimise(function, x);
    CHECK(got.reached);
    CHECK(got.steps == 0);
    CHECK(got.value == 0);
    std::vector<double> const nothing(20, 0.0);
    arma_search_room room;
    CHECK(std::isinf(arma_search(nothing, 20, 0, {}, room).best(1, 1).value));
    CHECK(std::isinf(arma_search(nothing, 20, 0, {}, room).best(0, 0).value));
    auto const some = normal_values{8}.many(20);
    CHECK(std::isfinite(arma_search(some, 20, 0, {0, 0, 0, 0, 0}, room).best(2, 2).value)); // the least effort is some
}

TEST_CASE("the inverse of a positive matrix", "[minimise:oracle][minimise:property]") {
    std::array<double, 4> two{4, 0, 2, 3}, to{}; // the inverse of 4 2 2 3 is 3 -2 -2 4 over 8
    invert_positive(two, 2, to);
    CHECK(to[0] == Approx(0.375));
    CHECK(to[1] == Approx(-0.25));
    CHECK(to[2] == Approx(-0.25));
    CHECK(to[3] == Approx(0.5));
}
