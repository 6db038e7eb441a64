// SPDX-License-Identifier: MIT
// The test of Phillips and Perron: has a series a unit root, as adf.hpp asks, without earlier differences in the regression? What
// these would have explained is allowed for afterwards, by the products of residuals with earlier ones.
//
// How it works: differences are regressed on the level before them and on the trend (least_squares.hpp, whose residuals keep
// their digits far from zero). The level is taken from its middle, and both are brought to one size by powers of two; neither
// statistic knows units. Nothing here believes a fit that leaves no more than rounding.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/dot.hpp>
#include <sb/stats/least_squares.hpp>
#include <sb/stats/long_run.hpp>
#include <sb/stats/mackinnon.hpp>
#include <sb/stats/trend.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

namespace sb::stats {

struct phillips_perron_request {
    trend with = trend::constant; ///< or none, or linear
    long_run_lags choice = long_run_lags::automatic; ///< by the data as Newey and West (1994) do
    int lags = 0; ///< for `fixed`
};

/// The statistic is Z of the t value. p is that of long series: of random walks of 10, 20 and 50 values 14, 8 and 6 in 100 have one
/// below 0.05, with a line 25, 10 and 7.
struct phillips_perron_answer : unit_root_answer {
    double level_statistic = 0, level_p = 0; ///< Z of the coefficient itself, times n: no more than 5 in 100, of short series next to none
    int lags = 0;
};

namespace detail {

/// MacKinnon 1994, tables 5 and 6, for one series: the left tail by powers of log |Z|, the rest by powers of Z.
struct level_surface {
    double joint;
    std::array<double, 4> low;
    std::array<double, 5> high;
};
inline constexpr level_surface level_surfaces[] = {
    {-2.9, {0.0342, -0.6376, 0, -0.03872}, {0.4927, 0.6906, 0.132331, 0.012099, 0}},
    {-8.9, {2.2142, -1.7863, 0.32828, -0.07727}, {1.717, 0.55243, 0.043463, 0.0016671, 0}},
    {-15.0, {4.6476, -2.8932, 0.5832, -0.0999}, {2.7117, 0.45731, 0.022868, 0.0006362, 0.000005}},
};

} // namespace detail

/// The chance of a Z of the coefficient this low or lower under a unit root; with a trend of at most a line.
inline double dickey_fuller_level_p(double statistic, trend with) noexcept {
    auto const& surface = detail::level_surfaces[terms_of(with)];
    double const z = statistic <= surface.joint ? detail::polynomial(surface.low, std::log(-statistic)) : detail::polynomial(surface.high, statistic);
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

inline phillips_perron_answer phillips_perron(std::span<double const> values, phillips_perron_request const& asked = {}) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), eps = std::numeric_limits<double>::epsilon();
    phillips_perron_answer answer;
    auto const n = answer.n = values.size();
    answer.statistic = answer.p = answer.level_statistic = answer.level_p = nan, answer.critical = {nan, nan, nan};
    auto const none = [&](no_answer why) { return answer.why = why, answer; };
    if (n == 0) return none(no_answer::too_short);
    if (!all_finite(values)) return none(no_answer::not_finite);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least == *most) return none(no_answer::constant);
    if (asked.with == trend::quadratic) return none(no_answer::bad_request);
    auto const rows = n - 1, terms = static_cast<std::size_t>(terms_of(asked.with)) + 1;
    if (rows < terms) return none(no_answer::too_short);
    if (rows == terms) return none(no_answer::no_freedom);

    std::vector<double> level(rows), steps(rows), time;
    double const middle = asked.with == trend::none ? 0 : values[n / 2];
    double far = 0, largest = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        level[i] = values[i] - middle, steps[i] = values[i + 1] - values[i];
        far = std::max(far, std::abs(level[i])), largest = std::max(largest, std::abs(steps[i]));
        if (asked.with == trend::linear) time.push_back(static_cast<double>(i));
    }
    if (!std::isfinite(far) || !std::isfinite(largest)) return none(no_answer::not_finite);
    int of_level = 0, of_steps = 0;
    (void)std::frexp(far, &of_level), (void)std::frexp(largest, &of_steps);
    for (double& x : level) x = std::ldexp(x, -of_level);
    for (double& x : steps) x = std::ldexp(x, -of_steps);
    std::span<double const> const columns[] = {level, time};
    regression_request how;
    how.intercept = asked.with != trend::none;
    auto const fit = least_squares(std::span{columns}.first(asked.with == trend::linear ? 2 : 1), steps, how);
    if (!fit) return none(fit.why == no_answer::constant ? no_answer::collinear : fit.why); // only the last value is another

    auto const& left = fit.residuals;
    auto const count = static_cast<double>(rows);
    double const squares = vector_unit::chosen().dot(left.data(), left.data(), rows), rounding = std::ldexp(2 * eps * std::max(std::abs(*least), std::abs(*most)), -of_steps) + 16 * eps;
    if (!(fit.residual_sd > 0) || squares <= rounding * rounding * count) return none(no_answer::perfect_fit);
    double lags = asked.lags;
    if (asked.choice == long_run_lags::legacy) lags = std::min(schwert_lags(n), count - 1);
    if (asked.choice == long_run_lags::automatic) lags = std::min(newey_west_lags(left, squares, static_cast<std::size_t>(4 * std::pow(count / 100, 2.0 / 9))), count - 1);
    if (!std::isfinite(lags)) return none(no_answer::perfect_fit); // products that undo each other
    if (lags < 0 || lags >= count) return none(no_answer::bad_request);
    double const spread = long_run_sum(left, squares, static_cast<std::size_t>(lags));
    if (!(spread > 16 * eps * count * squares)) return none(no_answer::perfect_fit); // a pattern that undoes itself

    // Phillips and Perron 1988; Hamilton 1994, 17.6
    double const error_share = count * fit.errors[0] / fit.residual_sd; // n times the coefficient's error, by the residuals' spread
    double const more = (spread - squares) / count; // what products add to the residuals' own
    // both in the series' own unit again
    answer.lags = static_cast<int>(lags), answer.used = rows;
    answer.statistic = std::sqrt(squares / spread) * (fit.coefficients[0] / fit.errors[0]) - std::ldexp(0.5 * more / std::sqrt(spread / count) * error_share, of_steps - of_level);
    answer.level_statistic = count * std::ldexp(fit.coefficients[0], of_steps - of_level) - std::ldexp(0.5 * error_share * error_share * more, 2 * (of_steps - of_level));
    answer.p = dickey_fuller_p(answer.statistic, asked.with), answer.level_p = dickey_fuller_level_p(answer.level_statistic, asked.with);
    answer.critical = dickey_fuller_critical(asked.with, count);
    return answer;
}

} // namespace sb::stats
