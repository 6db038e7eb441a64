// SPDX-License-Identifier: MIT
// SPARE_CORES: how many processors a run leaves to others. An example of a key, with which the tests extend the list.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
inline outcome plan_spare_cores(integer spare, host const& here, setup& to) {
    if (spare.count >= here.cpus) return not_here(cat("this machine has ", here.cpus, " processors"));
    to.cpus = here.cpus - spare.count;
    return holds(spare.count, "sched_setaffinity");
}
} // namespace detail

inline constexpr definition spare_cores{
    .name = "SPARE_CORES", .in = unit::integer, .least = 0, .most = 1024, .ladder = "0 1 2",
    .help = "processors that the run leaves to others",
    .is_limit = true,
    .plan = typed<detail::plan_spare_cores>,
    .manual = {.how = "sched_setaffinity", .reached = "the tree shares the others"}};

} // namespace sb::key
