// SPDX-License-Identifier: MIT
// CPU_SECONDS: how much processor time a process may use in all.
#pragma once
#include <sb/key/definition.hpp>
#include <cmath>

namespace sb::key {

namespace detail {
inline outcome plan_cpu_seconds(seconds limit, host const&, setup& to) {
    to.cpu_seconds = static_cast<std::int64_t>(std::ceil(limit.count));
    return holds(to.cpu_seconds, "RLIMIT_CPU, each process");
}
inline constexpr end_rule cpu_seconds_ends[] = {
    {end_cause::cpu_time, end_class::signalled, [](setup const& held) { return cat(held.cpu_seconds, " s of processor time were used"); }}};
} // namespace detail

inline constexpr definition cpu_seconds{
    .name = "CPU_SECONDS", .in = unit::seconds, .least = 1, .most = 30 * day, .ladder = "1 2 5 10 30 60",
    .help = "processor time after which a process is killed",
    .note = "Not drawn for random presets.",
    .is_limit = true,
    .plan = typed<detail::plan_cpu_seconds>,
    .ends = detail::cpu_seconds_ends,
    .manual = {.how = "RLIMIT_CPU, each process",
               .reached = "SIGXCPU, and SIGKILL a second later: class `signalled`, and `limits_hit` names the key"}};

} // namespace sb::key
