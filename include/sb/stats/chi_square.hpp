// SPDX-License-Identifier: MIT
// The chi square distribution: upper tail and its inverse.
#pragma once
#include <sb/stats/falling.hpp>
#include <sb/stats/saddle_point.hpp>
#include <cmath>
#include <limits>

namespace sb::stats {

namespace detail {

/// Q(a, x), the upper tail of the gamma distribution, for a > 0: by the series of the lower one (DLMF 8.7.1) where that is the
/// smaller, else by its own continued fraction (DLMF 8.9.2), by Lentz's method.
inline double gamma_upper(double a, double x) noexcept {
    constexpr int most_terms = 1'000'000;
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (std::isinf(x)) return 0;
    double const part = gamma_part(a, x);
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < most_terms && term > sum * 1e-17; ++k) sum += term *= x / (a + k);
        return 1 - part * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, value = d;
    for (int k = 1; k < most_terms; ++k) {
        double const top = k * (a - k);
        b += 2;
        d = 1 / (b + top * d), c = b + top / c;
        value *= c * d;
        if (std::abs(c * d - 1) < 1e-16) break;
    }
    return part * value;
}

} // namespace detail

/// P(X > x) with `freedom` > 0 degrees, NaN without; small tails keep their digits.
inline double chi_square_upper(double x, double freedom) noexcept { return freedom > 0 ? detail::gamma_upper(freedom / 2, x / 2) : std::numeric_limits<double>::quiet_NaN(); }

/// The x whose upper tail is `p`: infinite for 0, 0 for 1, NaN beyond them and without any freedom.
inline double chi_square_quantile(double p, double freedom) noexcept {
    if (!(freedom > 0)) return std::numeric_limits<double>::quiet_NaN();
    return detail::where_it_falls_to([&](double x) { return chi_square_upper(x, freedom); }, p, freedom);
}

} // namespace sb::stats
