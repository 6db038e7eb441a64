// SPDX-License-Identifier: MIT
// One mean, or two: is there a difference, how large, and is it small enough not to matter?
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/scaled_moments.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace sb::stats {

/// A mean, or a difference of two means, with its standard error. A default one has no answer.
struct mean_answer {
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    no_answer why = no_answer::too_short;
    double mean = nan, error = nan; ///< what is estimated, known also of values that do not spread; and its standard error
    double freedom = nan; ///< degrees of freedom of Student's t
    double statistic = nan, p = nan; ///< two-sided, of the hypothesis that the mean is 0
    double n = 0; ///< values; fewer where they depend on each other
    explicit operator bool() const noexcept { return why == no_answer::none; }

    /// NaN without an answer, and when `confidence` is not between 0 and 1 (95 is not).
    stats::interval interval(double confidence = 0.95) const noexcept {
        if (!(confidence > 0 && confidence < 1)) return {nan, nan};
        double const half = student_t_quantile((1 - confidence) / 2, freedom) * error;
        return {mean - half, mean + half};
    }
    /// The larger p of two one-sided tests: small when the mean lies between -margin and margin. If it is below α, the interval at
    /// confidence 1 - 2α lies between them too.
    double equivalence_p(double margin) const noexcept {
        if (!(margin > 0)) return 1;
        return std::max(student_t_upper((mean + margin) / error, freedom), student_t_upper((margin - mean) / error, freedom));
    }
};

/// How many independent values would tell as much about the mean as these, whose neighbours correlate by `rho`. Never more than
/// `n`, because a negative correlation may be chance.
inline double effective_n(double n, double rho) noexcept { return rho > 0 ? std::max(1.0, n * (1 - rho) / (1 + rho)) : n; }

namespace detail {

inline mean_answer judged(mean_answer answer) noexcept {
    answer.why = no_answer::none, answer.statistic = answer.mean / answer.error;
    answer.p = 2 * student_t_upper(std::abs(answer.statistic), answer.freedom);
    return answer;
}
inline mean_answer no_mean(no_answer why, double n) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {why, nan, nan, nan, nan, nan, n};
}
/// Why a sample cannot be judged by itself, if it cannot.
inline no_answer lacks(std::span<double const> values) noexcept {
    if (!all_finite(values)) return no_answer::not_finite;
    return values.size() < 2 ? no_answer::too_short : no_answer::none;
}

/// Mean and deviation at any magnitude. A spread within the rounding of the values counts as none.
struct spread_sample {
    double mean = 0, deviation = 0; ///< by n - 1; infinite where a double does not hold the range
};
/// `at(i)`: each of n > 1 values; `largest`: the largest size of the numbers from which they were computed.
template <class At>
spread_sample spread_of(std::size_t n, double largest, At const& at) noexcept {
    double least = at(0), most = least;
    scaled_moments moments;
    for (std::size_t i = 0; i < n; ++i) {
        double const x = at(i);
        least = std::min(least, x), most = std::max(most, x);
        if (!moments.push(x)) return {0, std::numeric_limits<double>::infinity()};
    }
    double const range = most - least, rounding = 4 * std::numeric_limits<double>::epsilon() * largest;
    return {moments.mean(), !std::isfinite(range) ? range : range <= rounding ? 0 : moments.stddev()};
}
inline spread_sample spread_of(std::span<double const> values) noexcept {
    double largest = 0;
    for (double const x : values) largest = std::max(largest, std::abs(x));
    return spread_of(values.size(), largest, [&](std::size_t i) { return values[i]; });
}
/// The known mean of values that do not spread.
inline mean_answer no_spread(double mean, double n, no_answer why) noexcept {
    auto answer = no_mean(why, n);
    answer.mean = mean;
    return answer;
}

} // namespace detail

/// The mean of one sample. `autocorrelated`: neighbours may depend on each other as in a first-order autoregression.
inline mean_answer mean_of(std::span<double const> values, bool autocorrelated = false) noexcept {
    auto const n = static_cast<double>(values.size());
    if (auto const why = detail::lacks(values); why != no_answer::none) return detail::no_mean(why, n);
    auto const sample = detail::spread_of(values);
    if (!std::isfinite(sample.deviation)) return detail::no_mean(no_answer::not_finite, n);
    if (!(sample.deviation > 0)) return detail::no_spread(sample.mean, n, no_answer::constant);
    mean_answer answer;
    answer.mean = sample.mean, answer.n = n;
    if (autocorrelated) answer.n = effective_n(n, autocorrelation(values).value_or(0));
    if (answer.n < 2) return detail::no_mean(no_answer::too_short, answer.n);
    // with fewer independent values the spread is known less well, and is larger than it seems
    answer.error = sample.deviation * std::sqrt((n - 1) / (n - n / answer.n) / answer.n), answer.freedom = answer.n - 1;
    return detail::judged(answer);
}

/// The second mean minus the first; the spreads may differ (Welch).
inline mean_answer difference_of_means(std::span<double const> first, std::span<double const> second) noexcept {
    auto const m = static_cast<double>(first.size()), n = static_cast<double>(second.size());
    for (auto const& each : {first, second})
        if (auto const why = detail::lacks(each); why != no_answer::none) return detail::no_mean(why, m + n);
    auto const a = detail::spread_of(first), b = detail::spread_of(second);
    mean_answer answer;
    answer.mean = b.mean - a.mean, answer.n = m + n;
    double const of_a = a.deviation / std::sqrt(m), of_b = b.deviation / std::sqrt(n);
    answer.error = std::hypot(of_a, of_b);
    if (!std::isfinite(answer.error) || !std::isfinite(answer.mean)) return detail::no_mean(no_answer::not_finite, m + n);
    if (!(answer.error > 0)) return detail::no_spread(answer.mean, m + n, answer.mean == 0 ? no_answer::constant : no_answer::perfect_fit);
    double const share = (of_a / answer.error) * (of_a / answer.error); // the degrees of Welch and Satterthwaite, without squares that vanish
    answer.freedom = 1 / (share * share / (m - 1) + (1 - share) * (1 - share) / (n - 1));
    return detail::judged(answer);
}

/// The mean of the differences of pairs, second minus first.
inline mean_answer paired_difference(std::span<double const> first, std::span<double const> second) noexcept {
    auto const n = static_cast<double>(first.size());
    if (first.size() != second.size()) return detail::no_mean(no_answer::bad_request, n);
    if (first.size() < 2) return detail::no_mean(all_finite(first) && all_finite(second) ? no_answer::too_short : no_answer::not_finite, n);
    double largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!std::isfinite(second[i] - first[i])) return detail::no_mean(no_answer::not_finite, n);
        largest = std::max({largest, std::abs(first[i]), std::abs(second[i])});
    }
    auto const sample = detail::spread_of(first.size(), largest, [&](std::size_t i) { return second[i] - first[i]; });
    if (!std::isfinite(sample.deviation)) return detail::no_mean(no_answer::not_finite, n);
    if (!(sample.deviation > 0)) return detail::no_spread(sample.mean, n, sample.mean == 0 ? no_answer::constant : no_answer::perfect_fit);
    mean_answer answer;
    answer.mean = sample.mean, answer.n = n, answer.error = sample.deviation / std::sqrt(n), answer.freedom = n - 1;
    return detail::judged(answer);
}

} // namespace sb::stats
