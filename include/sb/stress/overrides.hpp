// SPDX-License-Identifier: MIT
// Values given by hand: they win over the preset, and the preset says so.
#pragma once
#include <sb/stress/preset_check.hpp>
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// Looks up an environment variable; nothing when unset or empty.
using lookup = std::function<std::optional<std::string>(std::string const& name)>;

class overrides {
public:
    /// KEY=VALUE, as --set takes it. The error says what would be valid.
    result<void> set(std::string_view assignment) {
        auto const equals = assignment.find('=');
        if (equals == std::string_view::npos) return caller_error(cat("\"", assignment, "\" is not KEY=VALUE"));
        return set(trim(assignment.substr(0, equals)), assignment.substr(equals + 1));
    }
    result<void> set(std::string_view name, std::string_view text) {
        if (!own_variable(name).empty()) return keys_.set(name, value{text}), result<void>{};
        SB_TRY(auto const* const k, known_key(name));
        if (name == "SEED") return caller_error("SEED is given by --seed");
        if (name == "OVERRIDES") return caller_error("OVERRIDES is written, not set");
        SB_TRY(auto v, parse_value(*k, text));
        keys_.set(name, std::move(v));
        return {};
    }
    /// Takes the keys that act from variables of their name; what is set already stays.
    result<void> take_environment(lookup const& env) {
        for (auto const& k : all_keys) {
            if (!k.acts || keys_.find(k.name)) continue;
            auto const text = env(std::string{k.name});
            if (!text) continue;
            if (auto const got = set(k.name, *text); got.has_error())
                return caller_error(cat("environment variable ", got.error().what));
        }
        return {};
    }

    bool empty() const noexcept { return keys_.empty(); }
    object const& keys() const noexcept { return keys_; }

    /// Puts the values into a preset's keys and lists their names in OVERRIDES. Of two keys that belong together
    /// (MIN_BANDWIDTH and MAX_BANDWIDTH) the one that was not given follows the one that was.
    void apply(object& keys) const {
        if (empty()) return;
        std::vector<std::string> names;
        if (auto const* before = keys.find("OVERRIDES"); before && before->if_array())
            for (auto const& each : *before->if_array()) names.emplace_back(each.string_or({}));
        for (auto const& [name, v] : keys_) {
            keys.set(name, v);
            names.push_back(name);
        }
        if (auto const* modes = keys_.find("FAILURE_MODES"); modes && modes->if_array() && modes->if_array()->empty())
            keys.erase("FAILURE_MODES");
        for (auto const& [low, high] : ordered_keys) follow(keys, low, high);
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        keys.set("OVERRIDES", value{array(names.begin(), names.end())});
    }

private:
    void follow(object& keys, std::string_view low, std::string_view high) const {
        auto const* const given_low = keys_.find(low);
        auto const* const given_high = keys_.find(high);
        if (!given_low == !given_high) return; // neither, or both: then both are as they were asked for
        auto const *const a = keys.find(low), *const b = keys.find(high);
        if (!a || !b) return;
        auto const least = amount_of(*find_key(low), *a), most = amount_of(*find_key(high), *b);
        if (least.has_error() || most.has_error() || *least <= *most) return;
        if (given_low) keys.set(high, *given_low);
        else keys.set(low, *given_high);
    }
    object keys_;
};

} // namespace sb::stress
