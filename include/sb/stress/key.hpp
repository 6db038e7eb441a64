// SPDX-License-Identifier: MIT
// What there is to know of a preset key: its unit, its range, its ladder, and whether it acts.
#pragma once
#include <cstdint>
#include <string_view>

namespace sb::stress {

/// How a value is read, and in which unit it counts once it is.
enum class key_type : std::uint8_t {
    cores, ///< "0.5": processors; written as text
    bytes, ///< "512Mi"; written as text
    rate, ///< "10Mbps": bits a second, kbps, Mbps or Gbps in 1000s; written as text
    milliseconds, ///< a number, or text with a unit
    seconds, ///< a number, or text with a unit
    fraction, ///< 0 to 1; text such as "10%" is read too
    percent, ///< 0 to 100
    integer,
    boolean,
    word, ///< one of `words`
    words, ///< one or several of `words`: text, text with commas, or an array
    text,
    names, ///< an array of key names
    map ///< a JSON object
};

struct key {
    std::string_view name;
    key_type type;
    bool acts; ///< false: it names or labels, and changes nothing in the sandbox
    double least, most; ///< valid range, in the type's unit, for types that count
    std::string_view ladder; ///< rungs for random presets and for adaptation, mildest name first, blank between
    std::string_view words; ///< what is valid, for types word and words, blank between
    std::string_view help; ///< one line
    std::string_view note; ///< decisions that a user should know; may be empty
};

constexpr std::string_view name_of(key_type type) noexcept {
    constexpr std::string_view names[] = {"cores", "bytes",   "rate", "milliseconds", "seconds", "fraction", "percent",
                                          "integer", "boolean", "word", "words", "text", "names", "map"};
    return names[static_cast<int>(type)];
}
/// Does a value of the type have a size, so that a range and a step up or down mean something?
constexpr bool counts(key_type type) noexcept { return type <= key_type::integer; }

/// Calls `use(word)` for each word of a blank-separated list.
template <class Use>
constexpr void each_word(std::string_view list, Use use) {
    while (!list.empty()) {
        auto const end = list.find(' ');
        use(list.substr(0, end));
        if (end == std::string_view::npos) return;
        list.remove_prefix(end + 1);
    }
}

} // namespace sb::stress
