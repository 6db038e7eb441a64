// SPDX-License-Identifier: MIT
// Sums by name: exact, in the memory of the names alone.
#pragma once
#include <sb/core/exact_sum.hpp>
#include <sb/json/unescape.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sb::track {

/// What is kept of one name.
struct rank_group {
    std::string name;
    exact_sum values;
    double security = 0; ///< the last score, when `scored`
    std::uint64_t scored_at = 0; ///< the place of its line's chunk in the input
    bool scored = false;
    std::string_view score_text; ///< a score not read yet; empty but while a block is read

    /// Later places win; within one place the later call.
    void score(double value, std::uint64_t at) noexcept {
        if (scored && at < scored_at) return;
        security = value, scored_at = at, scored = true;
    }
    void merge(rank_group const& other) {
        values.merge(other.values);
        if (other.scored) score(other.security, other.scored_at);
    }
};

class rank_table {
public:
    rank_table() : slots_(64) {}
    rank_table(rank_table const&) = delete;
    rank_table& operator=(rank_table const&) = delete;
    rank_table(rank_table&&) = default;
    rank_table& operator=(rank_table&&) = default;

    /// The group of a name as it stands between the quotes of a line, 16 bytes from its first on being readable. A
    /// spelling seen before is found by its bytes; a new one is checked and turned into text, so that "é" and "\u00e9"
    /// are one group. Null: `wrong` says why.
    rank_group* of_spelling(std::string_view raw, std::optional<json::fault>& wrong) {
        auto const key = key_of(raw);
        for (auto i = key.hash();; ++i) {
            auto const& s = slots_[i & (slots_.size() - 1)];
            if (!s.group) break;
            if (s.key == key && s.spelling.size() == raw.size() && (raw.size() <= 16 || s.spelling == raw)) return s.group;
        }
        std::string name;
        wrong = json::unescape(raw, name);
        if (wrong) return nullptr;
        auto& group = of_name(name);
        remember({key, spellings_.emplace_back(raw), &group});
        return &group;
    }
    rank_group& of_name(std::string_view name) {
        auto const found = by_name_.find(name);
        if (found != by_name_.end()) return *found->second;
        auto& group = groups_.emplace_back();
        group.name = name;
        by_name_.emplace(group.name, &group);
        return group;
    }
    void merge(rank_table const& other) {
        for (auto const& g : other.groups_) of_name(g.name).merge(g);
    }
    std::deque<rank_group> const& groups() const noexcept { return groups_; }

private:
    /// The bytes themselves up to 16, so that equal keys of equal sizes are equal names; beyond that two hashes.
    struct spelling_key {
        std::uint64_t low = 0, high = 0;
        bool operator==(spelling_key const&) const = default;
        std::uint64_t hash() const noexcept {
            auto const wide = static_cast<wide_natural>(low ^ 0x9e3779b97f4a7c15u) * (high ^ 0xbf58476d1ce4e5b9u);
            return static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
        }
    };
    struct slot {
        spelling_key key;
        std::string_view spelling;
        rank_group* group = nullptr;
    };
    static spelling_key key_of(std::string_view text) noexcept {
        auto const first = [](std::size_t bytes) { return bytes == 0 ? 0 : ~std::uint64_t{0} >> (64 - 8 * bytes); };
        static constexpr auto masks = [first] {
            std::array<spelling_key, 17> masks_by_size{};
            for (std::size_t n = 0; n <= 16; ++n) masks_by_size[n] = {first(n < 8 ? n : 8), first(n < 8 ? 0 : n - 8)};
            return masks_by_size;
        }();
        spelling_key key;
        if (text.size() <= 16) {
            std::memcpy(&key, text.data(), 16);
            auto const& mask = masks[text.size()];
            return {key.low & mask.low, key.high & mask.high};
        }
        key = {text.size(), text.size()};
        for (std::size_t i = 0; i < text.size(); i += 8) {
            std::uint64_t word;
            std::memcpy(&word, text.data() + std::min(i, text.size() - 8), 8);
            key.low = (key.low ^ word) * 0x94d049bb133111ebu, key.low ^= key.low >> 32;
            key.high += word * 0x9e3779b97f4a7c15u;
        }
        return key;
    }
    void remember(slot const& s) {
        if (++used_ * 2 > slots_.size()) {
            std::vector<slot> larger(slots_.size() * 2);
            for (auto const& each : slots_)
                if (each.group) place(larger, each);
            slots_.swap(larger);
        }
        place(slots_, s);
    }
    static void place(std::vector<slot>& into, slot const& s) noexcept {
        auto i = s.key.hash();
        while (into[i & (into.size() - 1)].group) ++i;
        into[i & (into.size() - 1)] = s;
    }

    std::deque<rank_group> groups_; // never move: the tables point to them
    std::unordered_map<std::string_view, rank_group*> by_name_;
    std::deque<std::string> spellings_;
    std::vector<slot> slots_; // by spelling; a power of two
    std::size_t used_ = 0;
};

} // namespace sb::track
