// SPDX-License-Identifier: MIT
// The chi square distribution: upper tail and its inverse.
#pragma once
#include <sb/stats/invert_tail.hpp>
#include <sb/stats/saddle_point.hpp>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numbers>

namespace sb::stats {

namespace detail {

/// Q(a, x) for a > 1e5, by Temme's uniform expansion (DLMF 8.12): what the next of its terms adds is less than the rounding of a double.
/// Their power series in η (DLMF 8.12.9), for where a tail is neither 0 nor 1 |η| is below 0.13 there.
inline double gamma_upper_far(double a, double x) noexcept {
    constexpr double c0[] = {-1.0 / 3, 1.0 / 12, -2.0 / 135, 1.0 / 864, 1.0 / 2835, -139.0 / 777600, 1.0 / 25515, -571.0 / 261273600, -281.0 / 151559100};
    constexpr double c1[] = {-1.0 / 540, -1.0 / 288, 1.0 / 378, -77.0 / 77760, 1.0 / 4860};
    double const size = deviance(a, x), eta = std::copysign(std::sqrt(2 * size / a), x - a); // a η² / 2
    if (size > 800) return x > a ? 0 : 1;
    auto const sum = [&](auto const& terms) {
        double value = 0;
        for (std::size_t i = std::size(terms); i-- > 0;) value = value * eta + terms[i];
        return value;
    };
    return 0.5 * std::erfc(std::copysign(std::sqrt(size), eta)) + std::exp(-size) / std::sqrt(2 * std::numbers::pi * a) * (sum(c0) + sum(c1) / a);
}

/// Q(a, x), the upper tail of the gamma distribution, for a > 0: by the series of the lower one (DLMF 8.7.1) where that is the
/// smaller, else by its own continued fraction (DLMF 8.9.2), by Lentz's method.
inline double gamma_upper(double a, double x) noexcept {
    constexpr int most_terms = 1'000'000;
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (std::isinf(x)) return 0;
    if (a > 1e5) return gamma_upper_far(a, x);
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

/// P(X > x) with `freedom` > 0 degrees, NaN without or with infinitely many; small tails keep their digits.
inline double chi_square_upper(double x, double freedom) noexcept { return freedom > 0 && std::isfinite(freedom) ? detail::gamma_upper(freedom / 2, x / 2) : std::numeric_limits<double>::quiet_NaN(); }

/// The x whose upper tail is `p`: infinite for 0, 0 for 1, NaN beyond them and without a finite freedom.
inline double chi_square_quantile(double p, double freedom) noexcept {
    if (!(freedom > 0) || !std::isfinite(freedom)) return std::numeric_limits<double>::quiet_NaN();
    return detail::where_it_falls_to([&](double x) { return chi_square_upper(x, freedom); }, p, freedom);
}

} // namespace sb::stats
