// SPDX-License-Identifier: MIT
// Presets with a name: one profile or several combined, the canonical ones, the scenario suite, the trajectory.
#pragma once
#include <sb/stress/overrides.hpp>
#include <sb/stress/preset_id.hpp>
#include <sb/stress/profile_set.hpp>
#include <sb/stress/suites.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

class composer {
public:
    /// `asked` must have gone through `profiles.resolve`. All presets have the same seed, so that a scenario and its
    /// baseline get the same random choices.
    composer(profile_set const& profiles, severity asked, overrides given, std::uint64_t seed)
        : profiles_{profiles}, asked_{std::move(asked)}, given_{std::move(given)}, seed_{seed} {}

    /// The preset of "name" or of "a+b". Keys are merged in order, and the later one wins. Failure modes are listed one
    /// after the other without repeats. Names, and severities where they differ, are joined by +.
    result<preset_record> named(std::string_view name, std::string_view otherwise = "high") const {
        std::vector<part> parts;
        std::optional<error> wrong;
        split(name, '+', [&](std::string_view each) {
            if (wrong) return;
            if (auto got = one(trim(each), otherwise); got.has_error()) wrong = got.error();
            else parts.push_back(std::move(*got));
        });
        if (wrong) return *wrong;
        return together(parts);
    }

    /// The baseline: no fault, the limits that every profile starts from.
    result<preset_record> baseline() const { return named("normal"); }

    /// Each of the six at each level, or at the requested level.
    result<std::vector<preset_record>> canonical() const {
        std::vector<preset_record> presets;
        for (auto const& each : built_in_profiles) {
            if (!each.canonical) continue;
            auto const p = levels_of(each);
            bool const chosen = !asked_.for_all.empty() || asked_.by_profile.contains(p.name);
            for (auto const& [level, keys] : p.levels) {
                if (chosen) {
                    SB_TRY(auto const wanted, profiles_.choose(p, asked_, level));
                    if (wanted != level) continue;
                }
                SB_TRY(auto preset, together({{p.name, level, keys}}));
                presets.push_back(std::move(preset));
            }
        }
        return presets;
    }

    /// The five scenarios. At severity low (or if no severity is requested) they have the suite's own values. `setting` can
    /// replace a value of the suite: SANDBOX_PRESET_CONCURRENCY_LEVEL and the like.
    result<std::vector<preset_record>> scenarios(lookup const& setting = {}) const {
        std::vector<preset_record> presets;
        for (auto const scenario : scenario_suite) {
            SB_TRY(auto p, one(scenario, "low"));
            for (auto const& extra : suite_settings)
                if (extra.scenario == scenario && (p.level == "low" || !p.keys.if_contains(extra.key)))
                    p.keys[extra.key] = *key::value_of_text(*key::find(extra.key), extra.low);
            if (setting) SB_CHECK(take_settings(p, setting));
            SB_TRY(auto preset, together({p}));
            presets.push_back(std::move(preset));
        }
        return presets;
    }

    /// The stages in order, or only the one of that name or alias; at severity low if none is requested.
    result<std::vector<preset_record>> stages(std::string_view only = {}) const {
        std::vector<preset_record> presets;
        std::vector<std::string_view> names;
        for (auto const& each : trajectory) {
            bool wanted = only.empty() || only == each.name;
            names.push_back(each.name);
            key::each_word(each.aliases,
                [&](std::string_view alias) { wanted = wanted || alias == only, names.push_back(alias); });
            if (!wanted) continue;
            auto const p = levels_of(each.from);
            SB_TRY(auto const level, profiles_.choose(p, asked_, "low"));
            SB_TRY(auto preset, together({{std::string{each.name}, level, *p.level(level)}}));
            presets.push_back(std::move(preset));
        }
        if (presets.empty())
            return caller_error(cat("unknown stage \"", only, "\"", key::hint(only, names),
                                    "stages: normal, high_latency, resource_strain, schema_drift, chaotic_failure"));
        return presets;
    }

private:
    struct part {
        std::string name, level;
        object keys;
    };

    result<part> one(std::string_view name, std::string_view otherwise) const {
        SB_TRY(auto const p, profiles_.find(name));
        SB_TRY(auto const level, profiles_.choose(p, asked_, otherwise));
        return part{p.name, level, *p.level(level)};
    }

    result<preset_record> together(std::vector<part> const& parts) const {
        preset_record preset;
        auto& keys = preset.keys = detail::keys_of(neutral_base, false);
        std::string name, level;
        std::vector<std::string> modes;
        for (auto const& each : parts) {
            for (auto const& [name_of_key, v] : each.keys) {
                if (name_of_key != key::failure_modes.name) {
                    keys[name_of_key] = v;
                    continue;
                }
                SB_TRY(auto const more, key::read(key::failure_modes, v));
                for (auto const& mode : std::get<key::words>(more).are)
                    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
            }
            name += cat(name.empty() ? "" : "+", each.name);
            if (level.empty() || level == "none") level = each.level;
            else if (each.level != level && each.level != "none") level += cat("+", each.level);
        }
        if (modes.size() == 1) keys[key::failure_modes.name] = value(modes.front());
        else if (!modes.empty()) keys[key::failure_modes.name] = value(array(modes.begin(), modes.end()));
        keys[key::scenario_name.name] = value(name);
        keys[key::severity.name] = value(level);
        keys[key::seed.name] = static_cast<std::int64_t>(seed_);
        given_.apply(keys);
        SB_CHECK(key::read(keys));
        seal(preset);
        return preset;
    }

    /// SANDBOX_PRESET_<KEY> for a key that the scenario has. The strategies have names of their own.
    static result<void> take_settings(part& p, lookup const& setting) {
        for (auto& [name, v] : p.keys) {
            std::string variable = cat("SANDBOX_PRESET_", name);
            if (name == key::sandbox_stub_strategy.name)
                variable = p.name == "hostile_input" ? "SANDBOX_PRESET_HOSTILE_STUB_STRATEGY"
                           : p.name == "schema_drift" ? "SANDBOX_PRESET_SCHEMA_STUB_STRATEGY"
                                                      : "SANDBOX_PRESET_FLAKY_STUB_STRATEGY";
            auto const text = setting(variable);
            if (!text) continue;
            auto got = key::value_of_text(*key::find(name), *text);
            if (got.has_error()) return caller_error(cat("environment variable ", variable, ": ", got.error().what));
            v = std::move(*got);
        }
        return {};
    }

    profile_set const& profiles_;
    severity asked_;
    overrides given_;
    std::uint64_t seed_;
};

} // namespace sb::stress
