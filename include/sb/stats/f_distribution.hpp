// SPDX-License-Identifier: MIT
// Fisher's F distribution: upper tail and its inverse.
#pragma once
#include <sb/stats/invert_tail.hpp>
#include <sb/stats/incomplete_beta.hpp>
#include <cmath>
#include <limits>

namespace sb::stats {

namespace detail {

/// Beyond, the fraction keeps less than eight digits, and takes long.
inline bool reasonable_f(double above, double below) noexcept { return above > 0 && below > 0 && above <= 1e8 && below <= 1e8; }

} // namespace detail

/// P(F > x) with `above` and `below` degrees of freedom, of the counter and of what it is divided by, above 0 and up to 1e8, NaN
/// beyond; small tails keep their digits, but for about 4e-17 times the degrees.
inline double f_upper(double x, double above, double below) noexcept {
    if (!detail::reasonable_f(above, below)) return std::numeric_limits<double>::quiet_NaN();
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (std::isinf(x)) return 0;
    double const part = above * x / below;
    if (std::isinf(part)) return 0;
    return detail::incomplete_beta(below / 2, above / 2, 1 / (1 + part), part / (1 + part));
}

/// The x whose upper tail is `p`: infinite for 0, 0 for 1, NaN beyond them and where the tail is.
inline double f_quantile(double p, double above, double below) noexcept {
    if (!detail::reasonable_f(above, below)) return std::numeric_limits<double>::quiet_NaN();
    return detail::where_it_falls_to([&](double x) { return f_upper(x, above, below); }, p, 1);
}

} // namespace sb::stats
