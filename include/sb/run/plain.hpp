// SPDX-License-Identifier: MIT
// The plain backend: a session, a process group, rlimits, a clean environment and private folders. It needs no
// privilege and no kernel feature beyond Linux 4.
#pragma once
#include <sb/core/text.hpp>
#include <sb/run/backend.hpp>
#include <sb/stress/key_value.hpp>
#include <sb/stress/keys.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace sb::run {

inline constexpr double default_timeout_s = 30;
inline constexpr std::int64_t default_output_bytes = std::int64_t{8} << 20;

namespace detail {

/// Why a key that acts elsewhere cannot act in the plain backend.
inline std::string_view plain_refusal(std::string_view key) {
    struct reason {
        std::string_view begins, why;
    };
    static constexpr reason reasons[] = {
        {"NETWORK_", "needs a network namespace; the plain backend shares the host's network"},
        {"PACKET_", "needs a network namespace; the plain backend shares the host's network"},
        {"BANDWIDTH_", "needs a network namespace; the plain backend shares the host's network"},
        {"MAX_BANDWIDTH", "needs a network namespace; the plain backend shares the host's network"},
        {"MIN_BANDWIDTH", "needs a network namespace; the plain backend shares the host's network"},
        {"API_", "needs an upstream that stands in for the network; the plain backend has none"},
        {"UPSTREAM_", "needs an upstream that stands in for the network; the plain backend has none"},
        {"BROKEN_AUTH", "needs an upstream that stands in for the network; the plain backend has none"},
        {"PIDS_LIMIT", "needs a pids control group: RLIMIT_NPROC counts the user's processes, not those of the run"},
        {"MAX_THREADS", "needs a pids control group: RLIMIT_NPROC counts the user's processes, not those of the run"},
        {"DISK_LIMIT", "needs a workspace of limited size; the plain backend writes to the host's file systems"},
        {"DISK_IO_", "needs an io control group"},
        {"GPU_LIMIT", "needs devices of its own; the plain backend shows the host's"},
        {"SECURITY_LEVEL", "needs namespaces and a system-call filter"},
        {"CONTAINER_IMAGE", "needs the container backend"},
        {"OS_TYPE", "needs the virtual-machine backend"},
        {"VM_SETTINGS", "needs the virtual-machine backend"},
        {"FAILURE_MODES", "needs fault injection; the plain backend injects nothing"},
        {"CPU_SPIKE", "needs fault injection; the plain backend injects nothing"},
        {"THREAD_BURST", "needs fault injection; the plain backend injects nothing"},
        {"ASYNC_TASK_BURST", "needs fault injection; the plain backend injects nothing"},
        {"THREAT_INTENSITY", "needs fault injection; the plain backend injects nothing"},
    };
    for (auto const& each : reasons)
        if (key.starts_with(each.begins)) return each.why;
    return "needs input payloads (stubs); none is fed to this run";
}

class plain_reading {
public:
    plain_reading(overrides const& wins, enforcement& into) : wins_{wins}, into_{into} {}

    result<void> key(std::string const& name, value const& asked) {
        auto const* const known = stress::find_key(name);
        if (auto const variable = stress::own_variable(name); !known && !variable.empty()) {
            auto const text = asked.if_string() ? *asked.if_string() : json::text_of(asked);
            into_.variables[std::string{variable}] = text;
            apply(name, asked, text, "environment variable");
        } else if (!known || !known->acts) {
            into_.informational.push_back(name);
        } else if (stress::counts(known->type)) {
            SB_TRY(auto const amount, stress::amount_of(*known, asked));
            number(name, asked, amount);
        } else if (name == "OS_TYPE" && lowered(asked.string_or({})) == "linux") {
            apply(name, asked, "linux", "the host");
        } else {
            unsupported(name, asked);
        }
        return {};
    }

    /// Limits that hold where the preset is silent.
    void defaults() {
        if (into_.held.wall_ns < 0) {
            auto const limit = wins_.timeout_s.value_or(default_timeout_s);
            wall(limit);
            apply("TIMEOUT", wins_.timeout_s ? value{*wins_.timeout_s} : value{}, limit,
                  wins_.timeout_s ? "wall clock, given by hand" : "wall clock, by default");
        }
        if (into_.held.output_bytes < 0) {
            into_.held.output_bytes = default_output_bytes;
            apply("OUTPUT_LIMIT", value{}, default_output_bytes, "pipe of each stream, by default");
        }
    }

private:
    void apply(std::string const& name, value const& asked, value achieved, std::string by) {
        into_.applied.push_back({name, asked, std::move(achieved), std::move(by)});
    }
    void unsupported(std::string const& name, value const& asked) {
        into_.unsupported.push_back({name, asked, std::string{plain_refusal(name)}});
    }
    void wall(double seconds) { into_.held.wall_ns = static_cast<std::int64_t>(std::min(seconds, 1e9) * 1e9); }

    void number(std::string const& name, value const& asked, double amount) {
        auto& held = into_.held;
        auto const whole = static_cast<std::int64_t>(amount);
        if (name == "TIMEOUT") {
            wall(wins_.timeout_s.value_or(amount));
            apply(name, asked, wins_.timeout_s.value_or(amount), wins_.timeout_s ? "wall clock, given by hand" : "wall clock");
        } else if (name == "OUTPUT_LIMIT") {
            held.output_bytes = whole;
            apply(name, asked, whole, "pipe of each stream");
        } else if (name == "FILE_LIMIT") {
            held.file_bytes = whole;
            apply(name, asked, whole, "RLIMIT_FSIZE, each file");
        } else if (name == "OPEN_FILES_LIMIT") {
            held.open_files = whole;
            apply(name, asked, hard_limit(RLIMIT_NOFILE, whole), "RLIMIT_NOFILE, each process");
        } else if (name == "MEMORY_LIMIT") {
            held.memory_bytes = whole;
            apply(name, asked, hard_limit(RLIMIT_AS, whole), "RLIMIT_AS, each process");
        } else if (name == "CPU_SECONDS") {
            held.cpu_seconds = static_cast<std::int64_t>(std::ceil(amount));
            apply(name, asked, held.cpu_seconds, "RLIMIT_CPU, each process");
        } else if (name == "CONCURRENCY_LEVEL") {
            into_.copies = static_cast<int>(whole);
            apply(name, asked, whole, "copies started together");
        } else if (name == "CPU_LIMIT") {
            if (amount != std::floor(amount)) {
                into_.unsupported.push_back({name, asked, "a share of a processor needs a cpu control group; the plain backend can only count whole ones"});
                return;
            }
            held.cpus = std::min<std::int64_t>(whole, isolate::usable_cpus());
            apply(name, asked, held.cpus, "sched_setaffinity");
        } else {
            unsupported(name, asked);
        }
    }
    static std::int64_t hard_limit(int resource, std::int64_t asked) {
        rlimit now{};
        ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
        return now.rlim_max == RLIM_INFINITY ? asked : std::min(asked, static_cast<std::int64_t>(now.rlim_max));
    }

    overrides const& wins_;
    enforcement& into_;
};

inline result<enforcement> enforce_plain(preset_record const& preset, overrides const& wins) {
    enforcement all;
    plain_reading reading{wins, all};
    for (auto const& [name, asked] : preset.keys) SB_CHECK(reading.key(name, asked));
    reading.defaults();
    return all;
}

} // namespace detail

inline backend plain_backend() {
    return {"plain",
            {"session", "rlimits", "environment", "home", "tmpdir", "descriptors"},
            "plain backend: host network and files are visible",
            {{"cpu_user_s", "wait4, processes that were waited for"},
             {"peak_rss_bytes", "wait4, largest process; never below the slot's own"},
             {"read_bytes", "/proc/PID/io, from storage"},
             {"write_bytes", "/proc/PID/io, to storage"}},
            &detail::enforce_plain};
}

} // namespace sb::run
