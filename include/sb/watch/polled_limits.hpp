// SPDX-License-Identifier: MIT
// Limits of a run that the kernel does not enforce: the watcher looks again and again, and ends a run that exceeds one.
#pragma once
#include <sb/files/disk_full.hpp>
#include <sb/machine/file_count.hpp>
#include <sb/machine/kernel_memory.hpp>
#include <sb/watch/job.hpp>
#include <algorithm>
#include <cstdint>
#include <sys/types.h>
#include <unistd.h>

namespace sb::watch {

class polled_limits {
public:
    /// `reaper` is the first process of the run's own namespace; -1: it has none.
    void begin(job const& what, pid_t reaper, std::int64_t now_ns) {
        sockets_.begin(what.sockets, now_ns);
        kernel_.begin(what.sockets, reaper, cpus_online_, now_ns);
        disk_full_.begin(what.scratch, what.held.scratch_bytes, what.held.scratch_inodes, now_ns);
        files_.begin(what.held.all_files, what.held.file_shares, reaper, cpus_online_, now_ns);
    }
    /// Nobody: no limit was exceeded.
    killer look(std::int64_t now_ns) {
        if (files_.look(now_ns)) return killer::files;
        if (sockets_.look(now_ns)) return killer::sockets;
        if (kernel_.look(now_ns)) return killer::kernel_memory;
        return killer::nobody;
    }
    /// A full disk ends no run.
    void look_at_disk(std::int64_t now_ns) { disk_full_.look(now_ns); }
    bool disk_was_full() const noexcept { return disk_full_.was_full(); }
    /// When to look next; -1: never.
    std::int64_t due_ns() const noexcept {
        std::int64_t first = -1;
        for (auto const each : {disk_full_.due_ns(), files_.due_ns(), kernel_.due_ns(), sockets_.due_ns()})
            if (each >= 0) first = first < 0 ? each : std::min(first, each);
        return first;
    }

private:
    int cpus_online_ = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    files::disk_full_watch disk_full_;
    machine::file_watch files_;
    machine::socket_watch sockets_;
    machine::kernel_memory_watch kernel_;
};

} // namespace sb::watch
