// SPDX-License-Identifier: MIT
// Kolmogorov's distribution, the limiting one of the largest distance between the empirical and the true distribution: upper tail
// and its inverse.
#pragma once
#include <sb/stats/invert_tail.hpp>
#include <cmath>
#include <numbers>

namespace sb::stats {

/// P(K > x); small tails keep their digits.
inline double kolmogorov_upper(double x) noexcept {
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (x < 1) { // the other form of the same series, which ends soon here
        double sum = 0;
        double const step = std::numbers::pi * std::numbers::pi / (8 * x * x);
        for (int k = 1; k < 40; k += 2) sum += std::exp(-k * k * step);
        return 1 - std::sqrt(2 * std::numbers::pi) / x * sum;
    }
    double sum = 0;
    for (int k = 1; k < 40; ++k) {
        double const term = std::exp(-2.0 * k * k * x * x);
        sum += k % 2 ? term : -term;
        if (term < 1e-18 * sum) break;
    }
    return 2 * sum;
}

/// The x whose upper tail is `p`: infinite for 0, 0 for 1, NaN beyond them.
inline double kolmogorov_quantile(double p) noexcept { return detail::where_it_falls_to(kolmogorov_upper, p, 1); }

} // namespace sb::stats
