// SPDX-License-Identifier: MIT
// OUTPUT_LIMIT: how much a run may write to each of its two streams.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
inline constexpr bytes default_output{std::int64_t{8} << 20};

inline outcome plan_output(bytes limit, host const&, setup& to) {
    to.output_bytes = limit.count;
    return holds(limit.count, "pipe of each stream");
}
inline constexpr end_rule output_ends[] = {
    {end_cause::output, end_class::output, [](setup const& held) { return cat("more than ", held.output_bytes, " bytes on one stream"); }}};
} // namespace detail

inline constexpr definition output_limit{
    .name = "OUTPUT_LIMIT", .in = unit::bytes, .least = 0, .most = 64 * gi, .ladder = "64Ki 1Mi 8Mi 64Mi",
    .help = "bytes of standard output, and of standard error, that a run may write",
    .note = "Not drawn for random presets.",
    .is_limit = true, .needs_limits = false,
    .plan = typed<detail::plan_output>,
    .by_default = [](host const& here, setup& to) { return std::optional{detail::plan_output(detail::default_output, here, to)}; },
    .ends = detail::output_ends,
    .manual = {.how = "the pipe of each stream; default 8 MiB",
               .reached = "the tree is killed: class `output`"}};

} // namespace sb::key
