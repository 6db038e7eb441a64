// SPDX-License-Identifier: MIT
// What a preset's keys become: limits that hold, or a reason why not.
#pragma once
#include <sb/core/text.hpp>
#include <sb/core/units.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/machine/file_count.hpp>
#include <sb/process/limits.hpp>
#include <sb/filter/security_level.hpp>
#include <sb/process/task_limit.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/environment.hpp>
#include <sb/stress/key_value.hpp>
#include <sb/stress/keys.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace sb::run {

inline constexpr double default_timeout_s = 30;
inline constexpr std::int64_t default_output_bytes = std::int64_t{8} << 20, default_pids = 1024, default_open_files = 1024;
inline constexpr int default_level = filter::default_level;

namespace detail {

/// Why a key that acts elsewhere cannot act here.
inline std::string refusal(std::string_view key, abilities const& can) {
    struct reason {
        std::string_view begins, why;
    };
    if (!can.limits) return "--isolate none: nothing is limited but time and output";
    static constexpr reason behind_walls[] = {
        {"NETWORK_", "needs fault injection in the sandbox's network, which has a loopback alone"},
        {"PACKET_", "needs fault injection in the sandbox's network, which has a loopback alone"},
        {"BANDWIDTH_", "needs fault injection in the sandbox's network, which has a loopback alone"},
        {"MAX_BANDWIDTH", "needs fault injection in the sandbox's network, which has a loopback alone"},
        {"MIN_BANDWIDTH", "needs fault injection in the sandbox's network, which has a loopback alone"},
        {"GPU_LIMIT", "needs devices; the sandbox has none"},
        {"MAX_THREADS", "needs fault injection; PIDS_LIMIT holds processes and threads"},
    };
    if (can.walls)
        for (auto const& each : behind_walls)
            if (key.starts_with(each.begins)) return std::string{each.why};
    static constexpr reason reasons[] = {
        {"NETWORK_", "needs a network namespace; the plain backend shares the host's network"},
        {"PACKET_", "needs a network namespace; the plain backend shares the host's network"},
        {"BANDWIDTH_", "needs a network namespace; the plain backend shares the host's network"},
        {"MAX_BANDWIDTH", "needs a network namespace; the plain backend shares the host's network"},
        {"MIN_BANDWIDTH", "needs a network namespace; the plain backend shares the host's network"},
        {"API_", "needs an upstream that stands in for the network; this backend has none"},
        {"UPSTREAM_", "needs an upstream that stands in for the network; this backend has none"},
        {"BROKEN_AUTH", "needs an upstream that stands in for the network; this backend has none"},
        {"PIDS_LIMIT", "needs a pids control group: RLIMIT_NPROC counts the user's processes, not those of the run"},
        {"MAX_THREADS", "needs a pids control group: RLIMIT_NPROC counts the user's processes, not those of the run"},
        {"DISK_LIMIT", "needs a workspace of limited size; the plain backend writes to the host's file systems"},
        {"DISK_IO_", "needs an io control group"},
        {"GPU_LIMIT", "needs devices of its own; the plain backend shows the host's"},
        {"SECURITY_LEVEL", "needs namespaces and a system-call filter"},
        {"CONTAINER_IMAGE", "needs the container backend"},
        {"OS_TYPE", "needs the virtual-machine backend"},
        {"VM_SETTINGS", "needs the virtual-machine backend"},
        {"FAILURE_MODES", "needs fault injection; this backend injects nothing"},
        {"CPU_SPIKE", "needs fault injection; this backend injects nothing"},
        {"THREAD_BURST", "needs fault injection; this backend injects nothing"},
        {"ASYNC_TASK_BURST", "needs fault injection; this backend injects nothing"},
        {"THREAT_INTENSITY", "needs fault injection; this backend injects nothing"},
    };
    for (auto const& each : reasons)
        if (key.starts_with(each.begins)) return std::string{each.why};
    return "needs input payloads (stubs); none is fed to this run";
}

/// Keys that hold a program down, as opposed to what harms it.
inline bool is_limit(std::string_view key) noexcept {
    for (std::string_view const each : {"CPU_LIMIT", "CPU_SECONDS", "MEMORY_LIMIT", "PIDS_LIMIT", "DISK_LIMIT", "FILE_LIMIT", "OPEN_FILES_LIMIT", "OUTPUT_LIMIT", "TIMEOUT", "SECURITY_LEVEL",
                                        "BANDWIDTH_LIMIT", "MAX_BANDWIDTH", "MAX_THREADS", "DISK_IO_THROTTLE", "GPU_LIMIT"})
        if (key == each) return true;
    return false;
}

class reading {
public:
    reading(object const& keys, abilities const& can, overrides const& wins, enforcement& into) : keys_{keys}, can_{can}, wins_{wins}, into_{into} {}

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
            SB_CHECK(number(name, asked, amount));
        } else if (name == "OS_TYPE" && lowered(asked.string_or({})) == "linux") {
            apply(name, asked, "linux", "the host");
        } else {
            unsupported(name, asked);
        }
        return {};
    }

    /// Limits that hold where the preset is silent.
    void defaults() {
        if (into_.limits.wall_ns < 0) {
            auto const limit = wins_.timeout_s.value_or(default_timeout_s);
            wall(limit);
            apply("TIMEOUT", wins_.timeout_s ? value{*wins_.timeout_s} : value{}, limit,
                  wins_.timeout_s ? "wall clock, given by hand" : "wall clock, by default");
        }
        if (into_.limits.output_bytes < 0) {
            into_.limits.output_bytes = default_output_bytes;
            apply("OUTPUT_LIMIT", value{}, default_output_bytes, "pipe of each stream, by default");
        }
        auto& held = into_.limits;
        if (can_.limits && held.open_files < 0) open_files(value{}, default_open_files, ", by default");
        if (!can_.walls) return;
        if (held.level == 0) level(default_level, value{}, ", by default");
        if (held.tree_pids < 0 && held.numbered_pids < 0 && held.user_processes < 0) pids(value{}, default_pids, ", by default");
        all_files();
        if (held.scratch_bytes < 0) {
            // half of the memory for all boxes together: what a run writes must not take the machine down
            auto const all = can_.memory_bytes / 2 / std::max(can_.jobs, 1);
            disk(value{}, std::max<std::int64_t>(all & ~std::int64_t{0xfffff}, 1 << 20), ", by default");
        }
        files();
    }

private:
    void apply(std::string const& name, value const& asked, value achieved, std::string by) {
        into_.applied.push_back({name, asked, std::move(achieved), std::move(by)});
    }
    void unsupported(std::string const& name, value const& asked) {
        unsupported(name, asked, refusal(name, can_));
    }
    void unsupported(std::string const& name, value const& asked, std::string why) {
        if (is_limit(name)) into_.loose.push_back(cat(name, " cannot be enforced: ", why));
        into_.unsupported.push_back({name, asked, std::move(why)});
    }

    void level(std::int64_t number, value const& asked, char const* how) {
        auto const& chosen = filter::level_of(static_cast<int>(number));
        into_.limits.level = chosen.number;
        apply("SECURITY_LEVEL", asked, chosen.number, cat(std::string_view{chosen.name}, ": system-call filter, mounts, Landlock", std::string_view{how}));
    }
    /// Is the limit beyond the machine? A preset may have been made for a larger one, but who gave the limit by hand is here, and
    /// is told that it limits nothing.
    result<bool> is_beyond(std::int64_t have, std::string_view name, value const& asked, std::int64_t amount, std::string const& shown) const {
        if (have <= 0 || amount <= have) return false;
        auto const* const given = keys_.find("OVERRIDES");
        auto const* const names = given ? given->if_array() : nullptr;
        bool const by_hand = names && std::any_of(names->begin(), names->end(), [&](value const& each) { return each.string_or({}) == name; });
        if (by_hand) return caller_error(cat(name, " ", variable_text(asked), " limits nothing: this machine's own limit is ", shown));
        return true;
    }
    void lower(std::string_view name, value const& asked, std::string const& shown) {
        into_.lowered.push_back(cat(name, " ", variable_text(asked), " is more than this machine has: ", shown, " are held"));
    }

    void pids(value const& asked, std::int64_t count, char const* how) {
        if (can_.tree_pids) {
            into_.limits.tree_pids = count;
            apply("PIDS_LIMIT", asked, count, cat("pids control group", std::string_view{how}));
        } else {
            // a preset that does not ask need not pay for a sandbox of its own
            bool const numbered = can_.numbered_pids && !asked.is_null() && count <= process::most_numbered;
            (numbered ? into_.limits.numbered_pids : into_.limits.user_processes) = numbered ? count : count + process::resident_processes;
            auto by = cat(numbered ? "pid_max of a process namespace" : "RLIMIT_NPROC of a user namespace; that it is reached stays unknown", std::string_view{how});
            if (!can_.numbered_pids) by += cat(": ", can_.why_no_numbers);
            apply("PIDS_LIMIT", asked, count, std::move(by));
        }
    }
    void open_files(value const& asked, std::int64_t count, char const* how) {
        // what is under way in sockets is not seen by who counts, and the kernel lets a user have as much as this limit
        if (auto const most = can_.files / machine::files_part / 4; can_.walls && most > 0) count = std::min(count, std::max(most, least_open_files));
        into_.limits.open_files = count;
        apply("OPEN_FILES_LIMIT", asked, hard_limit(RLIMIT_NOFILE, count), cat("RLIMIT_NOFILE, each process", std::string_view{how}));
    }
    /// Files are counted where the processes of all runs at a time could have more than their part of the machine's table. A
    /// mapping may keep a file that is closed.
    void all_files() {
        auto& held = into_.limits;
        auto const jobs = std::max(can_.jobs, 1);
        auto const most = can_.files / machine::files_part;
        auto const processes = std::max({held.tree_pids, held.numbered_pids, held.user_processes});
        auto const most_each = static_cast<double>(held.open_files + can_.mappings);
        if (most <= 0 || (processes >= 0 && static_cast<double>(processes) * most_each * jobs <= static_cast<double>(most))) return;
        held.all_files = most, held.file_shares = jobs;
        for (auto& each : into_.applied)
            if (each.key == "OPEN_FILES_LIMIT") each.by += cat("; all together less than ", most, ", counted");
    }
    void disk(value const& asked, std::int64_t bytes, char const* how) {
        into_.limits.scratch_bytes = bytes;
        apply("DISK_LIMIT", asked, bytes, std::string{how});
    }
    /// When all keys are known: the limit on memory may have come after that on the workspace.
    void files() {
        auto& held = into_.limits;
        held.scratch_inodes = process::scratch_files(held.scratch_bytes, held.tree_memory_bytes);
        for (auto& each : into_.applied)
            if (each.key == "DISK_LIMIT") each.by = cat("size of a tmpfs, and ", held.scratch_inodes, " files in it", each.by);
    }
    result<void> memory(value const& asked, std::int64_t bytes) {
        auto const all = show_bytes(static_cast<double>(can_.memory_bytes));
        SB_TRY(bool const beyond, is_beyond(can_.memory_bytes, "MEMORY_LIMIT", asked, bytes, all));
        if (can_.tree_memory) { // an address space, below, may be larger than memory
            if (beyond) bytes = can_.memory_bytes, lower("MEMORY_LIMIT", asked, all);
            into_.limits.tree_memory_bytes = bytes;
            apply("MEMORY_LIMIT", asked, bytes, "memory control group, the whole tree");
        } else {
            into_.limits.memory_bytes = bytes;
            apply("MEMORY_LIMIT", asked, hard_limit(RLIMIT_AS, bytes), "RLIMIT_AS, each process");
            into_.loose.push_back(cat("MEMORY_LIMIT holds for each process, not for the tree", can_.why_no_memory.empty() ? "" : ": ", can_.why_no_memory));
        }
        return {};
    }
    void cores(value const& asked, double amount) {
        if (can_.tree_cores) {
            auto const held = std::min(amount, static_cast<double>(machine::usable_cpus()));
            into_.limits.tree_cores = held;
            apply("CPU_LIMIT", asked, held, "cpu control group, the whole tree");
        } else if (amount == std::floor(amount)) {
            into_.limits.cpus = std::min<std::int64_t>(static_cast<std::int64_t>(amount), machine::usable_cpus());
            apply("CPU_LIMIT", asked, into_.limits.cpus, "sched_setaffinity");
        } else {
            unsupported("CPU_LIMIT", asked, cat("a share of a processor needs a cpu control group", can_.why_no_cores.empty() ? "" : ": ", can_.why_no_cores));
        }
    }
    void wall(double seconds) { into_.limits.wall_ns = static_cast<std::int64_t>(std::min(seconds, 1e9) * 1e9); }

    result<void> number(std::string const& name, value const& asked, double amount) {
        auto& held = into_.limits;
        auto const whole = static_cast<std::int64_t>(amount);
        if (!can_.limits && name != "TIMEOUT" && name != "OUTPUT_LIMIT" && name != "CONCURRENCY_LEVEL") unsupported(name, asked);
        else if (name == "TIMEOUT") {
            wall(wins_.timeout_s.value_or(amount));
            apply(name, asked, wins_.timeout_s.value_or(amount), wins_.timeout_s ? "wall clock, given by hand" : "wall clock");
        } else if (name == "OUTPUT_LIMIT") {
            held.output_bytes = whole;
            apply(name, asked, whole, "pipe of each stream");
        } else if (name == "FILE_LIMIT") {
            held.file_bytes = whole;
            apply(name, asked, whole, "RLIMIT_FSIZE, each file");
        } else if (name == "OPEN_FILES_LIMIT") {
            open_files(asked, whole, "");
        } else if (name == "MEMORY_LIMIT") {
            SB_CHECK(memory(asked, whole));
        } else if (name == "CPU_SECONDS") {
            held.cpu_seconds = static_cast<std::int64_t>(std::ceil(amount));
            apply(name, asked, held.cpu_seconds, "RLIMIT_CPU, each process");
        } else if (name == "CONCURRENCY_LEVEL") {
            into_.copies = static_cast<int>(whole);
            apply(name, asked, whole, "copies started together");
        } else if (name == "CPU_LIMIT") {
            cores(asked, amount);
        } else if (name == "PIDS_LIMIT" && can_.walls) {
            auto const all = cat(can_.pids, " processes");
            SB_TRY(bool const beyond, is_beyond(can_.pids, name, asked, whole, all));
            if (beyond) lower(name, asked, all);
            pids(asked, beyond ? can_.pids : whole, "");
        } else if (name == "DISK_LIMIT" && can_.walls) {
            disk(asked, whole, "");
        } else if (name == "SECURITY_LEVEL" && can_.walls) {
            level(whole, asked, "");
        } else {
            unsupported(name, asked);
        }
        return {};
    }
    static std::int64_t hard_limit(int resource, std::int64_t asked) {
        rlimit now{};
        ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
        return now.rlim_max == RLIM_INFINITY ? asked : std::min(asked, static_cast<std::int64_t>(now.rlim_max));
    }

    static constexpr std::int64_t least_open_files = 64;

    object const& keys_;
    abilities const& can_;
    overrides const& wins_;
    enforcement& into_;
};

} // namespace detail

/// What a backend with these abilities makes of a preset.
inline result<enforcement> enforce(preset_record const& preset, overrides const& wins, abilities const& can) {
    enforcement all;
    detail::reading reading{preset.keys, can, wins, all};
    for (auto const& [name, asked] : preset.keys) SB_CHECK(reading.key(name, asked));
    reading.defaults();
    return all;
}

} // namespace sb::run
