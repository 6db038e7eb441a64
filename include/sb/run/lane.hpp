// SPDX-License-Identifier: MIT
// A lane: makes one run after the other, wherever its backend makes them. What it is given, and what it answers.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/watch/capture.hpp>
#include <sb/key/setup.hpp>
#include <sb/record/run.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sb::run {

/// One command to be run.
struct job {
    std::uint64_t number = 0; ///< the answer carries it too
    std::string path; ///< of the program, as the workload sees it; looked up already
    std::vector<std::string> argv, environment;
    key::setup setup;
    std::string in = "/dev/null"; ///< file that becomes standard input, opened anew for each copy
    std::string in_called; ///< the name of a file that `in` gives by a descriptor: it must still have one; empty: any will do
    bool wait_tree = false; ///< wait for what the first process leaves behind instead of killing it
    bool reports = false; ///< give it a report channel
    bool keep_output = false; ///< for `lane::output` and `lane::keep`
    bool is_check = false; ///< of the run before: finds its files as they were left, and its output on standard input
};

/// What a run used; nothing where the backend cannot tell. As in `run_record`.
struct run_figures {
    std::optional<double> cpu_user_s, cpu_sys_s, cpu_throttled_s;
    std::optional<std::int64_t> peak_rss_bytes, peak_anon_bytes, peak_file_bytes, peak_shm_bytes;
    std::optional<std::int64_t> read_bytes, write_bytes, read_logical_bytes, write_logical_bytes, write_cancelled_bytes;
    std::optional<std::int64_t> net_rx_bytes, net_tx_bytes, max_pids, left_running;
};

/// What came of a job.
struct outcome {
    std::uint64_t number = 0; ///< of the job
    std::int64_t started_ns = 0; ///< since 1970
    double wall_s = 0; ///< from the first exec to the last copy's end
    run_end end; ///< of the copy that ended worst
    std::vector<std::string> limits_hit;
    int copies = 0, copies_not_ok = 0; ///< that were started; of these
    run_figures used;
    std::optional<bool> fresh; ///< nothing ran in its sandbox before; nothing without one
    std::optional<run_noise> noise;
    watch::captured out, err; ///< of the first copy that did not end well, else of the first
    std::vector<std::string> reports; ///< what each copy wrote to its report channel
    bool reports_cut = false; ///< more came than is kept
    std::string lost; ///< why a check could not see what its run left; empty: it could
};

class lane {
public:
    virtual ~lane() = default;
    /// Begins the job, or queues it behind those that were begun. Waits for none of them.
    virtual result<void> start(job const& what) = 0;
    /// Readable when `take` may have something new. Its flags may be changed.
    virtual int descriptor() const = 0;
    /// The next outcome, in the order of the jobs; nothing when none has come yet. An error: the lane is dead.
    virtual result<std::optional<outcome>> take() = 0;
    /// Ends what it runs, without an outcome. It takes no job after that.
    virtual void stop() = 0;
    /// The process to be killed when there is no time to stop: all that the lane runs dies with it. -1: there is none.
    virtual pid_t process() const { return -1; }
    /// A file with the standard output that the last job kept; the next job overwrites it. -1: this backend has none.
    virtual int output() const { return -1; }
    /// Keeps what the last run left, under this name in the backend's folder for that.
    virtual result<void> keep(std::string const& name) { return caller_error(cat("--keep ", name, ": this backend keeps nothing")); }
};

} // namespace sb::run
