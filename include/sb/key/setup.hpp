// SPDX-License-Identifier: MIT
// The result of a preset's keys: what must be set up for a run.
#pragma once
#include <cstdint>

namespace sb::key {

/// `none` is no limit.
struct setup {
    static constexpr std::int64_t none = -1;
    std::int64_t wall_ns = none; ///< of the whole tree
    std::int64_t output_bytes = none; ///< for each stream
    std::int64_t file_bytes = none; ///< for each file
    std::int64_t open_files = none; ///< for each process
    std::int64_t memory_bytes = none; ///< address space of a process
    std::int64_t cpu_seconds = none; ///< for each process
    std::int64_t cpus = none; ///< processors that the tree may use
    std::int64_t user_processes = none; ///< processes of the payload's user, including the sandbox's own

    // for the whole tree
    std::int64_t tree_memory_bytes = none; ///< memory and swap together
    std::int64_t all_files = none, file_shares = 1; ///< files that all concurrent runs may keep, and the number of these runs
    std::int64_t tree_pids = none; ///< processes and threads at once
    std::int64_t numbered_pids = none; ///< the same limit, enforced by process namespaces
    double tree_cores = none; ///< processor time a second, in processors; fractions count
    std::int64_t scratch_bytes = none, scratch_inodes = none; ///< of everything that the run may write to
    int level = 0; ///< security level; 0: no sandbox
    int copies = 1; ///< copies that run at the same time
};

} // namespace sb::key
