// SPDX-License-Identifier: MIT
// Keys of a concurrency spike: bursts of busy loops, threads and tasks beside the workload. They do not act until there
// is fault injection.
#pragma once
#include <sb/key/failure_modes.hpp>

namespace sb::key {

namespace detail {
constexpr std::string_view no_thread_limit(host const& here) noexcept {
    return here.sandboxed ? "needs fault injection; PIDS_LIMIT limits processes and threads" : "needs a pids control group: RLIMIT_NPROC counts the user's processes, not those of the run";
}
} // namespace detail

inline constexpr definition cpu_spike{
    .name = "CPU_SPIKE", .in = unit::boolean,
    .help = "short bursts of busy loops beside the workload", .note = "The same as the failure mode cpu_spike.", .why_not = detail::no_injection};
inline constexpr definition thread_burst{
    .name = "THREAD_BURST", .in = unit::integer, .least = 1, .most = 10000, .ladder = "10 20 50",
    .help = "threads that a concurrency spike starts at once", .note = "Default: 50.", .why_not = detail::no_injection};
inline constexpr definition async_task_burst{
    .name = "ASYNC_TASK_BURST", .in = unit::integer, .least = 1, .most = 100000, .ladder = "20 50 100",
    .help = "asynchronous tasks that a concurrency spike starts at once", .note = "Default: 50.", .why_not = detail::no_injection};
inline constexpr definition max_threads{
    .name = "MAX_THREADS", .in = unit::integer, .least = 1, .most = 4194304, .ladder = "100 200 500",
    .help = "maximum number of threads of the tree during a concurrency spike", .is_limit = true, .why_not = detail::no_thread_limit};

} // namespace sb::key
