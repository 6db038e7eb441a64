// SPDX-License-Identifier: MIT
// Values of preset keys: converts them to amounts, checks their range, and makes them from what a person typed.
#pragma once
#include <sb/core/did_you_mean.hpp>
#include <sb/core/result.hpp>
#include <sb/core/units.hpp>
#include <sb/core/value.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/write.hpp>
#include <sb/key/list.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::key {

/// "yes", "off", "1" and the like; no value for other text.
inline std::optional<bool> truth_of_text(std::string_view text) {
    auto const word = lowered(trim(text));
    for (std::string_view const yes : {"1", "true", "yes", "on"})
        if (word == yes) return true;
    for (std::string_view const no : {"0", "false", "no", "off"})
        if (word == no) return false;
    return std::nullopt;
}
/// The words of a list separated by blanks.
inline std::vector<std::string_view> words_of(std::string_view blank_separated) {
    std::vector<std::string_view> words;
    each_word(blank_separated, [&](std::string_view word) { words.push_back(word); });
    return words;
}
/// Words separated by commas, for people.
inline std::string listed(std::string_view words) { return joined(words_of(words), ", "); }

namespace detail {

/// A number and the unit after it; no value for text that is not a number.
inline std::optional<sb::quantity> quantity_of(std::string_view text) {
    sb::quantity q{};
    if (trim(text).empty() || !sb::read_quantity(text, q)) return std::nullopt;
    return q;
}

inline std::optional<double> rate_of(std::string_view text) {
    auto const q = quantity_of(text);
    if (!q) return std::nullopt;
    static constexpr unit_scale steps[] = {{"", 1}, {"bps", 1}, {"bit", 1}, {"kbps", 1e3}, {"kbit", 1e3}, {"mbps", 1e6},
        {"mbit", 1e6}, {"gbps", 1e9}, {"gbit", 1e9}};
    auto const scale = scale_of(steps, lowered(q->unit));
    return scale ? std::optional{q->number * *scale} : std::nullopt;
}

inline std::optional<double> size_of_text(unit in, std::string_view text) {
    auto const plain = [&](std::string_view sign, double scale) -> std::optional<double> {
        auto const q = quantity_of(text);
        if (q && q->unit.empty()) return q->number;
        if (q && !sign.empty() && q->unit == sign) return q->number * scale;
        return std::nullopt;
    };
    switch (in) {
    case unit::rate: return rate_of(text);
    case unit::bytes:
        if (auto const b = parse_bytes(text); b.has_value()) return static_cast<double>(b->count);
        return std::nullopt;
    case unit::seconds:
    case unit::milliseconds: {
        auto const q = quantity_of(text);
        if (q && q->unit.empty()) return q->number;
        auto const s = parse_seconds(text);
        if (s.has_error()) return std::nullopt;
        return in == unit::seconds ? s->count : s->count * 1e3;
    }
    case unit::fraction: return plain("%", 0.01);
    case unit::percent: return plain("%", 1);
    default: return plain({}, 1);
    }
}

/// Numbers as people write them: no exponent, no ".0".
inline std::string plain_number(double x) {
    char digits[400];
    return {digits, std::to_chars(digits, digits + sizeof digits, x, std::chars_format::fixed).ptr};
}
inline std::string size_text(unit in, double x) {
    if (in == unit::bytes) {
        constexpr std::string_view units[] = {"", "Ki", "Mi", "Gi"};
        std::size_t rung = 0;
        while (rung < 3 && x >= 1024 && std::fmod(x, 1024) == 0) x /= 1024, ++rung;
        return cat(plain_number(x), units[rung]);
    }
    if (in == unit::rate) {
        constexpr std::string_view units[] = {"bps", "kbps", "Mbps", "Gbps"};
        std::size_t rung = 0;
        while (rung < 3 && x >= 1000 && std::fmod(x, 1000) == 0) x /= 1000, ++rung;
        return cat(plain_number(x), units[rung]);
    }
    return plain_number(x);
}
} // namespace detail

/// The text between an unknown word and the valid words: `; did you mean "x"? `, or `; `.
template <class Words>
std::string hint(std::string_view unknown, Words const& known) {
    auto const meant = did_you_mean(unknown, known);
    return meant.empty() ? "; " : meant + " ";
}

/// The valid values of a key, for messages and tables: "0.01 to 64 cores".
inline std::string valid_text(definition const& k) {
    using detail::size_text;
    switch (k.in) {
    case unit::boolean: return "true or false";
    case unit::word: return cat("one of ", listed(k.words));
    case unit::words: return cat("one or several of ", listed(k.words));
    case unit::text: return "text";
    case unit::names: return "an array of key names";
    case unit::map: return "a JSON object";
    default: break;
    }
    auto const range = cat(size_text(k.in, k.least), " to ", size_text(k.in, k.most));
    switch (k.in) {
    case unit::cores: return range + " cores";
    case unit::milliseconds: return range + " ms";
    case unit::seconds: return range + " s";
    case unit::percent: return range + " percent";
    case unit::fraction: return range + " (a fraction)";
    case unit::integer: return cat("a whole number from ", range);
    default: return range;
    }
}

namespace detail {
inline error not_valid(definition const& k, value const& v) {
    return caller_error(cat(k.name, ": ", json::text_of(v), " is not valid; it takes ", valid_text(k)));
}

/// The size in the key's unit; accepts numbers and text.
inline result<double> read_size(definition const& k, value const& v) {
    std::optional<double> x;
    if (v.is_number()) x = number_or(v, 0);
    else if (auto const* s = v.if_string()) x = size_of_text(k.in, *s);
    bool const whole = k.in != unit::integer || (x && *x == std::floor(*x));
    if (!x || !whole || !(*x >= k.least && *x <= k.most)) return not_valid(k, v);
    return *x;
}
/// A boolean, also as 0, 1, "yes", "off" and the like.
inline result<bool> read_truth(definition const& k, value const& v) {
    if (auto const* b = v.if_bool()) return *b;
    auto const read = truth_of_text(v.is_number() ? json::text_of(v) : std::string{string_or(v, {})});
    if (!read) return not_valid(k, v);
    return *read;
}
/// The words of a value: text, text with commas, or an array (nested ones too).
inline result<std::vector<std::string>> read_words(definition const& k, value const& v) {
    std::vector<std::string> found;
    auto const known = words_of(k.words);
    if (auto const* a = v.if_array()) {
        for (auto const& each : *a) {
            SB_TRY(auto const more, read_words(k, each));
            found.insert(found.end(), more.begin(), more.end());
        }
        return found;
    }
    auto const* s = v.if_string();
    if (!s) return not_valid(k, v);
    std::string unknown;
    split(*s, ',', [&](std::string_view part) {
        auto const word = lowered(trim(part));
        if (word.empty() || word == "none") return;
        if (std::find(known.begin(), known.end(), word) == known.end()) unknown = word;
        found.push_back(word);
    });
    if (!unknown.empty()) return caller_error(cat(k.name, ": unknown word \"", unknown, "\"", hint(unknown, known), "it takes ", valid_text(k)));
    return found;
}
inline result<std::vector<std::string>> read_names(definition const& k, value const& v) {
    if (!v.if_array()) return not_valid(k, v);
    std::vector<std::string> found;
    for (auto const& each : *v.if_array()) {
        if (!each.if_string()) return not_valid(k, v);
        found.emplace_back(*each.if_string());
    }
    return found;
}
} // namespace detail

/// The value as an amount in the key's unit. The error lists what would be valid.
inline result<amount> read(definition const& k, value const& v) {
    switch (k.in) {
    case unit::boolean: {
        SB_TRY(bool const truth, detail::read_truth(k, v));
        return amount{truth};
    }
    case unit::word: {
        SB_TRY(auto found, detail::read_words(k, v));
        if (found.size() != 1) return detail::not_valid(k, v);
        return amount{word{std::move(found.front())}};
    }
    case unit::words: {
        SB_TRY(auto found, detail::read_words(k, v));
        return amount{words{std::move(found)}};
    }
    case unit::text:
        if (!v.if_string() || v.if_string()->empty()) return detail::not_valid(k, v);
        return amount{text{std::string{*v.if_string()}}};
    case unit::names: {
        SB_TRY(auto found, detail::read_names(k, v));
        return amount{names{std::move(found)}};
    }
    case unit::map:
        if (!v.if_object()) return detail::not_valid(k, v);
        return amount{map{*v.if_object()}};
    default: {
        SB_TRY(double const size, detail::read_size(k, v));
        return amount_in(k.in, size);
    }
    }
}

/// The key of that name; the error suggests the nearest name.
inline result<definition const*> known(std::string_view name) {
    if (auto const* k = find(name)) return k;
    std::vector<std::string_view> names;
    for (auto const* k : by_name) names.push_back(k->name);
    return caller_error(cat("unknown preset key \"", name, "\"", hint(name, names), "to set a variable of the workload, write ENV_NAME"));
}

/// The value that a person's text means: numbers become numbers, lists become arrays, sizes stay as written.
inline result<value> value_of_text(definition const& k, std::string_view text) {
    text = trim(text);
    value v(text);
    if (k.in == unit::map && json::parse(text, v)) return detail::not_valid(k, value(text));
    SB_TRY(auto const is, read(k, v));
    switch (k.in) {
    case unit::boolean: return value(std::get<bool>(is));
    case unit::words: {
        auto const& found = std::get<words>(is);
        if (k.tidy) return k.tidy(found);
        if (found.are.empty()) return detail::not_valid(k, v);
        if (found.are.size() == 1) return value(found.are.front());
        return value(array(found.are.begin(), found.are.end()));
    }
    case unit::milliseconds:
    case unit::seconds:
    case unit::fraction:
    case unit::percent:
    case unit::integer: {
        double const x = size_of(is);
        if (x == std::floor(x)) return value(static_cast<std::int64_t>(x));
        return value(x);
    }
    default: return v;
    }
}

} // namespace sb::key
