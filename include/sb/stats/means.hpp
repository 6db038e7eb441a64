// SPDX-License-Identifier: MIT
// One mean, or two: is there a difference, how large, and is it small enough not to matter?
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/scaled_moments.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace sb::stats {

/// A mean, or a difference of two, with the error that it has; by itself that of nothing.
struct mean_answer {
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    no_answer why = no_answer::too_short;
    double mean = nan, error = nan; ///< what is estimated, known also of values that do not spread; and its standard error
    double freedom = nan; ///< of the t that it is judged by
    double statistic = nan, p = nan; ///< two-sided, of being nothing
    double n = 0; ///< values; fewer where they depend on each other
    explicit operator bool() const noexcept { return why == no_answer::none; }

    struct bounds {
        double lo = 0, hi = 0;
    };
    /// NaN without an answer, and where `confidence` is not between 0 and 1 (95 is not).
    bounds interval(double confidence = 0.95) const noexcept {
        if (!(confidence > 0 && confidence < 1)) return {nan, nan};
        double const half = student_t_quantile((1 - confidence) / 2, freedom) * error;
        return {mean - half, mean + half};
    }
    /// Of two one-sided tests the larger p: small when the mean lies between -margin and margin. With it below α the interval at
    /// 1 - 2α lies there too.
    double equivalence_p(double margin) const noexcept {
        if (!(margin > 0)) return 1;
        return std::max(student_t_upper((mean + margin) / error, freedom), student_t_upper((margin - mean) / error, freedom));
    }
};

/// How many independent values tell as much of the mean as these do, whose neighbours correlate by `rho`; never more than there
/// are, for a negative correlation may be chance.
inline double effective_n(double n, double rho) noexcept { return rho > 0 ? std::max(1.0, n * (1 - rho) / (1 + rho)) : n; }

namespace detail {

inline mean_answer judged(mean_answer got) noexcept {
    got.why = no_answer::none, got.statistic = got.mean / got.error;
    got.p = 2 * student_t_upper(std::abs(got.statistic), got.freedom);
    return got;
}
inline mean_answer no_mean(no_answer why, double n) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {why, nan, nan, nan, nan, nan, n};
}
/// What a sample lacks to be judged by itself.
inline no_answer lacks(std::span<double const> values) noexcept {
    if (!all_finite(values)) return no_answer::not_finite;
    return values.size() < 2 ? no_answer::too_short : no_answer::none;
}

/// Mean and deviation at any magnitude. What does not spread beyond the rounding of its values does not spread.
struct spread_sample {
    double mean = 0, deviation = 0; ///< by n - 1; infinite where a double does not hold the range
};
/// `at(i)`: each of n > 1 values; `largest`: of what they were made of, in size.
template <class At>
spread_sample spread_of(std::size_t n, double largest, At const& at) noexcept {
    double least = at(0), most = least;
    scaled_moments all;
    for (std::size_t i = 0; i < n; ++i) {
        double const x = at(i);
        least = std::min(least, x), most = std::max(most, x);
        if (!all.push(x)) return {0, std::numeric_limits<double>::infinity()};
    }
    double const range = most - least, rounding = 4 * std::numeric_limits<double>::epsilon() * largest;
    return {all.mean(), !std::isfinite(range) ? range : range <= rounding ? 0 : all.stddev()};
}
inline spread_sample spread_of(std::span<double const> values) noexcept {
    double largest = 0;
    for (double const x : values) largest = std::max(largest, std::abs(x));
    return spread_of(values.size(), largest, [&](std::size_t i) { return values[i]; });
}
/// A mean that is known, of values that do not spread.
inline mean_answer no_spread(double mean, double n, no_answer why) noexcept {
    auto got = no_mean(why, n);
    got.mean = mean;
    return got;
}

} // namespace detail

/// Of one sample; with `autocorrelated` neighbours may depend on each other, as an autoregression of first order has it.
inline mean_answer mean_of(std::span<double const> values, bool autocorrelated = false) noexcept {
    auto const n = static_cast<double>(values.size());
    if (auto const why = detail::lacks(values); why != no_answer::none) return detail::no_mean(why, n);
    auto const all = detail::spread_of(values);
    if (!std::isfinite(all.deviation)) return detail::no_mean(no_answer::not_finite, n);
    if (!(all.deviation > 0)) return detail::no_spread(all.mean, n, no_answer::constant);
    mean_answer got;
    got.mean = all.mean, got.n = n;
    if (autocorrelated) got.n = effective_n(n, autocorrelation(values).value_or(0));
    if (got.n < 2) return detail::no_mean(no_answer::too_short, got.n);
    // of fewer independent values the spread itself is known less well, and is larger than it seems
    got.error = all.deviation * std::sqrt((n - 1) / (n - n / got.n) / got.n), got.freedom = got.n - 1;
    return detail::judged(got);
}

/// The second mean less the first, whatever the spreads (Welch).
inline mean_answer difference_of_means(std::span<double const> first, std::span<double const> second) noexcept {
    auto const m = static_cast<double>(first.size()), n = static_cast<double>(second.size());
    for (auto const& each : {first, second})
        if (auto const why = detail::lacks(each); why != no_answer::none) return detail::no_mean(why, m + n);
    auto const a = detail::spread_of(first), b = detail::spread_of(second);
    mean_answer got;
    got.mean = b.mean - a.mean, got.n = m + n;
    double const of_a = a.deviation / std::sqrt(m), of_b = b.deviation / std::sqrt(n);
    got.error = std::hypot(of_a, of_b);
    if (!std::isfinite(got.error) || !std::isfinite(got.mean)) return detail::no_mean(no_answer::not_finite, m + n);
    if (!(got.error > 0)) return detail::no_spread(got.mean, m + n, got.mean == 0 ? no_answer::constant : no_answer::perfect_fit);
    double const share = (of_a / got.error) * (of_a / got.error); // the degrees of Welch and Satterthwaite, without squares that vanish
    got.freedom = 1 / (share * share / (m - 1) + (1 - share) * (1 - share) / (n - 1));
    return detail::judged(got);
}

/// The mean of what each second value has more than its first; a pair each.
inline mean_answer paired_difference(std::span<double const> first, std::span<double const> second) noexcept {
    auto const n = static_cast<double>(first.size());
    if (first.size() != second.size()) return detail::no_mean(no_answer::bad_request, n);
    if (first.size() < 2) return detail::no_mean(all_finite(first) && all_finite(second) ? no_answer::too_short : no_answer::not_finite, n);
    double largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!std::isfinite(second[i] - first[i])) return detail::no_mean(no_answer::not_finite, n);
        largest = std::max({largest, std::abs(first[i]), std::abs(second[i])});
    }
    auto const all = detail::spread_of(first.size(), largest, [&](std::size_t i) { return second[i] - first[i]; });
    if (!std::isfinite(all.deviation)) return detail::no_mean(no_answer::not_finite, n);
    if (!(all.deviation > 0)) return detail::no_spread(all.mean, n, all.mean == 0 ? no_answer::constant : no_answer::perfect_fit);
    mean_answer got;
    got.mean = all.mean, got.n = n, got.error = all.deviation / std::sqrt(n), got.freedom = n - 1;
    return detail::judged(got);
}

} // namespace sb::stats
