// SPDX-License-Identifier: MIT
// PIDS_LIMIT: how many processes and threads a run may have at once.
#pragma once
#include <sb/key/definition.hpp>
#include <algorithm>

namespace sb::key {

inline constexpr integer default_pids{1024};

namespace detail {
inline outcome plan_pids_with(std::int64_t count, bool may_number, host const& here, setup& to) {
    if (here.tree_pids) {
        to.tree_pids = count;
        return holds(count, "pids control group");
    }
    outcome told{.achieved = count};
    if (may_number && here.numbered_pids && count <= here.most_numbered) {
        to.numbered_pids = count;
        told.by = "pid_max of a process namespace";
    } else {
        to.user_processes = count + here.own_processes;
        told.by = "RLIMIT_NPROC of a user namespace; nothing tells when it is reached";
    }
    if (!here.numbered_pids) told.more = cat(": ", here.why_no_numbers);
    return told;
}
inline outcome plan_pids(integer limit, host const& here, setup& to) {
    if (!here.sandboxed) return not_here("needs a pids control group: RLIMIT_NPROC counts the user's processes, not those of the run");
    bool const beyond = here.pids > 0 && limit.count > here.pids;
    auto told = plan_pids_with(beyond ? here.pids : limit.count, true, here, to);
    if (beyond) told.machine = cat(here.pids, " processes"), told.lowered = true;
    return told;
}
inline std::optional<outcome> default_pids_limit(host const& here, setup& to) {
    if (!here.sandboxed) return std::nullopt;
    return plan_pids_with(default_pids.count, false, here, to); // without a request, no run pays for a sandbox of its own
}
inline constexpr end_rule pids_ends[] = {
    {end_cause::processes, end_class::pids, [](setup const& held) { return cat("more than ", std::max(held.tree_pids, held.numbered_pids), " processes and threads were requested"); }}};
} // namespace detail

inline constexpr definition pids_limit{
    .name = "PIDS_LIMIT", .in = unit::integer, .least = 1, .most = 4194304, .ladder = "16 64 256 1024",
    .help = "maximum number of processes and threads of the tree",
    .note = "Not drawn for random presets.",
    .is_limit = true,
    .plan = typed<detail::plan_pids>,
    .by_default = detail::default_pids_limit,
    .ends = detail::pids_ends,
    .manual = {.how = "processes and threads of the tree; default 1024",
               .without = "process ids of a process namespace, see below; by default, or on an older kernel, RLIMIT_NPROC within the user namespace",
               .reached = "fork fails: class `pids` if the run ends badly; under RLIMIT_NPROC the program decides its own end"}};

} // namespace sb::key
