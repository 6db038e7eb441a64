// SPDX-License-Identifier: MIT
// Checks the bytes between the quotes of a JSON string and converts them to the text that they mean.
#pragma once
#include <sb/core/printable.hpp>
#include <sb/json/locate.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sb::json {

namespace detail {

inline void append_utf8(std::string& to, std::uint32_t code) {
    auto const put = [&](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
    if (code < 0x80) put(code);
    else if (code < 0x800) put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
    else if (code < 0x10000) put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
    else put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
}

/// Calls `plain(part)` for runs of bytes and `code(point)` for an escape.
template <class Plain, class Code>
std::optional<fault> decode_string(std::string_view raw, Plain plain, Code code) {
    std::size_t i = 0, from = 0;
    auto const hex4 = [&](std::size_t at, std::uint32_t& point) {
        point = 0;
        for (std::size_t k = at; k < at + 4; ++k) {
            auto const digit = k < raw.size() ? hex_digit(raw[k]) : -1;
            if (digit < 0) return false;
            point = point << 4 | static_cast<std::uint32_t>(digit);
        }
        return true;
    };
    while (i < raw.size()) {
        auto const c = static_cast<unsigned char>(raw[i]);
        if (c >= 0x80) {
            auto const n = utf8_length(raw.substr(i));
            if (n == 0) return fault{i, "not UTF-8"};
            i += n;
        } else if (c < 0x20) {
            return fault{i, "a control character in a string"};
        } else if (c != '\\') {
            ++i;
        } else {
            plain(raw.substr(from, i - from));
            auto const start = i++;
            constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
            if (i == raw.size()) return fault{start, "an unknown escape"};
            if (auto const k = letters.find(raw[i]); k != std::string_view::npos) {
                code(static_cast<std::uint32_t>(meanings[k]));
                from = ++i;
                continue;
            }
            std::uint32_t point = 0, low = 0;
            if (raw[i] != 'u') return fault{start, "an unknown escape"};
            if (!hex4(i + 1, point)) return fault{start, "\\u without four hexadecimal digits"};
            i += 5;
            if (point >= 0xd800 && point <= 0xdfff) {
                bool const pair = point <= 0xdbff && raw.substr(i).starts_with("\\u") && hex4(i + 2, low) && low >= 0xdc00 && low <= 0xdfff;
                if (!pair) return fault{start, "half of a surrogate pair"};
                point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
                i += 6;
            }
            code(point);
            from = i;
        }
    }
    plain(raw.substr(from));
    return std::nullopt;
}

} // namespace detail

/// Appends the text; no value on success, else the problem and its byte in `raw`.
inline std::optional<fault> unescape(std::string_view raw, std::string& to) {
    return detail::decode_string(
        raw, [&](std::string_view part) { to.append(part); }, [&](std::uint32_t point) { detail::append_utf8(to, point); });
}

} // namespace sb::json
