// SPDX-License-Identifier: MIT
// The tests of a single series; each answers with a record.
#pragma once
#include <sb/analysis/column.hpp>
#include <sb/analysis/test_answer.hpp>
#include <sb/analysis/test_question.hpp>
#include <sb/stats/adf.hpp>
#include <sb/stats/bootstrap.hpp>
#include <sb/stats/change_points.hpp>
#include <sb/stats/confidence_sequence.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/phillips_perron.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <sb/stats/settled.hpp>
#include <sb/stats/theil_sen.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::analysis {

namespace detail {

inline stats::trend trend_named(std::string_view regression) { return regression == "n" ? stats::trend::none : regression == "c" ? stats::trend::constant : regression == "ct" ? stats::trend::linear : stats::trend::quadratic; }
/// For kpss and pp: how many products of the residuals count.
template <class Request>
void take_lags(test_question const& asked, Request& how) {
    how.choice = asked.lags == "auto" ? stats::long_run_lags::automatic : asked.lags == "legacy" ? stats::long_run_lags::legacy : stats::long_run_lags::fixed;
    how.lags = asked.fixed_lags().value_or(0);
}
/// What adf, kpss and pp begin with: the answer, and what was taken off the series.
template <class Answer>
test_record begun_around(std::string test, Answer const& found, test_question const& asked) {
    auto r = begun(std::move(test), found.n);
    settle(r, found, found.statistic);
    r.besides["regression"] = asked.regression;
    return r;
}
/// Adds what only the tests of a unit root have.
template <class Answer>
void add_root(test_record& r, Answer const& answer, int lag, std::optional<double> criterion = {}) {
    r.besides["lag"] = std::int64_t{lag}, r.besides["nobs"] = static_cast<std::int64_t>(answer.used);
    if (criterion) r.besides["ic"] = *criterion;
    r.besides["critical"] = object{{"1%", answer.critical[0]}, {"5%", answer.critical[1]}, {"10%", answer.critical[2]}};
}

/// Whether all values lie on the line, apart from rounding.
inline bool is_line(std::vector<double> const& values, double intercept, double slope) noexcept {
    double off = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        off = std::max(off, std::abs(values[i] - (intercept + slope * static_cast<double>(i)))), largest = std::max(largest, std::abs(values[i]));
    return off <= 4 * std::numeric_limits<double>::epsilon() * largest;
}

} // namespace detail

inline test_record adf_of(std::vector<double> const& values, test_question const& asked) {
    stats::adf_request how;
    how.with = detail::trend_named(asked.regression);
    how.choice = asked.autolag == "aic" ? stats::lag_choice::aic : asked.autolag == "bic" ? stats::lag_choice::bic : asked.autolag == "t-stat" ? stats::lag_choice::t_stat : stats::lag_choice::fixed;
    if (asked.maxlag) how.most_lags = static_cast<int>(*asked.maxlag);
    auto const answer = stats::adf(values, how);
    auto r = detail::begun_around("adf", answer, asked);
    if (!answer) return r;
    detail::add_root(r, answer, answer.lag, how.choice == stats::lag_choice::fixed ? std::nullopt : std::optional{answer.criterion});
    return r;
}

inline test_record kpss_of(std::vector<double> const& values, test_question const& asked) {
    stats::kpss_request how;
    how.around = detail::trend_named(asked.regression);
    detail::take_lags(asked, how);
    auto const answer = stats::kpss(values, how);
    auto r = detail::begun_around("kpss", answer, asked);
    if (!answer) return r;
    if (answer.bound != stats::p_bound::none) r.p_bound = answer.bound == stats::p_bound::at_most ? "<=" : ">=";
    r.besides["lag"] = std::int64_t{answer.lags};
    return r;
}

inline test_record phillips_perron_of(std::vector<double> const& values, test_question const& asked) {
    stats::phillips_perron_request how;
    how.with = detail::trend_named(asked.regression);
    detail::take_lags(asked, how);
    auto const answer = stats::phillips_perron(values, how);
    auto r = detail::begun_around("pp", answer, asked);
    if (!answer) return r;
    detail::add_root(r, answer, answer.lags);
    r.besides["level_statistic"] = answer.level_statistic, r.besides["level_p"] = answer.level_p;
    return r;
}

/// The line through a series, which outliers do not move, and the test of whether it rises or falls.
inline test_record trend_of(std::vector<double> const& values, test_question const& asked) {
    auto r = begun("trend", values.size());
    r.besides["confidence"] = asked.confidence;
    auto const line = stats::theil_sen(values, asked.confidence);
    if (!line && line.why != stats::no_answer::perfect_fit) {
        r.reason = stats::name_of(line.why);
        return r;
    }
    std::vector<double> places(values.size());
    std::iota(places.begin(), places.end(), 1.0);
    auto const order = stats::kendall(places, values);
    r.statistic = line.slope;
    r.besides["tau"] = finite_or_null(order.r);
    if (!order) r.reason = stats::name_of(order.why);
    else if (detail::is_line(values, line.intercept, line.slope)) r.reason = stats::name_of(stats::no_answer::perfect_fit); // no spread to judge it by
    else r.p = order.p, r.besides["exact"] = order.exact;
    if (line) r.besides["lo"] = finite_or_null(line.bounds.lo), r.besides["hi"] = finite_or_null(line.bounds.hi);
    else r.besides["lo"] = line.slope, r.besides["hi"] = line.slope; // all of the middle slopes are equal
    r.besides["intercept"] = line.intercept;
    return r;
}

/// The mean, with the interval by whichever method is asked for.
inline test_record interval_of(std::vector<double> const& values, test_question const& asked) {
    auto r = begun("ci", values.size());
    r.besides["confidence"] = asked.confidence, r.besides["method"] = asked.method;
    auto const take = [&](double estimate, auto const& answer, stats::interval const& within) {
        if (!values.empty() && std::isfinite(estimate)) r.statistic = estimate;
        if (answer) r.besides["lo"] = finite_or_null(within.lo), r.besides["hi"] = finite_or_null(within.hi);
        else r.reason = stats::name_of(answer.why);
    };
    if (asked.method == "bootstrap") {
        stats::bootstrap_request how;
        how.confidence = asked.confidence, how.seed = static_cast<std::uint64_t>(asked.seed);
        how.draws = std::max(how.draws, static_cast<std::size_t>(std::ceil(40 / (1 - asked.confidence))));
        auto const answer = stats::bootstrap_mean(values, how);
        take(answer.estimate, answer, answer.bounds);
    } else if (asked.method == "anytime") {
        stats::normal_sequence sequence{1 - asked.confidence};
        for (double const x : values) sequence.push(x);
        auto const answer = sequence.now();
        take(answer.estimate, answer, answer.within);
    } else {
        auto const answer = stats::mean_of(values);
        take(values.size() == 1 ? values[0] : answer.mean, answer, answer ? answer.interval(asked.confidence) : stats::interval{});
    }
    return r;
}

inline test_record changes_of(std::vector<double> const& values, test_question const& asked) {
    stats::change_request how;
    how.alpha = asked.alpha, how.least = static_cast<std::size_t>(asked.least.value_or(5));
    how.shuffles = static_cast<int>(asked.shuffles), how.seed = static_cast<std::uint64_t>(asked.seed);
    auto const answer = stats::change_points(values, how);
    auto r = begun("changepoint", answer.n);
    settle(r, answer, answer.most_gain);
    if (!answer) return r;
    array points;
    for (std::size_t i = 0; i < answer.points.size(); ++i) {
        auto const& each = answer.points[i];
        auto const begin = i == 0 ? 0 : answer.points[i - 1].at, end = i + 1 == answer.points.size() ? values.size() : answer.points[i + 1].at;
        std::span<double const> const whole{values};
        points.push_back(object{{"at", static_cast<std::int64_t>(each.at + 1)}, {"p", each.p}, {"mean_before", *stats::moments::of(whole.subspan(begin, each.at - begin)).mean()}, {"mean_after", *stats::moments::of(whole.subspan(each.at, end - each.at)).mean()}});
    }
    r.besides["points"] = std::move(points);
    return r;
}

/// One record for each series; the answer is yes if all have settled.
inline answers converged(columns const& samples, test_question const& asked) {
    std::vector<std::span<double const>> views;
    for (auto const& each : samples) views.emplace_back(each.values);
    stats::settle_request how;
    how.margin = *asked.margin, how.alpha = asked.alpha;
    how.mode = asked.mode == "stable" ? stats::settle_mode::stable : stats::settle_mode::near_zero;
    how.least = static_cast<std::size_t>(asked.least.value_or(8)), how.passes = static_cast<int>(asked.passes);
    std::vector<stats::settle_request> const each_how(samples.size(), how);
    answers said;
    for (auto const& answer : stats::settled(views, each_how)) {
        auto r = begun("converged", answer.n);
        r.besides["converged"] = answer ? value(answer.settled()) : value();
        if (answer) {
            if (std::isfinite(answer.change.mean)) r.statistic = answer.change.mean;
            if (answer.change && answer.change.error > 0) { // otherwise nothing moves, and there is no randomness to test
                r.p = answer.change.equivalence_p(how.margin);
                if (answer.drift) r.p = std::max(*r.p, answer.drift.equivalence_p(how.margin));
            }
            if (answer.lacks != stats::unsettled::nothing) r.besides["because"] = stats::name_of(answer.lacks);
            auto const [lo, hi] = answer.change.interval(1 - 2 * how.alpha);
            auto const [drift_lo, drift_hi] = answer.drift.interval(1 - 2 * how.alpha);
            r.besides["lo"] = finite_or_null(lo), r.besides["hi"] = finite_or_null(hi);
            r.besides["drift"] = finite_or_null(answer.drift.mean), r.besides["drift_lo"] = finite_or_null(drift_lo), r.besides["drift_hi"] = finite_or_null(drift_hi);
            r.besides["effective_n"] = answer.effective;
            r.besides["spread_p"] = finite_or_null(answer.spread_p), r.besides["adf_p"] = finite_or_null(answer.adf_p), r.besides["kpss_p"] = finite_or_null(answer.kpss_p);
        } else r.reason = stats::name_of(answer.why);
        said.push_back(std::move(r));
    }
    return said;
}

} // namespace sb::analysis
