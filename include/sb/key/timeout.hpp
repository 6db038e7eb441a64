// SPDX-License-Identifier: MIT
// TIMEOUT: how long a run may take in wall-clock time.
#pragma once
#include <sb/json/write.hpp>
#include <sb/key/definition.hpp>
#include <algorithm>

namespace sb::key {

namespace detail {
inline constexpr double default_timeout_s = 30;

inline outcome plan_timeout(seconds limit, host const&, setup& to) {
    to.wall_ns = static_cast<std::int64_t>(std::min(limit.count, 1e9) * 1e9);
    return holds(limit.count, "wall clock");
}
inline std::string wall_text(setup const& held) {
    std::string text;
    json::append_real(text, static_cast<double>(held.wall_ns) / 1e9);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text + " s";
}
inline constexpr end_rule timeout_ends[] = {
    {end_cause::wall_clock, end_class::timeout, [](setup const& held) { return cat("still running after ", wall_text(held)); }},
    {end_cause::wall_clock_of_rest, end_class::timeout, [](setup const& held) { return cat("processes that the first one left were still running after ", wall_text(held)); }},
};
} // namespace detail

inline constexpr definition timeout{
    .name = "TIMEOUT", .in = unit::seconds, .least = 0.001, .most = 30 * day, .ladder = "1 5 10 30 60 300",
    .help = "wall-clock time after which the whole tree is killed",
    .note = "A bare number is seconds; default 30. Not drawn for random presets.",
    .is_limit = true, .needs_limits = false,
    .plan = typed<detail::plan_timeout>,
    .by_default = [](host const& here, setup& to) { return std::optional{detail::plan_timeout({detail::default_timeout_s}, here, to)}; },
    .ends = detail::timeout_ends,
    .manual = {.how = "wall clock of the whole tree; default 30 s",
               .reached = "the tree is killed: class `timeout`"}};

} // namespace sb::key
