// SPDX-License-Identifier: MIT
// Every value that a random preset can have, once as a value and once as its written bytes.
#pragma once
#include <sb/json/write.hpp>
#include <sb/key/read_value.hpp>
#include <sb/stress/preset_id.hpp>
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::stress {

/// A piece is one key with one value. Each key has a slot, in writing order. The user's own ENV_ variables are many keys and
/// always the same, so they share one slot.
class palette {
public:
    using id = std::uint16_t;
    using member = std::pair<std::string, value>;
    static constexpr id none = std::numeric_limits<id>::max();
    static constexpr unsigned env_slot = static_cast<unsigned>(
        std::lower_bound(key::by_name.begin(), key::by_name.end(), std::string_view{"ENV_"},
            [](key::definition const* k, std::string_view n) { return k->name < n; }) - key::by_name.begin());
    static constexpr unsigned slots = key::by_name.size() + 1;
    /// Which slots have a piece.
    using slot_set = std::bitset<slots>;
    /// `write` may overwrite so many bytes after those that it wrote.
    static constexpr std::size_t slack = 64;

    static constexpr unsigned slot_of(std::string_view name) noexcept {
        unsigned i = 0;
        while (key::by_name[i]->name != name) ++i;
        return i < env_slot ? i : i + 1;
    }
    /// The piece of that key and value. The same key and value always have the same piece.
    id add(std::string_view name, value v) {
        make_canonical(v);
        auto const slot = slot_of(name);
        for (std::size_t i = 0; i < pieces_.size(); ++i)
            if (bytes_[i].slot == slot && pieces_[i].members[0].second == v) return static_cast<id>(i);
        return append(slot, {{std::string{name}, std::move(v)}});
    }
    /// All ENV_ variables as one piece; sorted by name.
    id add_variables(std::vector<member> members) {
        for (auto& [name, v] : members) make_canonical(v);
        return append(env_slot, std::move(members));
    }

    unsigned slot(id piece) const noexcept { return bytes_[piece].slot; }
    /// The value as an amount in its key's unit; 0 if it has no size.
    double amount(id piece) const noexcept { return pieces_[piece].amount; }
    std::vector<member> const& members(id piece) const noexcept { return pieces_[piece].members; }

    /// Writes `"KEY":value,` and returns the end.
    char* write(char* to, id piece) const noexcept {
        auto const [at, size, slot] = bytes_[piece];
        char const* const from = arena_.data() + at;
        std::memcpy(to, from, slack); // one copy of known size is faster than the exact one
        if (size > slack) std::memcpy(to + slack, from + slack, size - slack);
        return to + size;
    }
    /// The most bytes that one piece per slot can take together.
    std::size_t most_bytes() const noexcept {
        std::size_t bytes = slack;
        for (auto const each : widest_) bytes += each;
        return bytes;
    }

private:
    struct entry {
        double amount;
        std::vector<member> members;
    };
    struct span {
        std::uint32_t at, size, slot;
    };

    id append(unsigned slot, std::vector<member> members) {
        arena_.resize(end_);
        for (auto const& [name, v] : members) {
            json::append_string(arena_, name);
            arena_.push_back(':');
            json::append(arena_, v);
            arena_.push_back(',');
        }
        auto const size = arena_.size() - end_;
        bytes_.push_back({static_cast<std::uint32_t>(end_), static_cast<std::uint32_t>(size),
            static_cast<std::uint32_t>(slot)});
        end_ = arena_.size();
        arena_.append(slack, '\0');
        widest_.resize(slots);
        widest_[slot] = std::max(widest_[slot], size);
        double amount = 0;
        if (auto const* k = key::find(members[0].first); k && counts(k->in))
            if (auto const got = key::read(*k, members[0].second); got.has_value()) amount = key::size_of(*got);
        pieces_.push_back({amount, std::move(members)});
        return static_cast<id>(pieces_.size() - 1);
    }

    std::vector<entry> pieces_;
    std::vector<span> bytes_;
    std::string arena_;
    std::size_t end_ = 0; ///< of the bytes in arena_; the slack follows
    std::vector<std::size_t> widest_;
};

} // namespace sb::stress
