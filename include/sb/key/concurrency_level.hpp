// SPDX-License-Identifier: MIT
// CONCURRENCY_LEVEL: how many copies of the workload run at the same time.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
inline outcome plan_copies(integer level, host const&, setup& to) {
    to.copies = static_cast<int>(level.count);
    return holds(level.count, "copies started together");
}
} // namespace detail

inline constexpr definition concurrency_level{
    .name = "CONCURRENCY_LEVEL", .in = unit::integer, .least = 1, .most = 10000, .ladder = "1 5 10 20 50 100",
    .help = "copies of the workload that run at the same time",
    .needs_limits = false,
    .plan = typed<detail::plan_copies>,
    .manual = {.how = "that many copies at once, in one record",
               .reached = "–"}};

/// Accepted from older presets; has no effect.
inline constexpr definition concurrency_multiplier{
    .name = "CONCURRENCY_MULTIPLIER", .in = unit::integer, .least = 1, .most = 1000,
    .help = "accepted from older presets; CONCURRENCY_LEVEL says how many copies run",
    .note = "Never generated: it has no effect."};

} // namespace sb::key
