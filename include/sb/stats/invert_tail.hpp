// SPDX-License-Identifier: MIT
// Where a falling function has a given value: the inverse of an upper tail.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace sb::stats::detail {

/// The x > 0 at which `upper`, which falls from 1 at 0 to 0, is `p`; infinite for 0, 0 for 1, NaN beyond them. `near` > 0: where
/// the search begins.
/// As good as `upper` is.
///
/// How it works: in the logarithms of x and of the tail, which is nearly straight far out, a bracket is narrowed by false
/// position (Illinois), and halved when that is slow.
template <class Tail>
double where_it_falls_to(Tail const& upper, double p, double near) noexcept {
    if (!(p > 0 && p < 1)) return p == 0 ? std::numeric_limits<double>::infinity() : p == 1 ? 0 : std::numeric_limits<double>::quiet_NaN();
    auto const off = [&](double log_x) { return std::log(upper(std::exp(log_x)) / p); }; // falls through 0; -inf where nothing is left
    double low = std::log(near), high = low, at_low = off(low), at_high = at_low, step = 0.5;
    for (; at_low < 0; step *= 2) {
        high = low, at_high = at_low, low -= step;
        if (low < -708) return 0;
        at_low = off(low);
    }
    for (step = 0.5; at_high > 0; step *= 2) {
        low = high, at_low = at_high, high += step;
        if (high > 709) return std::numeric_limits<double>::infinity();
        at_high = off(high);
    }
    double nearest = std::abs(at_low) < std::abs(at_high) ? low : high, least = std::min(std::abs(at_low), std::abs(at_high));
    int moved = 0; // which end did last: one that stays is believed less each time
    for (int i = 1; i < 200; ++i) {
        double const middle = (low + high) / 2;
        if (!(middle > low && middle < high)) break;
        double next = std::isfinite(at_high) && i % 4 != 0 ? low + (high - low) * (at_low / (at_low - at_high)) : middle;
        if (!(next > low && next < high)) next = middle;
        double const at = off(next);
        if (std::abs(at) < least) nearest = next, least = std::abs(at);
        if (least == 0) break;
        if (at > 0) {
            if (moved == 1) at_high /= 2;
            low = next, at_low = at, moved = 1;
        } else {
            if (moved == -1) at_low /= 2;
            high = next, at_high = at, moved = -1;
        }
    }
    return std::exp(nearest);
}

} // namespace sb::stats::detail
