// SPDX-License-Identifier: MIT
// Values given by hand: they win over the preset, and the preset lists them.
#pragma once
#include <sb/key/typed_preset.hpp>
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// Looks up an environment variable; no value when it is unset or empty.
using lookup = std::function<std::optional<std::string>(std::string const& name)>;

class overrides {
public:
    /// KEY=VALUE, as for --set. The error lists what would be valid.
    result<void> set(std::string_view assignment) {
        auto const equals = assignment.find('=');
        if (equals == std::string_view::npos) return caller_error(cat("\"", assignment, "\" is not KEY=VALUE"));
        return set(trim(assignment.substr(0, equals)), assignment.substr(equals + 1));
    }
    result<void> set(std::string_view name, std::string_view text) {
        if (!key::own_variable(name).empty()) return keys_[name] = value(text), result<void>{};
        SB_TRY(auto const* const k, key::known(name));
        if (!k->not_by_hand.empty()) return caller_error(cat(name, " ", k->not_by_hand));
        SB_TRY(auto v, key::value_of_text(*k, text));
        keys_[name] = std::move(v);
        return {};
    }
    /// Takes keys that are more than labels from variables of the same name; values that are already set stay.
    result<void> take_environment(lookup const& env) {
        for (auto const* k : key::by_name) {
            if (k->labels() || keys_.if_contains(k->name)) continue;
            auto const text = env(std::string{k->name});
            if (!text) continue;
            if (auto const got = set(k->name, *text); got.has_error())
                return caller_error(cat("environment variable ", got.error().what));
        }
        return {};
    }

    bool empty() const noexcept { return keys_.empty(); }
    object const& keys() const noexcept { return keys_; }

    /// Puts the values into a preset's keys and lists their names there. If two keys belong together (the value of one must
    /// not exceed that of the other), the one that was not given is adjusted to the one that was.
    void apply(object& keys) const {
        if (empty()) return;
        std::vector<std::string> names;
        if (auto const* before = keys.if_contains(key::overrides.name); before && before->if_array())
            for (auto const& each : *before->if_array()) names.emplace_back(string_or(each, {}));
        for (auto const& [name, v] : keys_) {
            keys[name] = v;
            names.push_back(name);
        }
        auto const& modes = key::failure_modes.name;
        if (auto const* given = keys_.if_contains(modes); given && given->if_array() && given->if_array()->empty()) keys.stable_erase(modes);
        for (auto const* low : key::by_name)
            if (low->not_above) follow(keys, *low, *low->not_above);
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        keys[key::overrides.name] = value(array(names.begin(), names.end()));
    }

private:
    void follow(object& keys, key::definition const& low, key::definition const& high) const {
        auto const* const given_low = keys_.if_contains(low.name);
        auto const* const given_high = keys_.if_contains(high.name);
        if (!given_low == !given_high) return; // neither or both were given: then both stay as they are
        auto const *const a = keys.if_contains(low.name), *const b = keys.if_contains(high.name);
        if (!a || !b) return;
        auto const least = key::read(low, *a), most = key::read(high, *b);
        if (least.has_error() || most.has_error() || key::size_of(*least) <= key::size_of(*most)) return;
        if (given_low) keys[high.name] = *given_low;
        else keys[low.name] = *given_high;
    }
    object keys_;
};

} // namespace sb::stress
