// SPDX-License-Identifier: MIT
// Fisher's F distribution: upper tail.
#pragma once
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace sb::stats {

/// P(F > x) with `above` and `below` > 0 degrees of freedom, of the counter and of what it is divided by; small tails keep their
/// digits.
inline double f_upper(double x, double above, double below) {
    namespace policies = boost::math::policies;
    using quiet = policies::policy<policies::promote_double<false>, policies::underflow_error<policies::ignore_error>,
                                   policies::overflow_error<policies::ignore_error>, policies::domain_error<policies::ignore_error>>;
    if (!(x > 0)) return std::isnan(x) ? x : 1;
    if (std::isinf(x)) return 0;
    double const a = below / 2, b = above / 2, part = above * x / below; // the tail is I(1 / (1 + part); a, b)
    return part > 1 ? boost::math::ibeta(a, b, 1 / (1 + part), quiet{}) : boost::math::ibetac(b, a, part / (1 + part), quiet{});
}

} // namespace sb::stats
