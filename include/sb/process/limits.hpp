// SPDX-License-Identifier: MIT
// The limits of a program, and those of them that the kernel enforces for each process (setrlimit, affinity).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sched.h>
#include <sys/resource.h>

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
    int level = 0; ///< security level (security_level.hpp); 0: no sandbox
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

/// The rlimits that a child sets between fork and exec. They are prepared before the fork, so that the child only makes
/// system calls.
class rlimit_list {
public:
    struct entry {
        int resource;
        rlimit to;
    };
    rlimit_list() = default;
    /// `inherits`: in a sandbox the process already has the limits that every payload must have (privileges.hpp), and may no
    /// longer set them.
    explicit rlimit_list(limits const& held, bool inherits = false) {
        if (!inherits) {
            // A core pattern that names a program gives the core to that program whatever the limit is. Only the limit 1
            // prevents this. For a core file, 1 is less than the smallest core.
            add(RLIMIT_CORE, 1, 1);
            add(RLIMIT_RTPRIO, 0, 0), add(RLIMIT_NICE, 0, 0);
        }
        if (held.file_bytes >= 0) add(RLIMIT_FSIZE, held.file_bytes, held.file_bytes);
        if (held.open_files >= 0) add(RLIMIT_NOFILE, held.open_files, held.open_files);
        if (held.user_processes >= 0) add(RLIMIT_NPROC, held.user_processes, held.user_processes);
        if (held.memory_bytes >= 0) add(RLIMIT_AS, held.memory_bytes, held.memory_bytes);
        // the soft limit sends SIGXCPU; a process that ignores it is killed a second later
        if (held.cpu_seconds >= 0) add(RLIMIT_CPU, held.cpu_seconds, held.cpu_seconds + 1);
    }
    /// Restores a limit that we raised for ourselves, unless the run sets its own.
    void restore(int resource, rlimit const& original) {
        if (std::none_of(begin(), end(), [&](entry const& e) { return e.resource == resource; }))
            entries_[count_++] = {resource, original};
    }
    entry const* begin() const noexcept { return entries_; }
    entry const* end() const noexcept { return entries_ + count_; }

private:
    /// Never above our hard limit: only root may raise it, and a lower limit applies already.
    void add(int resource, std::int64_t soft, std::int64_t hard) {
        rlimit now{0, 0};
        if (hard > 0) ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
        entries_[count_++] = {resource,
                              {std::min(static_cast<rlim_t>(soft), now.rlim_max), std::min(static_cast<rlim_t>(hard), now.rlim_max)}};
    }
    static constexpr std::size_t most = 12;
    entry entries_[most]{};
    std::size_t count_ = 0;
};

} // namespace sb::process
