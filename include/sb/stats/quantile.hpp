// SPDX-License-Identifier: MIT
// Exact quantiles of a sample; quantile_sketch.hpp has those of a stream, within a stated bound.
#pragma once
#include <sb/stats/answer.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

/// How a quantile between two values is found (types 1, 6, 7 and 8 of Hyndman and Fan 1996). Type 1 takes the upper value; the
/// others interpolate. Their places split the distribution into equal parts on average (6), go from the least value to the largest
/// as in most programs (7), or are median-unbiased whatever the distribution (8).
enum class quantile_rule : std::uint8_t { step, weibull, linear, median_unbiased };

struct quantile_answer {
    no_answer why = no_answer::none;
    double value = 0;
    std::size_t n = 0; ///< values
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

/// A place among n sorted values, from 0, and the fraction of the way to the next.
struct quantile_place {
    std::size_t at = 0;
    double share = 0;
};
inline quantile_place place_of_quantile(std::size_t n, double p, quantile_rule rule) noexcept {
    auto const count = static_cast<double>(n);
    double place = 0; // from 1
    switch (rule) {
    case quantile_rule::step: { // n p may miss a whole number by rounding
        double const near = std::round(count * p);
        place = std::abs(count * p - near) <= 4 * std::numeric_limits<double>::epsilon() * near ? near : std::ceil(count * p);
        break;
    }
    case quantile_rule::weibull: place = (count + 1) * p; break;
    case quantile_rule::linear: place = (count - 1) * p + 1; break;
    case quantile_rule::median_unbiased: place = (count + 1.0 / 3) * p + 1.0 / 3; break;
    }
    place = std::clamp(place, 1.0, count);
    auto const whole = std::min(static_cast<std::size_t>(place), n);
    return {whole - 1, whole == n ? 0 : place - static_cast<double>(whole)};
}
/// Interpolates between two values, also if no double holds their distance.
inline double part_way(double low, double high, double share) noexcept {
    if (low == high) return low;
    double const off = high - low;
    return std::clamp(std::isfinite(off) ? low + share * off : (1 - share) * low + share * high, low, high);
}

} // namespace detail

/// `values` are sorted and not empty; 0 <= p <= 1.
inline double sorted_quantile(std::span<double const> sorted, double p, quantile_rule rule = quantile_rule::linear) noexcept {
    auto const [at, share] = detail::place_of_quantile(sorted.size(), p, rule);
    return share > 0 ? detail::part_way(sorted[at], sorted[at + 1], share) : sorted[at];
}

/// Writes the quantiles of several 0 <= p <= 1 to `out` and sorts no more than they need. `room` is memory that the caller lends;
/// afterwards it holds the values in some order.
inline no_answer quantiles(std::span<double const> values, std::span<double const> p, std::span<double> out, quantile_rule rule, std::vector<double>& room) {
    auto const n = values.size();
    auto const refuse = [&](no_answer why) {
        std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
        return why;
    };
    if (out.size() != p.size() || !std::all_of(p.begin(), p.end(), [](double each) { return each >= 0 && each <= 1; })) return refuse(no_answer::bad_request);
    if (!all_finite(values)) return refuse(no_answer::not_finite);
    if (n == 0) return refuse(no_answer::too_short);
    room.assign(values.begin(), values.end());
    auto const at = [&](std::size_t place) { return room.begin() + static_cast<std::ptrdiff_t>(place); };
    if (p.size() > 6) { // as dear as a sort
        std::sort(room.begin(), room.end());
        for (std::size_t i = 0; i < p.size(); ++i) out[i] = sorted_quantile(room, p[i], rule);
        return no_answer::none;
    }
    std::size_t settled = 0; // from here on nothing is in place; before it nothing is larger than after it
    double last = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        auto const place = detail::place_of_quantile(n, p[i], rule);
        if (p[i] < last) settled = 0;
        auto const from = std::min(settled, place.at);
        std::nth_element(at(from), at(place.at), room.end());
        out[i] = room[place.at];
        if (place.share > 0) out[i] = detail::part_way(out[i], *std::min_element(at(place.at + 1), room.end()), place.share);
        settled = place.at, last = p[i];
    }
    return no_answer::none;
}
inline quantile_answer quantile(std::span<double const> values, double p, quantile_rule rule, std::vector<double>& room) {
    quantile_answer answer;
    answer.n = values.size();
    answer.why = quantiles(values, {&p, 1}, {&answer.value, 1}, rule, room);
    return answer;
}
inline quantile_answer quantile(std::span<double const> values, double p, quantile_rule rule = quantile_rule::linear) {
    std::vector<double> room;
    return quantile(values, p, rule, room);
}

} // namespace sb::stats
