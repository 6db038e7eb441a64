// SPDX-License-Identifier: MIT
// A preset's value after it has been read: an amount in its unit, a truth value, words or text.
#pragma once
#include <sb/core/units.hpp>
#include <sb/core/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sb::key {

/// How a value is read, and its unit afterwards.
enum class unit : std::uint8_t {
    cores, ///< "0.5": processors; written as text
    bytes, ///< "512Mi"; written as text
    rate, ///< "10Mbps": bits a second, kbps, Mbps or Gbps, in powers of 1000; written as text
    milliseconds, ///< a number, or text with a unit
    seconds, ///< a number, or text with a unit
    fraction, ///< 0 to 1; text such as "10%" is read too
    percent, ///< 0 to 100
    integer,
    boolean,
    word, ///< one of the key's words
    words, ///< one or several of them: text, text with commas, or an array
    text,
    names, ///< an array of key names
    map ///< a JSON object
};

constexpr std::string_view name_of(unit in) noexcept {
    constexpr std::string_view names[] = {"cores", "bytes",   "rate", "milliseconds", "seconds", "fraction", "percent",
                                          "integer", "boolean", "word", "words", "text", "names", "map"};
    return names[static_cast<int>(in)];
}

/// Does a value in this unit have a size, so that it can have a range and be raised or lowered?
constexpr bool counts(unit in) noexcept { return in <= unit::integer; }

using sb::bytes;
using sb::seconds;
struct cores {
    double count = 0;
};
struct rate {
    double bits_a_second = 0;
};
struct milliseconds {
    double count = 0;
};
struct fraction {
    double of_one = 0;
};
struct percent {
    double of_hundred = 0;
};
struct integer {
    std::int64_t count = 0;
};
struct word {
    std::string is;
};
struct words {
    std::vector<std::string> are;
};
struct text {
    std::string is;
};
struct names {
    std::vector<std::string> are;
};
struct map {
    object has;
};

/// The alternatives have the same order as `unit`.
using amount = std::variant<cores, bytes, rate, milliseconds, seconds, fraction, percent, integer, bool, word, words, text, names, map>;

/// The size in the amount's own unit; 0 if it has no size.
inline double size_of(amount const& a) noexcept {
    struct {
        double operator()(cores x) const noexcept { return x.count; }
        double operator()(bytes x) const noexcept { return static_cast<double>(x.count); }
        double operator()(rate x) const noexcept { return x.bits_a_second; }
        double operator()(milliseconds x) const noexcept { return x.count; }
        double operator()(seconds x) const noexcept { return x.count; }
        double operator()(fraction x) const noexcept { return x.of_one; }
        double operator()(percent x) const noexcept { return x.of_hundred; }
        double operator()(integer x) const noexcept { return static_cast<double>(x.count); }
        double operator()(bool) const noexcept { return 0; }
        double operator()(word const&) const noexcept { return 0; }
        double operator()(words const&) const noexcept { return 0; }
        double operator()(text const&) const noexcept { return 0; }
        double operator()(names const&) const noexcept { return 0; }
        double operator()(map const&) const noexcept { return 0; }
    } constexpr size;
    return std::visit(size, a);
}

/// An amount of that size; `in` must be a unit that counts.
inline amount amount_in(unit in, double size) noexcept {
    switch (in) {
    case unit::cores: return cores{size};
    case unit::bytes: return bytes{static_cast<std::int64_t>(size)};
    case unit::rate: return rate{size};
    case unit::milliseconds: return milliseconds{size};
    case unit::seconds: return seconds{size};
    case unit::fraction: return fraction{size};
    case unit::percent: return percent{size};
    default: return integer{static_cast<std::int64_t>(size)};
    }
}

} // namespace sb::key
