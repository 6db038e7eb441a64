// SPDX-License-Identifier: MIT
// The one table of preset keys. Checking, describing, generating, overriding and applying all read it.
#pragma once
#include <sb/stress/key.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace sb::stress {

namespace detail {
inline constexpr double ki = 1024, mi = ki * ki, gi = mi * ki, day = 86400, exact = 9007199254740991.0;
inline constexpr std::string_view modes =
    "api_latency concurrency_spike cpu cpu_spike disk disk_corruption flaky_upstream hostile_input malicious_data memory "
    "network network_partition schema_drift timeout user_misuse";
inline constexpr std::string_view strategies =
    "failures flaky_upstream history hostile legacy_schema misuse model random signature smart synthetic templates";
inline constexpr std::string_view families = "boundary corrupted_bytes injection malformed oversized path_traversal";
} // namespace detail

/// Sorted by name.
inline constexpr auto all_keys = std::to_array<key>({
    {"API_LATENCY_MS", key_type::milliseconds, true, 0, 600000, "50 100 200 500 1000", "",
     "delay before each answer of the upstream that stands in for the network", ""},
    {"ASYNC_TASK_BURST", key_type::integer, true, 1, 100000, "20 50 100", "",
     "asynchronous tasks that a concurrency spike starts at once", "Without it a spike starts 50."},
    {"BANDWIDTH_LIMIT", key_type::rate, true, 1e3, 1e10, "1Mbps 5Mbps 10Mbps 50Mbps 100Mbps", "",
     "rate that the link never exceeds", "Caps MAX_BANDWIDTH where both are given."},
    {"BROKEN_AUTH", key_type::boolean, true, 0, 1, "", "",
     "the upstream stand-in refuses every credential, and stubs carry expired ones", ""},
    {"CONCURRENCY_LEVEL", key_type::integer, true, 1, 10000, "1 5 10 20 50 100", "",
     "copies of the workload that run at the same time", ""},
    {"CONCURRENCY_MULTIPLIER", key_type::integer, false, 1, 1000, "", "",
     "accepted from older presets; CONCURRENCY_LEVEL says how many copies run",
         "Never written: it has no effect of its own."},
    {"CONTAINER_IMAGE", key_type::text, true, 0, 0, "", "", "image that the container backend starts",
     "Never written: no image of that name exists for the guests that OS_TYPE draws, so it is yours to name."},
    {"CORRUPT_PAYLOAD", key_type::boolean, true, 0, 1, "", "", "some bytes of each input payload are changed, by seed",
        ""},
    {"CPU_LIMIT", key_type::cores, true, 0.01, 64, "0.5 1 2 4 8", "", "processors that the whole tree may use at once",
     "A share of processor time, never a deadline: 0.5 is half of one core. CPU_SECONDS limits the total."},
    {"CPU_SECONDS", key_type::seconds, true, 1, 30 * detail::day, "1 2 5 10 30 60", "",
     "processor time after which a process is ended", "Not drawn for random presets."},
    {"CPU_SPIKE", key_type::boolean, true, 0, 1, "", "", "short bursts of busy loops beside the workload",
     "The same as the failure mode cpu_spike."},
    {"DISK_IO_THROTTLE", key_type::integer, true, 1, 1000000, "50 100 200 500 1000", "",
     "disk operations a second that the tree may make", "Not drawn for random presets."},
    {"DISK_LIMIT", key_type::bytes, true, 64 * detail::ki, 1024 * detail::gi, "512Mi 1Gi 2Gi 4Gi 8Gi", "",
     "bytes that the workspace may hold", ""},
    {"FAILURE_MODES", key_type::words, true, 0, 0, "", detail::modes, "faults to inject: one word, or several",
     "Text, text with commas, or an array. malicious_data is read as hostile_input."},
    {"FILE_LIMIT", key_type::bytes, true, 1, 1024 * detail::gi, "64Ki 1Mi 16Mi 256Mi", "",
     "size that a single file may reach", "Not drawn for random presets."},
    {"GPU_LIMIT", key_type::integer, true, 0, 64, "0 1 2 4", "", "graphics processors that are visible",
        "Drawn for every second random preset."},
    {"HOSTILE_INPUT", key_type::boolean, true, 0, 1, "", "", "the same as the failure mode hostile_input",
     "Accepted from older presets, never written."},
    {"INJECT_EDGE_CASES", key_type::boolean, true, 0, 1, "", "",
     "adds edge-case files and answers: malformed, empty, null, timing out", ""},
    {"INVALID_CONFIG", key_type::boolean, true, 0, 1, "", "", "misuse probes include settings that cannot be right",
        ""},
    {"INVALID_PARAM_TYPES", key_type::boolean, true, 0, 1, "", "", "misuse probes include parameters of the wrong type",
        ""},
    {"MALICIOUS_DATA", key_type::boolean, true, 0, 1, "", "",
        "stubs carry the payloads of the failure mode hostile_input", ""},
    {"MAX_BANDWIDTH", key_type::rate, true, 1e3, 1e10, "1Mbps 5Mbps 10Mbps 50Mbps 100Mbps", "",
     "upper end of the range in which the link's rate moves", "Never below MIN_BANDWIDTH."},
    {"MAX_THREADS", key_type::integer, true, 1, 4194304, "100 200 500", "",
        "threads that the tree may have during a concurrency spike", ""},
    {"MEMORY_LIMIT", key_type::bytes, true, detail::mi, 64 * detail::gi, "128Mi 256Mi 512Mi 1024Mi 2048Mi 4096Mi", "",
     "memory that the whole tree may hold", ""},
    {"MIN_BANDWIDTH", key_type::rate, true, 1e3, 1e10, "1Mbps 5Mbps 10Mbps 50Mbps 100Mbps", "",
     "lower end of the range in which the link's rate moves", "Never above MAX_BANDWIDTH."},
    {"MISUSE_PROBES", key_type::integer, true, 1, 1000, "2 4 8 16", "",
        "misuse probes that are made: wrong arity, wrong types, forbidden paths", ""},
    {"NETWORK_JITTER_MS", key_type::milliseconds, true, 0, 60000, "0 5 10 20 50", "", "spread of the link's delay", ""},
    {"NETWORK_LATENCY_MS", key_type::milliseconds, true, 0, 60000, "10 50 100 200 500", "",
        "delay of every packet, one way", ""},
    {"OPEN_FILES_LIMIT", key_type::integer, true, 3, 1048576, "16 32 64 256 1024", "",
     "file descriptors that a process may hold open", "Not drawn for random presets."},
    {"OS_TYPE", key_type::word, true, 0, 0, "windows macos", "linux macos windows", "operating system to run in",
     "Guests need a disk image of yours, so random presets name one only on request (--guests)."},
    {"OUTPUT_LIMIT", key_type::bytes, true, 0, 64 * detail::gi, "64Ki 1Mi 8Mi 64Mi", "",
     "bytes of standard output, and of standard error, that are kept", "Not drawn for random presets."},
    {"OVERRIDES", key_type::names, false, 0, 0, "", "", "keys whose value was given by hand and not by the profile",
        "Written, and read back; not to be set."},
    {"PACKET_DUPLICATION", key_type::fraction, true, 0, 1, "0 0.01 0.05", "", "share of packets that arrive twice",
        "A fraction: 0.05 is five in a hundred."},
    {"PACKET_LOSS", key_type::fraction, true, 0, 1, "0 0.01 0.05 0.1", "", "share of packets that are lost",
        "A fraction: 0.1 is one in ten."},
    {"PAYLOAD_BYTES", key_type::bytes, true, 1, 64 * detail::mi, "1Ki 16Ki 64Ki 1Mi", "",
        "size of the largest hostile payload", ""},
    {"PAYLOAD_COUNT", key_type::integer, true, 1, 100000, "4 16 64", "", "different hostile payloads that are fed", ""},
    {"PAYLOAD_INDICATOR", key_type::words, true, 0, 0, "", detail::families,
        "families of hostile payloads that come first",
     "The other families follow while PAYLOAD_COUNT lasts."},
    {"PIDS_LIMIT", key_type::integer, true, 1, 4194304, "16 64 256 1024", "",
        "processes and threads that the tree may have",
     "Not drawn for random presets."},
    {"SANDBOX_STUB_STRATEGY", key_type::word, true, 0, 0, "", detail::strategies, "where input payloads come from", ""},
    {"SCENARIO_NAME", key_type::text, false, 0, 0, "", "", "name that runs are grouped by",
        "Parts of a combination are joined by +."},
    {"SCHEMA_CHECKS", key_type::integer, true, 1, 1000000, "100", "",
        "payloads of which SCHEMA_MISMATCHES have drifted", ""},
    {"SCHEMA_DRIFT", key_type::boolean, true, 0, 1, "", "", "the same as the failure mode schema_drift",
        "Accepted from older presets, never written."},
    {"SCHEMA_MISMATCHES", key_type::integer, true, 0, 1000000, "5 20", "",
     "payloads, of SCHEMA_CHECKS, with a field renamed, dropped or of another type", "Never above SCHEMA_CHECKS."},
    {"SECURITY_LEVEL", key_type::integer, true, 1, 5, "1 2 3 4 5", "",
        "how much the sandbox forbids; 3 where a preset is silent", ""},
    {"SEED", key_type::integer, false, 0, detail::exact, "", "", "where all chance of the run begins",
     "At most 2^53 - 1, so that every JSON reader keeps it exact."},
    {"SEVERITY", key_type::text, false, 0, 0, "", "", "none, low, high, random, or a level of a profile of yours", ""},
    {"THREAD_BURST", key_type::integer, true, 1, 10000, "10 20 50", "",
        "threads that a concurrency spike starts at once", "Without it a spike starts 50."},
    {"THREAT_INTENSITY", key_type::percent, true, 0, 100, "10 30 50 70 90", "",
     "how hard faults press: the share of inputs, calls and time that they strike",
     "Scales the number and size of hostile payloads and of misuse probes (50 leaves them as given), the calls that are delayed and the time "
     "that bursts take; faults with a rate of their own come in rows by that share. Written only beside FAILURE_MODES."},
    {"TIMEOUT", key_type::seconds, true, 0.001, 30 * detail::day, "1 5 10 30 60 300", "",
        "wall-clock time after which the whole tree is ended",
     "A bare number is seconds; 30 where a preset is silent. Not drawn for random presets."},
    {"UNEXPECTED_API_CALLS", key_type::boolean, true, 0, 1, "", "",
        "misuse probes include calls of operations that do not exist", ""},
    {"UNEXPECTED_INPUT", key_type::boolean, true, 0, 1, "", "", "the same as INJECT_EDGE_CASES",
        "Accepted from older presets, never written."},
    {"UPSTREAM_FAILURES", key_type::integer, true, 0, 1000000, "1 5", "",
        "requests, of UPSTREAM_REQUESTS, that the upstream stand-in fails",
     "Never above UPSTREAM_REQUESTS."},
    {"UPSTREAM_REQUESTS", key_type::integer, true, 1, 1000000, "20", "", "requests of which UPSTREAM_FAILURES fail",
        ""},
    {"VM_SETTINGS", key_type::map, true, 0, 0, "", "", "disk image, memory and time limit of a guest",
        "{\"windows_image\":…,\"memory\":\"4Gi\",\"timeout\":600}"},
});
static_assert(std::is_sorted(all_keys.begin(), all_keys.end(),
    [](key const& a, key const& b) { return a.name < b.name; }));

/// The key of that name, null if there is none.
constexpr key const* find_key(std::string_view name) noexcept {
    auto const at = std::lower_bound(all_keys.begin(), all_keys.end(), name,
        [](key const& k, std::string_view n) { return k.name < n; });
    return at != all_keys.end() && at->name == name ? &*at : nullptr;
}

/// `ENV_NAME` sets the variable NAME of the workload to any text: a key of the user's own, which the table cannot know.
/// Empty where no variable can have that name.
constexpr std::string_view own_variable(std::string_view name) noexcept {
    constexpr std::string_view never{"=\0", 2};
    return name.starts_with("ENV_") && name.find_first_of(never) == name.npos ? name.substr(4) : std::string_view{};
}

} // namespace sb::stress
