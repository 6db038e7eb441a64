// SPDX-License-Identifier: MIT
// Turns a request to sb-presets into presets, in the order in which they are written.
#pragma once
#include <sb/stress/compose_preset.hpp>
#include <sb/stress/generate.hpp>
#include <sb/stress/keywords.hpp>
#include <sb/stress/suites.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// A module and, if it could be read, its source.
struct module_hint {
    std::string path, source;
};

struct plan {
    std::uint64_t seed = 0;
    std::optional<std::int64_t> count; ///< presets, not counting the baseline; random ones make up the number. Without it 3, or the number of named ones
    severity levels;
    std::vector<std::string> profiles, categories_named, stages_named;
    std::vector<module_hint> modules;
    bool canonical = false, baseline = false, scenarios = false, trajectory = false;
    bool misuse = false; ///< user_misuse may be chosen even if nobody named it
    bool custom_only = false; ///< a profile file was given and nothing named: use all of its profiles

    bool names_something() const noexcept {
        return canonical || scenarios || trajectory || custom_only || !profiles.empty() || !categories_named.empty() ||
               !stages_named.empty() || !modules.empty();
    }
    /// How many random presets follow the `named` ones.
    std::uint64_t random_presets(std::size_t named) const noexcept {
        auto const wanted = count.value_or(names_something() ? 0 : 3);
        return wanted > static_cast<std::int64_t>(named) ? static_cast<std::uint64_t>(wanted) - named : 0;
    }
};

struct planned {
    std::optional<preset_record> baseline; ///< first, unless it is one of the others
    std::vector<preset_record> named;
};

/// Everything that the plan names. `setting` can replace values of the scenario suite (SANDBOX_PRESET_…).
inline result<planned> named_presets(plan const& p, profile_set const& profiles, keyword_map const& keywords,
                                     overrides const& given, lookup const& setting = {}) {
    SB_TRY(auto levels, profiles.resolve(p.levels));
    composer const make{profiles, std::move(levels), given, p.seed};
    planned plan;
    auto const append = [&](std::vector<preset_record> more) {
        for (auto& each : more) plan.named.push_back(std::move(each));
    };
    std::vector<std::string> names;
    auto const want = [&](std::string_view name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    };
    for (auto const& each : p.profiles) want(each);
    if (p.custom_only)
        for (auto const& each : profiles.custom_names()) want(each);
    for (auto const& each : p.categories_named) {
        auto const known = key::words_of(categories);
        if (std::find(known.begin(), known.end(), each) == known.end())
            return caller_error(cat("unknown category \"", each, "\"; categories: ",
                key::listed(categories)));
        for (auto const& profile : built_in_profiles)
            if (profile.category == each) want(profile.name);
    }
    for (auto const& each : p.modules)
        for (auto const& profile : keywords.suggest(each.path, each.source, p.misuse)) want(profile);

    if (p.canonical) {
        SB_TRY(auto more, make.canonical());
        append(std::move(more));
    }
    if (p.scenarios) {
        SB_TRY(auto more, make.scenarios(setting));
        append(std::move(more));
    }
    if (p.trajectory) {
        SB_TRY(auto more, make.stages());
        append(std::move(more));
    }
    for (auto const& each : p.stages_named) {
        SB_TRY(auto more, make.stages(each));
        append(std::move(more));
    }
    for (auto const& each : names) {
        SB_TRY(auto preset, make.named(each));
        plan.named.push_back(std::move(preset));
    }
    if (p.baseline) {
        SB_TRY(auto preset, make.baseline());
        auto const there = std::find_if(plan.named.begin(), plan.named.end(),
            [&](auto const& each) { return each.id == preset.id; });
        if (there != plan.named.end()) plan.named.erase(there);
        plan.baseline = std::move(preset);
    }
    return plan;
}

} // namespace sb::stress
