// SPDX-License-Identifier: MIT
// The profiles that come with sandbench, as one table of text: their settings at each severity.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace sb::stress {

/// One key of a profile: its text at severity low and at severity high.
struct setting {
    std::string_view key, low, high;
};

struct profile {
    std::string_view name;
    std::string_view category; ///< baseline, stress, security or concurrency
    std::string_view help;
    std::span<setting const> settings; ///< in addition to the neutral base
    bool canonical = false; ///< one of the six that --canonical writes
};

/// The start of every profile, the baseline too. So the only difference to the baseline is the fault.
inline constexpr std::array<setting, 2> neutral_base{{{"CPU_LIMIT", "1", "1"}, {"MEMORY_LIMIT", "512Mi", "512Mi"}}};

inline constexpr std::string_view categories = "baseline stress security concurrency";

namespace detail {
inline constexpr std::array<setting, 6> high_latency_api{{
    {"API_LATENCY_MS", "500", "1000"},
    {"FAILURE_MODES", "api_latency", "api_latency"},
    {"NETWORK_JITTER_MS", "20", "50"},
    {"NETWORK_LATENCY_MS", "200", "500"},
    {"PACKET_LOSS", "0.05", "0.1"},
    {"THREAT_INTENSITY", "30", "70"},
}};
inline constexpr std::array<setting, 7> hostile_input{{
    {"FAILURE_MODES", "hostile_input", "hostile_input"},
    {"MALICIOUS_DATA", "true", "true"},
    {"PAYLOAD_BYTES", "16Ki", "1Mi"},
    {"PAYLOAD_COUNT", "4", "16"},
    {"PAYLOAD_INDICATOR", "corrupted_bytes", "corrupted_bytes"},
    {"SANDBOX_STUB_STRATEGY", "hostile", "hostile"},
    {"THREAT_INTENSITY", "30", "50"},
}};
inline constexpr std::array<setting, 7> user_misuse{{
    {"FAILURE_MODES", "user_misuse", "user_misuse"},
    {"INVALID_CONFIG", "true", "true"},
    {"INVALID_PARAM_TYPES", "true", "true"},
    {"MISUSE_PROBES", "4", "16"},
    {"SANDBOX_STUB_STRATEGY", "misuse", "misuse"},
    {"THREAT_INTENSITY", "20", "30"},
    {"UNEXPECTED_API_CALLS", "true", "true"},
}};
inline constexpr std::array<setting, 7> concurrency_spike{{
    {"ASYNC_TASK_BURST", "20", "100"},
    {"CONCURRENCY_LEVEL", "20", "100"},
    {"CPU_SPIKE", "true", "true"},
    {"FAILURE_MODES", "concurrency_spike,cpu_spike", "concurrency_spike,cpu_spike"},
    {"MAX_THREADS", "100", "200"},
    {"THREAD_BURST", "10", "50"},
    {"THREAT_INTENSITY", "30", "50"},
}};
inline constexpr std::array<setting, 5> schema_drift{{
    {"FAILURE_MODES", "schema_drift", "schema_drift"},
    {"SANDBOX_STUB_STRATEGY", "legacy_schema", "legacy_schema"},
    {"SCHEMA_CHECKS", "100", "100"},
    {"SCHEMA_MISMATCHES", "5", "20"},
    {"THREAT_INTENSITY", "20", "40"},
}};
inline constexpr std::array<setting, 5> flaky_upstream{{
    {"FAILURE_MODES", "flaky_upstream", "flaky_upstream"},
    {"SANDBOX_STUB_STRATEGY", "flaky_upstream", "flaky_upstream"},
    {"THREAT_INTENSITY", "20", "40"},
    {"UPSTREAM_FAILURES", "1", "5"},
    {"UPSTREAM_REQUESTS", "20", "20"},
}};
inline constexpr std::array<setting, 5> resource_strain{{
    {"CPU_LIMIT", "0.5", "0.25"},
    {"DISK_IO_THROTTLE", "100", "50"},
    {"DISK_LIMIT", "512Mi", "128Mi"},
    {"FAILURE_MODES", "cpu,disk", "cpu,disk"},
    {"THREAT_INTENSITY", "50", "90"},
}};
inline constexpr std::array<setting, 7> chaotic_failure{{
    {"BROKEN_AUTH", "true", "true"},
    {"CORRUPT_PAYLOAD", "true", "true"},
    {"FAILURE_MODES", "disk_corruption,flaky_upstream", "disk_corruption,flaky_upstream,network_partition"},
    {"INJECT_EDGE_CASES", "true", "true"},
    {"THREAT_INTENSITY", "50", "90"},
    {"UPSTREAM_FAILURES", "5", "10"},
    {"UPSTREAM_REQUESTS", "20", "20"},
}};
inline constexpr std::array<setting, 2> high_latency{{
    {"API_LATENCY_MS", "500", "1000"},
    {"NETWORK_LATENCY_MS", "500", "1000"},
}};
} // namespace detail

/// The canonical six in their order, then the others.
inline constexpr auto built_in_profiles = std::to_array<profile>({
    {"high_latency_api", "stress", "a slow, lossy network and a slow upstream", detail::high_latency_api, true},
    {"hostile_input", "security", "malicious and malformed input payloads", detail::hostile_input, true},
    {"user_misuse", "security", "wrong arity, wrong types, forbidden paths", detail::user_misuse, true},
    {"concurrency_spike", "concurrency", "many copies, bursts of threads and tasks", detail::concurrency_spike, true},
    {"schema_drift", "stress", "fields renamed, dropped or of another type", detail::schema_drift, true},
    {"flaky_upstream", "stress", "an upstream that sometimes fails", detail::flaky_upstream, true},
    {"normal", "baseline", "no fault; the baseline for the others", {}, false},
    {"resource_strain", "stress", "half a processor and a slow, small disk", detail::resource_strain, false},
    {"chaotic_failure", "stress", "broken credentials, corrupt payloads and writes, edge cases",
        detail::chaotic_failure, false},
});

struct profile_alias {
    std::string_view name, means;
};
inline constexpr auto profile_aliases = std::to_array<profile_alias>({
    {"high_latency", "high_latency_api"},
    {"malicious_data", "hostile_input"},
    {"schema_mismatch", "schema_drift"},
    {"upstream_failure", "flaky_upstream"},
    {"baseline", "normal"},
});

/// Settings of the suite of scenarios (suites.hpp) in addition to its profiles: (scenario, key, text). At severity high the profile's own value
/// applies.
struct suite_setting {
    std::string_view scenario, key, low;
};
inline constexpr std::array<suite_setting, 2> suite_settings{{
    {"concurrency_spike", "CONCURRENCY_LEVEL", "8"},
    {"hostile_input", "INJECT_EDGE_CASES", "true"},
}};

} // namespace sb::stress
