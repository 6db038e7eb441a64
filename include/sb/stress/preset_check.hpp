// SPDX-License-Identifier: MIT
// Presets checked key by key and as a whole; values made from what a person typed.
#pragma once
#include <sb/stress/key_value.hpp>
#include <sb/stress/modes.hpp>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::stress {

/// Keys of which the first must not exceed the second.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 3> ordered_keys{{
    {"MIN_BANDWIDTH", "MAX_BANDWIDTH"},
    {"SCHEMA_MISMATCHES", "SCHEMA_CHECKS"},
    {"UPSTREAM_FAILURES", "UPSTREAM_REQUESTS"},
}};

/// Is the value one that the key takes? The error says which are.
inline result<void> check_value(key const& k, value const& v) {
    if (counts(k.type)) {
        SB_TRY([[maybe_unused]] auto const amount, amount_of(k, v));
        return {};
    }
    switch (k.type) {
    case key_type::boolean: {
        SB_TRY([[maybe_unused]] auto const truth, truth_of(k, v));
        return {};
    }
    case key_type::word:
    case key_type::words: {
        SB_TRY(auto const words, words_of(k, v));
        if (k.type == key_type::word && words.size() != 1) return detail::not_valid(k, v);
        return {};
    }
    case key_type::text:
        if (!v.if_string() || v.if_string()->empty()) return detail::not_valid(k, v);
        return {};
    case key_type::names:
        if (!v.if_array()) return detail::not_valid(k, v);
        for (auto const& each : *v.if_array())
            if (!each.if_string()) return detail::not_valid(k, v);
        return {};
    default:
        if (!v.if_object()) return detail::not_valid(k, v);
        return {};
    }
}

/// The key of that name; the error suggests the nearest.
inline result<key const*> known_key(std::string_view name) {
    if (auto const* k = find_key(name)) return k;
    std::vector<std::string_view> names;
    for (auto const& k : all_keys) names.push_back(k.name);
    return caller_error(cat("unknown preset key \"", name, "\"", hint(name, names),
                            "a variable of the workload's own is written ENV_NAME"));
}

/// One key of a preset: a key of the table with a valid value, or ENV_NAME with a single value.
inline result<void> check_value(std::string_view name, value const& v) {
    if (!own_variable(name).empty()) {
        if (v.if_array() || v.if_object() || v.is_null())
            return caller_error(cat(name, ": ", json::text_of(v), " is not valid; it takes a single value"));
        return {};
    }
    SB_TRY(auto const* const k, known_key(name));
    return check_value(*k, v);
}

/// All keys, each by itself and those that belong together.
inline result<void> check_keys(object const& keys) {
    for (auto const& [name, v] : keys) SB_CHECK(check_value(name, v));
    for (auto const& [low, high] : ordered_keys) {
        auto const *const a = keys.find(low), *const b = keys.find(high);
        if (!a || !b) continue;
        SB_TRY(auto const least, amount_of(*find_key(low), *a));
        SB_TRY(auto const most, amount_of(*find_key(high), *b));
        if (least > most)
            return caller_error(cat(low, " ", json::text_of(*a), " is above ", high, " ", json::text_of(*b)));
    }
    return {};
}

/// The value that a person's text means: numbers become numbers, lists arrays, sizes stay as written.
inline result<value> parse_value(key const& k, std::string_view text) {
    text = trim(text);
    value v{text};
    if (k.type == key_type::map) {
        if (json::parse(text, v)) return detail::not_valid(k, value{text});
    } else if (k.type == key_type::boolean) {
        SB_TRY(bool const truth, truth_of(k, v));
        return value{truth};
    } else if (k.type == key_type::words) {
        SB_TRY(auto words, words_of(k, v));
        if (k.name == "FAILURE_MODES") return modes_value(modes_of(words));
        if (words.empty()) return detail::not_valid(k, v);
        if (words.size() == 1) return value{std::move(words.front())};
        return value{array(words.begin(), words.end())};
    } else if (counts(k.type) && k.type != key_type::cores && k.type != key_type::bytes && k.type != key_type::rate) {
        SB_TRY(double const x, amount_of(k, v));
        if (x == std::floor(x)) return value{static_cast<std::int64_t>(x)};
        return value{x};
    }
    SB_CHECK(check_value(k, v));
    return v;
}

} // namespace sb::stress
