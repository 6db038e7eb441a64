// SPDX-License-Identifier: MIT
// Values of preset keys: read into the key's unit, checked against its range, made from text.
#pragma once
#include <sb/core/near.hpp>
#include <sb/core/result.hpp>
#include <sb/core/units.hpp>
#include <sb/core/value.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/write.hpp>
#include <sb/stress/keys.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

namespace detail {
/// A number and the unit after it; nothing for what is no number.
inline std::optional<sb::detail::quantity> quantity_of(std::string_view text) {
    sb::detail::quantity q{};
    if (trim(text).empty() || !sb::detail::read_quantity(text, q)) return std::nullopt;
    return q;
}

inline std::optional<double> rate_of(std::string_view text) {
    auto const q = quantity_of(text);
    if (!q) return std::nullopt;
    struct step {
        std::string_view unit;
        double scale;
    };
    constexpr step steps[] = {{"", 1}, {"bps", 1}, {"bit", 1}, {"kbps", 1e3}, {"kbit", 1e3}, {"mbps", 1e6},
        {"mbit", 1e6}, {"gbps", 1e9}, {"gbit", 1e9}};
    for (auto const& s : steps)
        if (lowered(q->unit) == s.unit) return q->number * s.scale;
    return std::nullopt;
}

inline std::optional<double> amount_of_text(key_type type, std::string_view text) {
    auto const plain = [&](std::string_view unit, double scale) -> std::optional<double> {
        auto const q = quantity_of(text);
        if (q && q->unit.empty()) return q->number;
        if (q && !unit.empty() && q->unit == unit) return q->number * scale;
        return std::nullopt;
    };
    switch (type) {
    case key_type::rate: return rate_of(text);
    case key_type::bytes:
        if (auto const b = parse_bytes(text); b.has_value()) return static_cast<double>(b->count);
        return std::nullopt;
    case key_type::seconds:
    case key_type::milliseconds: {
        auto const q = quantity_of(text);
        if (q && q->unit.empty()) return q->number;
        auto const s = parse_seconds(text);
        if (s.has_error()) return std::nullopt;
        return type == key_type::seconds ? s->count : s->count * 1e3;
    }
    case key_type::fraction: return plain("%", 0.01);
    case key_type::percent: return plain("%", 1);
    default: return plain({}, 1);
    }
}

inline std::optional<bool> truth_of_text(std::string_view text) {
    auto const word = lowered(trim(text));
    for (std::string_view const yes : {"1", "true", "yes", "on"})
        if (word == yes) return true;
    for (std::string_view const no : {"0", "false", "no", "off"})
        if (word == no) return false;
    return std::nullopt;
}

/// Numbers as people write them: no exponent, no ".0".
inline std::string plain_number(double x) {
    char digits[400];
    return {digits, std::to_chars(digits, digits + sizeof digits, x, std::chars_format::fixed).ptr};
}
inline std::string amount_text(key_type type, double x) {
    if (type == key_type::bytes) {
        constexpr std::string_view units[] = {"", "Ki", "Mi", "Gi"};
        std::size_t rung = 0;
        while (rung < 3 && x >= 1024 && std::fmod(x, 1024) == 0) x /= 1024, ++rung;
        return cat(plain_number(x), units[rung]);
    }
    if (type == key_type::rate) {
        constexpr std::string_view units[] = {"bps", "kbps", "Mbps", "Gbps"};
        std::size_t rung = 0;
        while (rung < 3 && x >= 1000 && std::fmod(x, 1000) == 0) x /= 1000, ++rung;
        return cat(plain_number(x), units[rung]);
    }
    return plain_number(x);
}
inline std::string listed(std::string_view words) {
    std::string all;
    each_word(words, [&](std::string_view word) { all += cat(all.empty() ? "" : ", ", word); });
    return all;
}
inline std::vector<std::string_view> words_of(std::string_view list) {
    std::vector<std::string_view> all;
    each_word(list, [&](std::string_view word) { all.push_back(word); });
    return all;
}
} // namespace detail

/// What stands between an unknown word and what is valid: `; did you mean "x"? `, or `; `.
template <class Words>
std::string hint(std::string_view unknown, Words const& known) {
    auto const meant = did_you_mean(unknown, known);
    return meant.empty() ? "; " : meant + " ";
}

/// What a key takes, for messages and tables: "0.01 to 64 cores".
inline std::string valid_text(key const& k) {
    using detail::amount_text;
    switch (k.type) {
    case key_type::boolean: return "true or false";
    case key_type::word: return cat("one of ", detail::listed(k.words));
    case key_type::words: return cat("one or several of ", detail::listed(k.words));
    case key_type::text: return "text";
    case key_type::names: return "an array of key names";
    case key_type::map: return "a JSON object";
    default: break;
    }
    auto const range = cat(amount_text(k.type, k.least), " to ", amount_text(k.type, k.most));
    switch (k.type) {
    case key_type::cores: return range + " cores";
    case key_type::milliseconds: return range + " ms";
    case key_type::seconds: return range + " s";
    case key_type::percent: return range + " percent";
    case key_type::fraction: return range + " (a fraction)";
    case key_type::integer: return cat("a whole number from ", range);
    default: return range;
    }
}

namespace detail {
inline error not_valid(key const& k, value const& v) {
    return caller_error(cat(k.name, ": ", json::text_of(v), " is not valid; it takes ", valid_text(k)));
}
} // namespace detail

/// The value in the key's unit (cores, bytes, bits a second, ms, s, a fraction, percent); numbers and text are taken.
inline result<double> amount_of(key const& k, value const& v) {
    std::optional<double> x;
    if (v.is_number()) x = v.number_or(0);
    else if (auto const* s = v.if_string()) x = detail::amount_of_text(k.type, *s);
    bool const whole = k.type != key_type::integer || (x && *x == std::floor(*x));
    if (!x || !whole || !(*x >= k.least && *x <= k.most)) return detail::not_valid(k, v);
    return *x;
}

/// A boolean, also as 0, 1, "yes", "off" and the like.
inline result<bool> truth_of(key const& k, value const& v) {
    if (auto const* b = v.if_bool()) return *b;
    auto const read = detail::truth_of_text(v.is_number() ? json::text_of(v) : std::string{v.string_or({})});
    if (!read) return detail::not_valid(k, v);
    return *read;
}

/// The words of a value: text, text with commas, or an array (nested ones too).
inline result<std::vector<std::string>> words_of(key const& k, value const& v) {
    std::vector<std::string> all;
    auto const known = detail::words_of(k.words);
    if (auto const* a = v.if_array()) {
        for (auto const& each : *a) {
            SB_TRY(auto const more, words_of(k, each));
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }
    auto const* s = v.if_string();
    if (!s) return detail::not_valid(k, v);
    std::string unknown;
    split(*s, ',', [&](std::string_view part) {
        auto const word = lowered(trim(part));
        if (word.empty() || word == "none") return;
        if (std::find(known.begin(), known.end(), word) == known.end()) unknown = word;
        all.push_back(word);
    });
    if (!unknown.empty())
        return caller_error(cat(k.name, ": unknown word \"", unknown, "\"", hint(unknown, known), "it takes ",
            valid_text(k)));
    return all;
}

} // namespace sb::stress
