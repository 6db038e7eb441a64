// SPDX-License-Identifier: MIT
// Fisher's F distribution: upper tail.
#pragma once
#include <sb/stats/incomplete_beta.hpp>
#include <cmath>

namespace sb::stats {

/// P(F > x) with `above` and `below` > 0 degrees of freedom, of the counter and of what it is divided by; small tails keep their
/// digits.
inline double f_upper(double x, double above, double below) noexcept {
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (std::isinf(x)) return 0;
    double const part = above * x / below;
    if (std::isinf(part)) return 0;
    return detail::incomplete_beta(below / 2, above / 2, 1 / (1 + part), part / (1 + part));
}

} // namespace sb::stats
