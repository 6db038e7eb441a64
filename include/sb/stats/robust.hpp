// SPDX-License-Identifier: MIT
// Middle and spread that a few outliers do not move, and the fence beyond which a value is an outlier.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/quantile.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

/// The quantile at ½; the mean of two middle values. NaN without values, or if one is not finite.
inline double median_of(std::span<double const> values) { return quantile(values, 0.5).value; }

/// A spread, as it is and as the standard deviation that normal values with it have.
struct scale_answer {
    no_answer why = no_answer::none;
    double raw = 0, normal = 0;
    std::size_t n = 0; ///< values
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

inline scale_answer scale_from(std::span<double const> values, double raw, double normal_share) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    no_answer why = no_answer::none;
    if (*least == *most) why = no_answer::constant;
    else if (!std::isfinite(raw)) why = no_answer::not_finite;
    else if (raw == 0) why = no_answer::perfect_fit; // so many are equal that the rest does not count
    return why == no_answer::none ? scale_answer{why, raw, raw / normal_share, values.size()} : scale_answer{why, raw == 0 ? 0 : nan, nan, values.size()};
}

} // namespace detail

/// The median distance from the median. Nearly half of the values may be outliers. Of normal values it is Φ⁻¹(¾) = 0.674… standard
/// deviations. `room` is memory that a caller lends.
inline scale_answer mad(std::span<double const> values, std::vector<double>& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), normal_share = 0.67448975019608174;
    if (!all_finite(values)) return {no_answer::not_finite, nan, nan, values.size()};
    if (values.size() < 2) return {no_answer::too_short, nan, nan, values.size()};
    double const middle = quantile(values, 0.5, quantile_rule::linear, room).value;
    bool held = true;
    for (double& x : room) held &= std::isfinite(x = std::abs(x - middle));
    if (!held) return {no_answer::not_finite, nan, nan, values.size()};
    auto const half = room.begin() + static_cast<std::ptrdiff_t>(room.size() / 2);
    std::nth_element(room.begin(), half, room.end());
    double const raw = room.size() % 2 ? *half : detail::part_way(*std::max_element(room.begin(), half), *half, 0.5);
    return detail::scale_from(values, raw, normal_share);
}
inline scale_answer mad(std::span<double const> values) {
    std::vector<double> room;
    return mad(values, room);
}

struct fence {
    double median = 0;
    double lo = 0, hi = 0; ///< what lies outside is an outlier
    bool holds(double x) const noexcept { return x >= lo && x <= hi; }
};

/// Ten robust standard deviations (1.4826 times the median absolute deviation; Iglewicz and Hoaglin 1993) around the
/// median, and never less than `least` of it: more than half of the values may be equal. Of normal values in a series of
/// six one in a hundred series has one outside, of longer ones fewer. NaN, which holds nothing, without any value or where one is not finite.
inline fence fence_of(std::span<double const> values, double least = 0.1) {
    std::vector<double> space;
    fence limits;
    limits.median = median_of(values);
    auto const off = mad(values, space);
    double const spread = off.why == no_answer::too_short ? 0 : off.why == no_answer::not_finite ? std::numeric_limits<double>::infinity() : off.raw;
    auto const room = std::max(10 * 1.4826 * spread, least * std::abs(limits.median));
    limits.lo = limits.median - room, limits.hi = limits.median + room;
    return limits;
}

/// From the lower quartile to the upper one, each by the same rule; a quarter of the values may be spoilt. Of normal values it is
/// 2 Φ⁻¹(¾) = 1.348… standard deviations.
inline scale_answer iqr(std::span<double const> values, quantile_rule rule, std::vector<double>& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), normal_share = 1.3489795003921635;
    if (!all_finite(values)) return {no_answer::not_finite, nan, nan, values.size()};
    if (values.size() < 2) return {no_answer::too_short, nan, nan, values.size()};
    double const p[] = {0.25, 0.75};
    double quartiles[2]{};
    (void)quantiles(values, p, quartiles, rule, room);
    return detail::scale_from(values, quartiles[1] - quartiles[0], normal_share);
}
inline scale_answer iqr(std::span<double const> values, quantile_rule rule = quantile_rule::linear) {
    std::vector<double> room;
    return iqr(values, rule, room);
}

} // namespace sb::stats
