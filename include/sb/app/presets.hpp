// SPDX-License-Identifier: MIT
// The work of sb-presets: profiles are read, what was asked for is planned, and presets are written.
#pragma once
#include <sb/app/preset_rows.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/read_regular.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/json/write.hpp>
#include <sb/record/preset.hpp>
#include <sb/stress/environment_mode.hpp>
#include <sb/stress/generate.hpp>
#include <sb/stress/keywords.hpp>
#include <sb/stress/overrides.hpp>
#include <sb/stress/preset_plan.hpp>
#include <sb/stress/profile_set.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::app {

struct preset_choices {
    stress::plan plan;
    std::optional<std::int64_t> count;
    std::int64_t seed = 0;
    std::string severity, mode = "random", format, describe;
    std::vector<std::string> profiles, profile_files, modules, set;
    bool guests = false, list = false;
};

namespace detail {

/// Words given one by one, or with commas between; an option that is given names something.
inline result<std::vector<std::string>> apart(std::string_view option, std::vector<std::string> const& given) {
    std::vector<std::string> words;
    for (auto const& each : given)
        split(each, ',', [&](std::string_view word) {
            if (!trim(word).empty()) words.emplace_back(trim(word));
        });
    if (words.empty() && !given.empty()) return caller_error(cat(option, ": the name is empty"));
    return words;
}

inline result<stress::profile_set> read_profiles(cli::io& io, std::vector<std::string> const& files) {
    stress::profile_set profiles;
    for (auto const& path : files) {
        SB_TRY(auto const text, read_input(path, io.waits()));
        auto stem = path.substr(path.rfind('/') + 1);
        SB_CHECK(profiles.add(text, path, stem.substr(0, stem.find('.'))));
    }
    for (auto const& each : profiles.remarks()) io.log.warn(each);
    return profiles;
}

/// Is one of these profiles in any of the presets? A combination has the names of all its parts.
inline bool any_is_of(std::vector<preset_record> const& presets, std::vector<std::string> const& profiles) {
    bool found = false;
    for (auto const& each : presets)
        split(each.scenario(), '+', [&](std::string_view part) { found = found || std::find(profiles.begin(), profiles.end(), part) != profiles.end(); });
    return found;
}

/// Random presets as bytes, block by block: no memory grows with their number.
inline void write_random(cli::io& io, stress::generator& random, std::uint64_t count) {
    constexpr std::uint64_t lines = 128;
    std::vector<char> block(std::min(count, lines) * random.most_bytes());
    for (std::uint64_t i = 0; i < count && io.out.usable(); i += lines) {
        char const* const end = random.write_lines(block.data(), i, std::min(count, i + lines));
        io.out << std::string_view{block.data(), end};
    }
}

/// The plan that the options describe.
inline result<stress::plan> plan_of(preset_choices const& asked) {
    auto plan = asked.plan;
    constexpr std::int64_t largest_seed = (std::int64_t{1} << 53) - 1;
    if (asked.seed < 0 || asked.seed > largest_seed) return caller_error(cat("--seed: must be from 0 to ", largest_seed));
    if (asked.count && *asked.count < 0) return caller_error("--count: must be 0 or more");
    plan.seed = static_cast<std::uint64_t>(asked.seed), plan.count = asked.count;
    SB_TRY(plan.profiles, apart("--profile", asked.profiles));
    SB_TRY(plan.categories_named, apart("--category", plan.categories_named));
    SB_TRY(plan.stages_named, apart("--stage", plan.stages_named));
    plan.misuse = plan.misuse || asked.mode != "random";
    for (auto const& path : asked.modules) {
        auto const source = read_regular(path, std::size_t{4} << 20); // a module need not be a file here: its name says enough
        plan.modules.push_back({path, source.has_value() ? *source : std::string{}});
    }
    if (!plan.names_something()) {
        plan.custom_only = !asked.profile_files.empty();
        plan.canonical = asked.mode == "canonical" && !plan.custom_only;
    }
    SB_TRY(plan.levels, stress::severity::parse(asked.severity));
    return plan;
}

/// Values that win over every profile: those of --set, and of the environment.
inline result<stress::overrides> overrides_of(cli::io& io, preset_choices const& asked, stress::lookup const& env) {
    stress::overrides given;
    for (auto const& each : asked.set)
        if (auto const taken = given.set(each); taken.has_error()) return caller_error(cat("--set: ", taken.error().what));
    SB_CHECK(given.take_environment(env));
    for (auto const& [name, v] : given.keys()) io.log.info(cat(name, " is ", json::text_of(v), " in every preset"));
    return given;
}

} // namespace detail

inline result<void> write_presets(cli::io& io, preset_choices const& asked) {
    auto const format = io.format_of(asked.format);
    SB_TRY(auto const profiles, detail::read_profiles(io, asked.profile_files));
    if (asked.list) return write_list(io, format, profiles), result<void>{};
    if (!asked.describe.empty()) return write_description(io, format, asked.describe, profiles);

    SB_TRY(auto const plan, detail::plan_of(asked));
    stress::keyword_map keywords;
    if (auto const* own = io.settings.if_contains("keyword_profiles")) SB_CHECK(keywords.merge(*own, profiles));
    stress::lookup const env = [&](std::string const& name) -> std::optional<std::string> {
        if (auto found = io.env.find(name)) return std::move(found->value);
        return std::nullopt;
    };
    SB_TRY(auto const given, detail::overrides_of(io, asked, env));
    SB_TRY(auto planned, stress::named_presets(plan, profiles, keywords, given, env));
    auto const random_count = plan.random_presets(planned.named.size());
    if (auto const named = static_cast<std::int64_t>(planned.named.size()); asked.count && *asked.count < named)
        io.log.warn(cat("--count ", *asked.count, ": ", named, " presets are named; all are written"));
    if (auto const own = profiles.custom_names(); !own.empty() && !detail::any_is_of(planned.named, own))
        io.log.warn(cat("no profile of ", asked.profile_files.size() == 1 ? asked.profile_files.front() : "the profile files", " is used: --profile ", own.front(), " would name one"));
    if (planned.baseline) planned.named.insert(planned.named.begin(), std::move(*planned.baseline));

    std::optional<stress::generator> random;
    bool const known_level = plan.levels.for_all == "low" || plan.levels.for_all == "high";
    if (random_count > 0) random.emplace(stress::generator_options{plan.seed, known_level ? plan.levels.for_all : std::string{}, plan.misuse, asked.guests}, given);
    if (format == "jsonl") {
        cli::write_lines(io, planned.named);
        if (random) detail::write_random(io, *random, random_count);
        return {};
    }
    std::vector<object> rows;
    for (auto const& each : planned.named) rows.push_back(row_of(each));
    for (std::uint64_t i = 0; i < random_count; ++i) rows.push_back(row_of(random->make(i)));
    write_rows(io, format, rows);
    return {};
}

} // namespace sb::app
