// SPDX-License-Identifier: MIT
// Text that others chose, as text that a terminal shows and never obeys.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sb {

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

/// What a well-formed sequence stands for.
constexpr std::uint32_t code_point(std::string_view one) noexcept {
    constexpr std::uint32_t lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    auto const at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(one[i])); };
    auto code = at(0) & lead_bits[one.size()];
    for (std::size_t i = 1; i < one.size(); ++i) code = code << 6 | (at(i) & 0x3f);
    return code;
}

/// Does it act on a line rather than stand in it, or cannot be seen there? Controls, separators of lines, what turns the direction
/// of the text around it, and what Unicode lets a terminal ignore (Default_Ignorable_Code_Point), so that two names look the same;
/// not the two selectors that stand behind an emoji.
constexpr bool is_shown_escaped(std::uint32_t code) noexcept {
    constexpr std::uint32_t ranges[][2] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f},
                                           {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0d}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
                                           {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    if (code > 0x3164 && code < 0xfe00) return false; // most of the scripts of East Asia
    for (auto const& [first, last] : ranges)
        if (code <= last) return code >= first;
    return false;
}

/// What acts on a terminal or a line or cannot be seen, and bytes that are no UTF-8, stand as \xNN. With `reversible` a backslash does too (\x5c), so
/// that each line tells its text exactly.
inline std::string printable(std::string_view text, bool reversible = false) {
    constexpr char hex[] = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        auto const n = utf8_length(text.substr(i));
        if (n > 0 && !is_shown_escaped(code_point(text.substr(i, n))) && !(reversible && text[i] == '\\')) {
            out.append(text, i, n);
            i += n;
            continue;
        }
        for (auto const end = i + (n > 0 ? n : 1); i < end; ++i) {
            auto const b = static_cast<unsigned char>(text[i]);
            out.append("\\x"), out.push_back(hex[b >> 4]), out.push_back(hex[b & 15]);
        }
    }
    return out;
}

} // namespace sb
