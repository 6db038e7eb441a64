// SPDX-License-Identifier: MIT
// Reads one JSON text into a value and checks every byte: grammar, UTF-8, surrogates, depth. simdjson reads it. The code of
// these functions is compiled once in a program: see compiled_once.hpp.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/locate.hpp>
#include <optional>
#include <span>
#include <string_view>

namespace sb::json {

/// No value when `into` has the result; else the problem and its place. The last of equal keys wins; each earlier one is
/// added to `duplicates`. Integers are exact from -2^63 to 2^64 - 1; other numbers become the nearest double.
std::optional<fault> parse(std::string_view text, value& into, std::size_t* duplicates = nullptr, parse_limits limits = {});

/// The same check without the value.
std::optional<fault> check(std::string_view text, parse_limits limits = {});

struct wanted_member {
    std::string_view name;
    value given = nullptr;
    bool is_there = false;
};
/// Reads the wanted members of the object in `text`. It skips the others without checking their contents; `check` does that.
/// The last of equal keys wins; earlier ones are added to `duplicates`.
std::optional<fault> read_members(std::string_view text, std::span<wanted_member> wanted, std::size_t* duplicates = nullptr, parse_limits limits = {});

/// A whole document; the error gives line and byte (both from 1) of `name`.
inline result<value> parse_document(std::string_view text, std::string_view name) {
    value v;
    if (auto const wrong = parse(text, v)) {
        std::size_t line = 1, start = 0;
        for (std::size_t i = 0; i < wrong->at && i < text.size(); ++i)
            if (text[i] == '\n') ++line, start = i + 1;
        return input_error(cat(name, ": line ", line, ", byte ", wrong->at - start + 1, ": ", wrong->what));
    }
    return v;
}

} // namespace sb::json
