// SPDX-License-Identifier: MIT
// Polynomials of the lag operator, 1 - c₁B - c₂B² - …, without roots inside the unit circle: as coefficients, as partial
// autocorrelations (Durbin, Levinson), and as coordinates that may be anything.
//
// How it works: a polynomial has no root inside the unit circle when its partial autocorrelations π lie between -1 and 1, and
// π = 2x / (1 + x²) does for every x. The boundary is a point like any other (x = ±1), beyond it the same comes back (x and 1 / x),
// and no function of the mathematical library is in the way.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace sb::stats {

/// The most coefficients of a polynomial.
inline constexpr std::size_t arma_most_terms = 8;

/// Coefficients of all orders up to the last from partial autocorrelations (Durbin, Levinson), and a gradient's way back.
class levinson {
public:
    using steps = std::array<std::array<double, arma_most_terms + 1>, arma_most_terms + 1>;

    /// Partial autocorrelations 2x / (1 + x²), all of them less by a factor: 1 - `short_of`.
    void set(std::span<double const> x, double short_of = 0) noexcept {
        order_ = x.size();
        for (std::size_t k = 1; k <= order_; ++k) {
            double const at = x[k - 1], size = 1 + at * at, whole = 2 * at / size, root = (1 - at) * (1 + at) / size;
            double const partial = (1 - short_of) * whole;
            partial_[k] = partial, slope_[k] = (1 - short_of) * 2 * root / size;
            root_[k] = std::sqrt(root * root + short_of * (2 - short_of) * whole * whole);
            for (std::size_t j = 1; j < k; ++j) step_[k][j] = step_[k - 1][j] - partial * step_[k - 1][k - j];
            step_[k][k] = partial;
        }
    }
    std::size_t order() const noexcept { return order_; }
    /// A value is expected to be the sum of these, from 1 on, times the `k` before it.
    double const* step(std::size_t k) const noexcept { return step_[k].data(); }
    double const* last() const noexcept { return step(order_); }
    /// √(1 - π²), of the k-th from 1 on.
    double root(std::size_t k) const noexcept { return root_[k]; }
    /// The derivative of log(1 - π²) by x.
    double log_slope(std::size_t k) const noexcept { return -2 * partial_[k] * slope_[k] / (root_[k] * root_[k]); }
    /// From derivatives by the coefficients of each step, which are used up, adds those by x to `to`.
    void back(steps& of, std::span<double> to) const noexcept {
        for (std::size_t k = order_; k > 0; --k) {
            double sum = of[k][k];
            for (std::size_t j = 1; j < k; ++j) {
                sum -= of[k][j] * step_[k - 1][k - j];
                of[k - 1][j] += of[k][j] - partial_[k] * of[k][k - j];
            }
            to[k - 1] += sum * slope_[k];
        }
    }

private:
    std::size_t order_ = 0;
    std::array<double, arma_most_terms + 1> partial_{}, slope_{}, root_{};
    steps step_{};
};

/// 1 - Σ c[i] z^i, from 1 on.
struct lag_polynomial {
    std::size_t order = 0;
    std::array<double, arma_most_terms + 1> c{};

    static lag_polynomial from_coordinates(double const* x, std::size_t order) noexcept {
        levinson steps;
        steps.set({x, order});
        lag_polynomial product;
        product.order = order;
        std::copy_n(steps.last(), order + 1, product.c.begin());
        return product;
    }
    /// Times 1 - az - bz²; a single root where b is 0.
    lag_polynomial times(double a, double b) const noexcept {
        auto const coefficient = [&](std::size_t i) { return i == 0 ? 1.0 : i > order ? 0.0 : -c[i]; };
        lag_polynomial product;
        product.order = order + (b != 0 ? 2 : 1);
        for (std::size_t i = 1; i <= product.order; ++i) product.c[i] = -(coefficient(i) - a * coefficient(i - 1) - (i > 1 ? b * coefficient(i - 2) : 0));
        return product;
    }
    /// Back to coordinates, of partial autocorrelations at most 1 - `short_of`; false where it has a root inside the unit circle or on it.
    bool to_coordinates(double* x, double short_of = 0) const noexcept {
        auto left = c;
        for (std::size_t k = order; k > 0; --k) {
            double const partial = left[k], rest = (1 - partial) * (1 + partial);
            if (!(rest > 0)) return false;
            double const whole = partial / (1 - short_of);
            x[k - 1] = whole / (1 + std::sqrt(std::max(0.0, (1 - whole) * (1 + whole))));
            auto const before = left;
            for (std::size_t j = 1; j < k; ++j) left[j] = (before[j] + partial * before[k - j]) / rest;
        }
        return true;
    }
};

} // namespace sb::stats
