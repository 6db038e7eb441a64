// SPDX-License-Identifier: MIT
// What each series is asked by itself, and the record that answers.
#pragma once
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
#include <sb/track/column.hpp>
#include <sb/track/test_answer.hpp>
#include <sb/track/test_question.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sb::track {

namespace detail {

inline stats::trend trend_named(std::string_view regression) { return regression == "n" ? stats::trend::none : regression == "c" ? stats::trend::constant : regression == "ct" ? stats::trend::linear : stats::trend::quadratic; }
/// Of kpss and pp.
template <class Request>
void take_lags(test_question const& asked, Request& how) {
    how.choice = asked.lags == "auto" ? stats::long_run_lags::automatic : asked.lags == "legacy" ? stats::long_run_lags::legacy : stats::long_run_lags::fixed;
    how.lags = asked.fixed_lags().value_or(0);
}
/// What the tests of a unit root have besides.
template <class Answer>
void add_root(test_record& r, Answer const& got, int lag, std::optional<double> criterion = {}) {
    r.besides.set("lag", std::int64_t{lag}), r.besides.set("nobs", static_cast<std::int64_t>(got.used));
    if (criterion) r.besides.set("ic", *criterion);
    r.besides.set("critical", object{{"1%", got.critical[0]}, {"5%", got.critical[1]}, {"10%", got.critical[2]}});
}

/// But for rounding all values lie on it.
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
    auto const got = stats::adf(values, how);
    auto r = begun("adf", got.n);
    settle(r, got, got.statistic);
    r.besides.set("regression", asked.regression);
    if (!got) return r;
    detail::add_root(r, got, got.lag, how.choice == stats::lag_choice::fixed ? std::nullopt : std::optional{got.criterion});
    return r;
}

inline test_record kpss_of(std::vector<double> const& values, test_question const& asked) {
    stats::kpss_request how;
    how.around = detail::trend_named(asked.regression);
    detail::take_lags(asked, how);
    auto const got = stats::kpss(values, how);
    auto r = begun("kpss", got.n);
    settle(r, got, got.statistic);
    r.besides.set("regression", asked.regression);
    if (!got) return r;
    if (got.bound != stats::p_bound::none) r.p_bound = got.bound == stats::p_bound::at_most ? "<=" : ">=";
    r.besides.set("lag", std::int64_t{got.lags});
    return r;
}

inline test_record phillips_perron_of(std::vector<double> const& values, test_question const& asked) {
    stats::phillips_perron_request how;
    how.with = detail::trend_named(asked.regression);
    detail::take_lags(asked, how);
    auto const got = stats::phillips_perron(values, how);
    auto r = begun("pp", got.n);
    settle(r, got, got.statistic);
    r.besides.set("regression", asked.regression);
    if (!got) return r;
    detail::add_root(r, got, got.lags);
    r.besides.set("level_statistic", got.level_statistic), r.besides.set("level_p", got.level_p);
    return r;
}

/// The line through a series that wild values do not move, and whether it rises or falls at all.
inline test_record trend_of(std::vector<double> const& values, test_question const& asked) {
    auto r = begun("trend", values.size());
    r.besides.set("confidence", asked.confidence);
    auto const line = stats::theil_sen(values, asked.confidence);
    if (!line && line.why != stats::no_answer::perfect_fit) {
        r.reason = stats::name_of(line.why);
        return r;
    }
    std::vector<double> places(values.size());
    std::iota(places.begin(), places.end(), 1.0);
    auto const order = stats::kendall(places, values);
    r.statistic = line.slope;
    r.besides.set("tau", finite_or_null(order.r));
    if (!order) r.reason = stats::name_of(order.why);
    else if (detail::is_line(values, line.intercept, line.slope)) r.reason = stats::name_of(stats::no_answer::perfect_fit); // no doubt to judge by
    else r.p = order.p, r.besides.set("exact", order.exact);
    if (line) r.besides.set("lo", finite_or_null(line.bounds.lo)), r.besides.set("hi", finite_or_null(line.bounds.hi));
    else r.besides.set("lo", line.slope), r.besides.set("hi", line.slope); // so many of its pairs agree
    r.besides.set("intercept", line.intercept);
    return r;
}

/// The mean, with the interval by whichever method is asked for.
inline test_record interval_of(std::vector<double> const& values, test_question const& asked) {
    auto r = begun("ci", values.size());
    r.besides.set("confidence", asked.confidence), r.besides.set("method", asked.method);
    auto const ends = [&](double lo, double hi) { r.besides.set("lo", finite_or_null(lo)), r.besides.set("hi", finite_or_null(hi)); };
    if (asked.method == "bootstrap") {
        stats::bootstrap_request how;
        how.confidence = asked.confidence, how.seed = static_cast<std::uint64_t>(asked.seed);
        how.draws = std::max(how.draws, static_cast<std::size_t>(std::ceil(40 / (1 - asked.confidence))));
        auto const got = stats::bootstrap_mean(values, how);
        if (!values.empty() && std::isfinite(got.estimate)) r.statistic = got.estimate;
        if (got) ends(got.bounds.lo, got.bounds.hi);
        else r.reason = stats::name_of(got.why);
        return r;
    }
    if (asked.method == "anytime") {
        stats::normal_sequence sequence{1 - asked.confidence};
        for (double const x : values) sequence.push(x);
        auto const got = sequence.now();
        if (got.n > 0 && std::isfinite(got.estimate)) r.statistic = got.estimate;
        if (got) ends(got.within.lo, got.within.hi);
        else r.reason = stats::name_of(got.why);
        return r;
    }
    auto const got = stats::mean_of(values);
    if (std::isfinite(got.mean)) r.statistic = got.mean;
    else if (values.size() == 1 && std::isfinite(values[0])) r.statistic = values[0];
    if (got) ends(got.interval(asked.confidence).lo, got.interval(asked.confidence).hi);
    else r.reason = stats::name_of(got.why);
    return r;
}

inline test_record changes_of(std::vector<double> const& values, test_question const& asked) {
    stats::change_request how;
    how.alpha = asked.alpha, how.least = static_cast<std::size_t>(asked.least.value_or(5));
    how.shuffles = static_cast<int>(asked.shuffles), how.seed = static_cast<std::uint64_t>(asked.seed);
    auto const got = stats::change_points(values, how);
    auto r = begun("changepoint", got.n);
    settle(r, got, got.most_gain);
    if (!got) return r;
    array points;
    for (std::size_t i = 0; i < got.points.size(); ++i) {
        auto const& each = got.points[i];
        auto const begin = i == 0 ? 0 : got.points[i - 1].at, end = i + 1 == got.points.size() ? values.size() : got.points[i + 1].at;
        std::span<double const> const all{values};
        points.push_back(object{{"at", static_cast<std::int64_t>(each.at + 1)}, {"p", each.p}, {"mean_before", *stats::moments::of(all.subspan(begin, each.at - begin)).mean()}, {"mean_after", *stats::moments::of(all.subspan(each.at, end - each.at)).mean()}});
    }
    r.besides.set("points", std::move(points));
    return r;
}

/// One record for each series; all have to settle.
inline answers converged(columns const& all, test_question const& asked) {
    std::vector<std::span<double const>> views;
    for (auto const& each : all) views.emplace_back(each.values);
    stats::settle_request how;
    how.margin = *asked.margin, how.alpha = asked.alpha;
    how.mode = asked.mode == "stable" ? stats::settle_mode::stable : stats::settle_mode::near_zero;
    how.least = static_cast<std::size_t>(asked.least.value_or(8)), how.passes = static_cast<int>(asked.passes);
    std::vector<stats::settle_request> const each_how(all.size(), how);
    answers said;
    for (auto const& got : stats::settled(views, each_how)) {
        auto r = begun("converged", got.n);
        r.besides.set("converged", got ? value{got.settled()} : value{});
        if (got) {
            if (std::isfinite(got.change.mean)) r.statistic = got.change.mean;
            if (got.change && got.change.error > 0) { // else nothing moves, and no chance is in it
                r.p = got.change.equivalence_p(how.margin);
                if (got.drift) r.p = std::max(*r.p, got.drift.equivalence_p(how.margin));
            }
            if (got.lacks != stats::unsettled::nothing) r.besides.set("because", stats::name_of(got.lacks));
            auto const [lo, hi] = got.change.interval(1 - 2 * how.alpha);
            auto const [drift_lo, drift_hi] = got.drift.interval(1 - 2 * how.alpha);
            r.besides.set("lo", finite_or_null(lo)), r.besides.set("hi", finite_or_null(hi));
            r.besides.set("drift", finite_or_null(got.drift.mean)), r.besides.set("drift_lo", finite_or_null(drift_lo)), r.besides.set("drift_hi", finite_or_null(drift_hi));
            r.besides.set("effective_n", got.effective);
            r.besides.set("spread_p", finite_or_null(got.spread_p)), r.besides.set("adf_p", finite_or_null(got.adf_p)), r.besides.set("kpss_p", finite_or_null(got.kpss_p));
        } else r.reason = stats::name_of(got.why);
        said.push_back(std::move(r));
    }
    return said;
}

} // namespace sb::track
