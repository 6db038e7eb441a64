// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/lag_polynomial.hpp>
#include <array>
#include <cstddef>
#include <vector>

using namespace sb::stats;

TEST_CASE("polynomials are what is multiplied out by hand", "[lag_polynomial:oracle]") {
    // (1 - 0.5B)(1 - 1.2B + 0.72B²) = 1 - 1.7B + 1.32B² - 0.36B³, whose last partial autocorrelation is 0.36
    auto const got = lag_polynomial{}.times(0.5, 0).times(1.2, -0.72);
    REQUIRE(got.order == 3);
    CHECK(got.c[1] == Approx(1.7));
    CHECK(got.c[2] == Approx(-1.32));
    CHECK(got.c[3] == Approx(0.36));
    std::array<double, 3> x{};
    REQUIRE(got.to_coordinates(x.data()));
    // by the recursion on paper: φ₂ = (-1.32 + 0.36·1.7) / (1 - 0.36²), φ₁ = (1.7 - 0.36·1.32) / (1 - 0.36²) / (1 - φ₂)
    CHECK(2 * x[2] / (1 + x[2] * x[2]) == Approx(0.36));
    double const second = (-1.32 + 0.36 * 1.7) / (1 - 0.36 * 0.36);
    CHECK(2 * x[1] / (1 + x[1] * x[1]) == Approx(second));
    CHECK(2 * x[0] / (1 + x[0] * x[0]) == Approx((1.7 - 0.36 * 1.32) / (1 - 0.36 * 0.36) / (1 - second)));
}

TEST_CASE("coordinates and coefficients lead to each other, and x is as good as its reciprocal", "[lag_polynomial:property]") {
    sb::random_stream places{61};
    for (std::size_t order = 1; order <= arma_most_terms; ++order)
        for (int round = 0; round < 20; ++round) {
            std::array<double, arma_most_terms> x{}, back{}, turned{};
            for (std::size_t k = 0; k < order; ++k) x[k] = 1.8 * places.unit() - 0.9, turned[k] = round % 2 == 0 ? 1 / x[k] : x[k];
            auto const one = lag_polynomial::from_coordinates(x.data(), order), other = lag_polynomial::from_coordinates(turned.data(), order);
            REQUIRE(one.to_coordinates(back.data()));
            for (std::size_t k = 0; k < order; ++k) {
                CHECK(back[k] == Approx(x[k]).epsilon(1e-6).margin(1e-6));
                CHECK(one.c[k + 1] == Approx(other.c[k + 1]).epsilon(1e-9).margin(1e-12));
            }
        }
}

TEST_CASE("a polynomial with a root inside the circle or on it has no coordinates", "[lag_polynomial:degenerate]") {
    std::array<double, 4> x{};
    CHECK(lag_polynomial{}.to_coordinates(x.data()));
    CHECK_FALSE(lag_polynomial{}.times(1, 0).to_coordinates(x.data()));
    CHECK_FALSE(lag_polynomial{}.times(-1.01, 0).to_coordinates(x.data()));
    CHECK_FALSE(lag_polynomial{}.times(0.5, 0).times(1.3, 0).to_coordinates(x.data()));
    CHECK_FALSE(lag_polynomial{}.times(NAN, 0).to_coordinates(x.data()));
    CHECK(lag_polynomial{}.times(0, 0).to_coordinates(x.data()));
    std::array<double, 2> const on{1, -1};
    auto const boundary = lag_polynomial::from_coordinates(on.data(), 2);
    CHECK(boundary.c[2] == -1);
}
