// SPDX-License-Identifier: MIT
// The interval of any statistic, by drawing from the sample again and again (Efron's bootstrap, corrected for bias and
// acceleration: Efron 1987).
//
// How it works: the statistic of many samples drawn with replacement says how it spreads. How many of these lie below the
// statistic of the sample itself says by how much their middle is off; leaving out one value after the other says how its
// spread changes with its size. Both move the two shares at which the interval is cut off.
#pragma once
#include <sb/core/random.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/normal.hpp>
#include <sb/stats/quantile.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

namespace sb::stats {

struct bootstrap_request {
    double confidence = 0.95;
    std::size_t draws = 2000; ///< so many that one or more is expected beyond each end
    std::uint64_t seed = 1; ///< the same seed and values give the same interval
    bool widened = false; ///< for small samples, whose draws spread too little: Student's t, by √(n / (n - 1)), in place of a normal z (Hesterberg 2015)
};

/// Corrected, or cut off at the shares as they are: where the statistic of the sample lies beyond all draws, leaving out a value
/// never changes it, or the correction has no bound.
enum class bootstrap_kind : std::uint8_t { bca, percentile };

struct bootstrap_answer {
    no_answer why = no_answer::none;
    double estimate = 0; ///< of the sample itself; there also where nothing else is, but NaN of no value and of one that is not finite
    interval bounds = {}; ///< of the mean of exponential values, at 95 %, it holds the truth in 88, 92, 94 % of samples of 10, 25, 60; widened in 92, 94, 94
    double error = 0; ///< standard deviation of the draws
    double bias = 0, acceleration = 0; ///< Efron's z0 and a; NaN for a percentile interval
    bootstrap_kind kind = bootstrap_kind::bca;
    std::size_t n = 0, draws = 0;
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// Memory that a caller lends.
struct bootstrap_room {
    std::vector<double> sample, draws, without;
    std::vector<std::size_t> rows;
};

namespace detail {

/// Efron's acceleration from the statistic without each value; NaN if no value changes it.
inline double acceleration_of(std::span<double> without) noexcept {
    double const first = without.front();
    double mean = 0, largest = 0, squares = 0, cubes = 0;
    for (double& x : without) mean += x -= first;
    mean /= static_cast<double>(without.size());
    for (double& x : without) largest = std::max(largest, std::abs(x = mean - x));
    if (!(largest > 0) || !std::isfinite(largest)) return std::numeric_limits<double>::quiet_NaN();
    for (double const x : without) {
        double const part = x / largest;
        squares += part * part, cubes += part * part * part;
    }
    return cubes / (6 * squares * std::sqrt(squares));
}

/// `draw` gives the statistic of the next sample, `leave_out` of all values but one.
template <class Draw, class LeaveOut>
bootstrap_answer bootstrapped(std::size_t n, double estimate, Draw&& draw, LeaveOut&& leave_out, bootstrap_request const& asked, bootstrap_room& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), eps = std::numeric_limits<double>::epsilon();
    bootstrap_answer answer;
    answer.n = n, answer.draws = asked.draws, answer.estimate = estimate, answer.bounds = {nan, nan}, answer.error = answer.bias = answer.acceleration = nan;
    auto& drawn = room.draws;
    if (!std::isfinite(estimate)) return answer.why = no_answer::not_finite, answer;
    drawn.resize(asked.draws);
    for (double& x : drawn) {
        x = draw();
        if (!std::isfinite(x)) return answer.why = no_answer::not_finite, answer;
    }
    std::sort(drawn.begin(), drawn.end());
    double const range = drawn.back() - drawn.front();
    if (!std::isfinite(range)) return answer.why = no_answer::not_finite, answer;
    // smaller differences come from the order of addition
    double const rounding = 8 * eps * std::max(std::abs(estimate), range);
    if (range <= rounding) return answer.why = no_answer::perfect_fit, answer;
    double squares = 0, mean = 0;
    for (double const x : drawn) mean += (x - estimate) / range;
    mean /= static_cast<double>(drawn.size());
    for (double const x : drawn) squares += ((x - estimate) / range - mean) * ((x - estimate) / range - mean);
    answer.error = range * std::sqrt(squares / static_cast<double>(drawn.size() - 1));

    double const tail = (1 - asked.confidence) / 2, size = static_cast<double>(n);
    double const z = asked.widened ? std::sqrt(size / (size - 1)) * student_t_quantile(tail, size - 1) : normal_quantile(tail);
    double low = asked.widened ? 0.5 * std::erfc(z / std::numbers::sqrt2) : tail, high = 1 - low;
    auto const below = std::lower_bound(drawn.begin(), drawn.end(), estimate - rounding) - drawn.begin();
    auto const above = drawn.end() - std::upper_bound(drawn.begin(), drawn.end(), estimate + rounding);
    auto const count = static_cast<double>(drawn.size()), share = (static_cast<double>(below) + (count - static_cast<double>(above))) / (2 * count);
    answer.kind = bootstrap_kind::percentile;
    if (share > 0 && share < 1) {
        room.without.resize(n);
        for (std::size_t i = 0; i < n; ++i) room.without[i] = leave_out(i);
        double const bias = -normal_quantile(share), speed = acceleration_of(room.without);
        auto const moved = [&](double to) {
            double const from = bias + to, shrunk = 1 - speed * from;
            return shrunk > 0 ? 0.5 * std::erfc(-(bias + from / shrunk) / std::numbers::sqrt2) : nan;
        };
        double const from = moved(-z), to = moved(z);
        if (from <= to) answer.kind = bootstrap_kind::bca, low = from, high = to, answer.bias = bias, answer.acceleration = speed; // neither is a NaN
    }
    answer.bounds = {sorted_quantile(drawn, low), sorted_quantile(drawn, high)};
    return answer;
}

/// Four values make 35 different samples, fewer than an interval of 95 % has fortieths, and it holds the mean of normal ones in
/// 80 %, that of three in 73, of two in 49; of five, with 126, in 84.
inline constexpr std::size_t fewest_to_draw_from = 5;

inline bootstrap_answer no_bootstrap(std::size_t n, bootstrap_request const& asked) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    bootstrap_answer answer;
    answer.n = n, answer.draws = asked.draws, answer.estimate = answer.error = answer.bias = answer.acceleration = nan, answer.bounds = {nan, nan};
    if (!(asked.confidence > 0 && asked.confidence < 1) || !(static_cast<double>(asked.draws) * (1 - asked.confidence) >= 2 - 1e-9)) answer.why = no_answer::bad_request;
    else if (n < fewest_to_draw_from) answer.why = no_answer::too_short;
    return answer;
}
inline bootstrap_answer no_bootstrap(std::span<double const> values, bootstrap_request const& asked) noexcept {
    auto answer = no_bootstrap(values.size(), asked);
    if (answer.why == no_answer::bad_request) return answer;
    if (!all_finite(values)) answer.why = no_answer::not_finite;
    else if (values.size() > 1 && std::all_of(values.begin(), values.end(), [&](double x) { return x == values[0]; })) answer.why = no_answer::constant;
    return answer;
}

} // namespace detail

/// The interval of any statistic. It is called with a std::span<double const> of n or n - 1 values and returns a double; if that is not
/// finite for every sample, there is no answer (correction without one value may fail, and is then left out). The values must not depend on each other.
template <class Statistic>
bootstrap_answer bootstrap(std::span<double const> values, Statistic&& statistic, bootstrap_request const& asked, bootstrap_room& room) {
    auto refused = detail::no_bootstrap(values, asked);
    if (values.empty() || !all_finite(values)) return refused;
    double const estimate = statistic(values);
    if (!refused) return refused.estimate = estimate, refused;
    auto const n = values.size();
    room.sample.resize(n);
    random_stream chance{asked.seed};
    return detail::bootstrapped(
        n, estimate,
        [&] {
            for (double& x : room.sample) x = values[chance.below(n)];
            return static_cast<double>(statistic(std::span<double const>{room.sample}));
        },
        [&](std::size_t without) {
            std::copy_n(values.begin(), without, room.sample.begin());
            std::copy(values.begin() + static_cast<std::ptrdiff_t>(without) + 1, values.end(), room.sample.begin() + static_cast<std::ptrdiff_t>(without));
            return static_cast<double>(statistic(std::span<double const>{room.sample}.first(n - 1)));
        },
        asked, room);
}
template <class Statistic>
bootstrap_answer bootstrap(std::span<double const> values, Statistic&& statistic, bootstrap_request const& asked = {}) {
    bootstrap_room room;
    return bootstrap(values, statistic, asked, room);
}

/// The interval of a statistic of several columns. It is called with the numbers of `n` or n - 1 rows and returns a double. A row is
/// drawn as a whole, so what belongs together stays together.
template <class Statistic>
bootstrap_answer bootstrap_rows(std::size_t n, Statistic&& statistic, bootstrap_request const& asked, bootstrap_room& room) {
    auto refused = detail::no_bootstrap(n, asked);
    if (n == 0) return refused;
    auto& rows = room.rows;
    rows.resize(n);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    double const estimate = statistic(std::span<std::size_t const>{rows});
    if (!refused) return refused.estimate = estimate, refused;
    random_stream chance{asked.seed};
    return detail::bootstrapped(
        n, estimate,
        [&] {
            for (auto& row : rows) row = static_cast<std::size_t>(chance.below(n));
            return static_cast<double>(statistic(std::span<std::size_t const>{rows}));
        },
        [&](std::size_t without) {
            for (std::size_t i = 0; i + 1 < n; ++i) rows[i] = i < without ? i : i + 1;
            return static_cast<double>(statistic(std::span<std::size_t const>{rows}.first(n - 1)));
        },
        asked, room);
}
template <class Statistic>
bootstrap_answer bootstrap_rows(std::size_t n, Statistic&& statistic, bootstrap_request const& asked = {}) {
    bootstrap_room room;
    return bootstrap_rows(n, statistic, asked, room);
}

/// The interval of the mean, from the same draws as above, without storing any sample.
inline bootstrap_answer bootstrap_mean(std::span<double const> values, bootstrap_request const& asked, bootstrap_room& room) {
    auto refused = detail::no_bootstrap(values, asked);
    if (values.empty() || !all_finite(values)) return refused;
    auto const n = values.size();
    auto const count = static_cast<double>(n);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const range = *most - *least, origin = *least;
    if (!std::isfinite(range)) {
        if (refused.why != no_answer::bad_request) refused.why = no_answer::not_finite;
        return refused;
    }
    int scale = 0; // distances from the least value, in a unit that neither vanishes nor overflows
    (void)std::frexp(range, &scale);
    room.sample.resize(n);
    for (std::size_t i = 0; i < n; ++i) room.sample[i] = std::ldexp(values[i] - origin, -scale);
    double sum = 0;
    for (double const x : room.sample) sum += x;
    if (!refused) return refused.estimate = origin + std::ldexp(sum / count, scale), refused;
    random_stream chance{asked.seed};
    auto answer = detail::bootstrapped(
        n, sum / count,
        [&] {
            double drawn = 0;
            for (std::size_t i = 0; i < n; ++i) drawn += room.sample[chance.below(n)];
            return drawn / count;
        },
        [&](std::size_t without) { return (sum - room.sample[without]) / (count - 1); }, asked, room);
    for (double* const each : {&answer.estimate, &answer.bounds.lo, &answer.bounds.hi}) *each = origin + std::ldexp(*each, scale);
    answer.error = std::ldexp(answer.error, scale);
    return answer;
}
inline bootstrap_answer bootstrap_mean(std::span<double const> values, bootstrap_request const& asked = {}) {
    bootstrap_room room;
    return bootstrap_mean(values, asked, room);
}

} // namespace sb::stats
