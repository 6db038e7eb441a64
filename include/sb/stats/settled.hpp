// SPDX-License-Identifier: MIT
// Has a series settled? Shown by evidence that it does not change by more than a margin, never by the lack of evidence that it does.
//
// How it works: of the later half of a window against the earlier one, and of the line through it, two one-sided tests show that
// the change lies within the margin; how far neighbours depend on each other decides how many independent values that stands on.
// Of fewer than eight values neither a slope's error nor a dependence can be had: there the line itself has to stay within.
// Long enough windows must not change their spread either, nor wander by two tests at once that take opposite things for granted.
// Whoever looks again and again sees a lucky window some day: several windows in a row have to pass.
// All of it is done in units of a power of two near the window's range: 1e-200 settles as 1 does.
#pragma once
#include <sb/stats/adf.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/kpss.hpp>
#include <sb/stats/levene.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/multiple.hpp>
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

/// What a window lacks.
enum class unsettled : std::uint8_t { nothing, level, slope, spread, wandering, passes, dependence, windows };

inline char const* name_of(unsettled what) noexcept {
    switch (what) {
    case unsettled::nothing: return "";
    case unsettled::level: return "its level may have changed by more than the margin";
    case unsettled::slope: return "its slope may add up to more than the margin";
    case unsettled::spread: return "its spread has changed";
    case unsettled::wandering: return "it wanders";
    case unsettled::passes: return "earlier windows did not pass yet";
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

/// Lag-1 correlation of what a fit with so many terms leaves, less what fitting takes from it (Kendall's correction, a term each).
/// Of a handful the correction alone would leave no independent value: these are taken as they seem. `rounding`: what a fit leaves
/// of values that it explains wholly; it has no correlation worth the name.
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

/// A change with the error that independent values would give it, judged for those there are.
inline mean_answer of_dependent(double change, double squares, double weight, std::span<double const> left, double terms,
                                double rounding) noexcept {
    auto const n = static_cast<double>(left.size());
    double const effective = effective_n(n, correlation_left(left, terms, rounding));
    if (effective <= terms) return no_spread(change, effective, no_answer::too_short);
    mean_answer got;
    got.mean = change, got.n = effective, got.freedom = effective - terms;
    // the spread of fewer independent values is known less well, and so is the change
    got.error = std::sqrt(squares / n * (effective / got.freedom) * weight * (n / effective));
    return judged(got);
}

/// One window of values whose range is about 1.
inline settle_answer judge_window(std::span<double const> values, settle_request const& asked) {
    settle_answer got;
    auto const size = got.n = values.size();
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
        got.change = of_dependent(late_mean - early_mean, square_sum(), 1 / half + 1 / (n - half), left, 2, rounding);
    } else {
        for (std::size_t i = 0; i < size; ++i) left[i] = values[i] - mean;
        got.change = of_dependent(mean, square_sum(), 1 / n, left, 1, rounding);
    }
    // the slope: what it adds to the middle of the later half over that of the earlier, n / 2 steps
    double times = 0, both = 0;
    for (std::size_t i = 0; i < size; ++i) {
        double const t = static_cast<double>(i) - (n - 1) / 2;
        times += t * t, both += t * (values[i] - mean);
    }
    double const slope = both / times;
    for (std::size_t i = 0; i < size; ++i) left[i] = values[i] - mean - slope * (static_cast<double>(i) - (n - 1) / 2);
    got.drift = of_dependent(slope * n / 2, square_sum(), n * n / 4 / times, left, 2, rounding);
    got.effective = got.change.n;
    double const drift_margin = asked.slope_margin > 0 ? asked.slope_margin * n / 2 : asked.margin;
    bool const few = size < fewest_for_slope; // for an interval of the slope: of three values it would have one degree of freedom
    if (!got.change || !(got.drift || few)) {
        if (few) return got.why = no_answer::too_short, got;
        // as many values as were asked for, and fewer independent ones than it takes; what is beyond the margin needs no test to stand back
        got.lacks = std::abs(got.change.mean) > asked.margin ? unsettled::level : std::abs(got.drift.mean) > drift_margin ? unsettled::slope : unsettled::dependence;
        return got;
    }
    if (size >= fewest_for_spread) {
        std::span<double const> const halves[] = {early, late};
        auto const spreads = levene(halves);
        got.spread_p = spreads ? spreads.p : 1; // what does not move at all does not move differently
        if (spreads.why == no_answer::perfect_fit) got.spread_p = 0;
    }
    if (size >= fewest_for_wandering) {
        auto const root = adf(values);
        auto const level = kpss(values);
        if (root && level) got.adf_p = root.p, got.kpss_p = level.p;
    }
    if (!(got.change.equivalence_p(asked.margin) <= asked.alpha)) got.lacks = unsettled::level;
    else if (few ? !(std::abs(slope * n / 2) <= drift_margin) : !(got.drift.equivalence_p(drift_margin) <= asked.alpha)) got.lacks = unsettled::slope;
    else if (got.kpss_p <= asked.alpha && got.adf_p > asked.alpha) got.lacks = unsettled::wandering;
    return got;
}

/// One window, looked at by itself.
inline settle_answer look(std::span<double const> values, settle_request const& asked) {
    settle_answer got;
    auto const size = got.n = values.size();
    auto const none = [&](no_answer why) { return got.why = why, got; };
    if (!(asked.margin > 0) || !(asked.alpha > 0 && asked.alpha < 0.5) || !(asked.slope_margin >= 0)) return none(no_answer::bad_request);
    if (!all_finite(values)) return none(no_answer::not_finite);
    if (size < std::max(asked.least, fewest_to_settle)) return none(no_answer::too_short);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    double const range = *most - *least;
    if (!std::isfinite(range)) return none(no_answer::not_finite);
    if (range == 0) { // nothing moves: there is no doubt to judge by, and none to judge
        got.effective = static_cast<double>(size);
        got.change = got.drift = {no_answer::none, 0, 0, got.effective - 1, 0, 1, got.effective};
        got.change.mean = asked.mode == settle_mode::near_zero ? values.front() : 0;
        if (std::abs(got.change.mean) >= asked.margin) got.lacks = unsettled::level;
        return got;
    }
    int scale = 0; // a power of two, so that squares neither vanish nor overflow, and no digit is lost
    (void)std::frexp(range, &scale);
    std::vector<double> scaled(size);
    std::transform(values.begin(), values.end(), scaled.begin(), [&](double x) { return std::ldexp(x, -scale); });
    auto how = asked;
    how.margin = std::ldexp(asked.margin, -scale);
    if (asked.slope_margin > 0) how.slope_margin = std::max(std::ldexp(asked.slope_margin, -scale), std::numeric_limits<double>::denorm_min()); // 0 would be the margin
    got = judge_window(scaled, how);
    for (double* const each : {&got.change.mean, &got.change.error, &got.drift.mean, &got.drift.error}) *each = std::ldexp(*each, scale);
    return got;
}

} // namespace detail

/// Of several series that must all have settled: an answer each. What keeps one back by a false alarm is corrected for how many
/// alarms there may be (Holm); what lets one pass needs no correction, as all have to.
inline std::vector<settle_answer> settled(std::span<std::span<double const> const> all, std::span<settle_request const> asked) {
    std::vector<settle_answer> now;
    auto const window = [&](std::size_t which, std::size_t cut) {
        auto const values = all[which];
        return values.first(values.size() - std::min(cut, values.size()));
    };
    int most_passes = 1;
    for (auto const& each : asked) most_passes = std::max(most_passes, each.passes);
    for (int pass = 0; pass < most_passes; ++pass) {
        std::vector<settle_answer> then;
        std::vector<double> spreads;
        for (std::size_t i = 0; i < all.size(); ++i) {
            then.push_back(detail::look(window(i, static_cast<std::size_t>(pass)), asked[i]));
            spreads.push_back(then.back().spread_p);
        }
        auto const alarms = holm(spreads);
        for (std::size_t i = 0; i < all.size(); ++i)
            if (then[i].settled() && alarms[i] <= asked[i].alarm) then[i].lacks = unsettled::spread;
        if (pass == 0) now = then;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (pass > 0 && pass < asked[i].passes && now[i].settled() && !then[i].settled()) now[i].lacks = then[i].why == no_answer::too_short ? unsettled::windows : unsettled::passes;
    }
    return now;
}
inline settle_answer settled(std::span<double const> values, settle_request const& asked) {
    std::span<double const> const all[] = {values};
    settle_request const how[] = {asked};
    return settled(all, how).front();
}

} // namespace sb::stats
