// SPDX-License-Identifier: MIT
// Sizes and durations as people write them; anything else is an error that names the text.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sb {

struct bytes {
    std::int64_t count = 0;
    friend bool operator==(bytes, bytes) = default;
};

struct seconds {
    double count = 0;
    friend bool operator==(seconds, seconds) = default;
};

/// A number and the unit behind it, as they were written.
struct quantity {
    double number;
    std::string_view unit;
};

/// A non-negative decimal number and what follows it, blanks between them allowed.
inline bool read_quantity(std::string_view text, quantity& into) {
    text = trim(text);
    auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), into.number);
    if (code != std::errc{} || !std::isfinite(into.number) || text.front() == '-') return false;
    into.unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
    return true;
}

/// "512Mi", "512MiB", "512mb", "1G", "0.5Gi", "4096". The letters count in 1024s, as the presets always meant them.
inline result<bytes> parse_bytes(std::string_view text) {
    auto const wrong = [&](std::string_view why) {
        return caller_error(cat("size \"", text, "\": ", why, "; write bytes, or a number with Ki, Mi, Gi or Ti"));
    };
    quantity q{};
    if (!read_quantity(text, q)) return wrong("not a size");
    auto unit = lowered(q.unit);
    if (unit == "b") unit.clear();
    if (unit.ends_with("ib")) unit.resize(unit.size() - 2);
    else if (unit.size() == 2 && (unit[1] == 'i' || unit[1] == 'b')) unit.resize(1);
    constexpr std::string_view ladder = "kmgtp";
    double scale = 1;
    if (!unit.empty()) {
        auto const rung = unit.size() == 1 ? ladder.find(unit[0]) : std::string_view::npos;
        if (rung == std::string_view::npos) return wrong(cat("unknown unit \"", q.unit, "\""));
        scale = std::ldexp(1.0, 10 * (static_cast<int>(rung) + 1));
    }
    double const exact = q.number * scale;
    if (exact >= 9223372036854775808.0) return wrong("more than 2^63 bytes");
    if (exact != std::floor(exact) && scale == 1) return wrong("a fraction of a byte");
    return bytes{static_cast<std::int64_t>(exact)};
}

struct unit_scale {
    std::string_view unit;
    double scale;
};
/// By what a number with that unit is multiplied; nothing where it is not in the list.
template <std::size_t Size>
constexpr std::optional<double> scale_of(unit_scale const (&known)[Size], std::string_view unit) noexcept {
    for (auto const& each : known)
        if (unit == each.unit) return each.scale;
    return std::nullopt;
}

/// "250ms", "1.5s", "2m", "1h", "3d", "1w"; a bare number is seconds.
inline result<seconds> parse_seconds(std::string_view text) {
    quantity q{};
    auto const wrong = [&](std::string_view why) {
        return caller_error(cat("duration \"", text, "\": ", why, "; write a number with ms, s, m, h, d or w"));
    };
    if (!read_quantity(text, q)) return wrong("not a duration");
    static constexpr unit_scale steps[] = {{"", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};
    if (auto const scale = scale_of(steps, q.unit)) return seconds{q.number * *scale};
    return wrong(cat("unknown unit \"", q.unit, "\""));
}

/// "512 MiB", "1.5 GiB", "900 B": for tables.
inline std::string show_bytes(double count) {
    constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int rung = 0;
    while (std::abs(count) >= 1024 && rung < 5) count /= 1024, ++rung;
    return cat(fixed(count, rung == 0 || std::abs(count) >= 100 ? 0 : 1), " ", units[rung]);
}

/// "850 µs", "12.3 ms", "4.56 s", "3 m 20 s": for tables.
inline std::string show_seconds(double s) {
    auto const digits = [](double x) { return x >= 100 ? 0 : x >= 10 ? 1 : 2; };
    if (s < 1e-3) return cat(fixed(s * 1e6, 0), " µs");
    if (s < 1) return cat(fixed(s * 1e3, digits(s * 1e3)), " ms");
    if (s < 120) return cat(fixed(s, digits(s)), " s");
    auto const whole = static_cast<std::int64_t>(s + 0.5);
    if (whole < 7200) return cat(whole / 60, " m ", whole % 60, " s");
    return cat(whole / 3600, " h ", whole % 3600 / 60, " m");
}

} // namespace sb
