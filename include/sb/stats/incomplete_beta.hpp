// SPDX-License-Identifier: MIT
// The regularised incomplete beta function: the tails of Student's t and of F.
#pragma once
#include <sb/stats/saddle_point.hpp>
#include <cmath>

namespace sb::stats::detail {

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
inline double beta_fraction(double a, double b, double x) noexcept {
    constexpr double tiny = 1e-300;
    auto const away = [](double v) { return std::abs(v) < tiny ? tiny : v; };
    double c = 1, d = 1 / away(1 - (a + b) * x / (a + 1)), value = d;
    for (double m = 1; m < 100'000; ++m) {
        double const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away(1 + even * d), c = away(1 + even / c);
        value *= c * d;
        double const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away(1 + odd * d), c = away(1 + odd / c);
        value *= c * d;
        if (std::abs(c * d - 1) < 1e-16) break;
    }
    return value;
}

/// I_x(a, b) for a, b > 0, with y = 1 - x as exactly as the caller has it.
inline double incomplete_beta(double a, double b, double x, double y) noexcept {
    if (!(x > 0)) return 0;
    if (!(y > 0)) return 1;
    if (x < (a + 1) / (a + b + 2)) return beta_part(a, b, x, y) * beta_fraction(a, b, x) / a;
    return 1 - beta_part(b, a, y, x) * beta_fraction(b, a, y) / b;
}

} // namespace sb::stats::detail
