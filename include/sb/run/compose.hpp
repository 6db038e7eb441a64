// SPDX-License-Identifier: MIT
// What happened, told as a run record.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/text.hpp>
#include <sb/isolate/cpus.hpp>
#include <sb/isolate/security_level.hpp>
#include <sb/isolate/watch.hpp>
#include <sb/metric/value.hpp>
#include <sb/record/run.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/plan.hpp>
#include <sb/run/report.hpp>
#include <sb/run/reserved_names.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::run {

/// Facts of the machine that every record carries.
inline host_facts this_host() {
    host_facts facts;
    utsname name{};
    if (::uname(&name) == 0) facts.kernel = name.release;
    facts.cpus = isolate::usable_cpus();
    bool const unified = ::access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    bool const hybrid = ::access("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0;
    bool const split = ::access("/sys/fs/cgroup/memory", F_OK) == 0 || ::access("/sys/fs/cgroup/cpu", F_OK) == 0;
    facts.cgroup = unified ? "v2" : split ? hybrid ? "hybrid" : "v1" : hybrid ? "hybrid" : "none";
    if (auto const governor = read_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); !governor.has_error())
        facts.governor = trim(*governor);
    if (double load[1]; ::getloadavg(load, 1) == 1) facts.load = load[0];
    return facts;
}

namespace detail {

inline std::string seconds_text(std::int64_t ns) {
    std::string text;
    json::append_real(text, static_cast<double>(ns) / 1e9);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text + " s";
}

/// How bad an end is, for choosing the worst of several copies.
inline int badness(end_class c) noexcept {
    constexpr end_class order[] = {end_class::ok,   end_class::failed, end_class::signalled, end_class::output, end_class::disk,
                                   end_class::files, end_class::pids, end_class::memory, end_class::timeout, end_class::refused, end_class::setup};
    return static_cast<int>(std::find(std::begin(order), std::end(order), c) - std::begin(order));
}

/// Without walls nobody looks, and the signal is believed.
inline bool reached_file_limit(isolate::outcome const& got, isolate::limits const& held) noexcept { return held.level == 0 || got.file_limit_reached; }

/// One copy's end. A limit is the class only when it is known to be the cause: it was we who killed, or the signal is
/// the limit's own. An allocation that fails under RLIMIT_AS is the program's to handle, so what follows is `failed`.
inline run_end end_of(isolate::copy_end const& copy, isolate::outcome const& got, isolate::limits const& held, std::vector<std::string>& hit) {
    run_end end;
    auto const limit = [&](std::string_view key) {
        if (std::find(hit.begin(), hit.end(), key) == hit.end()) hit.emplace_back(key);
    };
    if (copy.failure) {
        bool const exec = copy.failure.step == isolate::spawn_step::exec;
        if (exec && held.level > 0 && (copy.failure.code == EACCES || copy.failure.code == EPERM)) {
            bool const own = isolate::level_of(held.level).runs_what_it_made;
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
    if (by_us && got.killed_by == isolate::killer::wall) {
        limit("TIMEOUT");
        end.class_ = end_class::timeout;
        end.reason = cat("TIMEOUT: still running after ", seconds_text(held.wall_ns));
    } else if (by_us && got.killed_by == isolate::killer::sockets) {
        limit("MEMORY_LIMIT");
        end.class_ = end_class::memory;
        end.reason = held.tree_memory_bytes < 0 ? std::string{"MEMORY_LIMIT: its sockets held more than a run's share of what the host has for all (a tenth)"}
                                                 : cat("MEMORY_LIMIT: its sockets held more than ", held.tree_memory_bytes, " bytes, or a tenth of what the host has for all");
    } else if (by_us && got.killed_by == isolate::killer::kernel_memory) {
        limit("MEMORY_LIMIT");
        end.class_ = end_class::memory;
        end.reason = "MEMORY_LIMIT: its file locks, or what waits in its sockets, made the kernel keep more memory than a run may, which nobody counts";
    } else if (by_us && got.killed_by == isolate::killer::output) {
        limit("OUTPUT_LIMIT");
        end.class_ = end_class::output;
        end.reason = cat("OUTPUT_LIMIT: more than ", held.output_bytes, " bytes on one stream");
    } else if (by_us && got.killed_by == isolate::killer::files) {
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

/// Figures of the control group, which counts every process of the tree, take the place of those of wait4.
inline void count_group(run_record& r, isolate::outcome const& got) {
    auto const& group = *got.group;
    if (group.cpu_ns) {
        auto const total = static_cast<double>(std::max<std::int64_t>(*group.cpu_ns - got.reaper_cpu_ns, 0)) / 1e9;
        auto const user = static_cast<double>(group.cpu_user_ns.value_or(0)), system = static_cast<double>(group.cpu_system_ns.value_or(0));
        auto const share = user + system > 0 ? user / (user + system) : 1;
        r.cpu_user_s = total * share;
        r.cpu_sys_s = total - *r.cpu_user_s;
    }
    if (group.memory_peak_bytes && group.memory_base_bytes) {
        auto const peak = std::max<std::int64_t>(*group.memory_peak_bytes - *group.memory_base_bytes, 0) + group.socket_peak_bytes.value_or(0);
        r.peak_rss_bytes.reset();
        if (peak > 0) r.peak_rss_bytes = peak; // less than the kernel's step is unknown
        if (r.peak_rss_bytes && got.charged && got.charged->file_bytes && got.charged->shmem_bytes) {
            r.peak_file_bytes = std::clamp<std::int64_t>(*got.charged->file_bytes, 0, *r.peak_rss_bytes);
            r.peak_shm_bytes = std::clamp<std::int64_t>(*got.charged->shmem_bytes, 0, *r.peak_rss_bytes - *r.peak_file_bytes);
            r.peak_anon_bytes = *r.peak_rss_bytes - *r.peak_file_bytes - *r.peak_shm_bytes;
        }
    }
    r.max_pids = group.max_pids;
    if (group.throttled_ns && *group.throttled_ns > 0) r.metrics[own_metric::cpu_throttled_s] = static_cast<double>(*group.throttled_ns) / 1e9;
}

inline stream_capture as_record(isolate::captured& stream) {
    return {stream.bytes, std::move(stream.sha256), std::move(stream.head), stream.truncated};
}

} // namespace detail

/// The end of the whole run: of its worst copy, and of how many it is true.
inline run_end end_of_run(isolate::outcome const& got, isolate::limits const& held, std::vector<std::string>& limits_hit, int& not_ok) {
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
        if (&copy == &got.copies.front() || detail::badness(end.class_) > detail::badness(worst.class_)) worst = std::move(end);
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
    touched("OUTPUT_LIMIT", got.out.truncated || got.err.truncated || got.killed_by == isolate::killer::output);
    touched("FILE_LIMIT", got.orphan_broke_file_limit && held.file_bytes >= 0 && detail::reached_file_limit(got, held));
    touched("TIMEOUT", got.killed_by == isolate::killer::wall);
    touched("OPEN_FILES_LIMIT", got.killed_by == isolate::killer::files);
    if (worst.class_ == end_class::ok && got.killed_by == isolate::killer::wall && got.orphans.known) {
        worst.class_ = end_class::timeout; // --wait-tree: the first process was done, the tree was not
        worst.reason = cat("TIMEOUT: what the first process left behind still ran after ", detail::seconds_text(held.wall_ns));
    }
    if (got.copies.size() > 1 && not_ok > 0) worst.reason = cat(not_ok, " of ", got.copies.size(), " copies did not end well; the worst: ", worst.reason);
    return worst;
}

/// All that a record needs beside what happened.
struct run_context {
    std::string workload;
    std::optional<std::string> module;
    std::string preset_source;
    backend const* with = nullptr;
    host_facts host;
    std::optional<double> budget_s;
    metric::value_weights weights;
    metric::prices prices;
};

/// `output_right` is the check's answer, nothing without one. Takes the texts out of `got`.
inline run_record compose(run_context const& all, preset_record const& preset, enforcement const& held, planned_run const& planned,
                          isolate::outcome& got, std::optional<bool> output_right, reported found) {
    run_record r;
    r.run_id = planned.run_id;
    r.ts = utc_stamp(got.started_ns);
    r.workload = all.workload;
    r.module = all.module;
    r.scenario = preset.scenario();
    if (auto const severity = preset.text("SEVERITY"); !severity.empty()) r.severity = severity;
    r.preset_id = preset.id;
    r.preset_source = all.preset_source;
    r.rep = planned.rep;
    r.seed = planned.seed;
    int not_ok = 0;
    r.end = end_of_run(got, held.held, r.limits_hit, not_ok);
    r.wall_s = got.wall_s;

    isolate::usage used;
    for (auto const& copy : got.copies) used.add(copy.used);
    used.add(got.orphans);
    if (used.known) {
        r.cpu_user_s = used.user_s, r.cpu_sys_s = used.system_s;
        r.peak_rss_bytes = used.peak_rss_bytes;
        r.read_bytes = used.read_bytes, r.write_bytes = used.written_bytes;
        r.read_logical_bytes = got.read_chars, r.write_logical_bytes = got.written_chars, r.write_cancelled_bytes = got.cancelled_bytes;
    }
    r.left_running = got.left_running;
    r.net_rx_bytes = got.net_rx_bytes, r.net_tx_bytes = got.net_tx_bytes;
    if (got.group) detail::count_group(r, got);
    if (!r.max_pids && got.refused_forks > 0 && held.copies == 1) r.max_pids = held.held.numbered_pids; // so many there were when one more was refused
    if (!r.max_pids && got.processes_made == 1) r.max_pids = 1; // no peak is kept, or that of all runs, but there was one alone

    if (held.copies > 1) {
        auto const n = static_cast<double>(got.copies.size());
        r.metrics[own_metric::concurrency_level] = static_cast<double>(held.copies);
        r.metrics[own_metric::concurrency_error_rate] = n > 0 ? not_ok / n : 1;
        if (got.wall_s > 0) r.metrics[own_metric::concurrency_throughput] = n / got.wall_s;
    }
    if (output_right) r.metrics[own_metric::output_check] = *output_right ? 1 : 0;
    for (auto const& [name, x] : found.metrics)
        if (!is_reserved(name)) r.metrics.try_emplace(name, x);

    metric::run_facts facts;
    facts.success = r.end.class_ == end_class::ok;
    if (held.copies > 1 && !got.copies.empty()) facts.share_ok = 1 - not_ok / static_cast<double>(got.copies.size());
    facts.output_right = output_right;
    facts.wall_s = r.wall_s;
    facts.budget_s = all.budget_s;
    if (r.peak_rss_bytes) facts.peak_rss_bytes = static_cast<double>(*r.peak_rss_bytes);
    auto const memory_limit = std::max(held.held.tree_memory_bytes, held.held.memory_bytes);
    if (memory_limit >= 0) facts.memory_limit_bytes = static_cast<double>(memory_limit);
    if (r.cpu_user_s) facts.cpu_s = *r.cpu_user_s + *r.cpu_sys_s;
    r.value = found.value && output_right != false ? found.value : metric::value_of(facts, all.weights); // of a wrong output its maker is not believed
    if (r.value) r.roi = *r.value - metric::cost_of(facts, all.prices);

    r.applied = held.applied, r.unsupported = held.unsupported, r.informational = held.informational;
    r.backend = all.with->name;
    r.layers = all.with->layers;
    if (held.held.level > 0) r.fresh = got.renewed;
    r.stdout_ = detail::as_record(got.out), r.stderr_ = detail::as_record(got.err);
    r.host = all.host;
    if (got.bystanders) r.noise = run_noise{got.bystanders->window_s, got.bystanders->steal_s, got.bystanders->others_cpu_s};
    r.sources = all.with->sources;
    return r;
}

} // namespace sb::run
