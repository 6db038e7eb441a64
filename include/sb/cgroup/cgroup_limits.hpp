// SPDX-License-Identifier: MIT
// Limits that are asked of a control group, and which of them this machine can provide.
// cgroup_limiter.hpp writes them.
#pragma once
#include <sb/cgroup/cgroup_text.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/process/limits.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unistd.h>

namespace sb::cgroup {

/// Limits of a tree; `limits::none` is no limit.
struct group_limits {
    std::int64_t memory_bytes = process::limits::none; ///< memory and swap together
    std::int64_t pids = process::limits::none; ///< processes and threads of the payload at once
    double cores = process::limits::none; ///< processor time a second, in processors; fractions count
    /// The most that TCP and UDP sockets may hold, where a group counts them separately from memory: v1. At half of it senders
    /// wait.
    std::int64_t socket_bytes = process::limits::none;
    friend bool operator==(group_limits const&, group_limits const&) = default;
};

/// What the kernel reports after the limits were written; no value where no group enforces the limit.
struct limits_in_force {
    std::optional<std::int64_t> memory_bytes; ///< rounded down to a page
    bool swap_too = false; ///< the limit includes swap, or the group gets no swap
    std::optional<std::int64_t> pids;
    std::optional<double> cores;
    std::optional<std::int64_t> socket_bytes; ///< senders wait at this limit; the kernel exceeds it, so somebody must check
};

/// Upper bounds of the limits.
struct machine_size {
    std::int64_t memory_bytes = 0;
    std::int64_t pids = 0;
    int cores = 0;
    static machine_size read() {
        machine_size here;
        here.memory_bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
        here.cores = machine::usable_cpus();
        if (auto const text = read_file("/proc/sys/kernel/pid_max"); !text.has_error()) here.pids = lone_number(*text).value_or(0);
        return here;
    }
};

/// The least memory with which a program can be executed at all.
inline constexpr std::int64_t least_group_memory = std::int64_t{1} << 20;
inline constexpr double least_group_cores = 0.001;

/// Refuses limits that no machine, or not this one, can provide.
inline result<void> check(group_limits const& asked, machine_size const& here) {
    if (asked.memory_bytes >= 0 && asked.memory_bytes < least_group_memory)
        return caller_error(cat("a memory limit of ", asked.memory_bytes, " bytes is too small: a program needs at least ", least_group_memory, " to start"));
    if (here.memory_bytes > 0 && asked.memory_bytes > here.memory_bytes)
        return caller_error(cat("a memory limit of ", asked.memory_bytes, " bytes limits nothing: this machine has ", here.memory_bytes));
    if (asked.pids == 0) return caller_error("a limit of 0 processes lets nothing start; give at least 1");
    if (here.pids > 0 && asked.pids > here.pids) return caller_error(cat("a limit of ", asked.pids, " processes limits nothing: this machine allows ", here.pids));
    if (std::isnan(asked.cores) || (asked.cores >= 0 && asked.cores < least_group_cores))
        return caller_error(cat("a limit of ", fixed(asked.cores, 4), " processors is too small; give at least ", fixed(least_group_cores, 3)));
    if (here.cores > 0 && asked.cores > here.cores)
        return caller_error(cat("a limit of ", fixed(asked.cores, 2), " processors limits nothing: ", here.cores, " are usable here"));
    return {};
}

/// A share of processor time in the scheduler's form: so many microseconds in every period.
struct cpu_quota {
    std::int64_t quota_us, period_us;
    double cores() const noexcept { return static_cast<double>(quota_us) / static_cast<double>(period_us); }
    friend bool operator==(cpu_quota const&, cpu_quota const&) = default;
};

/// A period of 20 ms instead of the usual 100: a run is throttled after 20 ms x cores. With the long period a payload of 50
/// ms on half a processor would run unlimited. The kernel refuses a quota under 1 ms, so a small share gets a longer period.
constexpr cpu_quota quota_for(double cores) noexcept {
    auto const period = std::clamp(1000.0 / cores, 20'000.0, 1'000'000.0);
    auto const whole = static_cast<std::int64_t>(period + 0.5);
    return {std::max<std::int64_t>(static_cast<std::int64_t>(cores * static_cast<double>(whole) + 0.5), 1000), whole};
}

} // namespace sb::cgroup
