// SPDX-License-Identifier: MIT
// Failure modes as a set: which there are, what they are called as scenarios, and how FAILURE_MODES is written.
#pragma once
#include <sb/core/value.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

struct failure_mode {
    std::string_view name;
    std::string_view scenario; ///< what runs under it are grouped by
};

/// Sorted by name. malicious_data is an alias of hostile_input and stands in no preset of ours.
inline constexpr auto all_modes = std::to_array<failure_mode>({
    {"api_latency", "high_latency_api"},
    {"concurrency_spike", "concurrency_spike"},
    {"cpu", "cpu"},
    {"cpu_spike", "cpu_spike"},
    {"disk", "disk"},
    {"disk_corruption", "disk_corruption"},
    {"flaky_upstream", "flaky_upstream"},
    {"hostile_input", "hostile_input"},
    {"memory", "memory"},
    {"network", "network"},
    {"network_partition", "network_partition"},
    {"schema_drift", "schema_drift"},
    {"timeout", "timeout"},
    {"user_misuse", "user_misuse"},
});

/// Bit i stands for all_modes[i].
using mode_set = std::uint16_t;

constexpr mode_set mode_bit(std::string_view name) noexcept {
    for (unsigned i = 0; i < all_modes.size(); ++i)
        if (all_modes[i].name == name) return static_cast<mode_set>(1u << i);
    return name == "malicious_data" ? mode_bit("hostile_input") : mode_set{0};
}

/// Calls `use(mode)` for each mode of the set, in the table's order.
template <class Use>
constexpr void each_mode(mode_set set, Use use) {
    for (unsigned i = 0; i < all_modes.size(); ++i)
        if ((unsigned{set} >> i & 1u) != 0) use(all_modes[i]);
}

/// The modes that the words name; unknown ones are passed over (checking is preset_check.hpp's).
inline mode_set modes_of(std::vector<std::string> const& words) noexcept {
    unsigned set = 0;
    for (auto const& word : words) set |= mode_bit(word);
    return static_cast<mode_set>(set);
}

/// One mode is text, several are an array.
inline value modes_value(mode_set set) {
    array all;
    each_mode(set, [&](failure_mode const& mode) { all.emplace_back(mode.name); });
    return all.size() == 1 ? all.front() : value{std::move(all)};
}

/// Scenario names joined by +.
inline std::string modes_scenario(mode_set set) {
    std::string name;
    each_mode(set, [&](failure_mode const& mode) { name.append(name.empty() ? "" : "+").append(mode.scenario); });
    return name;
}

} // namespace sb::stress
