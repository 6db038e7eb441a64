// SPDX-License-Identifier: MIT
// Those limits of a program that the kernel enforces for each process (setrlimit).
#pragma once
#include <sb/process/limits.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/resource.h>

namespace sb::process {

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
