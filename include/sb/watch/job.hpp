// SPDX-License-Identifier: MIT
// A run as requested, and its result.
#pragma once
#include <sb/cgroup/cgroup_figures.hpp>
#include <sb/machine/machine_noise.hpp>
#include <sb/machine/socket_memory.hpp>
#include <sb/process/limits.hpp>
#include <sb/process/reaper_messages.hpp>
#include <sb/watch/capture.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sb::watch {

inline constexpr char const* nothing_to_read = "/dev/null";

/// What to run.
struct job {
    std::string path; ///< of the program, already looked up
    std::vector<std::string> argv, environment;
    std::string folder; ///< working folder; empty: the reaper's own
    process::limits held;
    std::string in = nothing_to_read; ///< file that becomes standard input, opened again for each copy
    std::string in_called; ///< the name of a file that `in` gives as a descriptor: the file must still have a name; empty: no check
    int copies = 1;
    bool wait_tree = false; ///< wait for processes that the first process leaves behind, instead of killing them
    bool reports = false; ///< give it a report channel
    bool keep_output = false; ///< copy the first copy's output to the files given to `watcher`
    std::size_t first_cpu = 0;
    int group = -1; ///< folder of the control group (v2) that it is born in
    std::uint64_t clone_key = 0;
    int scratch = -1; ///< a folder on the file system whose size is `held.scratch_bytes`
    machine::socket_place sockets; ///< where its sockets are counted
};

/// Why we ended a run; the first cause is kept.
enum class killer { nobody, wall, output, files, sockets, kernel_memory, request, trouble };

/// Processor time, memory and storage traffic, added up as they become known.
struct usage {
    double user_s = 0, system_s = 0;
    std::int64_t peak_rss_bytes = 0; ///< of the largest process
    std::int64_t read_bytes = 0, written_bytes = 0; ///< read from storage; made dirty for storage
    bool known = false;

    usage() = default;
    explicit usage(process::raw_usage const& raw)
        : user_s{static_cast<double>(raw.user_us) * 1e-6}, system_s{static_cast<double>(raw.system_us) * 1e-6}, peak_rss_bytes{raw.peak_rss_bytes},
          read_bytes{raw.read_bytes}, written_bytes{raw.written_bytes}, known{raw.processes > 0} {}
    void add(usage const& other) {
        if (!other.known) return;
        user_s += other.user_s;
        system_s += other.system_s;
        peak_rss_bytes = std::max(peak_rss_bytes, other.peak_rss_bytes);
        read_bytes += other.read_bytes, written_bytes += other.written_bytes;
        known = true;
    }
};

/// How one copy ended.
struct copy_end {
    process::spawn_failure failure; ///< its program could not be executed
    int status = 0; ///< as wait returns it
    double wall_s = 0; ///< from the call of exec to its end
    double before_s = 0; ///< processor time before exec, which is our own cost; the kernel's limit includes it
    std::optional<double> own_s; ///< of the first process alone, including the time before exec; read if a limit's signal ended it
    usage used; ///< since exec
};

struct outcome {
    std::int64_t started_ns = 0; ///< since 1970
    double wall_s = 0; ///< from the first exec to the last copy's end
    killer killed_by = killer::nobody;
    std::string trouble; ///< why not all copies could be started; empty when they were
    std::vector<copy_end> copies; ///< those that were started
    usage orphans; ///< processes that outlived their parent and were adopted by the reaper
    std::optional<std::int64_t> read_chars, written_chars, cancelled_bytes; ///< requested from the system; removed before they were stored
    std::optional<std::int64_t> processes_made; ///< processes and threads ever made
    std::int64_t refused_forks = 0; ///< refused by the process namespaces that limit the number of processes
    std::int64_t left_running = 0; ///< processes that were alive when the run ended, and were killed
    bool orphan_broke_file_limit = false; ///< its end signal says so
    bool file_limit_reached = false; ///< after an end by the limit's signal, a file of that size was found; without a sandbox nobody searches
    bool reaper_lost = false; ///< it died or had to be killed: the next run needs another reaper
    std::optional<cgroup::group_figures> group; ///< of the run's control group
    std::optional<cgroup::group_charges> charged; ///< charged to it at the end of the run
    std::optional<std::int64_t> net_rx_bytes, net_tx_bytes; ///< of the sandbox's own network
    bool scratch_full = false; ///< at some look no byte or no file was left where the run may write
    bool renewed = false; ///< no run used this sandbox before
    std::optional<machine::machine_noise> noise; ///< on the machine during the run; mostly unknown for a short run
    bool called = false; ///< its process was cloned ahead
    std::int64_t reaper_cpu_ns = 0; ///< the reaper's processor time during the run, for callers that measure it from outside
    std::size_t shown = 0; ///< the copy whose streams these are: the first that did not end well, else the first copy
    captured out, err;
    std::vector<std::string> reports; ///< what each copy wrote to its report channel
    bool reports_cut = false; ///< there was more than is kept
};

} // namespace sb::watch
