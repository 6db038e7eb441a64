// SPDX-License-Identifier: MIT
// Fisher's F distribution: upper tail and its inverse.
#pragma once
#include <sb/stats/falling.hpp>
#include <sb/stats/incomplete_beta.hpp>
#include <cmath>
#include <limits>

namespace sb::stats {

/// P(F > x) with `above` and `below` > 0 degrees of freedom, of the counter and of what it is divided by, NaN without;
/// small tails keep their digits.
inline double f_upper(double x, double above, double below) noexcept {
    if (!(above > 0 && below > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (std::isinf(x)) return 0;
    double const part = above * x / below;
    if (std::isinf(part)) return 0;
    return detail::incomplete_beta(below / 2, above / 2, 1 / (1 + part), part / (1 + part));
}

/// The x whose upper tail is `p`: infinite for 0, 0 for 1, NaN beyond them and without any freedom.
inline double f_quantile(double p, double above, double below) noexcept {
    if (!(above > 0 && below > 0)) return std::numeric_limits<double>::quiet_NaN();
    return detail::where_it_falls_to([&](double x) { return f_upper(x, above, below); }, p, 1);
}

} // namespace sb::stats
