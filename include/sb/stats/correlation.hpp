// SPDX-License-Identifier: MIT
// Do two things go together along a line (Pearson): over all values, and over every window of them.
//
// How it works: both are taken off their means, whose sums keep what rounding drops, and are brought to length one. Half the
// squared distance between the two is then 1 - r, and between one and the other's mirror image 1 + r, so that near a line nothing
// cancels. Windows are summaries that are merged (rolling_summary.hpp): nothing is ever subtracted from a sum, so nothing drifts.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/dot.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/rolling_summary.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

struct correlation_answer {
    no_answer why = no_answer::none;
    double r = 0; ///< from -1 to 1; exactly one of them, with all else NaN, where the fit is perfect
    double statistic = 0, p = 0; ///< Student's t with n - 2 degrees of freedom; two-sided
    interval bounds = {}; ///< of r, by Fisher's z; all there is from three pairs
    std::size_t n = 0; ///< pairs
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// Memory that a caller lends.
struct correlation_room {
    std::vector<double> x, y;
};

namespace detail {

/// Adds up doubles and, beside them, what rounding drops (Neumaier 1974).
inline double careful_sum(std::span<double const> values) noexcept {
    double sum = 0, dropped = 0;
    for (double const x : values) {
        double const next = sum + x;
        dropped += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    return sum + dropped;
}

inline void times_power_of_two(std::span<double> values, int power) noexcept {
    if (power > 1000 || power < -1000) { // no factor holds that
        for (double& x : values) x = std::ldexp(x, power);
        return;
    }
    double const factor = std::ldexp(1.0, power);
    for (double& x : values) x *= factor;
}

/// Lays values off their mean and with length one. `rounding`: how long the values' own rounding may be, of that one.
inline no_answer lay_unit(std::span<double const> values, std::vector<double>& to, double& rounding) {
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const range = *most - *least, largest = std::max(std::abs(*least), std::abs(*most));
    if (range == 0) return no_answer::constant;
    if (!std::isfinite(range)) return no_answer::not_finite;
    int scale = 0;
    (void)std::frexp(range, &scale);
    to.resize(values.size());
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[i] - values[to.size() / 2];
    times_power_of_two(to, -scale);
    auto const n = static_cast<double>(to.size());
    for (int pass = 0; pass < 2; ++pass) { // the second time what the first left by rounding
        double const mean = careful_sum(to) / n;
        for (double& x : to) x -= mean;
    }
    double const length = std::sqrt(vector_unit::chosen().dot(to.data(), to.data(), to.size()));
    for (double& x : to) x /= length;
    rounding = std::ldexp(largest * std::numeric_limits<double>::epsilon(), -scale) * std::sqrt(n) / (2 * length);
    return no_answer::none;
}

/// How far two vectors of length one point the same way.
struct direction {
    double r = 0;
    double to_same = 0, to_opposite = 0; ///< 1 - r and 1 + r, each with digits of its own
};
inline direction compare_directions(std::span<double const> u, std::span<double const> v) noexcept {
    direction found;
    double same = 0, same_dropped = 0, opposite = 0, opposite_dropped = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        double const off = u[i] - v[i], sum = u[i] + v[i], a = off * off, b = sum * sum;
        double const next = same + a, following = opposite + b; // all positive: what is dropped is small, and is kept
        same_dropped += same >= a ? (same - next) + a : (a - next) + same;
        opposite_dropped += opposite >= b ? (opposite - following) + b : (b - following) + opposite;
        same = next, opposite = following;
    }
    found.to_same = (same + same_dropped) / 2, found.to_opposite = (opposite + opposite_dropped) / 2;
    found.r = found.to_same < 0.5 ? 1 - found.to_same : found.to_opposite < 0.5 ? found.to_opposite - 1 : vector_unit::chosen().dot(u.data(), v.data(), u.size());
    return found;
}

/// What a window needs to know of one side besides its sums.
class rolled_side {
public:
    explicit rolled_side(std::span<double const> values) noexcept : values_{values} {
        double largest = 0;
        for (double const x : values)
            if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
        (void)std::frexp(largest, &scale_);
    }
    /// The next value, in a unit whose squares do not overflow.
    double push() noexcept {
        auto const i = next_++;
        double const raw = values_[i], x = std::isfinite(raw) ? std::ldexp(raw, -scale_) : std::numeric_limits<double>::quiet_NaN();
        same_ = i > 0 && raw == values_[i - 1] ? same_ + 1 : 1;
        if (std::isnan(x)) broken_ = next_;
        else if (std::abs(x) >= 1e-70) large_ = next_;
        return x;
    }
    bool moves(std::size_t window) const noexcept { return same_ < window && broken_ + window <= next_; }
    bool counts(std::size_t window) const noexcept { return large_ + window > next_; } ///< has a value whose square does not vanish

private:
    std::span<double const> values_;
    int scale_ = 0;
    std::size_t next_ = 0, same_ = 0; // of neighbours that are equal, up to the last
    std::size_t large_ = 0, broken_ = 0; // places after the last such value
};

} // namespace detail

/// Pairs x[i], y[i]. p and interval are of independent pairs that are normal together.
inline correlation_answer correlation(std::span<double const> x, std::span<double const> y, double confidence, correlation_room& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), eps = std::numeric_limits<double>::epsilon();
    correlation_answer answer;
    answer.n = x.size();
    auto const none = [&](no_answer why, double r = std::numeric_limits<double>::quiet_NaN()) {
        answer.why = why, answer.r = r, answer.statistic = answer.p = nan, answer.bounds = {nan, nan};
        return answer;
    };
    if (x.size() != y.size() || !(confidence > 0 && confidence < 1)) return none(no_answer::bad_request);
    if (!all_finite(x) || !all_finite(y)) return none(no_answer::not_finite);
    if (answer.n < 2) return none(no_answer::too_short);
    double rounding_x = 0, rounding_y = 0;
    if (auto const why = detail::lay_unit(x, room.x, rounding_x); why != no_answer::none) return none(why);
    if (auto const why = detail::lay_unit(y, room.y, rounding_y); why != no_answer::none) return none(why);
    if (answer.n == 2) return none(no_answer::no_freedom);
    auto const found = detail::compare_directions(room.x, room.y);
    double const nearest = std::sqrt(2 * std::min(found.to_same, found.to_opposite));
    if (nearest <= rounding_x + rounding_y + 4 * eps) return none(no_answer::perfect_fit, found.r > 0 ? 1.0 : -1.0);
    auto const df = static_cast<double>(answer.n) - 2;
    answer.r = found.r;
    answer.statistic = found.r * std::sqrt(df / (found.to_same * found.to_opposite));
    answer.p = 2 * student_t_upper(std::abs(answer.statistic), df);
    if (answer.n == 3) answer.bounds = {-1, 1};
    else {
        double const z = std::log(found.to_opposite / found.to_same) / 2, half = normal_quantile((1 - confidence) / 2) / std::sqrt(df - 1);
        answer.bounds = {std::tanh(z - half), std::tanh(z + half)};
    }
    return answer;
}
inline correlation_answer correlation(std::span<double const> x, std::span<double const> y, double confidence = 0.95) {
    correlation_room room;
    return correlation(x, y, confidence, room);
}

/// The correlation of every `window` neighbours, the first window in out[0]: out holds n - window + 1. NaN where either side does
/// not move within a window, or has a value that is not finite. Says why where there is no window at all.
inline no_answer rolling_correlation(std::span<double const> x, std::span<double const> y, std::size_t window, std::span<double> out) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    auto const n = x.size();
    if (y.size() != n || window < 2) return no_answer::bad_request;
    if (window > n) return no_answer::too_short;
    if (out.size() != n - window + 1) return no_answer::bad_request;
    detail::rolled_side left{x}, right{y};
    rolling_summary<joint_moments> sums{window};
    correlation_room room;
    for (std::size_t i = 0; i < n; ++i) {
        joint_moments one;
        double const at_x = left.push(), at_y = right.push();
        one.push(at_x, at_y);
        sums.push(one);
        if (i + 1 < window) continue;
        auto const from = i + 1 - window;
        double& to = out[from];
        if (!left.moves(window) || !right.moves(window)) to = nan;
        else if (left.counts(window) && right.counts(window)) to = sums.summary().correlation().value_or(nan);
        else { // values so small beside others elsewhere that their squares vanish: in their own unit
            double rounding = 0;
            bool const moves = detail::lay_unit(x.subspan(from, window), room.x, rounding) == no_answer::none && detail::lay_unit(y.subspan(from, window), room.y, rounding) == no_answer::none;
            to = moves ? std::clamp(detail::compare_directions(room.x, room.y).r, -1.0, 1.0) : nan;
        }
    }
    return no_answer::none;
}

} // namespace sb::stats
