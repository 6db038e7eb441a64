// SPDX-License-Identifier: MIT
// Numbers and words as text, without a locale and without streams.
#pragma once
#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace sb {

template <std::integral T>
void append_number(std::string& to, T n) {
    char digits[24];
    auto const end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    to.append(digits, static_cast<std::size_t>(end - digits));
}

/// Fixed decimals, for tables that people read.
inline std::string fixed(double x, int decimals) {
    char digits[400];
    auto const end = std::to_chars(digits, digits + sizeof digits, x, std::chars_format::fixed, decimals).ptr;
    return {digits, end};
}

namespace detail {
inline void append_any(std::string& to, std::string_view part) { to.append(part); }
inline void append_any(std::string& to, char part) { to.push_back(part); }
template <std::integral T>
    requires(!std::same_as<T, char>)
void append_any(std::string& to, T part) {
    append_number(to, part);
}
} // namespace detail

/// `cat("line ", 3, ": ", what)`
template <class... Part>
std::string cat(Part const&... part) {
    std::string text;
    (detail::append_any(text, part), ...);
    return text;
}

/// The texts that `as` makes of the parts, with `between` between them.
template <class Range, class As>
std::string joined(Range const& parts, std::string_view between, As as) {
    std::string text;
    for (auto const& each : parts) {
        if (!text.empty()) text.append(between);
        detail::append_any(text, as(each));
    }
    return text;
}
template <class Range>
std::string joined(Range const& parts, std::string_view between) {
    return joined(parts, between, [](auto const& each) -> std::string_view { return each; });
}

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

constexpr std::string_view trim(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

constexpr char to_lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lowered(std::string_view text) {
    std::string out{text};
    for (auto& c : out) c = to_lower(c);
    return out;
}

/// Calls `use(part)` for each part between separators, empty ones too.
template <class Use>
void split(std::string_view text, char separator, Use use) {
    for (;;) {
        auto const at = text.find(separator);
        use(text.substr(0, at));
        if (at == std::string_view::npos) return;
        text.remove_prefix(at + 1);
    }
}

/// The parts of `text` between separators, without empty ones.
inline std::vector<std::string> words(std::string_view text, std::string_view separators = " \n") {
    std::vector<std::string> parts;
    for (;;) {
        auto const from = text.find_first_not_of(separators);
        if (from == std::string_view::npos) return parts;
        text.remove_prefix(from);
        auto const length = std::min(text.find_first_of(separators), text.size());
        parts.emplace_back(text.substr(0, length));
        text.remove_prefix(length);
    }
}

inline bool contains(std::vector<std::string> const& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// The number that `text` is, but for blanks around it; nothing for "max" and whatever else is none.
inline std::optional<std::int64_t> lone_number(std::string_view text) noexcept {
    text = trim(text);
    std::int64_t n = 0;
    auto const got = std::from_chars(text.data(), text.data() + text.size(), n);
    if (got.ec != std::errc{} || got.ptr != text.data() + text.size()) return std::nullopt;
    return n;
}

/// Takes the number at the start of `text`, behind spaces, off it; nothing where there is none.
inline std::optional<std::int64_t> take_number(std::string_view& text) noexcept {
    auto rest = text.substr(std::min(text.find_first_not_of(' '), text.size()));
    std::int64_t n = 0;
    auto const [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    if (code != std::errc{}) return std::nullopt;
    text = rest.substr(static_cast<std::size_t>(end - rest.data()));
    return n;
}

/// The number behind the first `word` in `text`; nothing where either is missing.
inline std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) noexcept {
    auto const at = text.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + word.size());
    return take_number(text);
}

} // namespace sb
