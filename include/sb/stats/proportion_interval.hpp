// SPDX-License-Identifier: MIT
// The interval of a share: k of n.
#pragma once
#include <sb/stats/interval.hpp>
#include <sb/stats/normal.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sb::stats {

/// Wilson's interval: good for few tries and for shares near 0 and 1, and always within [0, 1]. Without tries it is [0, 1]. NaN if
/// the confidence is not between 0 and 1.
inline interval share_interval(std::int64_t hits, std::int64_t tries, double confidence = 0.95) noexcept {
    if (!(confidence > 0 && confidence < 1)) return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
    if (tries <= 0) return {0, 1};
    double const n = static_cast<double>(tries), p = static_cast<double>(hits) / n;
    double const z = normal_quantile((1 - confidence) / 2), square = z * z / n;
    double const middle = (p + square / 2) / (1 + square);
    double const half = z / (1 + square) * std::sqrt(p * (1 - p) / n + square / (4 * n));
    return {hits <= 0 ? 0.0 : std::max(0.0, middle - half), hits >= tries ? 1.0 : std::min(1.0, middle + half)};
}

} // namespace sb::stats
