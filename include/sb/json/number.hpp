// SPDX-License-Identifier: MIT
// JSON numbers: integers stay exact. Other numbers are read as the nearest double and written with the fewest digits that
// give it back.
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace sb::json {

enum class number_kind : std::uint8_t { integer, natural, real, malformed, overflow };

struct number {
    number_kind kind = number_kind::malformed;
    union {
        std::int64_t integer; ///< kind integer
        std::uint64_t natural; ///< kind natural: above 2^63 - 1
        double real; ///< kind real; kind overflow: infinite
    };
    double as_double() const noexcept {
        return kind == number_kind::integer   ? static_cast<double>(integer)
               : kind == number_kind::natural ? static_cast<double>(natural)
                                              : real;
    }
};

/// Length of the number at the start of `text` by JSON's grammar, 0 if there is none; `whole` is true for an integer.
constexpr std::size_t number_length(std::string_view text, bool& whole) noexcept {
    std::size_t i = 0;
    auto const digits = [&] {
        auto const from = i;
        while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
        return i > from;
    };
    whole = true;
    if (i < text.size() && text[i] == '-') ++i;
    if (i < text.size() && text[i] == '0') ++i;
    else if (!digits()) return 0;
    if (i < text.size() && text[i] == '.') {
        whole = false, ++i;
        if (!digits()) return 0;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        whole = false, ++i;
        if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
        if (!digits()) return 0;
    }
    return i;
}

/// Reads text that already has the grammar of a number. "-0" becomes the real -0.0, so that its sign survives.
inline number read_number(std::string_view text, bool whole) noexcept {
    number n;
    auto const* const end = text.data() + text.size();
    if (whole && text != "-0") {
        if (auto const got = std::from_chars(text.data(), end, n.integer); got.ec == std::errc{})
            return n.kind = number_kind::integer, n;
        if (text.front() != '-')
            if (auto const got = std::from_chars(text.data(), end, n.natural); got.ec == std::errc{})
                return n.kind = number_kind::natural, n;
    }
    auto const got = std::from_chars(text.data(), end, n.real);
    if (got.ec == std::errc::result_out_of_range) {
        // from_chars leaves the value unchanged both for 1e400 and for 1e-400; only the first is an error
        auto const e = text.find_first_of("eE");
        bool const tiny = (e != std::string_view::npos && e + 1 < text.size() && text[e + 1] == '-') ||
                          text.starts_with("0.") || text.starts_with("-0.");
        if (!tiny) return n.real = text.front() == '-' ? -HUGE_VAL : HUGE_VAL, n.kind = number_kind::overflow, n;
        n.real = text.front() == '-' ? -0.0 : 0.0;
    } else if (got.ec != std::errc{}) {
        return n.kind = number_kind::malformed, n;
    }
    n.kind = number_kind::real;
    return n;
}

/// Shortest text that reads back as the same double. Whole numbers keep ".0", so that they stay reals. JSON has no NaN.
inline void append_real(std::string& to, double x) {
    if (!std::isfinite(x)) {
        to.append("null");
        return;
    }
    char digits[32];
    auto* end = std::to_chars(digits, digits + sizeof digits, x).ptr;
    to.append(digits, static_cast<std::size_t>(end - digits));
    if (std::string_view{digits, static_cast<std::size_t>(end - digits)}.find_first_of(".e") == std::string_view::npos)
        to.append(".0");
}

} // namespace sb::json
