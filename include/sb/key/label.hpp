// SPDX-License-Identifier: MIT
// Keys that name a preset, or describe its origin, and change nothing in a run.
#pragma once
#include <sb/key/definition.hpp>
#include <sb/record/preset.hpp>

namespace sb::key {

inline constexpr definition scenario_name{
    .name = preset_record::scenario_name, .in = unit::text,
    .help = "name by which runs are grouped", .note = "Parts of a combination are joined by +."};

inline constexpr definition severity{
    .name = preset_record::severity, .in = unit::text,
    .help = "none, low, high, random, or a level of your own profile"};

inline constexpr definition seed{
    .name = preset_record::seed, .in = unit::integer, .least = 0, .most = 9007199254740991.0,
    .help = "seed of all randomness of the run", .note = "At most 2^53 - 1, so that every JSON reader keeps it exact.",
    .not_by_hand = "cannot be set; use --seed"};

inline constexpr definition overrides{
    .name = "OVERRIDES", .in = unit::names,
    .help = "keys whose value was given by hand, not by the profile", .note = "Set by the tools; do not set it.",
    .not_by_hand = "cannot be set; it is written by the tools"};

/// `ENV_NAME` sets the variable NAME of the workload to any text. It is a key of the user's own, so no list can contain it.
/// Empty if no variable can have that name.
constexpr std::string_view own_variable(std::string_view name) noexcept {
    constexpr std::string_view never{"=\0", 2};
    return name.starts_with("ENV_") && name.find_first_of(never) == name.npos ? name.substr(4) : std::string_view{};
}

} // namespace sb::key
