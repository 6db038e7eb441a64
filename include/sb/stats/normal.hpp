// SPDX-License-Identifier: MIT
// The standard normal distribution: upper tail and its inverse.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sb::stats {

/// P(Z > z); small tails keep their digits.
inline double normal_upper(double z) noexcept { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

/// The z whose upper tail is `p`: below 0 for p > ½, infinite for 0 and 1, NaN beyond them.
inline double normal_quantile(double p) noexcept {
    if (!(p > 0)) return p == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (p >= 0.5) return p == 0.5 ? 0 : -normal_quantile(1 - p);
    double z = std::sqrt(std::max(0.0, -2 * std::log(2 * p))); // below the root of a function that falls ever faster
    for (int i = 0; i < 60; ++i) {
        double const tail = normal_upper(z), density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        double const step = std::log(tail / p) * tail / density;
        z += step;
        if (std::abs(step) <= 4 * std::numeric_limits<double>::epsilon() * z) break;
    }
    return z;
}

} // namespace sb::stats
