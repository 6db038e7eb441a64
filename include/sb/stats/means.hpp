// SPDX-License-Identifier: MIT
// One mean, or two: is there a difference, how large, and is it small enough not to matter?
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace sb::stats {

/// A mean, or a difference of two, with the error that it has.
struct mean_answer {
    no_answer why = no_answer::none;
    double mean = 0, error = 0; ///< what is estimated, and its standard error
    double freedom = 0; ///< of the t that it is judged by
    double statistic = 0, p = 0; ///< two-sided, of being nothing
    double n = 0; ///< values; fewer where they depend on each other
    explicit operator bool() const noexcept { return why == no_answer::none; }

    struct bounds {
        double lo = 0, hi = 0;
    };
    bounds interval(double confidence = 0.95) const noexcept {
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
    got.statistic = got.mean / got.error;
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

} // namespace detail

/// Of one sample; with `autocorrelated` neighbours may depend on each other, as an autoregression of first order has it.
inline mean_answer mean_of(std::span<double const> values, bool autocorrelated = false) noexcept {
    auto const n = static_cast<double>(values.size());
    if (auto const why = detail::lacks(values); why != no_answer::none) return detail::no_mean(why, n);
    auto const all = moments::of(values);
    mean_answer got;
    got.mean = *all.mean(), got.n = n;
    if (!(all.squares() > 0)) return detail::no_mean(no_answer::constant, n);
    if (!std::isfinite(all.squares())) return detail::no_mean(no_answer::not_finite, n);
    if (autocorrelated) got.n = effective_n(n, autocorrelation(values).value_or(0));
    if (got.n < 2) return detail::no_mean(no_answer::too_short, got.n);
    // of fewer independent values the spread itself is known less well, and is larger than it seems
    double const variance = all.squares() / (n - n / got.n);
    got.error = std::sqrt(variance / got.n), got.freedom = got.n - 1;
    return detail::judged(got);
}

/// The second mean less the first, whatever the spreads (Welch).
inline mean_answer difference_of_means(std::span<double const> first, std::span<double const> second) noexcept {
    auto const m = static_cast<double>(first.size()), n = static_cast<double>(second.size());
    for (auto const& each : {first, second})
        if (auto const why = detail::lacks(each); why != no_answer::none) return detail::no_mean(why, m + n);
    auto const a = moments::of(first), b = moments::of(second);
    double const of_a = *a.variance() / m, of_b = *b.variance() / n, sum = of_a + of_b;
    if (!std::isfinite(sum)) return detail::no_mean(no_answer::not_finite, m + n);
    mean_answer got;
    got.mean = *b.mean() - *a.mean(), got.n = m + n;
    if (!(sum > 0)) return detail::no_mean(got.mean == 0 ? no_answer::constant : no_answer::perfect_fit, m + n);
    got.error = std::sqrt(sum);
    double const share = of_a / sum; // the degrees of Welch and Satterthwaite, without squares that vanish
    got.freedom = 1 / (share * share / (m - 1) + (1 - share) * (1 - share) / (n - 1));
    return detail::judged(got);
}

/// The mean of what each second value has more than its first; a pair each.
inline mean_answer paired_difference(std::span<double const> first, std::span<double const> second) noexcept {
    auto const n = static_cast<double>(first.size());
    if (first.size() != second.size()) return detail::no_mean(no_answer::bad_request, n);
    moments all;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (!std::isfinite(second[i] - first[i])) return detail::no_mean(no_answer::not_finite, n);
        all.push(second[i] - first[i]);
    }
    if (all.count() < 2) return detail::no_mean(no_answer::too_short, n);
    if (!(all.squares() > 0)) return detail::no_mean(*all.mean() == 0 ? no_answer::constant : no_answer::perfect_fit, n);
    mean_answer got;
    got.mean = *all.mean(), got.n = n, got.error = std::sqrt(*all.variance() / n), got.freedom = n - 1;
    return detail::judged(got);
}

} // namespace sb::stats
