// SPDX-License-Identifier: MIT
// The id of a preset: a hash of its keys. So equal environments have equal ids wherever they were made.
#pragma once
#include <sb/core/sha256.hpp>
#include <sb/json/write.hpp>
#include <sb/record/preset.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace sb::stress {

/// Hexadecimal digits in an id: the first ones of the SHA-256.
inline constexpr std::size_t id_digits = 16;

/// Converts a value to the single form that it has in a preset: keys sorted bytewise at every depth, whole numbers as
/// integers.
inline void make_canonical(value& v) {
    if (auto const* x = v.if_double()) {
        if (*x == std::floor(*x) && std::abs(*x) < 0x1p53) v = value(static_cast<std::int64_t>(*x));
    } else if (auto* const a = v.if_array()) {
        for (auto& each : *a) make_canonical(each);
    } else if (auto* const o = v.if_object()) {
        for (auto& member : *o) make_canonical(member.value());
        sort_keys(*o);
    }
}

/// The first digits of the SHA-256 of `canonical`: a preset's keys as a compact JSON object, without kind, v and id.
inline std::string id_of_text(std::string_view canonical) {
    std::string id(id_digits, '0');
    write_hex(id.data(), sha256_of(canonical), id_digits / 2);
    return id;
}

/// Sorts the keys and gives the preset its id.
inline void seal(preset_record& p) {
    value keys(std::move(p.keys));
    make_canonical(keys);
    p.id = id_of_text(json::text_of(keys));
    p.keys = std::move(keys.as_object());
}

} // namespace sb::stress
