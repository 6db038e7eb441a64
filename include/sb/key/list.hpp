// SPDX-License-Identifier: MIT
// All preset keys. A new key is a definition in a file of its own, and a line here.
#pragma once
#include <sb/key/burst.hpp>
#include <sb/key/concurrency_level.hpp>
#include <sb/key/cpu_limit.hpp>
#include <sb/key/cpu_seconds.hpp>
#include <sb/key/device.hpp>
#include <sb/key/disk_limit.hpp>
#include <sb/key/failure_modes.hpp>
#include <sb/key/file_limit.hpp>
#include <sb/key/guest.hpp>
#include <sb/key/label.hpp>
#include <sb/key/memory_limit.hpp>
#include <sb/key/network.hpp>
#include <sb/key/open_files_limit.hpp>
#include <sb/key/output_limit.hpp>
#include <sb/key/payload.hpp>
#include <sb/key/pids_limit.hpp>
#include <sb/key/security_level.hpp>
#include <sb/key/timeout.hpp>
#include <sb/key/upstream.hpp>
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace sb::key {

/// Keys that act come first, in the order of the manual. A record lists default limits in the same order.
inline constexpr auto list = std::to_array<definition const*>({
    &timeout, &output_limit, &file_limit, &cpu_seconds, &open_files_limit, &memory_limit, &security_level, &pids_limit, &cpu_limit, &disk_limit, &concurrency_level,
    &concurrency_multiplier,
    &network_latency_ms, &network_jitter_ms, &packet_loss, &packet_duplication, &bandwidth_limit, &min_bandwidth, &max_bandwidth,
    &api_latency_ms, &broken_auth, &upstream_requests, &upstream_failures,
    &sandbox_stub_strategy, &corrupt_payload, &inject_edge_cases, &unexpected_input,
    &hostile_input, &malicious_data, &payload_bytes, &payload_count, &payload_indicator,
    &schema_drift, &schema_checks, &schema_mismatches,
    &misuse_probes, &invalid_config, &invalid_param_types, &unexpected_api_calls,
    &failure_modes, &threat_intensity,
    &cpu_spike, &thread_burst, &async_task_burst, &max_threads,
    &gpu_limit, &disk_io_throttle,
    &os_type, &vm_settings, &container_image,
    &scenario_name, &severity, &seed, &overrides,
});

namespace detail {
constexpr bool name_before(definition const* a, definition const* b) noexcept { return a->name < b->name; }
} // namespace detail

/// A list sorted by name.
template <std::size_t Size>
constexpr auto sorted(std::array<definition const*, Size> keys) {
    std::sort(keys.begin(), keys.end(), detail::name_before);
    return keys;
}
inline constexpr auto by_name = sorted(list);
static_assert(std::adjacent_find(by_name.begin(), by_name.end(), [](auto const* a, auto const* b) { return a->name == b->name; }) == by_name.end(),
              "two keys have the same name");

/// The same keys twice: in the order of the list, and sorted by name.
struct key_list {
    std::span<definition const* const> in_order = list, by_name = key::by_name;

    /// The key of that name; null if there is none.
    constexpr definition const* find(std::string_view name) const noexcept {
        auto const at = std::lower_bound(by_name.begin(), by_name.end(), name, [](definition const* k, std::string_view n) { return k->name < n; });
        return at != by_name.end() && (*at)->name == name ? *at : nullptr;
    }
    /// The key that ends runs for that cause; null if there is none.
    constexpr definition const* ending_by(end_cause cause) const noexcept {
        for (auto const* key : in_order)
            if (key->rule_of(cause)) return key;
        return nullptr;
    }
};
inline constexpr key_list all_keys{};

constexpr definition const* find(std::string_view name) noexcept { return all_keys.find(name); }

} // namespace sb::key
