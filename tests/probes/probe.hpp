// SPDX-License-Identifier: MIT
// What every probe shares: the words it is given, the attempts it makes, the one line that it says in the end.
#pragma once
#include "../support/payload.hpp"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace probes {

/// The words key=value that the witness gives to a probe.
class words {
public:
    words(int count, char** all) : all_(all, all + count) {}
    std::string text(std::string_view key, std::string_view otherwise = {}) const {
        for (auto const& word : all_)
            if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') return word.substr(key.size() + 1);
        return std::string{otherwise};
    }
    long number(std::string_view key, long otherwise = 0) const {
        auto const found = text(key);
        return found.empty() ? otherwise : std::atol(found.c_str());
    }
    /// The variant of the probe: do=NAME.
    bool does(std::string_view what) const { return text("do") == what; }

private:
    std::vector<std::string> all_;
};

/// What was tried and what came of it. The line stays below the 4 KiB of output that a record shows.
class attempts {
public:
    /// `achieved`: the bad thing happened. `code` is the errno that stopped it.
    void add(std::string_view what, bool achieved, int code = 0) {
        begin(what);
        list_ += achieved ? "true" : "false";
        if (!achieved && code != 0) {
            auto const* const name = ::strerrorname_np(code);
            ((list_ += ",\"errno\":\"") += name ? name : "?") += '"';
        }
        list_ += '}';
        achieved_ = achieved_ || achieved;
    }
    /// The same for an answer that is worked out in the call, when it is not known yet what errno will be.
    void ask(std::string_view what, bool achieved) { add(what, achieved, errno); }
    /// As the return value of a system call says it.
    bool call(std::string_view what, long result) {
        add(what, result >= 0, errno);
        return result >= 0;
    }
    /// For a call with arguments that the kernel must turn down, after it has looked at the caller's rights: any
    /// answer but those that refuse shows that the way in is open.
    void reach(std::string_view what, long result) {
        bool const refused = result < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES || errno == EROFS);
        add(what, !refused, errno);
    }
    /// Done; whether it did harm is seen from outside alone.
    void seen_outside(std::string_view what) {
        begin(what);
        list_ += "null}";
    }
    bool achieved() const noexcept { return achieved_; }

    void print(int number, std::string_view name) const {
        auto const line = "{\"probe\":" + std::to_string(number) + ",\"name\":\"" + std::string{name} + "\",\"attempts\":[" + list_ + "]}\n";
        for (std::size_t at = 0; at < line.size();) {
            auto const n = ::write(1, line.data() + at, line.size() - at);
            if (n <= 0) ::_exit(1);
            at += static_cast<std::size_t>(n);
        }
    }

private:
    void begin(std::string_view what) {
        if (!list_.empty()) list_ += ',';
        ((list_ += "{\"what\":\"") += what) += "\",\"achieved\":";
    }
    std::string list_;
    bool achieved_ = false;
};

/// What was wanted and how much of it, as in "processes 500".
inline std::string counted(char const* what, long n) { return std::string{what} + " " + std::to_string(n); }

using payload::in_child;

/// Opens and closes; the null device in a file's place is none of it.
inline int open_only(std::string const& path, int flags) {
    int const fd = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return fd;
    struct stat facts {};
    bool const masked = ::fstat(fd, &facts) == 0 && S_ISCHR(facts.st_mode) && facts.st_rdev == makedev(1, 3);
    ::close(fd);
    return masked ? (errno = ENODATA, -1) : fd;
}

/// Opens without a byte read or written.
inline void try_open(attempts& tried, std::string const& path, int flags) {
    tried.call(((flags & O_ACCMODE) == O_RDONLY ? "read " : "write ") + path, open_only(path, flags));
}

using payload::nameless_file;
/// True when all of it was taken; errno says why not.
inline bool write_mib(int fd, long mib) { return payload::write_mib(fd, mib) == mib; }

/// Waits without help from signals, bounded.
inline void wait_for(double seconds) {
    for (auto left = static_cast<long>(seconds * 100); left > 0; --left) ::usleep(10000);
}

/// The host's canary is out of reach: so is what else has a number there, and number 1 is our own namespace's.
inline bool own_pid_namespace(words const& given) {
    auto const canary = static_cast<pid_t>(given.number("canary"));
    return canary > 0 && ::kill(canary, 0) < 0 && errno == ESRCH;
}

using probe = void(words const&, attempts&);
// exhaust.cpp: take all of something
probe fork_bomb, thread_bomb, memory_bomb, cache_pressure, disk_fill, file_limit, descriptors, cpu_spin, kernel_objects;
// outlive.cpp: do not end, or end others
probe endless, daemonise, orphan_pipe, time_bomb, kill_others, signal_supervisor, supervisor_killed;
// speak.cpp: say what the listener cannot bear
probe output_flood, raw_bytes, forged_records, bombs;
// see.cpp: read and write what belongs to the host
probe trace_others, outside_proc, proc_sys, kernel_secrets, sys_files, cgroup_escape, devices;
// call.cpp: system calls with power
probe raise_limits, mounts, namespaces, keyrings, rare_calls, set_clock;
// escape.cpp: through what was left open
probe leave_root, inherited, overwrite_launcher, terminal, set_user_id, core_dump, environment;
// connect.cpp
probe odd_sockets, path_sockets, network;
// litter.cpp: what is left for whoever comes after
probe result_races, special_files, ipc_objects, stubborn_files, neighbours;
// forge.cpp: lie to whoever measures, judges or collects
probe forged_figures, forged_ends, forged_names, bait, report_flood;
// quota.cpp: what no group counts and all share
probe jit_budget, attributes, disk_flush, cache_eviction, suid_left, socket_options, kernel_stores, huge_pages, ranks;
// sight.cpp: what is for others
probe kept_groups, host_at_work, mapped_code;
// folder.cpp: what the folder of a run says of its own sandbox
probe folder_settings;
// tables.cpp: fill what the kernel has one of
probe file_table, sibling_quota;
// charge.cpp: what is charged to nobody
probe socket_buffers, crowd, kernel_keeps;

} // namespace probes
