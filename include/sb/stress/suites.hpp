// SPDX-License-Identifier: MIT
// Profiles in a fixed order: the suite of scenarios, and the trajectory of conditions that worsen.
#pragma once
#include <sb/stress/profile.hpp>
#include <array>
#include <string_view>

namespace sb::stress {

/// The scenario suite: each scenario is run with and without the workload, and compared with the first.
inline constexpr std::array<std::string_view, 5> scenario_suite{"normal", "concurrency_spike", "hostile_input",
                                                                "schema_drift", "flaky_upstream"};
/// One stage of the trajectory: conditions that worsen in a fixed order.
struct stage {
    std::string_view name;
    profile from;
    std::string_view aliases; ///< names that other documents use for it, separated by blanks
};
inline constexpr std::array<stage, 5> trajectory{{
    {"normal", built_in_profiles[6], "baseline"},
    {"high_latency", {"high_latency", "stress", "half a second more on every packet and answer", detail::high_latency},
        "latency latency_spike"},
    {"resource_strain", built_in_profiles[7], "strain io_cpu_strain"},
    {"schema_drift", built_in_profiles[4], "drift"},
    {"chaotic_failure", built_in_profiles[8], "chaos"},
}};
static_assert(trajectory[0].from.name == "normal" && trajectory[2].from.name == "resource_strain" &&
              trajectory[3].from.name == "schema_drift" && trajectory[4].from.name == "chaotic_failure");

} // namespace sb::stress
