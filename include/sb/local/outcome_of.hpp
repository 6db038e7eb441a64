// SPDX-License-Identifier: MIT
// Turns what a watcher saw of a run into the outcome that every backend gives.
#pragma once
#include <sb/watch/job.hpp>
#include <sb/process/limits.hpp>
#include <sb/local/classify_end.hpp>
#include <sb/run/lane.hpp>
#include <algorithm>
#include <cstdint>
#include <utility>

namespace sb::local {

namespace detail {

/// Figures of the control group, which counts every process of the tree, replace those of wait4.
inline void count_group(run::run_figures& r, watch::outcome const& got) {
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
    if (group.throttled_ns && *group.throttled_ns > 0) r.cpu_throttled_s = static_cast<double>(*group.throttled_ns) / 1e9;
}

} // namespace detail

inline run::run_figures figures_of(watch::outcome const& got, run::job const& what) {
    run::run_figures r;
    watch::usage used;
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
    if (!r.max_pids && got.refused_forks > 0 && what.setup.copies == 1) r.max_pids = what.setup.numbered_pids; // there were this many when one more was refused
    if (!r.max_pids && got.processes_made == 1) r.max_pids = 1; // no peak is recorded, or only the peak of all runs, but there was only one process
    return r;
}

/// Moves the texts out of `got`.
inline run::outcome outcome_of(watch::outcome&& got, run::job const& what) {
    run::outcome outcome;
    outcome.number = what.number;
    outcome.started_ns = got.started_ns, outcome.wall_s = got.wall_s;
    outcome.copies = static_cast<int>(got.copies.size());
    outcome.end = end_of_run(got, what.setup, outcome.limits_hit, outcome.copies_not_ok);
    outcome.used = figures_of(got, what);
    if (what.setup.level > 0) outcome.fresh = got.renewed;
    if (got.noise) outcome.noise = run_noise{got.noise->window_s, got.noise->steal_s, got.noise->others_cpu_s};
    outcome.out = std::move(got.out), outcome.err = std::move(got.err);
    outcome.reports = std::move(got.reports), outcome.reports_cut = got.reports_cut;
    if (what.is_check) outcome.lost = std::move(got.trouble);
    return outcome;
}

} // namespace sb::local
