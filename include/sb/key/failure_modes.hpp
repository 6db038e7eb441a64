// SPDX-License-Identifier: MIT
// FAILURE_MODES: which faults are injected, and THREAT_INTENSITY: how strong they are. They do not act until there is
// fault injection.
#pragma once
#include <sb/key/bits.hpp>
#include <sb/key/definition.hpp>
#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace sb::key {

struct failure_mode {
    std::string_view name;
    std::string_view scenario; ///< the name by which runs under it are grouped
};

/// Sorted by name.
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
/// Another name of hostile_input; our own presets never contain it.
inline constexpr std::string_view mode_alias = "malicious_data", mode_of_alias = "hostile_input";

/// Bit i stands for all_modes[i].
using mode_set = std::bitset<all_modes.size()>;

/// The set with that one mode; empty if no mode has this name.
inline mode_set mode_bit(std::string_view name) noexcept {
    mode_set set;
    for (std::size_t i = 0; i < all_modes.size(); ++i)
        if (all_modes[i].name == (name == mode_alias ? mode_of_alias : name)) set.set(i);
    return set;
}

/// Calls `use(mode)` for each mode of the set, in the table's order.
template <class Use>
void each_mode(mode_set const& set, Use use) {
    each_bit(set, [&](std::size_t i) { use(all_modes[i]); });
}

/// The modes that the words name. Unknown words are skipped: the code that reads a value refuses them.
inline mode_set modes_of(std::vector<std::string> const& words) noexcept {
    mode_set set;
    for (auto const& word : words) set |= mode_bit(word);
    return set;
}

/// One mode is text, several are an array.
inline value modes_value(mode_set const& set) {
    array modes;
    each_mode(set, [&](failure_mode const& mode) { modes.emplace_back(mode.name); });
    return modes.size() == 1 ? modes.front() : value(std::move(modes));
}

/// Scenario names joined by +.
inline std::string modes_scenario(mode_set const& set) {
    std::string name;
    each_mode(set, [&](failure_mode const& mode) { name.append(name.empty() ? "" : "+").append(mode.scenario); });
    return name;
}

namespace detail {
constexpr std::string_view no_injection(host const&) noexcept { return "needs fault injection; this backend injects nothing"; }

/// All names, sorted, separated by blanks.
inline constexpr auto mode_words = [] {
    std::array<std::string_view, all_modes.size() + 1> names{};
    std::size_t n = 0;
    for (auto const& each : all_modes) names[n++] = each.name;
    names[n] = mode_alias;
    for (; n > 0 && names[n] < names[n - 1]; --n) {
        auto const before = names[n - 1];
        names[n - 1] = names[n], names[n] = before;
    }
    std::array<char, 256> text{};
    std::size_t end = 0;
    for (auto const name : names) {
        for (char const c : name) text[end++] = c;
        text[end++] = ' ';
    }
    return std::pair{text, end - 1};
}();
} // namespace detail

inline constexpr definition failure_modes{
    .name = "FAILURE_MODES", .in = unit::words, .words = {detail::mode_words.first.data(), detail::mode_words.second},
    .help = "faults to inject: one or several words",
    .note = "A word, words separated by commas, or an array. malicious_data means hostile_input.",
    .why_not = detail::no_injection,
    .tidy = [](words const& given) { return modes_value(modes_of(given.are)); }};

inline constexpr definition threat_intensity{
    .name = "THREAT_INTENSITY", .in = unit::percent, .least = 0, .most = 100, .ladder = "10 30 50 70 90",
    .help = "intensity of faults: the percentage of inputs, calls and time that they affect",
    .note = "Scales the number and size of hostile payloads and of misuse probes (50 leaves them as given), the calls that are delayed and the time "
            "of bursts; faults with a rate of their own come in bursts by that share. Only together with FAILURE_MODES.",
    .why_not = detail::no_injection};

} // namespace sb::key
