// SPDX-License-Identifier: MIT
// The interval of a mean by Student's t.
#pragma once
#include <sb/stats/student_t.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sb::stats {

struct interval {
    double lo = 0, hi = 0;
    /// True when some value lies in both.
    bool overlaps(interval const& other) const noexcept { return lo <= other.hi && other.lo <= hi; }
};

/// The two-sided interval of a mean from `n` values with this sample variance (divided by n - 1). Fewer than two values leave
/// everything possible.
inline interval mean_interval(double mean, double variance, std::int64_t n, double confidence = 0.95) noexcept {
    if (n < 2) return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    auto const count = static_cast<double>(n);
    double const t = student_t_quantile((1 - confidence) / 2, count - 1);
    double const half = t * std::sqrt(variance / count);
    return {mean - half, mean + half};
}

} // namespace sb::stats
