// SPDX-License-Identifier: MIT
// How often the tests of sb::stats reject what is true, and how often intervals miss it: a table of simulations, of which
// bench/error_rates makes a page and tests/stats/error_rates_test.cpp a test. A row is one experiment that goes wrong, or not.
#pragma once
#include "support/normal_values.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/adf.hpp>
#include <sb/stats/arima_choice.hpp>
#include <sb/stats/bootstrap.hpp>
#include <sb/stats/change_points.hpp>
#include <sb/stats/confidence_sequence.hpp>
#include <sb/stats/conformal.hpp>
#include <sb/stats/correlation.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/least_squares.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/phillips_perron.hpp>
#include <sb/stats/prediction.hpp>
#include <sb/stats/psi.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <sb/stats/proportion_interval.hpp>
#include <sb/stats/theil_sen.hpp>
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
    struct samples {
        std::vector<double> first, second;
    };
    /// Two of them, the second with another mean or spread; in this order, whatever the compiler.
    samples two(double mean = 0, double scale = 1) { return {values(), values(mean, scale)}; }
    double value(double mean = 0, double scale = 1) { return mean + scale * normal_.next(); }
    std::vector<double> uniform() {
        std::vector<double> x(n_);
        for (double& each : x) each = coin_.unit();
        return x;
    }
    std::vector<char> tries(double chance) {
        std::vector<char> x(n_);
        for (char& each : x) each = coin_.chance(chance);
        return x;
    }
    /// 1 for each that failed.
    std::vector<double> failures(double chance) {
        auto const all = tries(chance);
        return {all.begin(), all.end()};
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
inline bool levene_rejects(experiment::samples const& of) {
    std::span<double const> const groups[] = {of.first, of.second};
    return rejects(stats::levene(groups));
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
inline bool correlation_is_missed(experiment& x) {
    auto [a, b] = x.two();
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.5 * a[i] + std::sqrt(0.75) * b[i];
    return misses(stats::correlation(a, b).bounds, 0.5);
}
inline bool next_is_missed(std::vector<double> const& past, double next) {
    stats::forecast_point one[1];
    (void)stats::forecast(stats::choose_arima(past), one);
    return misses(one[0], next);
}
template <class Sequence, class Value>
bool ever_missed(Sequence sequence, std::vector<Value> const& values, double truth) {
    for (auto const each : values) {
        sequence.push(each);
        if (misses(sequence.now().within, truth)) return true;
    }
    return false;
}
/// How many neighbours Newey and West let depend on each other.
inline int neighbours_of(std::size_t n) { return static_cast<int>(4 * std::pow(static_cast<double>(n) / 100, 2.0 / 9)); }

} // namespace detail

/// Of each, x is simulated anew.
inline constexpr error_row tests_of_nothing[] = {
    {"adf", "ADF around a level: a walk is called stationary", holds::nearly, [](experiment& x) { return detail::rejects(stats::adf(x.walk())); }},
    {"adf", "ADF around a trend: the same", holds::nearly, [](experiment& x) { return detail::rejects(stats::adf(x.walk(), {.with = stats::trend::linear})); }},
    {"phillips_perron", "Phillips and Perron around a level: the same", holds::nearly, [](experiment& x) { return detail::rejects(stats::phillips_perron(x.walk())); }},
    {"kpss", "KPSS around a level: independent values are called wandering", holds::nearly, [](experiment& x) { return detail::rejects(stats::kpss(x.values())); }},
    {"levene", "Levene (median): two samples are called unlike in spread", holds::nearly, [](experiment& x) { return detail::levene_rejects(x.two()); }},
    {"ks", "Kolmogorov-Smirnov: two samples are called different", holds::at_most, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::ks(a, b)); }},
    {"mann_whitney", "Mann-Whitney: the same", holds::at_most, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::mann_whitney(a, b)); }, {4, 40, 4}},
    {"mann_whitney", "Mann-Whitney: the same, of runs of which one in twenty fails", holds::at_most, [](experiment& x) { auto const a = x.failures(0.05), b = x.failures(0.05); return detail::rejects(stats::mann_whitney(a, b)); }, {4, 40, 4}},
    {"means", "Welch: two means are called different, spreads alike", holds::nearly, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::difference_of_means(a, b)); }},
    {"means", "Welch: the same, one spread twice the other", holds::nearly, [](experiment& x) { auto const [a, b] = x.two(0, 2); return detail::rejects(stats::difference_of_means(a, b)); }},
    {"means", "paired: a mean difference is called one", holds::exactly, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::paired_difference(a, b)); }},
    {"psi", "stability index, its p: a sample has moved", holds::at_most, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::psi(a, b)); }, {4, 8, 40}},
    {"change_points", "e-divisive: a series that does not change is split", holds::exactly, [](experiment& x) { return !stats::change_points(x.values()).points.empty(); }, {4, 8, 40}},
    {"correlation", "Pearson: two samples are said to go together", holds::exactly, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::correlation(a, b)); }},
    {"rank_correlation", "Spearman: the same", holds::nearly, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::spearman(a, b)); }},
    {"rank_correlation", "Kendall: the same", holds::nearly, [](experiment& x) { auto const [a, b] = x.two(); return detail::rejects(stats::kendall(a, b)); }, {1, 40, 1}},
    {"rank_correlation", "Kendall: the same, of runs of which one in twenty fails", holds::at_most, [](experiment& x) { auto const a = x.failures(0.05), b = x.failures(0.05); return detail::rejects(stats::kendall(a, b)); }},
    {"rank_correlation", "Kendall: such runs are said to fail more often or less with time", holds::at_most, [](experiment& x) { return detail::rejects(stats::kendall(x.rising(std::vector<double>(x.n()), 1), x.failures(0.05))); }},
};
inline constexpr error_row intervals_of_something[] = {
    {"interval", "mean, by t", holds::exactly, [](experiment& x) { return detail::mean_is_missed(x.values(3), 3); }},
    {"share", "share of 0.3, Wilson", holds::nearly, [](experiment& x) { return detail::misses(stats::share_interval(x.hits(0.3), static_cast<std::int64_t>(x.n())), 0.3); }},
    {"means", "difference of two means, Welch, one spread twice the other", holds::nearly, [](experiment& x) { auto const [a, b] = x.two(1, 2); return detail::misses(stats::difference_of_means(a, b).interval(), 1); }},
    {"means", "mean of paired differences", holds::exactly, [](experiment& x) { auto const [a, b] = x.two(1); return detail::misses(stats::paired_difference(a, b).interval(), 1); }},
    {"mann_whitney", "shift of two samples, Hodges and Lehmann", holds::at_most, [](experiment& x) { auto const [a, b] = x.two(1); return detail::misses(stats::mann_whitney(a, b).shift_interval, 1); }, {4, 40, 4}},
    {"least_squares", "slope of a line, independent values", holds::exactly, [](experiment& x) { return detail::slope_is_missed(x.rising(x.values(), 0.1), 0.1); }},
    {"least_squares", "the same, neighbours correlate by 0.5, by Newey and West", holds::nearly, [](experiment& x) { return detail::slope_is_missed(x.rising(x.autoregression(0.5), 0.1), 0.1, detail::neighbours_of(x.n())); }},
    {"theil_sen", "slope of a line, Theil and Sen", holds::at_most, [](experiment& x) { return detail::misses(stats::theil_sen(x.rising(x.values(), 0.1)).bounds, 0.1); }, {1, 4, 40}},
    {"correlation", "correlation of 0.5, by Fisher's z", holds::nearly, [](experiment& x) { return detail::correlation_is_missed(x); }},
    {"bootstrap", "mean, by the bootstrap (BCa)", holds::nearly, [](experiment& x) { return detail::misses(stats::bootstrap_mean(x.values(3)).bounds, 3); }, {20, 40, 100}},
    {"prediction", "one value more, by t", holds::exactly, [](experiment& x) { auto const before = x.values(3); return detail::misses(stats::predict(before).bounds(), x.value(3)); }},
    {"arima_choice", "forecast by the ARIMA model that is chosen, first step, independent values", holds::nearly, [](experiment& x) { auto const past = x.values(); return detail::next_is_missed(past, x.value()); }, {4, 8, 20}},
    {"arima_choice", "the same, neighbours correlate by 0.6", holds::nearly, [](experiment& x) { auto const past = x.autoregression(0.6); return detail::next_is_missed(past, x.value(0.6 * past.back(), 0.8)); }, {4, 8, 20}},
    {"arima_choice", "the same, of a walk", holds::nearly, [](experiment& x) { auto const past = x.walk(); return detail::next_is_missed(past, x.value(past.back())); }, {4, 8, 20}},
    {"conformal", "one error more, by the order of those before (conformal)", holds::at_most, [](experiment& x) { return !stats::conformal(x.values(), 1 - asked_rate).covers(x.value()); }},
    {"confidence_sequence", "mean at any of n looks, normal values", holds::at_most, [](experiment& x) { return detail::ever_missed(stats::normal_sequence{}, x.values(3), 3); }},
    {"confidence_sequence", "mean at any of n looks, values in [0, 1]", holds::at_most, [](experiment& x) { return detail::ever_missed(stats::bounded_sequence{0, 1}, x.uniform(), 0.5); }},
    {"confidence_sequence", "share of 0.3 at any of n looks", holds::at_most, [](experiment& x) { return detail::ever_missed(stats::share_sequence{}, x.tries(0.3), 0.3); }},
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
