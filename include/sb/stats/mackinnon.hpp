// SPDX-License-Identifier: MIT
// The distribution of the Dickey-Fuller statistic: p values by MacKinnon's surfaces of 1994, critical values of 2010
// (Queen's Economics Department, Working Paper 1227), for one series.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/normal.hpp>
#include <sb/stats/trend.hpp>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace sb::stats {

/// Whether a series has a unit root: a low statistic speaks against it.
struct unit_root_answer {
    no_answer why = no_answer::none;
    double statistic = 0, p = 0;
    std::array<double, 3> critical{}; ///< of the statistic, at 1, 5 and 10 %
    std::size_t n = 0; ///< values
    std::size_t used = 0; ///< rows of the last regression
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

struct dickey_fuller_surface {
    double highest, lowest; ///< beyond them p is 1, and 0
    double joint; ///< where the two polynomials meet; they do not quite
    std::array<double, 3> low;
    std::array<double, 4> high;
    std::array<std::array<double, 4>, 3> critical; ///< at 1, 5 and 10 %: powers of 1/n
};

inline constexpr dickey_fuller_surface dickey_fuller_surfaces[] = {
    {std::numeric_limits<double>::infinity(), -19.04, -1.04, {0.6344, 1.2378, 0.032496}, {0.4797, 0.93557, -0.06999, 0.033066},
     {{{-2.56574, -2.2358, -3.627, 0}, {-1.941, -0.2686, -3.365, 31.223}, {-1.61682, 0.2656, -2.714, 25.364}}}},
    {2.74, -18.83, -1.61, {2.1659, 1.4412, 0.038269}, {1.7339, 0.93202, -0.12745, -0.010368},
     {{{-3.43035, -6.5393, -16.786, -79.433}, {-2.86154, -2.8903, -4.234, -40.04}, {-2.56677, -1.5384, -2.809, 0}}}},
    {0.7, -16.18, -2.89, {3.2512, 1.6047, 0.049588}, {2.5261, 0.61654, -0.37956, -0.060285},
     {{{-3.95877, -9.0531, -28.428, -134.155}, {-3.41049, -4.3904, -9.036, -45.374}, {-3.12705, -2.5856, -3.925, -22.38}}}},
    {0.54, -17.17, -3.21, {4.0003, 1.658, 0.048288}, {3.0778, 0.49529, -0.41477, -0.059359},
     {{{-4.37113, -11.5882, -35.819, -334.047}, {-3.83239, -5.9057, -12.49, -118.284}, {-3.55326, -3.6596, -5.293, -63.559}}}},
};

template <std::size_t Count>
double polynomial(std::array<double, Count> const& coefficients, double x) noexcept {
    double value = 0;
    for (std::size_t i = Count; i-- > 0;) value = value * x + coefficients[i];
    return value;
}

} // namespace detail

/// The chance of a statistic this low or lower under a unit root. Not continuous: at the joint it jumps by up to 0.004.
inline double dickey_fuller_p(double statistic, trend with) noexcept {
    auto const& surface = detail::dickey_fuller_surfaces[terms_of(with)];
    if (statistic > surface.highest) return 1;
    if (statistic < surface.lowest) return 0;
    double const z = statistic <= surface.joint ? detail::polynomial(surface.low, statistic) : detail::polynomial(surface.high, statistic);
    return normal_upper(-z);
}

/// The critical values at 1, 5 and 10 % for this many observations; NaN without any.
inline std::array<double, 3> dickey_fuller_critical(trend with, double observations) noexcept {
    std::array<double, 3> values;
    values.fill(std::numeric_limits<double>::quiet_NaN());
    if (!(observations > 0)) return values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = detail::polynomial(detail::dickey_fuller_surfaces[terms_of(with)].critical[i], 1 / observations);
    return values;
}

} // namespace sb::stats
