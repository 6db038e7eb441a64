// SPDX-License-Identifier: MIT
// All limits of a run: of each process, of its tree, of its workspace and of its time.
#pragma once
#include <algorithm>
#include <cstdint>

namespace sb::process {

/// Limits of one run; `none` is no limit.
struct limits {
    static constexpr std::int64_t none = -1;
    std::int64_t wall_ns = none; ///< of the whole tree, from the first exec
    std::int64_t output_bytes = none; ///< for each stream; more output ends the run
    std::int64_t file_bytes = none; ///< for each file (RLIMIT_FSIZE)
    std::int64_t open_files = none; ///< for each process (RLIMIT_NOFILE)
    std::int64_t memory_bytes = none; ///< address space of a process (RLIMIT_AS)
    std::int64_t cpu_seconds = none; ///< processor time of a process (RLIMIT_CPU)
    std::int64_t cpus = none; ///< processors that the tree may use
    std::int64_t user_processes = none; ///< processes of the payload's user in its user namespace (RLIMIT_NPROC), including `resident_processes`

    // limits that the sandbox and control groups enforce for the whole tree
    std::int64_t tree_memory_bytes = none; ///< memory and swap together
    std::int64_t all_files = none; ///< files of all runs of a session in the kernel's table at once: open, under way in sockets, or mapped (file_count.hpp)
    std::int64_t file_shares = 1; ///< concurrent runs that share them
    std::int64_t tree_pids = none; ///< processes and threads at once
    std::int64_t numbered_pids = none; ///< the same limit, enforced by process namespaces (task_limit.hpp)
    double tree_cores = none; ///< processor time a second, in processors; fractions count
    std::int64_t scratch_bytes = none, scratch_inodes = none; ///< workspace, home, /tmp and /dev/shm together
    int level = 0; ///< security level (filter/levels.hpp); 0: no sandbox
};

/// Our own processes in the payload's user namespace, which RLIMIT_NPROC counts with the payload's: the init of the sandbox.
inline constexpr std::int64_t resident_processes = 1;
/// A 64-bit kernel has no more process numbers (PID_MAX_LIMIT), and accepts no larger limit on them.
inline constexpr std::int64_t most_processes = std::int64_t{1} << 22;

/// Files that the workspace may have. Each file can have two access control lists of 1 KiB (argument_rules.hpp). For each
/// list the kernel takes 2 KiB that no group counts. Where the tree's memory is limited, all these lists take at most half
/// of the limit.
inline std::int64_t scratch_files(std::int64_t scratch_bytes, std::int64_t tree_memory_bytes) noexcept {
    constexpr std::int64_t bytes_a_file = 4096, uncounted_a_file = 4096, least = 1024;
    auto most = scratch_bytes / bytes_a_file;
    if (tree_memory_bytes >= 0) most = std::min(most, tree_memory_bytes / 2 / uncounted_a_file);
    return std::max(most, least);
}

} // namespace sb::process
