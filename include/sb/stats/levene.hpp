// SPDX-License-Identifier: MIT
// Levene's test: do groups have equal spreads? It compares distances from each group's median (Brown and Forsythe), mean or trimmed mean.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/f_distribution.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

enum class levene_center : std::uint8_t { median, mean, trimmed };

struct levene_request {
    levene_center center = levene_center::median;
    double trim = 0.25; ///< share cut from each end of a group to compute its centre; the test itself uses all values
};

struct levene_answer {
    no_answer why = no_answer::none;
    double statistic = 0, p = 0;
    std::size_t groups = 0, n = 0;
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

inline double mean_of(std::span<double const> values) noexcept {
    double const first = values.front();
    double sum = 0;
    for (double const x : values) sum += x - first;
    double const mean = first + sum / static_cast<double>(values.size());
    sum = 0;
    for (double const x : values) sum += x - mean;
    return mean + sum / static_cast<double>(values.size());
}
/// In a group: two values lie equally far from their centre, whatever they are.
inline constexpr std::size_t fewest_to_spread = 3;

/// Changes the order of the values.
inline double center_of(std::span<double> values, levene_request const& asked) noexcept {
    auto const n = values.size();
    auto const place = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
    auto const cut = static_cast<std::size_t>(static_cast<double>(n) * asked.trim);
    if (asked.center == levene_center::mean) return mean_of(values);
    if (asked.center == levene_center::trimmed && 2 * cut < n) {
        if (cut > 0) std::nth_element(values.begin(), place(cut), values.end()), std::nth_element(place(cut), place(n - cut - 1), values.end());
        return mean_of(values.subspan(cut, n - 2 * cut));
    }
    std::nth_element(values.begin(), place(n / 2), values.end());
    double const high = values[n / 2], low = n % 2 ? high : *std::max_element(values.begin(), place(n / 2));
    return low + (high - low) / 2;
}

} // namespace detail

/// `room` is memory that the caller lends.
inline levene_answer levene(std::span<std::span<double const> const> groups, levene_request const& asked, std::vector<double>& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), eps = std::numeric_limits<double>::epsilon();
    levene_answer answer;
    answer.groups = groups.size(), answer.statistic = answer.p = nan;
    auto const none = [&](no_answer why) { return answer.why = why, answer; };
    double farthest = 0, largest = 0;
    for (auto const& group : groups) {
        answer.n += group.size();
        for (double const x : group) {
            if (!std::isfinite(x)) return none(no_answer::not_finite);
            largest = std::max(largest, std::abs(x));
        }
    }
    if (groups.size() < 2 || std::any_of(groups.begin(), groups.end(), [](auto const& each) { return each.size() < detail::fewest_to_spread; })) return none(no_answer::too_short);
    if (!(asked.trim >= 0 && asked.trim <= 0.5)) return none(no_answer::bad_request);

    room.resize(answer.n);
    auto* at = room.data();
    for (auto const& group : groups) {
        std::span<double> const distances{at, group.size()};
        std::transform(group.begin(), group.end(), at, [first = group.front()](double x) { return x - first; }); // what they share would cost the centre its digits
        double const center = detail::center_of(distances, asked);
        for (double& x : distances) x = std::abs(x - center), farthest = std::max(farthest, x);
        at += group.size();
    }
    if (!std::isfinite(farthest)) return none(no_answer::not_finite);
    if (farthest == 0) return none(no_answer::constant);
    int scale = 0;
    (void)std::frexp(farthest, &scale);
    for (double& x : room) x = std::ldexp(x, -scale);

    double const whole = detail::mean_of(room), count = static_cast<double>(answer.n), kinds = static_cast<double>(groups.size());
    double between = 0, within = 0;
    at = room.data();
    for (auto const& group : groups) {
        std::span<double const> const distances{at, group.size()};
        double const mean = detail::mean_of(distances), off = mean - whole;
        between += static_cast<double>(group.size()) * off * off;
        for (double const x : distances) within += (x - mean) * (x - mean);
        at += group.size();
    }
    double const rounding = 8 * std::max(eps, eps * std::ldexp(largest, -scale)); // of a distance, from subtracting the centre
    if (within <= rounding * rounding * count) return none(between <= rounding * rounding * count ? no_answer::constant : no_answer::perfect_fit);
    answer.statistic = between / (kinds - 1) / (within / (count - kinds));
    answer.p = f_upper(answer.statistic, kinds - 1, count - kinds);
    return answer;
}
inline levene_answer levene(std::span<std::span<double const> const> groups, levene_request const& asked = {}) {
    std::vector<double> room;
    return levene(groups, asked, room);
}

} // namespace sb::stats
