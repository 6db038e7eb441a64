// SPDX-License-Identifier: MIT
// Has a series settled? Shown by evidence that it does not change by more than a margin, never by the lack of evidence that it does.
//
// How it works: two one-sided tests show that the change lies within the margin. One pair compares the later half of a window with
// the earlier half, another tests the slope of the line through the window. The correlation of neighbours decides how many
// independent values the tests may count. Fewer than eight values give neither a slope's error nor a correlation; there the line
// itself has to stay within the margin. A long window must not change its spread either, and must not wander: ADF and KPSS, whose
// null hypotheses are opposite, both have to agree. Somebody who looks often sees a lucky window some day, so several windows in a
// row have to pass. Everything is computed in units of a power of two near the window's range: 1e-200 settles as 1 does.
#pragma once
#include <sb/stats/adf.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/multiple_testing.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

enum class settle_mode : std::uint8_t {
    stable, ///< around some level
    near_zero ///< around nothing: the values are changes themselves
};

struct settle_request {
    double margin = 0; ///< a change of less does not matter; > 0, in the unit of the values
    settle_mode mode = settle_mode::stable;
    double alpha = 0.05; ///< the chance of calling settled what changes by the margin
    double alarm = 0.01; ///< the chance of holding back one of all series because its spread seems to have changed
    std::size_t least = 8; ///< values; never fewer than three, and with fewer than eight alpha holds for independent values only (0.05 is 0.13 where neighbours correlate by a half)
    int passes = 2; ///< windows that must pass: of all values, of all but the last, …; least + passes - 1 values are needed
    double slope_margin = 0; ///< a slope of less, per value, does not matter; 0: one that adds less than the margin over half a window
};

/// Why a window has not settled.
enum class unsettled : std::uint8_t { nothing, level, slope, spread, wandering, passes, dependence, windows };

inline char const* name_of(unsettled what) noexcept {
    switch (what) {
    case unsettled::nothing: return "";
    case unsettled::level: return "its level may have changed by more than the margin";
    case unsettled::slope: return "its slope may add more than the margin";
    case unsettled::spread: return "its spread has changed";
    case unsettled::wandering: return "it wanders";
    case unsettled::passes: return "an earlier window did not pass";
    case unsettled::dependence: return "its values are too dependent on each other to judge";
    case unsettled::windows: return "too few values for so many windows";
    }
    return "";
}

struct settle_answer {
    no_answer why = no_answer::none;
    unsettled lacks = unsettled::nothing;
    std::size_t n = 0;
    double effective = 0; ///< independent values that tell as much
    mean_answer change; ///< of the level: later half less earlier, or the mean itself
    mean_answer drift; ///< what the slope adds to the later half
    double spread_p = std::numeric_limits<double>::quiet_NaN(); ///< of two halves that spread alike; NaN: too few values
    double adf_p = std::numeric_limits<double>::quiet_NaN(), kpss_p = std::numeric_limits<double>::quiet_NaN();
    bool settled() const noexcept { return why == no_answer::none && lacks == unsettled::nothing; }
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

inline constexpr std::size_t fewest_to_settle = 3, fewest_for_slope = 8, fewest_for_spread = 16, fewest_for_wandering = 20;

/// Lag-1 correlation of the residuals of a fit with so many terms, corrected for the fit (Kendall's correction, once per term).
/// For a handful of values the correction alone would leave no independent value, so it is not applied. `rounding`: the size of
/// residuals that are rounding only; they count as uncorrelated.
inline double correlation_left(std::span<double const> left, double terms, double rounding) noexcept {
    double squares = 0, products = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        squares += left[i] * left[i];
        if (i > 0) products += left[i] * left[i - 1];
    }
    double const n = static_cast<double>(left.size()), rho = products / squares;
    if (!(squares > n * rounding * rounding)) return 0;
    return std::min(0.99, left.size() < fewest_for_slope ? rho : rho + (terms + (3 + terms) * std::max(rho, 0.0)) / n);
}

/// Judges a change whose error assumes independent values by the number of values that are independent.
inline mean_answer of_dependent(double change, double squares, double weight, std::span<double const> left, double terms,
                                double rounding) noexcept {
    auto const n = static_cast<double>(left.size());
    double const effective = effective_n(n, correlation_left(left, terms, rounding));
    if (effective <= terms) return no_spread(change, effective, no_answer::too_short);
    mean_answer answer;
    answer.mean = change, answer.n = effective, answer.freedom = effective - terms;
    // the spread of fewer independent values is known less well, and so is the change
    answer.error = std::sqrt(squares / n * (effective / answer.freedom) * weight * (n / effective));
    return judged(answer);
}

/// One window of values whose range is about 1.
inline settle_answer judge_window(std::span<double const> values, settle_request const& asked) {
    settle_answer answer;
    auto const size = answer.n = values.size();
    auto const n = static_cast<double>(size), half = std::floor(n / 2);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const rounding = 8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(*least), std::abs(*most));
    // the level
    auto const early = values.first(static_cast<std::size_t>(half)), late = values.subspan(static_cast<std::size_t>(half));
    std::vector<double> left(size);
    auto const square_sum = [&] {
        double sum = 0;
        for (double const x : left) sum += x * x;
        return sum;
    };
    double const mean = *moments::of(values).mean(), early_mean = *moments::of(early).mean(), late_mean = *moments::of(late).mean();
    if (asked.mode == settle_mode::stable) {
        for (std::size_t i = 0; i < size; ++i) left[i] = values[i] - (i < early.size() ? early_mean : late_mean);
        answer.change = of_dependent(late_mean - early_mean, square_sum(), 1 / half + 1 / (n - half), left, 2, rounding);
    } else {
        for (std::size_t i = 0; i < size; ++i) left[i] = values[i] - mean;
        answer.change = of_dependent(mean, square_sum(), 1 / n, left, 1, rounding);
    }
    // the slope: what it adds to the middle of the later half over that of the earlier, n / 2 steps
    double times = 0, both = 0;
    for (std::size_t i = 0; i < size; ++i) {
        double const t = static_cast<double>(i) - (n - 1) / 2;
        times += t * t, both += t * (values[i] - mean);
    }
    double const slope = both / times;
    for (std::size_t i = 0; i < size; ++i) left[i] = values[i] - mean - slope * (static_cast<double>(i) - (n - 1) / 2);
    answer.drift = of_dependent(slope * n / 2, square_sum(), n * n / 4 / times, left, 2, rounding);
    answer.effective = answer.change.n;
    double const drift_margin = asked.slope_margin > 0 ? asked.slope_margin * n / 2 : asked.margin;
    bool const few = size < fewest_for_slope; // for an interval of the slope: of three values it would have one degree of freedom
    if (!answer.change || !(answer.drift || few)) {
        if (few) return answer.why = no_answer::too_short, answer;
        // as many values as were asked for, and fewer independent ones than it takes; a change beyond the margin fails without a test
        answer.lacks = std::abs(answer.change.mean) > asked.margin ? unsettled::level : std::abs(answer.drift.mean) > drift_margin ? unsettled::slope : unsettled::dependence;
        return answer;
    }
    if (size >= fewest_for_spread) {
        std::span<double const> const halves[] = {early, late};
        auto const spreads = levene(halves);
        answer.spread_p = spreads ? spreads.p : 1; // what does not move at all does not move differently
        if (spreads.why == no_answer::perfect_fit) answer.spread_p = 0;
    }
    if (size >= fewest_for_wandering) {
        auto const root = adf(values);
        auto const level = kpss(values);
        if (root && level) answer.adf_p = root.p, answer.kpss_p = level.p;
    }
    if (!(answer.change.equivalence_p(asked.margin) <= asked.alpha)) answer.lacks = unsettled::level;
    else if (few ? !(std::abs(slope * n / 2) <= drift_margin) : !(answer.drift.equivalence_p(drift_margin) <= asked.alpha)) answer.lacks = unsettled::slope;
    else if (answer.kpss_p <= asked.alpha && answer.adf_p > asked.alpha) answer.lacks = unsettled::wandering;
    return answer;
}

/// One window, looked at by itself.
inline settle_answer look(std::span<double const> values, settle_request const& asked) {
    settle_answer answer;
    auto const size = answer.n = values.size();
    auto const none = [&](no_answer why) { return answer.why = why, answer; };
    if (!(asked.margin > 0) || !(asked.alpha > 0 && asked.alpha < 0.5) || !(asked.slope_margin >= 0)) return none(no_answer::bad_request);
    if (!all_finite(values)) return none(no_answer::not_finite);
    if (size < std::max(asked.least, fewest_to_settle)) return none(no_answer::too_short);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const range = *most - *least;
    if (!std::isfinite(range)) return none(no_answer::not_finite);
    if (range == 0) { // nothing moves: there is no doubt to judge by, and none to judge
        answer.effective = static_cast<double>(size);
        answer.change = answer.drift = {no_answer::none, 0, 0, answer.effective - 1, 0, 1, answer.effective};
        answer.change.mean = asked.mode == settle_mode::near_zero ? values.front() : 0;
        if (std::abs(answer.change.mean) >= asked.margin) answer.lacks = unsettled::level;
        return answer;
    }
    int scale = 0; // a power of two, so that squares neither vanish nor overflow, and no digit is lost
    (void)std::frexp(range, &scale);
    std::vector<double> scaled(size);
    std::transform(values.begin(), values.end(), scaled.begin(), [&](double x) { return std::ldexp(x, -scale); });
    auto how = asked;
    how.margin = std::ldexp(asked.margin, -scale);
    if (asked.slope_margin > 0) how.slope_margin = std::max(std::ldexp(asked.slope_margin, -scale), std::numeric_limits<double>::denorm_min()); // 0 would be the margin
    answer = judge_window(scaled, how);
    for (double* const each : {&answer.change.mean, &answer.change.error, &answer.drift.mean, &answer.drift.error}) *each = std::ldexp(*each, scale);
    return answer;
}

} // namespace detail

/// An answer for each of several series that must all have settled. The tests that can hold a series back by a false alarm are
/// corrected for the number of series (Holm). The tests that let a series pass need no correction, because all must pass.
inline std::vector<settle_answer> settled(std::span<std::span<double const> const> series, std::span<settle_request const> asked) {
    std::vector<settle_answer> now;
    auto const window = [&](std::size_t which, std::size_t cut) {
        auto const values = series[which];
        return values.first(values.size() - std::min(cut, values.size()));
    };
    int most_passes = 1;
    for (auto const& each : asked) most_passes = std::max(most_passes, each.passes);
    for (int pass = 0; pass < most_passes; ++pass) {
        std::vector<settle_answer> then;
        std::vector<double> spreads;
        for (std::size_t i = 0; i < series.size(); ++i) {
            then.push_back(detail::look(window(i, static_cast<std::size_t>(pass)), asked[i]));
            spreads.push_back(then.back().spread_p);
        }
        auto const alarms = holm(spreads);
        for (std::size_t i = 0; i < series.size(); ++i)
            if (then[i].settled() && alarms[i] <= asked[i].alarm) then[i].lacks = unsettled::spread;
        if (pass == 0) now = then;
        for (std::size_t i = 0; i < series.size(); ++i)
            if (pass > 0 && pass < asked[i].passes && now[i].settled() && !then[i].settled()) now[i].lacks = then[i].why == no_answer::too_short ? unsettled::windows : unsettled::passes;
    }
    return now;
}
inline settle_answer settled(std::span<double const> values, settle_request const& asked) {
    std::span<double const> const series[] = {values};
    settle_request const how[] = {asked};
    return settled(series, how).front();
}

} // namespace sb::stats
