// SPDX-License-Identifier: MIT
// A ranking as people read it: its columns, and the notes below that say what its marks mean.
#pragma once
#include <sb/cli/record_table.hpp>
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <sb/record/rank.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace sb::app {

namespace detail {

/// Instead of a number of decimals: all values are so small that decimals would show them as nothing.
inline constexpr int scientific = -1;

inline std::string decimals(std::optional<double> x, int digits) {
    if (!x) return "-";
    if (digits == scientific) {
        char text[32];
        return *x == 0 ? "0" : std::string{text, std::to_chars(text, text + sizeof text, *x, std::chars_format::scientific, 3).ptr};
    }
    auto text = fixed(*x, digits);
    if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1); // zero has no sign
    return text;
}

inline std::string signed_decimals(std::optional<double> x, int digits) {
    auto const text = decimals(x, digits);
    return x && *x > 0 && text.find_first_not_of("0.") != std::string::npos ? "+" + text : text;
}

/// Three decimals, or up to six where intervals or effects are so small that three would show them as nothing, or an
/// exponent where nothing in the table would have three digits left.
inline int digits_for(std::vector<rank_record> const& rows) {
    double least = 1, most = 0;
    auto const note = [&](double size) {
        if (size > 0) least = std::min(least, size);
    };
    for (auto const& r : rows) {
        if (r.lo) note((*r.hi - *r.lo) / 2);
        if (r.effect) note(std::abs(*r.effect));
        for (auto const each : {r.total, r.lo.value_or(0), r.hi.value_or(0), r.effect.value_or(0)}) most = std::max(most, std::abs(each));
    }
    if (most > 0 && most < 1e-4) return scientific;
    return std::clamp(static_cast<int>(std::ceil(-std::log10(least))) + 1, 3, 6);
}

inline std::string marks_of(rank_record const& r) {
    std::string marks;
    if (r.tie.value_or(false)) marks += '=';
    if (r.overlaps_next.value_or(false)) marks += '~';
    if (r.overlaps_baseline.value_or(false)) marks += 'b';
    return marks;
}

} // namespace detail

/// The columns are for these rows alone: they are numbered, and all have the digits that the smallest needs.
inline cli::record_columns<rank_record> rank_columns(std::vector<rank_record> const& rows, std::string const& by) {
    constexpr auto left = cli::table::align::left, right = cli::table::align::right;
    auto const digits = detail::digits_for(rows);
    auto const* const first = rows.data();
    return {
        {"#", right, [first](rank_record const& r) { return cat(&r - first + 1); }},
        {by, left, [](rank_record const& r) { return r.name; }},
        {"total", right, [digits](rank_record const& r) { return detail::decimals(r.total, digits); }},
        {"mean", right, [digits](rank_record const& r) { return detail::decimals(r.mean, digits); }},
        {"95 % interval", right, [digits](rank_record const& r) { return r.lo ? cat(detail::decimals(r.lo, digits), " .. ", detail::decimals(r.hi, digits)) : std::string{"-"}; }},
        {"n", right, [](rank_record const& r) { return cat(r.n); }},
        {"security", right, [](rank_record const& r) { return detail::decimals(r.last_security_score, 1); }},
        {"effect", right, [digits](rank_record const& r) { return detail::signed_decimals(r.effect, digits); }},
        {"", left, detail::marks_of},
    };
}

/// One line for each mark that the table has. There is at least one row.
inline std::string rank_notes(std::vector<rank_record> const& rows, std::string const& baseline, bool by_mean) {
    bool tie = false, next = false, base = false, few = false, effect = false;
    auto fewest = rows.front().n, most = fewest;
    for (auto const& r : rows) {
        fewest = std::min(fewest, r.n), most = std::max(most, r.n);
        tie |= r.tie.value_or(false), next |= r.overlaps_next.value_or(false), base |= r.overlaps_baseline.value_or(false);
        few |= !r.lo, effect |= r.effect.has_value();
    }
    bool const favours = !by_mean && fewest != most; // who was seen more often
    std::string notes;
    if (favours) notes += cat("ordered by total; n differs (", fewest, " to ", most, "): --sort mean compares single runs\n");
    if (effect) notes += cat("effect: mean against ", printable(baseline), "\n");
    if (tie) notes += by_mean ? "=  the same mean as another row: ordered by total, then by name\n" : "=  the same total as another row: ordered by name\n";
    if (next) notes += cat("~  the interval", favours ? " of the total" : "", " overlaps the next row's: their order is not settled\n");
    if (base) notes += "b  the interval overlaps the baseline's: the effect is not settled\n";
    if (few) notes += "-  no interval from fewer than two values\n";
    return notes;
}

} // namespace sb::app
