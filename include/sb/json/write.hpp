// SPDX-License-Identifier: MIT
// Values as compact JSON text.
#pragma once
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <sb/json/number.hpp>
#include <sb/core/value.hpp>
#include <string>
#include <string_view>

namespace sb::json {

using sb::utf8_length;

/// A string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the line stays JSON whatever a payload printed;
/// `escape_bytes` keeps them readable as "\\xNN" text instead. Characters that a terminal would obey or hide are written as
/// JSON escapes.
inline void append_string(std::string& to, std::string_view text, bool escape_bytes = false) {
    constexpr char hex[] = "0123456789abcdef";
    to.push_back('"');
    std::size_t plain = 0, i = 0;
    auto const flush = [&](std::size_t skip) {
        to.append(text, plain, i - plain);
        plain = i += skip;
    };
    while (i < text.size()) {
        auto const c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c != '"' && c != '\\' && c < 0x7f) {
            ++i;
        } else if (c == '"' || c == '\\') {
            flush(1);
            to.push_back('\\'), to.push_back(static_cast<char>(c));
        } else if (c < 0x20 || c == 0x7f) {
            flush(1);
            constexpr std::string_view named = "\b\f\n\r\t", letters = "bfnrt";
            if (auto const at = named.find(static_cast<char>(c)); at != std::string_view::npos)
                to.push_back('\\'), to.push_back(letters[at]);
            else to.append("\\u00"), to.push_back(hex[c >> 4]), to.push_back(hex[c & 15]);
        } else if (auto const n = utf8_length(text.substr(i)); n > 0) {
            auto const code = code_point(text.substr(i, n));
            if (!is_shown_escaped(code)) {
                i += n;
                continue;
            }
            flush(n);
            auto const escape = [&](std::uint32_t unit) {
                to.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4) to.push_back(hex[unit >> shift & 15]);
            };
            if (code >= 0x10000) escape(0xd800 + ((code - 0x10000) >> 10)), escape(0xdc00 + ((code - 0x10000) & 0x3ff));
            else escape(code);
        } else {
            flush(1);
            if (escape_bytes) to.append("\\\\x"), to.push_back(hex[c >> 4]), to.push_back(hex[c & 15]);
            else to.append("\xef\xbf\xbd");
        }
    }
    flush(0);
    to.push_back('"');
}

inline void append(std::string& to, value const& v) {
    if (auto const* b = v.if_bool()) to.append(*b ? "true" : "false");
    else if (auto const* i = v.if_int64()) append_number(to, *i);
    else if (auto const* n = v.if_uint64()) append_number(to, *n);
    else if (auto const* x = v.if_double()) append_real(to, *x);
    else if (auto const* s = v.if_string()) append_string(to, *s);
    else if (auto const* a = v.if_array()) {
        to.push_back('[');
        bool first = true;
        for (auto const& each : *a) {
            if (!std::exchange(first, false)) to.push_back(',');
            append(to, each);
        }
        to.push_back(']');
    } else if (auto const* o = v.if_object()) {
        to.push_back('{');
        bool first = true;
        for (auto const& [key, each] : *o) {
            if (!std::exchange(first, false)) to.push_back(',');
            append_string(to, key);
            to.push_back(':');
            append(to, each);
        }
        to.push_back('}');
    } else to.append("null");
}

inline std::string text_of(value const& v) {
    std::string text;
    append(text, v);
    return text;
}

} // namespace sb::json
