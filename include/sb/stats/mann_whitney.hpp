// SPDX-License-Identifier: MIT
// Two samples without any distribution: does one tend to be larger (Mann and Whitney), and by how much (Hodges and Lehmann)?
//
// How it works: under the null hypothesis any values of the pool may be the second sample's, so rank sums are counted over all
// choices, one value of the pool after the other. Equal values share their middle rank; doubled, it is a whole number. When few
// values differ, or nearly all are one value, it is enough to count how many of each value are chosen (tie_tables.hpp); beyond
// that, when most are one value, how many of the others. The middle differences between the samples are found without storing
// all of them: a walk along the two sorted samples counts how many lie below a bound, and bisection narrows the bound to a double.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/normal.hpp>
#include <sb/stats/tie_tables.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace sb::stats {

struct rank_sum_answer {
    no_answer why = no_answer::none;
    double statistic = 0; ///< U: pairs in which the second sample's value is larger, equal ones half
    double p = 0; ///< two-sided
    double effect = 0; ///< U of all pairs: the chance that a second value is larger than a first; ½ is no effect
    double shift = 0; ///< median of all differences, second less first
    interval shift_interval = {}; ///< infinite where so few values cannot be that sure
    bool exact = true; ///< p is counted; else by normal distributions, corrected for ties and steps, and no less than the chance of just this outcome
    std::size_t first = 0, second = 0; ///< values
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

/// Maps doubles to whole numbers of the same order.
inline std::int64_t place_of(double x) noexcept {
    auto const bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}
inline double at_place(std::int64_t place) noexcept { return std::bit_cast<double>(place < 0 ? std::numeric_limits<std::int64_t>::min() - place : place); }

/// The `k`-th smallest difference (from 1), second minus first, of sorted samples.
inline double nth_difference(std::span<double const> first, std::span<double const> second, std::uint64_t k) noexcept {
    auto low = place_of(second.front() - first.back()), high = place_of(second.back() - first.front());
    while (low < high) {
        auto const middle = low + static_cast<std::int64_t>((static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)) / 2);
        double const bound = at_place(middle);
        std::uint64_t below = 0;
        std::size_t j = 0;
        for (double const x : first) {
            while (j < second.size() && second[j] - x <= bound) ++j;
            below += j;
        }
        if (below >= k) high = middle;
        else low = middle + 1;
    }
    return at_place(low) + 0.0; // minus zero is none
}

/// The chance of each sum of `chosen` of these whole ranks when all choices are equally likely, at [sum - least possible sum].
inline void rank_sum_chances(std::span<std::size_t const> ranks, std::size_t chosen, std::size_t most, std::vector<double>& chances) {
    auto const width = most + 1;
    chances.assign((chosen + 1) * width, 0); // of having taken so many with that sum
    chances[0] = 1;
    double const count = static_cast<double>(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i)
        for (std::size_t k = std::min(i + 1, chosen) + 1; k-- > 0;) {
            // the chance that this one is taken, with k - 1 of those before it, and that it is not
            double const left = count - static_cast<double>(i);
            double const take = (static_cast<double>(chosen) - static_cast<double>(k) + 1) / left, pass = 1 - (static_cast<double>(chosen) - static_cast<double>(k)) / left;
            double* const here = chances.data() + k * width;
            double const* const before = here - width;
            for (std::size_t sum = width; sum-- > 0;) {
                double const stay = pass > 0 ? here[sum] * pass : 0;
                here[sum] = stay + (k > 0 && sum >= ranks[i] ? before[sum - ranks[i]] * take : 0);
            }
        }
}

/// The chance that the centred doubled ranks of so many chosen values have a sum this far from 0. It counts how many of them are not
/// the commonest value (few, and perhaps all on one side) and adds normal distributions for what those contribute.
inline double far_sums(std::span<std::size_t const> counts, std::size_t chosen, double far) {
    other_values const of{counts};
    double p = 0;
    each_overlap(of.all, of.others, chosen, [&](std::size_t others, double chance) {
        auto const k = static_cast<double>(others);
        p += chance * both_tails((k - of.share() * static_cast<double>(chosen)) * of.mean, k * of.left_after(k) * of.variance, far);
    });
    return p;
}

} // namespace detail

/// `most_steps`: counting takes no more; beyond, the normal distribution is used. With two different values, with few, or with
/// nearly all equal, p is always counted, whatever the sizes.
inline rank_sum_answer mann_whitney(std::span<double const> first, std::span<double const> second, double confidence = 0.95, double most_steps = 2e7) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
    rank_sum_answer answer;
    auto const m = answer.first = first.size(), n = answer.second = second.size(), size = m + n;
    auto const none = [&](no_answer why) {
        answer.why = why, answer.statistic = answer.p = answer.effect = answer.shift = nan, answer.shift_interval = {nan, nan};
        return answer;
    };
    if (!all_finite(first) || !all_finite(second)) return none(no_answer::not_finite);
    if (m == 0 || n == 0) return none(no_answer::too_short);
    std::vector<double> a(first.begin(), first.end()), b(second.begin(), second.end());
    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
    if (!std::isfinite(b.back() - a.front()) || !std::isfinite(b.front() - a.back())) return none(no_answer::not_finite);

    // doubled ranks of the pool, in order; those of the second sample added up
    std::vector<std::size_t> ranks, counts; // of all; of equal values
    ranks.reserve(size);
    std::size_t own = 0, step = 0; // what divides every difference of ranks
    double ties = 0, log_chance = 0; // of so many of each value in the second sample
    bool tied = false;
    for (std::size_t i = 0, j = 0; i < m || j < n;) {
        double const x = j == n || (i < m && a[i] <= b[j]) ? a[i] : b[j];
        auto const begin = i + j, j0 = j;
        while (i < m && a[i] == x) ++i;
        while (j < n && b[j] == x) ++j;
        auto const count = i + j - begin, rank = 2 * begin + count + 1;
        if (begin > 0 && step != 1) step = std::gcd(step, rank - ranks.back());
        ranks.insert(ranks.end(), count, rank), counts.push_back(count);
        own += (j - j0) * rank;
        log_chance += detail::log_choices(count, j - j0);
        tied |= count > 1;
        auto const t = static_cast<double>(count);
        ties += t * t * t - t;
    }
    if (ranks.front() == ranks.back()) return none(no_answer::constant);
    auto const dm = static_cast<double>(m), dn = static_cast<double>(n), pairs = dm * dn, whole = dm + dn;
    auto const least = n * (n + 1); // twice the sum of ranks 1 … n
    answer.statistic = (static_cast<double>(own) - static_cast<double>(least)) / 2;
    answer.effect = answer.statistic / pairs;

    auto const total = static_cast<std::uint64_t>(m) * n;
    double const low_median = detail::nth_difference(a, b, (total + 1) / 2), high_median = total % 2 ? low_median : detail::nth_difference(a, b, total / 2 + 1);
    answer.shift = low_median + (high_median - low_median) / 2;

    // the chances of sums without ties are needed for the interval, those with ties for p
    double const spread = std::sqrt(pairs / 12 * (whole + 1 - ties / (whole * (whole - 1))));
    auto const few = std::min(m, n); // either sample may be the one that is chosen
    auto const steps = whole * static_cast<double>(few) * (pairs + 1);
    std::vector<double> chances;
    double const middle = dn * (whole + 1); // of doubled ranks
    std::optional<double> of_ties;
    if (tied) {
        std::size_t const sizes[] = {m, n};
        std::int64_t const second_only[] = {0, 1};
        auto const far = static_cast<std::int64_t>(std::abs(static_cast<double>(own) - middle));
        of_ties = detail::tie_tables{counts, sizes, detail::table_score::products, second_only}.farther(far, std::min(most_steps, detail::most_table_steps));
    }
    answer.exact = of_ties || steps * (tied ? 2 : 1) <= most_steps;
    double const tail = (1 - confidence) / 2;
    std::uint64_t beyond = 0; // differences that may lie outside on each side
    if (steps <= most_steps) {
        std::vector<std::size_t> plain(size);
        for (std::size_t i = 0; i < size; ++i) plain[i] = i + 1;
        auto const lowest = few * (few + 1) / 2, most = lowest + m * n;
        detail::rank_sum_chances(plain, few, most, chances);
        double const* const last = chances.data() + few * (most + 1);
        double sum = 0;
        for (std::size_t u = 0; u <= m * n; ++u) {
            sum += last[lowest + u];
            if (sum >= tail) {
                beyond = u;
                break;
            }
        }
        if (!tied) {
            double const half = pairs / 2, off = std::abs(answer.statistic - half);
            double reached = 0;
            for (std::size_t u = 0; u <= m * n; ++u)
                if (std::abs(static_cast<double>(u) - half) >= off) reached += last[lowest + u];
            answer.p = std::min(1.0, reached);
        }
    } else {
        double const z = normal_quantile(tail), width = z * std::sqrt(pairs / 12 * (whole + 1));
        beyond = static_cast<std::uint64_t>(std::max(0.0, std::floor(pairs / 2 - width)));
    }
    if (beyond == 0) answer.shift_interval = {-infinite, infinite};
    else answer.shift_interval = {detail::nth_difference(a, b, beyond), detail::nth_difference(a, b, total + 1 - beyond)};

    if (of_ties) answer.p = *of_ties;
    else if (answer.exact && tied) {
        auto const most = *std::max_element(ranks.begin(), ranks.end()) * few;
        detail::rank_sum_chances(ranks, few, most, chances);
        double const* const last = chances.data() + few * (most + 1);
        double const off = std::abs(static_cast<double>(own) - middle), middle_of_few = static_cast<double>(few) * (whole + 1);
        double reached = 0;
        for (std::size_t sum = 0; sum <= most; ++sum)
            if (std::abs(static_cast<double>(sum) - middle_of_few) >= off) reached += last[sum];
        answer.p = std::min(1.0, reached);
    } else if (!answer.exact) {
        double const half_step = std::max(0.5, static_cast<double>(step) / 4), off = std::max(0.0, std::abs(answer.statistic - pairs / 2) - half_step);
        double const p = detail::other_values{counts}.are_few() ? detail::far_sums(counts, n, 2 * off) : 2 * normal_upper(off / spread);
        answer.p = std::clamp(p, std::exp(log_chance - detail::log_choices(size, n)), 1.0);
    }
    return answer;
}

} // namespace sb::stats
