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
    bool const central = p > 0.25;
    double const half = 0.5 - p; // exact where it is used
    double z;
    if (central) { // the first terms of the inverse of the error function, to 3e-4 of z
        double const s = std::numbers::pi * half * half;
        z = std::sqrt(2 * std::numbers::pi) * half * (1 + s * (1.0 / 3 + s * (7.0 / 30 + s * (127.0 / 630))));
    } else { // Abramowitz, Stegun 26.2.23, to 4.5e-4
        double const t = std::sqrt(-2 * std::log(p));
        z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    }
    // from there the quantile's own series; its fifth power is what is left out
    for (int i = 0; i < 8; ++i) {
        double const density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        double const off = (central ? half - 0.5 * std::erf(z / std::numbers::sqrt2) : normal_upper(z) - p) / density;
        double const s = z * z;
        z += off * (1 + off / 2 * (z + off / 3 * (2 * s + 1 + off / 4 * z * (6 * s + 7))));
        if (std::abs(off) * std::max(1.0, std::abs(z)) < 1e-3) break;
    }
    return z;
}

} // namespace sb::stats
