// SPDX-License-Identifier: MIT
// A record: one run of a workload, how it ended and what it used.
#pragma once
#include <sb/core/value.hpp>
#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sb {

/// How a run came to its end; the first cause wins and is never overwritten. `refused`: the sandbox's own rules do not let
/// this command run (it is hidden, or may not be executed); `setup`: it could not be executed.
enum class end_class { ok, failed, signalled, timeout, memory, pids, files, disk, output, refused, setup };
BOOST_DESCRIBE_ENUM(end_class, ok, failed, signalled, timeout, memory, pids, files, disk, output, refused, setup)

struct run_end {
    end_class class_ = end_class::ok;
    std::optional<int> code; ///< exit status, when it exited
    std::optional<int> signal; ///< signal number, when a signal ended it
    std::string reason; ///< one line for a person; empty for ok
};
BOOST_DESCRIBE_STRUCT(run_end, (), (class_, code, signal, reason))

/// A preset key that acted: what was asked, what was achieved, and by which mechanism.
struct applied_key {
    std::string key;
    value requested, achieved;
    std::string by;
};
BOOST_DESCRIBE_STRUCT(applied_key, (), (key, requested, achieved, by))

/// A preset key that could not act here, and why.
struct unsupported_key {
    std::string key;
    value requested;
    std::string why;
};
BOOST_DESCRIBE_STRUCT(unsupported_key, (), (key, requested, why))

struct stream_capture {
    std::int64_t bytes = 0; ///< all that was written, kept or not
    std::string sha256; ///< of the bytes up to the cap
    std::string head; ///< the first 4 KiB; what is not UTF-8 stands as \xNN
    bool truncated = false; ///< more came than the cap allows
};
BOOST_DESCRIBE_STRUCT(stream_capture, (), (bytes, sha256, head, truncated))

struct host_facts {
    std::string kernel;
    int cpus = 0;
    std::string cgroup; ///< v1, v2, hybrid or none
    std::optional<std::string> governor; ///< of the processors' frequency; null where the system shows none, as in most guests
    std::optional<double> load; ///< processes that ran or waited in the minute before the invocation, on average
};
BOOST_DESCRIBE_STRUCT(host_facts, (), (kernel, cpus, cgroup, governor, load))

/// What else went on on the machine, in a stretch of time that holds the whole run, and shorter ones before it.
struct run_noise {
    double window_s = 0;
    double steal_s = 0; ///< processor time that a hypervisor took, of all processors
    double others_cpu_s = 0; ///< processor time that neither the runs nor their sandbox used
};
BOOST_DESCRIBE_STRUCT(run_noise, (), (window_s, steal_s, others_cpu_s))

/// One execution of a workload under a preset.
struct run_record {
    static constexpr auto kind = "run";
    static constexpr int version = 1;
    std::string run_id; ///< hash of workload, preset, arm, repetition and seed: the key that resuming goes by
    std::string ts; ///< start, UTC
    std::string workload;
    std::optional<std::string> module;
    std::string scenario;
    std::optional<std::string> severity;
    std::string preset_id;
    std::string preset_source; ///< stdin, preset-file, env, canonical, generated, none
    std::string arm = "on";
    int rep = 0; ///< from 0
    std::int64_t seed = 0;
    run_end end;
    std::vector<std::string> limits_hit;
    double wall_s = 0; ///< from the call of exec to the end of the first process
    std::optional<double> cpu_user_s, cpu_sys_s; ///< of all processes of the tree that were waited for
    std::optional<std::int64_t> peak_rss_bytes; ///< of the whole tree where a control group counts it
    std::optional<std::int64_t> peak_anon_bytes, peak_file_bytes, peak_shm_bytes; ///< its parts; see `sources`
    std::optional<std::int64_t> read_bytes, write_bytes; ///< fetched from storage, made dirty for storage
    std::optional<std::int64_t> read_logical_bytes, write_logical_bytes; ///< asked of the system, cached or not
    std::optional<std::int64_t> write_cancelled_bytes; ///< made dirty and removed again before they were stored
    std::optional<std::int64_t> net_rx_bytes, net_tx_bytes;
    std::optional<std::int64_t> max_pids;
    std::optional<std::int64_t> left_running; ///< processes that outlived the run's end and were killed
    std::optional<double> value, roi; ///< design.md §2
    std::map<std::string, double> metrics; ///< reported by the workload or taken from its output
    std::vector<applied_key> applied;
    std::vector<unsupported_key> unsupported;
    std::vector<std::string> informational; ///< keys that name or label and do nothing
    std::string backend;
    std::vector<std::string> layers;
    std::optional<bool> fresh; ///< nothing ran in the sandbox before this run; null without walls
    stream_capture stdout_, stderr_; ///< with several copies: of the first that did not end well, else of the first
    host_facts host;
    std::optional<run_noise> noise; ///< null for a run that ended within 100 ms of the last look
    std::optional<std::map<std::string, std::string>> sources; ///< figure -> how it was measured, where that matters
};
BOOST_DESCRIBE_STRUCT(run_record, (),
                      (run_id, ts, workload, module, scenario, severity, preset_id, preset_source, arm, rep, seed, end,
                       limits_hit, wall_s, cpu_user_s, cpu_sys_s, peak_rss_bytes, peak_anon_bytes, peak_file_bytes, peak_shm_bytes,
                       read_bytes, write_bytes, read_logical_bytes, write_logical_bytes, write_cancelled_bytes, net_rx_bytes, net_tx_bytes, max_pids, left_running, value, roi, metrics, applied, unsupported, informational, backend, layers, fresh,
                       stdout_, stderr_, host, noise, sources))

} // namespace sb
