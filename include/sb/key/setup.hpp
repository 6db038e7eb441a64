// SPDX-License-Identifier: MIT
// What the keys of a preset come to: what has to be set up for a run.
#pragma once
#include <cstdint>

namespace sb::key {

/// `none` is no limit.
struct setup {
    static constexpr std::int64_t none = -1;
    std::int64_t wall_ns = none; ///< of the whole tree
    std::int64_t output_bytes = none; ///< a stream
    std::int64_t file_bytes = none; ///< a file
    std::int64_t open_files = none; ///< a process
    std::int64_t memory_bytes = none; ///< address space of a process
    std::int64_t cpu_seconds = none; ///< of a process
    std::int64_t cpus = none; ///< processors that the tree may use
    std::int64_t user_processes = none; ///< of the payload's user, the sandbox's own among them

    // of the whole tree
    std::int64_t tree_memory_bytes = none; ///< memory and swap together
    std::int64_t all_files = none, file_shares = 1; ///< kept by all runs at a time, and how many these are
    std::int64_t tree_pids = none; ///< processes and threads at once
    std::int64_t numbered_pids = none; ///< the same, held by process namespaces
    double tree_cores = none; ///< processor time a second, in processors; fractions count
    std::int64_t scratch_bytes = none, scratch_inodes = none; ///< of all that the run may write to
    int level = 0; ///< step of strictness; 0: no walls
    int copies = 1; ///< that run at the same time
};

} // namespace sb::key
