// SPDX-License-Identifier: MIT
// Middle and spread that a few wild values do not move, and the fence beyond which a value is one of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace sb::stats {

/// Of two middle values their mean; 0 without any.
inline double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}
inline double median_of(std::span<double const> values) { return median_of(std::vector<double>(values.begin(), values.end())); }

struct fence {
    double median = 0;
    double lo = 0, hi = 0; ///< what lies outside is an outlier
    bool holds(double x) const noexcept { return x >= lo && x <= hi; }
};

/// Ten robust standard deviations (1.4826 times the median absolute deviation; Iglewicz and Hoaglin 1993) around the
/// median, and never less than `least` of it: more than half of the values may be equal. Of normal values in a series of
/// six one in a hundred series has one outside, of longer ones fewer.
inline fence fence_of(std::span<double const> values, double least = 0.1) {
    fence made;
    made.median = median_of(values);
    std::vector<double> off(values.begin(), values.end());
    for (auto& x : off) x = std::abs(x - made.median);
    auto const room = std::max(10 * 1.4826 * median_of(std::move(off)), least * std::abs(made.median));
    made.lo = made.median - room, made.hi = made.median + room;
    return made;
}

} // namespace sb::stats
