// SPDX-License-Identifier: MIT
// CPU_LIMIT: how many processors a run may use at once.
#pragma once
#include <sb/key/definition.hpp>
#include <algorithm>
#include <cmath>

namespace sb::key {

namespace detail {
inline outcome plan_cpu(cores limit, host const& here, setup& to) {
    if (here.tree_cores) {
        to.tree_cores = std::min(limit.count, static_cast<double>(here.cpus));
        return holds(to.tree_cores, "cpu control group, the whole tree");
    }
    if (limit.count != std::floor(limit.count)) return not_here(cat("a fraction of a processor needs a cpu control group", because(here.why_no_cores)));
    to.cpus = std::min<std::int64_t>(static_cast<std::int64_t>(limit.count), here.cpus);
    return holds(to.cpus, "sched_setaffinity");
}
} // namespace detail

inline constexpr definition cpu_limit{
    .name = "CPU_LIMIT", .in = unit::cores, .least = 0.01, .most = 64, .ladder = "0.5 1 2 4 8",
    .help = "processors that the whole tree may use at once",
    .note = "A share of processor time, never a deadline: 0.5 is half of one core. CPU_SECONDS limits the total.",
    .is_limit = true,
    .plan = typed<detail::plan_cpu>,
    .manual = {.how = "processor time per second, in processors; fractions are possible",
               .without = "sched_setaffinity, whole processors; a fraction is unsupported",
               .reached = "with a group the tree waits, and `cpu_throttled_s` in `metrics` says how long; without one its processes share the "
                          "processors"}};

} // namespace sb::key
