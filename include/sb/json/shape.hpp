// SPDX-License-Identifier: MIT
// Lines of one producer repeat their shape. What was proved for one line is true for every line with the same skeleton.
#pragma once
#include <sb/json/fields.hpp>
#include <sb/json/scan.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace sb::json {

/// A skeleton that an exact walk accepted, and the places of the wanted members in it.
struct line_shape {
    struct member {
        std::uint32_t slot;
        std::uint32_t rank; ///< index of its first byte (a string's opening quote) among the bytes of the skeleton
        field_type type;
    };
    std::string skeleton;
    std::vector<member> members; ///< by rank
    std::uint32_t duplicates = 0;
};

namespace detail {

inline std::size_t position_plain(line_skeleton const& line, std::uint32_t rank, std::size_t block) noexcept {
    auto mask = line.blocks[block].kept;
    for (auto skip = rank - line.blocks[block].before; skip > 0; --skip) mask &= mask - 1;
    return block * 64 + static_cast<std::size_t>(std::countr_zero(mask));
}

/// Fills the fields of a line whose skeleton equals that of `shape`.
#define SB_PLACE_FIELDS(position)                                                                                      \
    std::size_t block = 0;                                                                                             \
    for (auto const& m : shape.members) {                                                                              \
        while (line.blocks[block + 1].before <= m.rank) ++block;                                                       \
        auto const from = position(line, m.rank, block);                                                               \
        auto& into = fields[m.slot];                                                                                   \
        into.type = m.type;                                                                                            \
        if (m.type == field_type::object || m.type == field_type::array) {                                             \
            into.at = at + from, into.size = 0;                                                                        \
            continue;                                                                                                  \
        }                                                                                                              \
        auto next = block; /* a value never ends the skeleton: the object's brace does */                              \
        while (line.blocks[next + 1].before <= m.rank + 1) ++next;                                                     \
        auto to = position(line, m.rank + 1, next);                                                                    \
        bool const text = m.type == field_type::text;                                                                  \
        if (!text)                                                                                                     \
            while (class_of(at[to - 1]) == blank_byte) --to;                                                           \
        into.at = at + from + (text ? 1 : 0);                                                                          \
        into.size = static_cast<std::uint32_t>(to - from - (text ? 1 : 0));                                            \
    }

inline void place_fields_plain(line_shape const& shape, line_skeleton const& line, char const* at, field* fields) noexcept {
    SB_PLACE_FIELDS(position_plain)
}
#if SB_X86
SB_TARGET_AVX2 inline std::size_t position_bmi(line_skeleton const& line, std::uint32_t rank, std::size_t block) noexcept {
    auto const bit = _pdep_u64(std::uint64_t{1} << (rank - line.blocks[block].before), line.blocks[block].kept);
    return block * 64 + static_cast<std::size_t>(_tzcnt_u64(bit));
}
SB_TARGET_AVX2 inline void place_fields_bmi(line_shape const& shape, line_skeleton const& line, char const* at, field* fields) noexcept {
    SB_PLACE_FIELDS(position_bmi)
}
#endif
#undef SB_PLACE_FIELDS

} // namespace detail

/// The shapes seen so far, bounded in number and size.
class shape_cache {
public:
    /// The shape of this skeleton, or null. Most lines repeat the last shape, so that one is tried first.
    line_shape const* find(std::string_view skeleton) noexcept {
        if (last_ < shapes_.size() && shapes_[last_].skeleton == skeleton) return &shapes_[last_];
        if (shapes_.empty()) return nullptr;
        auto const hash = hash_of(skeleton);
        for (auto i = hash;; ++i) {
            auto const entry = table_[i % table_size];
            if (entry == 0) return nullptr;
            if (shapes_[entry - 1].skeleton == skeleton) return last_ = entry - 1, &shapes_[last_];
        }
    }

    /// Stores the shape of a line that a walk accepted with these fields.
    void learn(line_skeleton const& line, char const* at, field const* fields, std::size_t count, std::uint32_t duplicates) {
        constexpr std::size_t longest = 4096;
        if (line.size > longest || line.size < 2) return;
        if (shapes_.size() == most) {
            if (++missed_ < patience) return;
            missed_ = 0; // the stream has changed its shapes
            shapes_.clear();
            table_.fill(0);
        }
        auto const skeleton = line.text();
        for (char const c : skeleton)
            if (static_cast<unsigned char>(c) < 0x20) return; // the scan confuses two control characters with brackets
        line_shape shape{std::string{skeleton}, {}, duplicates};
        for (std::size_t slot = 0; slot < count; ++slot) {
            auto const& f = fields[slot];
            if (f.type == field_type::absent) continue;
            auto const from = static_cast<std::size_t>(f.at - at) - (f.type == field_type::text ? 1 : 0);
            auto const mask = line.blocks[from / 64].kept;
            auto const bit = std::uint64_t{1} << (from % 64);
            if ((mask & bit) == 0) return;
            auto const rank = static_cast<std::uint32_t>(line.blocks[from / 64].before) + static_cast<std::uint32_t>(std::popcount(mask & (bit - 1)));
            shape.members.push_back({static_cast<std::uint32_t>(slot), rank, f.type});
        }
        std::sort(shape.members.begin(), shape.members.end(), [](auto const& a, auto const& b) { return a.rank < b.rank; });
        last_ = shapes_.size();
        shapes_.push_back(std::move(shape));
        auto i = hash_of(skeleton);
        while (table_[i % table_size] != 0) ++i;
        table_[i % table_size] = static_cast<std::uint16_t>(shapes_.size());
    }

private:
    static constexpr std::size_t most = 256, table_size = 1024, patience = 65536;
    static std::uint64_t hash_of(std::string_view text) noexcept {
        std::uint64_t hash = text.size();
        auto const mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29; };
        while (text.size() >= 8) {
            std::uint64_t word;
            std::memcpy(&word, text.data(), 8);
            mix(word);
            text.remove_prefix(8);
        }
        for (char const c : text) mix(static_cast<unsigned char>(c));
        return hash;
    }

    std::vector<line_shape> shapes_;
    std::size_t last_ = 0;
    std::array<std::uint16_t, table_size> table_{}; // 1 + index, 0 is free
    std::uint32_t missed_ = 0;
};

} // namespace sb::json
