// SPDX-License-Identifier: MIT
// How a run ended and which limit caused it, derived from what its reaper and its watcher saw.
#pragma once
#include <sb/core/text.hpp>
#include <sb/filter/levels.hpp>
#include <sb/key/list.hpp>
#include <sb/process/spawn.hpp>
#include <sb/record/run.hpp>
#include <sb/run/badness.hpp>
#include <sb/watch/job.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace sb::local {

namespace detail {

/// Without a sandbox nobody searches, and we trust the signal.
inline bool reached_file_limit(watch::outcome const& got, key::setup const& held) noexcept { return held.level == 0 || got.file_limit_reached; }

/// An end, and the limit that caused it.
struct caused_end {
    run_end end;
    key::end_cause cause = key::end_cause::none;
};

/// Adds the key of this limit to those that were reached.
inline void hit(key::end_cause cause, std::vector<std::string>& limits_hit) {
    auto const name = key::all_keys.ending_by(cause)->name;
    if (std::find(limits_hit.begin(), limits_hit.end(), name) == limits_hit.end()) limits_hit.emplace_back(name);
}
/// Makes the limit the cause of an end. With `keep_reason` the previous reason is kept in brackets.
inline void blame_limit(caused_end& of, key::end_cause cause, key::setup const& held, bool keep_reason = false) {
    auto const* const key = key::all_keys.ending_by(cause);
    auto const* const rule = key->rule_of(cause);
    of.cause = cause, of.end.class_ = rule->class_;
    of.end.reason = cat(key->name, ": ", rule->words(held), keep_reason ? cat(" (", of.end.reason, ")") : std::string{});
}

/// The limit for which we end a run.
constexpr key::end_cause cause_of(watch::killer by) noexcept {
    using watch::killer;
    switch (by) {
    case killer::wall: return key::end_cause::wall_clock;
    case killer::output: return key::end_cause::output;
    case killer::files: return key::end_cause::files;
    case killer::sockets: return key::end_cause::sockets;
    case killer::kernel_memory: return key::end_cause::kernel_memory;
    case killer::nobody:
    case killer::request:
    case killer::trouble: break;
    }
    return key::end_cause::none;
}

inline run_end not_started(process::spawn_failure const& failure, key::setup const& held) {
    run_end end;
    bool const exec = failure.step == process::spawn_step::exec;
    if (exec && held.level > 0 && (failure.code == EACCES || failure.code == EPERM)) {
        bool const own = filter::level_of(held.level).runs_what_it_made;
        end.class_ = end_class::refused;
        end.reason = cat("exec: ", std::strerror(failure.code),
                         own ? std::string{" (only the owner of the file may execute it, and the payload is another user; chmod a+rx)"}
                             : cat(" (", key::security_level.name, " ", held.level, " executes nothing in the workspace, home, /tmp or an rw binding; bind the program read-only. No level executes a file that only its owner may execute)"));
        return end;
    }
    end.class_ = end_class::setup;
    end.reason = cat(std::string_view{name_of(failure.step)}, ": ", std::strerror(failure.code),
                     exec && failure.code == ENOENT ? " (the program, or its interpreter)" : "");
    return end;
}

/// One copy's end. A limit is the class only when it is certainly the cause: we killed the copy, or the signal is the
/// limit's own. A program can handle an allocation that fails under RLIMIT_AS, so the end after that is `failed`.
inline caused_end end_of(watch::copy_end const& copy, watch::outcome const& got, key::setup const& held, std::vector<std::string>& limits_hit) {
    caused_end one;
    auto& end = one.end;
    auto const by = [&](key::end_cause cause) { hit(cause, limits_hit), blame_limit(one, cause, held); };
    if (copy.failure) {
        end = not_started(copy.failure, held);
        return one;
    }
    bool const exited = WIFEXITED(copy.status);
    if (exited) end.code = WEXITSTATUS(copy.status);
    else end.signal = WTERMSIG(copy.status);
    bool const by_us = !exited && *end.signal == SIGKILL;
    if (auto const cause = cause_of(got.killed_by); by_us && cause != key::end_cause::none) {
        by(cause);
    } else if (exited) {
        end.class_ = *end.code == 0 ? end_class::ok : end_class::failed;
        if (*end.code != 0) end.reason = cat("exit status ", *end.code);
        if (*end.code > 128 && *end.code < 128 + 65)
            end.reason += cat(" (from a shell this means signal ", *end.code - 128, ", ", std::string_view{::strsignal(*end.code - 128)}, ")");
    } else {
        end.class_ = end_class::signalled;
        end.reason = cat("signal ", *end.signal, " (", std::string_view{::strsignal(*end.signal)}, ")");
        // Any process can send the signal of a limit, so it counts only if the limit was seen to be reached. The limit on
        // processor time applies to each process; the kernel counts this time by ticks.
        double const used_s = copy.own_s ? *copy.own_s : copy.before_s + copy.used.user_s + copy.used.system_s, most_s = static_cast<double>(held.cpu_seconds);
        bool const all_used = held.cpu_seconds >= 0 && used_s >= most_s;
        bool const much_used = held.cpu_seconds >= 0 && used_s >= most_s * 0.8;
        if (*end.signal == SIGSYS && held.level > 0) end.reason += "; the filter sends it to programs of another architecture, but any program can raise it";
        else if (*end.signal == SIGXFSZ && held.file_bytes >= 0 && reached_file_limit(got, held)) by(key::end_cause::file_size);
        else if (*end.signal == SIGXFSZ && held.file_bytes >= 0) end.reason += cat("; no file of ", held.file_bytes, " bytes (", key::file_limit.name, ") is left");
        else if ((*end.signal == SIGXCPU && much_used) || (*end.signal == SIGKILL && all_used)) by(key::end_cause::cpu_time);
    }
    return one;
}

} // namespace detail

/// The end of the whole run: the end of its worst copy, and how many copies ended like that.
inline run_end end_of_run(watch::outcome const& got, key::setup const& held, std::vector<std::string>& limits_hit, int& not_ok) {
    using key::end_cause;
    detail::caused_end worst;
    not_ok = 0;
    if (!got.trouble.empty()) {
        not_ok = static_cast<int>(got.copies.size());
        worst.end.class_ = end_class::setup;
        worst.end.reason = got.trouble;
        return worst.end;
    }
    for (auto const& copy : got.copies) {
        auto one = detail::end_of(copy, got, held, limits_hit);
        if (one.end.class_ != end_class::ok) ++not_ok;
        if (&copy == &got.copies.front() || run::badness(one.end.class_) > run::badness(worst.end.class_)) worst = std::move(one);
    }
    // a refusal by a control group or a full disk is the cause of a bad end, unless another cause is known already
    auto const refused = [&](end_cause cause, bool so) {
        if (!so) return;
        detail::hit(cause, limits_hit);
        bool const bad = worst.end.class_ == end_class::failed || worst.end.class_ == end_class::signalled;
        if (bad && worst.cause == end_cause::none) detail::blame_limit(worst, cause, held, true);
    };
    refused(end_cause::memory, got.group && held.tree_memory_bytes >= 0 && got.group->oom_kills.value_or(0) > 0);
    refused(end_cause::processes, got.group && held.tree_pids >= 0 && got.group->fork_refusals.value_or(0) > 0);
    refused(end_cause::processes, held.numbered_pids >= 0 && got.refused_forks > 0);
    refused(end_cause::disk, held.scratch_bytes >= 0 && got.scratch_full);
    if (got.out.truncated || got.err.truncated || got.killed_by == watch::killer::output) detail::hit(end_cause::output, limits_hit);
    if (got.orphan_broke_file_limit && held.file_bytes >= 0 && detail::reached_file_limit(got, held)) detail::hit(end_cause::file_size, limits_hit);
    for (auto const cause : {end_cause::wall_clock, end_cause::files})
        if (detail::cause_of(got.killed_by) == cause) detail::hit(cause, limits_hit);
    if (worst.end.class_ == end_class::ok && got.killed_by == watch::killer::wall && got.orphans.known)
        detail::blame_limit(worst, end_cause::wall_clock_of_rest, held); // --wait-tree
    if (got.copies.size() > 1 && not_ok > 0) worst.end.reason = cat(not_ok, " of ", got.copies.size(), " copies failed; the worst: ", worst.end.reason);
    return std::move(worst.end);
}

} // namespace sb::local
