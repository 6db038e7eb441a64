// SPDX-License-Identifier: MIT
// DISK_LIMIT: how much a run may write to its workspace, home and temporary folders together.
#pragma once
#include <sb/key/definition.hpp>
#include <algorithm>

namespace sb::key {

namespace detail {
inline outcome plan_disk(bytes limit, host const& here, setup& to) {
    if (!here.sandboxed) return not_here("needs a workspace of limited size; the plain backend writes to the host's file systems");
    to.scratch_bytes = limit.count;
    return holds(limit.count, "size of a tmpfs");
}
/// Half of the memory for all concurrent runs: what they write must not bring the machine down.
inline std::optional<outcome> default_disk(host const& here, setup& to) {
    if (!here.sandboxed) return std::nullopt;
    auto const share = here.memory_bytes / 2 / std::max(here.jobs, 1);
    return plan_disk({std::max<std::int64_t>(share & ~std::int64_t{0xfffff}, 1 << 20)}, here, to);
}
/// The memory limit determines how many files there may be.
inline void finish_disk(outcome& told, host const& here, setup& to) {
    if (to.scratch_bytes < 0 || !here.files_of) return;
    to.scratch_inodes = here.files_of(to.scratch_bytes, to.tree_memory_bytes);
    told.by += cat(", and ", to.scratch_inodes, " files in it");
}
inline constexpr end_rule disk_ends[] = {
    {end_cause::disk, end_class::disk, [](setup const& held) { return cat("no space is left of ", held.scratch_bytes, " bytes and ", held.scratch_inodes, " files"); }}};
} // namespace detail

inline constexpr definition disk_limit{
    .name = "DISK_LIMIT", .in = unit::bytes, .least = 64 * ki, .most = 1024 * gi, .ladder = "512Mi 1Gi 2Gi 4Gi 8Gi",
    .help = "bytes that a run may write",
    .is_limit = true,
    .plan = typed<detail::plan_disk>,
    .by_default = detail::default_disk,
    .finish = detail::finish_disk,
    .ends = detail::disk_ends,
    .manual = {.how = "size of the tmpfs that holds everything the run writes, and one file for each 4 KiB of it (1024 at least); under a "
                       "MEMORY_LIMIT of the tree at most one file for each 8 KiB of that. Default: half of the machine's memory, divided by `--jobs`",
               .reached = "no space is left: class `disk` if the run ends badly, see below"}};

} // namespace sb::key
