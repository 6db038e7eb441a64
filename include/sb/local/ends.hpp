// SPDX-License-Identifier: MIT
// How a run ended and by which limit, told from what its reaper and its watcher saw.
#pragma once
#include <sb/core/text.hpp>
#include <sb/watch/job.hpp>
#include <sb/process/limits.hpp>
#include <sb/filter/security_level.hpp>
#include <sb/process/spawn.hpp>
#include <sb/json/write.hpp>
#include <sb/record/run.hpp>
#include <sb/run/badness.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <vector>

namespace sb::local {

namespace detail {

inline std::string seconds_text(std::int64_t ns) {
    std::string text;
    json::append_real(text, static_cast<double>(ns) / 1e9);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text + " s";
}

/// Without walls nobody looks, and the signal is believed.
inline bool reached_file_limit(watch::outcome const& got, process::limits const& held) noexcept { return held.level == 0 || got.file_limit_reached; }

/// One copy's end. A limit is the class only when it is known to be the cause: it was we who killed, or the signal is
/// the limit's own. An allocation that fails under RLIMIT_AS is the program's to handle, so what follows is `failed`.
inline run_end end_of(watch::copy_end const& copy, watch::outcome const& got, process::limits const& held, std::vector<std::string>& hit) {
    run_end end;
    auto const limit = [&](std::string_view key) {
        if (std::find(hit.begin(), hit.end(), key) == hit.end()) hit.emplace_back(key);
    };
    if (copy.failure) {
        bool const exec = copy.failure.step == process::spawn_step::exec;
        if (exec && held.level > 0 && (copy.failure.code == EACCES || copy.failure.code == EPERM)) {
            bool const own = filter::level_of(held.level).runs_what_it_made;
            end.class_ = end_class::refused;
            end.reason = cat("exec: ", std::strerror(copy.failure.code),
                             own ? std::string{" (what its owner alone may execute is not executed: the payload is somebody else)"}
                                 : cat(" (SECURITY_LEVEL ", held.level, " executes nothing that lies in the workspace, home, /tmp or an rw binding, and none executes what its owner alone may)"));
            return end;
        }
        end.class_ = end_class::setup;
        end.reason = cat(std::string_view{name_of(copy.failure.step)}, ": ", std::strerror(copy.failure.code),
                         exec && copy.failure.code == ENOENT ? " (the program, or the interpreter that it names)" : "");
        return end;
    }
    bool const exited = WIFEXITED(copy.status);
    if (exited) end.code = WEXITSTATUS(copy.status);
    else end.signal = WTERMSIG(copy.status);
    bool const by_us = !exited && *end.signal == SIGKILL;
    if (by_us && got.killed_by == watch::killer::wall) {
        limit("TIMEOUT");
        end.class_ = end_class::timeout;
        end.reason = cat("TIMEOUT: still running after ", seconds_text(held.wall_ns));
    } else if (by_us && got.killed_by == watch::killer::sockets) {
        limit("MEMORY_LIMIT");
        end.class_ = end_class::memory;
        end.reason = held.tree_memory_bytes < 0 ? std::string{"MEMORY_LIMIT: its sockets held more than a run's share of what the host has for all (a tenth)"}
                                                 : cat("MEMORY_LIMIT: its sockets held more than ", held.tree_memory_bytes, " bytes, or a tenth of what the host has for all");
    } else if (by_us && got.killed_by == watch::killer::kernel_memory) {
        limit("MEMORY_LIMIT");
        end.class_ = end_class::memory;
        end.reason = "MEMORY_LIMIT: its file locks, or what waits in its sockets, made the kernel keep more memory than a run may, which nobody counts";
    } else if (by_us && got.killed_by == watch::killer::output) {
        limit("OUTPUT_LIMIT");
        end.class_ = end_class::output;
        end.reason = cat("OUTPUT_LIMIT: more than ", held.output_bytes, " bytes on one stream");
    } else if (by_us && got.killed_by == watch::killer::files) {
        limit("OPEN_FILES_LIMIT");
        end.class_ = end_class::files;
        end.reason = cat("OPEN_FILES_LIMIT: its processes together kept too many of the ", held.all_files, " files that ", held.file_shares > 1 ? cat("the ", held.file_shares, " runs at a time") : std::string{"a run"}, " may keep here");
    } else if (exited) {
        end.class_ = *end.code == 0 ? end_class::ok : end_class::failed;
        if (*end.code != 0) end.reason = cat("exit status ", *end.code);
        if (*end.code > 128 && *end.code < 128 + 65)
            end.reason += cat(" (a shell says so after signal ", *end.code - 128, ", ", std::string_view{::strsignal(*end.code - 128)}, ")");
    } else {
        end.class_ = end_class::signalled;
        end.reason = cat("signal ", *end.signal, " (", std::string_view{::strsignal(*end.signal)}, ")");
        // anybody can raise the signal of a limit, so it is the limit's only where the limit was seen to be reached. That of processor
        // time is each process's own; the kernel counts it by ticks
        double const used_s = copy.own_s ? *copy.own_s : copy.before_s + copy.used.user_s + copy.used.system_s, most_s = static_cast<double>(held.cpu_seconds);
        bool const all_used = held.cpu_seconds >= 0 && used_s >= most_s;
        bool const much_used = held.cpu_seconds >= 0 && used_s >= most_s * 0.8;
        if (*end.signal == SIGSYS && held.level > 0) {
            end.reason += "; the filter ends a program of another architecture by it, and any program can raise it";
        } else if (*end.signal == SIGXFSZ && held.file_bytes >= 0 && reached_file_limit(got, held)) {
            limit("FILE_LIMIT");
            end.class_ = end_class::disk;
            end.reason = cat("FILE_LIMIT: a file grew to ", held.file_bytes, " bytes, and its writer was ended by the signal for that");
        } else if (*end.signal == SIGXFSZ && held.file_bytes >= 0) {
            end.reason += cat("; no file of ", held.file_bytes, " bytes (FILE_LIMIT) was left");
        } else if ((*end.signal == SIGXCPU && much_used) || (*end.signal == SIGKILL && all_used)) {
            limit("CPU_SECONDS");
            end.reason = cat("CPU_SECONDS: ", held.cpu_seconds, " s of processor time are used up");
        }
    }
    return end;
}

} // namespace detail

/// The end of the whole run: of its worst copy, and of how many it is true.
inline run_end end_of_run(watch::outcome const& got, process::limits const& held, std::vector<std::string>& limits_hit, int& not_ok) {
    run_end worst;
    not_ok = 0;
    if (!got.trouble.empty()) {
        not_ok = static_cast<int>(got.copies.size());
        worst.class_ = end_class::setup;
        worst.reason = got.trouble;
        return worst;
    }
    for (auto const& copy : got.copies) {
        auto end = detail::end_of(copy, got, held, limits_hit);
        if (end.class_ != end_class::ok) ++not_ok;
        if (&copy == &got.copies.front() || run::badness(end.class_) > run::badness(worst.class_)) worst = std::move(end);
    }
    auto const touched = [&](std::string_view key, bool so) {
        if (so && std::find(limits_hit.begin(), limits_hit.end(), key) == limits_hit.end()) limits_hit.emplace_back(key);
    };
    // what a control group or a full disk refused is the cause of a bad end, unless another cause is known already
    auto const refused = [&](std::string_view key, end_class as, bool so, std::string why) {
        touched(key, so);
        if (!so || (worst.class_ != end_class::failed && worst.class_ != end_class::signalled)) return;
        if (worst.reason.starts_with("CPU_SECONDS")) return;
        worst.class_ = as;
        worst.reason = cat(key, ": ", why, " (", worst.reason, ")");
    };
    if (got.group && held.tree_memory_bytes >= 0)
        refused("MEMORY_LIMIT", end_class::memory, got.group->oom_kills.value_or(0) > 0, cat("the tree would have used more than ", held.tree_memory_bytes, " bytes"));
    if (got.group && held.tree_pids >= 0)
        refused("PIDS_LIMIT", end_class::pids, got.group->fork_refusals.value_or(0) > 0, cat("more than ", held.tree_pids, " processes and threads were asked for"));
    if (held.numbered_pids >= 0)
        refused("PIDS_LIMIT", end_class::pids, got.refused_forks > 0, cat("more than ", held.numbered_pids, " processes and threads were asked for"));
    if (held.scratch_bytes >= 0)
        refused("DISK_LIMIT", end_class::disk, got.scratch_full, cat("no room is left of ", held.scratch_bytes, " bytes and ", held.scratch_inodes, " files"));
    touched("OUTPUT_LIMIT", got.out.truncated || got.err.truncated || got.killed_by == watch::killer::output);
    touched("FILE_LIMIT", got.orphan_broke_file_limit && held.file_bytes >= 0 && detail::reached_file_limit(got, held));
    touched("TIMEOUT", got.killed_by == watch::killer::wall);
    touched("OPEN_FILES_LIMIT", got.killed_by == watch::killer::files);
    if (worst.class_ == end_class::ok && got.killed_by == watch::killer::wall && got.orphans.known) {
        worst.class_ = end_class::timeout; // --wait-tree: the first process was done, the tree was not
        worst.reason = cat("TIMEOUT: what the first process left behind still ran after ", detail::seconds_text(held.wall_ns));
    }
    if (got.copies.size() > 1 && not_ok > 0) worst.reason = cat(not_ok, " of ", got.copies.size(), " copies did not end well; the worst: ", worst.reason);
    return worst;
}

} // namespace sb::local
