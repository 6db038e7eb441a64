// SPDX-License-Identifier: MIT
// Values as compact JSON text.
#pragma once
#include <sb/core/text.hpp>
#include <sb/json/number.hpp>
#include <sb/core/value.hpp>
#include <string>
#include <string_view>

namespace sb::json {

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (RFC 3629: no surrogates,
/// nothing overlong, nothing above U+10FFFF).
constexpr std::size_t utf8_length(std::string_view text) noexcept {
    auto const at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto const more = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
        return i < text.size() && at(i) >= low && at(i) <= high;
    };
    if (text.empty()) return 0;
    auto const lead = at(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return more(1) ? 2 : 0;
    if (lead >= 0xe0 && lead <= 0xef)
        return more(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && more(2) ? 3 : 0;
    if (lead >= 0xf0 && lead <= 0xf4)
        return more(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && more(2) && more(3) ? 4 : 0;
    return 0;
}

/// A string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the line stays JSON whatever a payload
/// printed; `escape_bytes` keeps them readable as "\\xNN" text instead.
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
            auto const second = static_cast<unsigned char>(text[i + 1]);
            if (c == 0xc2 && second < 0xa0) { // U+0080 to U+009F: controls, which some terminals obey
                flush(2);
                to.append("\\u00"), to.push_back(hex[second >> 4]), to.push_back(hex[second & 15]);
            } else i += n;
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
    else if (auto const* i = v.if_integer()) append_number(to, *i);
    else if (auto const* n = v.if_natural()) append_number(to, *n);
    else if (auto const* x = v.if_real()) append_real(to, *x);
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
