// SPDX-License-Identifier: MIT
// MEMORY_LIMIT: how much memory a run may hold.
#pragma once
#include <sb/core/units.hpp>
#include <sb/key/definition.hpp>
#include <algorithm>

namespace sb::key {

namespace detail {
inline outcome plan_memory(bytes limit, host const& here, setup& to) {
    bool const beyond = here.memory_bytes > 0 && limit.count > here.memory_bytes;
    outcome told;
    if (beyond) told.machine = show_bytes(static_cast<double>(here.memory_bytes));
    if (here.tree_memory) {
        told.lowered = beyond;
        to.tree_memory_bytes = beyond ? here.memory_bytes : limit.count;
        told.achieved = to.tree_memory_bytes, told.by = "memory control group, the whole tree";
    } else { // an address space may be larger than memory
        to.memory_bytes = limit.count;
        told.achieved = here.most_address_space == host::unlimited ? limit.count : std::min(limit.count, here.most_address_space);
        told.by = "RLIMIT_AS, each process";
        told.loose = cat("holds for each process, not for the whole tree", because(here.why_no_memory));
    }
    return told;
}
inline std::string too_much_in_sockets(setup const& held) {
    if (held.tree_memory_bytes < 0) return "its sockets held more than a run's share of the host's socket memory (a tenth)";
    return cat("its sockets held more than ", held.tree_memory_bytes, " bytes, or a tenth of the host's socket memory");
}
inline constexpr end_rule memory_ends[] = {
    {end_cause::memory, end_class::memory, [](setup const& held) { return cat("the tree would have used more than ", held.tree_memory_bytes, " bytes"); }},
    {end_cause::sockets, end_class::memory, too_much_in_sockets},
    {end_cause::kernel_memory, end_class::memory,
     [](setup const&) { return std::string{"its file locks or sockets made the kernel keep more uncounted memory than a run may"}; }},
};
} // namespace detail

inline constexpr definition memory_limit{
    .name = "MEMORY_LIMIT", .in = unit::bytes, .least = mi, .most = 64 * gi, .ladder = "128Mi 256Mi 512Mi 1024Mi 2048Mi 4096Mi",
    .help = "memory that the whole tree may use",
    .is_limit = true,
    .plan = typed<detail::plan_memory>,
    .ends = detail::memory_ends,
    .manual = {.how = "memory and swap of the tree, including the page cache and what it writes to the workspace, home, /tmp and /dev/shm. TCP and "
                       "UDP sockets count on v2; on v1 they may hold as much again. Memory that no group counts may also be as much again, on v1 and "
                       "v2: what waits in netlink sockets, what UDP sockets hold back, file locks",
               .without = "RLIMIT_AS, each process",
               .reached = "with a group a process is killed: class `memory`; without one allocation fails, and the program decides its own end. A run "
                          "whose sockets or file locks hold more than that, or a tenth of what the host has for all, is ended: class `memory`"}};

} // namespace sb::key
