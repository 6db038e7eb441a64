// SPDX-License-Identifier: MIT
// A preset whose keys have been read. Each is converted to an amount once, when the preset is read.
#pragma once
#include <sb/key/read_value.hpp>
#include <sb/record/preset.hpp>
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::key {

/// One key of a preset.
struct asked {
    definition const* key = nullptr; ///< null: a variable of the workload's own, or an unknown name
    amount is = {}; ///< without a key, that name as text

    std::string_view name() const noexcept { return key ? key->name : std::string_view{std::get_if<text>(&is)->is}; }
};

class amounts {
public:
    void add(asked one) { all_.push_back(std::move(one)); }
    void sort() {
        std::sort(all_.begin(), all_.end(), [](asked const& a, asked const& b) { return a.name() < b.name(); });
    }
    auto begin() const noexcept { return all_.begin(); }
    auto end() const noexcept { return all_.end(); }
    /// The amount of that key; null if the preset does not have it.
    amount const* find(definition const& key) const noexcept {
        auto const at = std::find_if(all_.begin(), all_.end(), [&](asked const& each) { return each.key == &key; });
        return at == all_.end() ? nullptr : &at->is;
    }
    /// Was the value given by hand, and not by the author of the preset?
    bool is_by_hand(definition const& key) const noexcept {
        auto const* const overridden = find(overrides);
        auto const* const given = overridden ? std::get_if<names>(overridden) : nullptr;
        return given && std::find(given->are.begin(), given->are.end(), key.name) != given->are.end();
    }

private:
    std::vector<asked> all_;
};

/// The amounts have the same order as the record's keys.
struct preset : preset_record {
    amounts asked;
};

/// One key of a preset: a key of the list with a valid value, or ENV_NAME with a single value.
inline result<asked> read_one(std::string_view name, value const& v) {
    if (!own_variable(name).empty()) {
        if (v.if_array() || v.if_object() || v.is_null()) return caller_error(cat(name, ": ", json::text_of(v), " is not valid; it takes a single value"));
        return asked{nullptr, text{std::string{name}}};
    }
    SB_TRY(auto const* const k, known(name));
    SB_TRY(auto is, read(*k, v));
    return asked{k, std::move(is)};
}

namespace detail {
/// Checks keys whose values depend on each other.
inline result<void> in_order(amounts const& read, object const& keys) {
    for (auto const& each : read) {
        auto const* const above = each.key ? each.key->not_above : nullptr;
        auto const* const most = above ? read.find(*above) : nullptr;
        if (most && size_of(each.is) > size_of(*most))
            return caller_error(cat(each.name(), " ", json::text_of(*keys.if_contains(each.name())), " is above ", above->name, " ", json::text_of(*keys.if_contains(above->name))));
    }
    return {};
}
} // namespace detail

/// Reads all keys, each one alone and then those that belong together; an unknown name is an error.
inline result<amounts> read(object const& keys) {
    amounts read;
    for (auto const& [name, v] : keys) {
        SB_TRY(auto one, read_one(name, v));
        read.add(std::move(one));
    }
    SB_CHECK(detail::in_order(read, keys));
    return read;
}
/// The same for a whole preset.
inline result<preset> read(preset_record from) {
    SB_TRY(auto is, read(from.keys));
    return preset{std::move(from), std::move(is)};
}
/// The same with the keys of another list; an unknown name stays without a key.
inline result<preset> read_any(preset_record from, key_list const& keys = all_keys) {
    amounts read;
    for (auto const& [name, v] : from.keys) {
        auto const* const k = keys.find(name);
        if (!k) {
            read.add({nullptr, text{name}});
            continue;
        }
        SB_TRY(auto is, sb::key::read(*k, v));
        read.add({k, std::move(is)});
    }
    SB_CHECK(detail::in_order(read, from.keys));
    return preset{std::move(from), std::move(read)};
}

} // namespace sb::key
