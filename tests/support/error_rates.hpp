// SPDX-License-Identifier: MIT
// How often the tests of sb::stats reject what is true, and how often intervals miss it: a table of simulations, of which
// bench/error_rates makes a page and tests/stats/error_rates_test.cpp a test. A row is one experiment that goes wrong, or not.
#pragma once
#include "support/normal_values.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/adf.hpp>
#include <sb/stats/change_points.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/least_squares.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/order_trend.hpp>
#include <sb/stats/psi.hpp>
#include <sb/stats/share.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sb::test {

/// What simulations draw from.
class experiment {
public:
    experiment(std::size_t n, std::uint64_t seed) : n_{n}, normal_{seed}, coin_{seed + 1} {}
    std::size_t n() const noexcept { return n_; }
    std::vector<double> values(double mean = 0, double scale = 1) { return normal_.many(n_, mean, scale); }
    /// Each is so much of the last one and something new, all with one spread; from the first on.
    std::vector<double> autoregression(double of_last) {
        auto x = values();
        for (std::size_t i = 1; i < n_; ++i) x[i] = of_last * x[i - 1] + std::sqrt(1 - of_last * of_last) * x[i];
        return x;
    }
    std::vector<double> walk() {
        auto x = values();
        for (std::size_t i = 1; i < n_; ++i) x[i] += x[i - 1];
        return x;
    }
    /// Takes so much more from each value to the next.
    static std::vector<double> rising(std::vector<double> x, double by) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += by * static_cast<double>(i);
        return x;
    }
    std::int64_t hits(double chance) {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < n_; ++i) sum += coin_.chance(chance);
        return sum;
    }

private:
    std::size_t n_;
    normal_values normal_;
    random_stream coin_;
};

/// What a method says of its 5 %: they are so whatever n; at most so, for what it counts comes in steps; or nearly so, the more
/// the larger n.
enum class holds { exactly, at_most, nearly };

inline constexpr double asked_rate = 0.05;
inline constexpr std::size_t error_sizes[] = {20, 50, 200};

struct error_row {
    char const* of; ///< the header
    char const* words;
    holds claim;
    bool (*wrong)(experiment&); ///< one experiment, of which in truth nothing is to be found
    int slow[3] = {1, 1, 1}; ///< so many times fewer rounds, of each size
};

namespace detail {

template <class Answer>
bool rejects(Answer const& got) {
    return got && got.p <= asked_rate;
}
template <class Bounds>
bool misses(Bounds const& interval, double truth) {
    return !(interval.lo <= truth && truth <= interval.hi);
}
inline bool levene_rejects(std::vector<double> const& a, std::vector<double> const& b) {
    std::span<double const> const groups[] = {a, b};
    return rejects(stats::levene(groups));
}
inline bool trend_is_found(std::vector<double> const& x) {
    auto const got = stats::order_trend_of(x);
    return got && got->p <= asked_rate;
}
inline bool mean_is_missed(std::vector<double> const& x, double truth) {
    auto const all = stats::moments::of(x);
    return misses(stats::mean_interval(*all.mean(), *all.variance(), all.count()), truth);
}
inline bool slope_is_missed(std::vector<double> const& x, double truth, int neighbours = -1) {
    stats::regression_request asked;
    asked.neighbours = neighbours;
    return misses(stats::line_of(x, asked).interval_of(0), truth);
}
/// How many neighbours Newey and West let depend on each other.
inline int neighbours_of(std::size_t n) { return static_cast<int>(4 * std::pow(static_cast<double>(n) / 100, 2.0 / 9)); }

} // namespace detail

/// Of each, x is simulated anew.
inline constexpr error_row tests_of_nothing[] = {
    {"adf", "ADF around a level: a walk is called stationary", holds::nearly, [](experiment& x) { return detail::rejects(stats::adf(x.walk())); }},
    {"adf", "ADF around a trend: the same", holds::nearly, [](experiment& x) { return detail::rejects(stats::adf(x.walk(), {.with = stats::trend::linear})); }},
    {"kpss", "KPSS around a level: independent values are called wandering", holds::nearly, [](experiment& x) { return detail::rejects(stats::kpss(x.values())); }},
    {"levene", "Levene (median): two samples are called unlike in spread", holds::nearly, [](experiment& x) { return detail::levene_rejects(x.values(), x.values()); }},
    {"ks", "Kolmogorov-Smirnov: two samples are called different", holds::at_most, [](experiment& x) { return detail::rejects(stats::ks(x.values(), x.values())); }},
    {"mann_whitney", "Mann-Whitney: the same", holds::at_most, [](experiment& x) { return detail::rejects(stats::mann_whitney(x.values(), x.values())); }, {4, 40, 4}},
    {"means", "Welch: two means are called different, spreads alike", holds::nearly, [](experiment& x) { return detail::rejects(stats::difference_of_means(x.values(), x.values())); }},
    {"means", "Welch: the same, one spread twice the other", holds::nearly, [](experiment& x) { return detail::rejects(stats::difference_of_means(x.values(), x.values(0, 2))); }},
    {"means", "paired: a mean difference is called one", holds::exactly, [](experiment& x) { return detail::rejects(stats::paired_difference(x.values(3), x.values(3))); }},
    {"psi", "stability index, its p: a sample has moved", holds::nearly, [](experiment& x) { return detail::rejects(stats::psi(x.values(), x.values())); }},
    {"change_points", "e-divisive: a series that does not change is split", holds::exactly, [](experiment& x) { return !stats::change_points(x.values()).points.empty(); }, {4, 8, 40}},
    {"order_trend", "Spearman against the order: a trend is found", holds::nearly, [](experiment& x) { return detail::trend_is_found(x.values()); }},
};
inline constexpr error_row intervals_of_something[] = {
    {"interval", "mean, by t", holds::exactly, [](experiment& x) { return detail::mean_is_missed(x.values(3), 3); }},
    {"share", "share of 0.3, Wilson", holds::nearly, [](experiment& x) { return detail::misses(stats::share_interval(x.hits(0.3), static_cast<std::int64_t>(x.n())), 0.3); }},
    {"means", "difference of two means, Welch, one spread twice the other", holds::nearly, [](experiment& x) { return detail::misses(stats::difference_of_means(x.values(), x.values(1, 2)).interval(), 1); }},
    {"means", "mean of paired differences", holds::exactly, [](experiment& x) { return detail::misses(stats::paired_difference(x.values(), x.values(1)).interval(), 1); }},
    {"mann_whitney", "shift of two samples, Hodges and Lehmann", holds::at_most, [](experiment& x) { return detail::misses(stats::mann_whitney(x.values(), x.values(1)).shift_interval, 1); }, {4, 40, 4}},
    {"least_squares", "slope of a line, independent values", holds::exactly, [](experiment& x) { return detail::slope_is_missed(x.rising(x.values(), 0.1), 0.1); }},
    {"least_squares", "the same, neighbours correlate by 0.5, by Newey and West", holds::nearly, [](experiment& x) { return detail::slope_is_missed(x.rising(x.autoregression(0.5), 0.1), 0.1, detail::neighbours_of(x.n())); }},
};

/// How often a row went wrong, and how far chance alone takes that from the truth.
struct error_rate {
    double rate = 0, error = 0; ///< error: one standard deviation, were the rate as asked
    int rounds = 0;
    /// True where the method promises what these rounds speak against, by so many errors.
    bool breaks(holds claim, double errors = 3) const noexcept {
        return claim != holds::nearly && (rate > asked_rate + errors * error || (claim == holds::exactly && rate < asked_rate - errors * error));
    }
};
inline error_rate rate_of(error_row const& row, std::size_t which_size, int rounds, std::uint64_t seed) {
    experiment chance{error_sizes[which_size], seed};
    error_rate got;
    got.rounds = std::max(rounds / row.slow[which_size], 1);
    int wrong = 0;
    for (int i = 0; i < got.rounds; ++i) wrong += row.wrong(chance);
    got.rate = wrong / static_cast<double>(got.rounds);
    got.error = std::sqrt(asked_rate * (1 - asked_rate) / got.rounds);
    return got;
}

} // namespace sb::test
