// SPDX-License-Identifier: MIT
// Answers of statistical tests as a table: every member of every answer has a column.
#pragma once
#include <sb/cli/record_table.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <sb/record/test.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace sb::app {

namespace detail {

/// The power of ten of the first digit: 0 for 1 to 9, 3 for thousands.
inline int magnitude(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

inline double width_between(object const& o, std::string_view lo, std::string_view hi) {
    auto const *const low = o.if_contains(lo), *const high = o.if_contains(hi);
    return low && high && low->is_number() && high->is_number() ? number_or(*high, 0) - number_or(*low, 0) : 0;
}

/// The width of the interval that a record has for one of its members; 0 where it has none.
inline double width_of(object const& record, std::string const& key) {
    auto const& test = string_or(*record.if_contains("test"), {});
    for (std::string const of : {"shift", "drift"})
        if (key.starts_with(of)) return width_between(record, of + "_lo", of + "_hi");
    if (key == "statistic" && test == "forecast") {
        auto const* const steps = record.if_contains("steps");
        return steps && steps->if_array() && !steps->if_array()->empty() ? width_between(*steps->if_array()->front().if_object(), "lo", "hi") : 0;
    }
    if (key == "lo" || key == "hi" || key == (test == "compare" ? "difference" : "statistic")) return width_between(record, "lo", "hi");
    return 0;
}

} // namespace detail

/// A number for people. `width` is that of the interval that the number is known within: two digits of it are shown. 0: there is none.
inline std::string shown(double x, double width = 0) {
    constexpr int digits = 16; // that a double has behind its first
    auto const size = std::abs(x);
    bool const has_width = std::isfinite(width) && width > 0;
    int const decimals = has_width ? 1 - detail::magnitude(width) : 0;
    if (x != 0 && (size < 1e-4 || size >= 1e15)) {
        char text[64];
        return {text, std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, has_width ? std::clamp(detail::magnitude(x) + decimals, 3, digits) : 3).ptr};
    }
    int const least = size < 10 ? 4 : size < 1e7 ? 2 : 0;
    return fixed(x, x == 0 ? least : std::max(least, std::min(decimals, digits - detail::magnitude(x))));
}
inline std::string shown(value const& v, double width = 0) {
    if (v.is_null()) return "-";
    if (v.if_int64() || v.if_bool()) return json::text_of(v);
    if (v.is_number()) return shown(number_or(v, 0), width);
    if (auto const* const points = v.if_array()) { // of changes
        std::string places;
        for (auto const& each : *points)
            if (auto const* const at = each.if_object() ? each.if_object()->if_contains("at") : nullptr) places += cat(places.empty() ? "" : " ", shown(*at));
        return places.empty() ? "-" : places;
    }
    return std::string{string_or(v, {})};
}

namespace detail {

inline std::string step_text(object const& step) {
    auto const of = [&](char const* key) { return shown(*step.if_contains(key), width_between(step, "lo", "hi")); };
    return cat(of("mean"), " (", of("lo"), " .. ", of("hi"), ")");
}

/// A record's members side by side, those of objects within it too.
inline object flattened(test_record const& record, bool exact) {
    object flat;
    int ahead = 0;
    for (auto const& [key, v] : record.to_object()) {
        if (auto const* inner = v.if_object())
            for (auto const& [name, each] : *inner) flat[cat(key, " ", name)] = each;
        else if (key == "steps" && v.if_array() && !exact) // a column for each step ahead
            for (auto const& each : *v.if_array()) flat[cat("+", ++ahead)] = step_text(*each.if_object());
        else if (key != "kind" && key != "v") flat[key] = v;
    }
    return flat;
}

/// A row for people: numbers as texts, and what is known of p's bound with p.
inline object row_for_people(test_record const& record) {
    auto const whole = record.to_object();
    object row;
    for (auto const& [key, v] : flattened(record, false)) {
        if (key == "p_bound") continue;
        auto text = key == "reason" && v.is_null() ? std::string{} : shown(v, width_of(whole, key));
        if (key == "p" && record.p_bound) text = *record.p_bound + text;
        row[key] = std::move(text);
    }
    return row;
}

} // namespace detail

/// `exact`: for programs. Else for people, who read the reason last.
inline cli::table test_table(std::vector<test_record> const& answers, bool exact) {
    std::vector<object> rows;
    for (auto const& each : answers) rows.push_back(exact ? detail::flattened(each, true) : detail::row_for_people(each));
    auto columns = cli::member_columns(rows);
    std::stable_partition(columns.begin(), columns.end(), [](auto const& each) { return each.title != "reason"; });
    for (auto& each : columns) {
        bool const is_text = each.title == "test" || each.title == "name" || each.title == "first" || each.title == "second" || each.title == "reason";
        each.side = is_text ? cli::table::align::left : cli::table::align::right;
    }
    return cli::table_of(rows, columns);
}

} // namespace sb::app
