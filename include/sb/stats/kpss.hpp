// SPDX-License-Identifier: MIT
// The test of Kwiatkowski, Phillips, Schmidt and Shin: does a series stay around its level, or its trend? The null hypothesis
// is that it does, so a high statistic speaks against it.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/dot.hpp>
#include <sb/stats/long_run.hpp>
#include <sb/stats/sums.hpp>
#include <sb/stats/trend.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

struct kpss_request {
    trend around = trend::constant; ///< or linear
    long_run_lags choice = long_run_lags::automatic; ///< by the data as Hobijn, Franses and Ooms (1998) do
    int lags = 0; ///< for `fixed`
};

/// The table of 1992 ends at these p values; beyond them only a bound is known.
inline constexpr double kpss_least_p = 0.01, kpss_most_p = 0.10;

enum class p_bound : std::uint8_t { none, at_most, at_least };

struct kpss_answer {
    no_answer why = no_answer::none;
    double statistic = 0, p = 0;
    p_bound bound = p_bound::none;
    int lags = 0;
    std::size_t n = 0;
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

/// A table of the statistic at 10, 5, 2.5 and 1 %, straight lines between.
inline constexpr std::array<double, 4> kpss_p{0.10, 0.05, 0.025, 0.01};
inline constexpr std::array<double, 4> kpss_level{0.347, 0.463, 0.574, 0.739}, kpss_trend{0.119, 0.146, 0.176, 0.216};

inline double between(double x, std::array<double, 4> const& at, std::array<double, 4> const& values) noexcept {
    if (x <= at.front()) return values.front();
    for (std::size_t i = 1; i < at.size(); ++i)
        if (x <= at[i]) return values[i - 1] + (values[i] - values[i - 1]) / (at[i] - at[i - 1]) * (x - at[i - 1]);
    return values.back();
}

/// Subtracts the mean twice: the second time removes what rounding left.
inline void take_off_mean(std::span<double> values) noexcept {
    for (int pass = 0; pass < 2; ++pass) {
        double const mean = sum_from(values, 0) / static_cast<double>(values.size());
        for (double& x : values) x -= mean;
    }
}
/// The sum of the squared partial sums. Four stretches are computed side by side, each starting from the sum of those before.
inline double squares_of_walk(std::span<double const> steps) noexcept {
    auto const part = steps.size() / 4;
    double const* const x = steps.data();
    double a = 0, b = sum_from(steps.first(part), 0), c = b + sum_from(steps.subspan(part, part), 0), d = c + sum_from(steps.subspan(2 * part, part), 0);
    double of_a = 0, of_b = 0, of_c = 0, of_d = 0;
    for (std::size_t i = 0; i < part; ++i) {
        a += x[i], b += x[part + i], c += x[2 * part + i], d += x[3 * part + i];
        of_a += a * a, of_b += b * b, of_c += c * c, of_d += d * d;
    }
    for (auto i = 4 * part; i < steps.size(); ++i) d += x[i], of_d += d * d;
    return (of_a + of_b) + (of_c + of_d);
}
inline void take_off_line(std::span<double> values) noexcept {
    auto const n = static_cast<double>(values.size());
    double const middle = (n - 1) / 2, squares = n * (n * n - 1) / 12;
    for (int pass = 0; pass < 2; ++pass) {
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) sum += (static_cast<double>(i) - middle) * values[i];
        double const slope = sum / squares;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] -= slope * (static_cast<double>(i) - middle);
    }
}

} // namespace detail

/// `room` is memory that the caller lends.
inline kpss_answer kpss(std::span<double const> values, kpss_request const& asked, std::vector<double>& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), eps = std::numeric_limits<double>::epsilon();
    auto const n = values.size();
    auto const count = static_cast<double>(n);
    kpss_answer answer;
    answer.n = n, answer.statistic = answer.p = nan;
    auto const none = [&](no_answer why) { return answer.why = why, answer; };
    if (n == 0) return none(no_answer::too_short);
    auto const [finite, least, most] = reach_of(values);
    if (!finite) return none(no_answer::not_finite);
    if (least == most) return none(no_answer::constant);
    if (asked.around != trend::constant && asked.around != trend::linear) return none(no_answer::bad_request);
    if (!std::isfinite(most - least)) return none(no_answer::not_finite);
    if (n < 3) return none(no_answer::too_short);
    room.resize(n);
    int scale = 0; // a power of two: no digit is lost, and squares neither vanish nor overflow
    (void)std::frexp(most - least, &scale);
    double const middle = values[n / 2], factor = std::ldexp(1.0, -scale);
    if (std::isnormal(factor))
        for (std::size_t i = 0; i < n; ++i) room[i] = (values[i] - middle) * factor;
    else // no factor holds that
        for (std::size_t i = 0; i < n; ++i) room[i] = std::ldexp(values[i] - middle, -scale);
    detail::take_off_mean(room);
    if (asked.around == trend::linear) detail::take_off_line(room), detail::take_off_mean(room);
    double const squares = vector_unit::chosen().dot(room.data(), room.data(), n);
    double const rounding = 16 * eps * count;
    if (squares <= rounding * rounding * count) return none(no_answer::perfect_fit);

    double lags = asked.lags;
    if (asked.choice == long_run_lags::legacy) lags = schwert_lags(n);
    if (asked.choice == long_run_lags::automatic) {
        lags = newey_west_lags(room, squares, static_cast<std::size_t>(std::pow(count, 2.0 / 9)));
        if (!std::isfinite(lags)) return none(no_answer::no_freedom);
    }
    if (asked.choice == long_run_lags::fixed && (lags < 0 || lags >= count)) return none(no_answer::bad_request);
    // if all products counted, the statistic would be 1/2 whatever the data
    if (lags >= count - 1) return none(no_answer::no_freedom);
    auto const taken = static_cast<std::size_t>(lags);
    double const spread = long_run_sum(room, squares, taken);
    if (!(spread > rounding * squares)) return none(no_answer::perfect_fit); // a pattern that undoes itself
    answer.lags = static_cast<int>(taken);
    answer.statistic = detail::squares_of_walk(room) / (count * spread);
    auto const& table = asked.around == trend::constant ? detail::kpss_level : detail::kpss_trend;
    answer.p = detail::between(answer.statistic, table, detail::kpss_p);
    answer.bound = answer.statistic >= table.back() ? p_bound::at_most : answer.statistic <= table.front() ? p_bound::at_least : p_bound::none;
    return answer;
}
inline kpss_answer kpss(std::span<double const> values, kpss_request const& asked = {}) {
    std::vector<double> room;
    return kpss(values, asked, room);
}

} // namespace sb::stats
