// SPDX-License-Identifier: MIT
// A lane makes one run after the other, wherever its backend makes them. This is its input and its output.
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

/// One command to run.
struct job {
    std::uint64_t number = 0; ///< the answer carries it too
    std::string path; ///< of the program, as the workload sees it; already looked up
    std::vector<std::string> argv, environment;
    key::setup setup;
    std::string in = "/dev/null"; ///< file that becomes standard input, opened again for each copy
    std::string in_called; ///< the name of a file that `in` gives as a descriptor: the file must still have a name; empty: no check
    bool wait_tree = false; ///< wait for processes that the first process leaves behind, instead of killing them
    bool reports = false; ///< give it a report channel
    bool keep_output = false; ///< for `lane::output` and `lane::keep`
    bool is_check = false; ///< check of the previous run: it finds that run's files unchanged, and its output on standard input
};

/// What a run used; no value where the backend does not know it. As in `run_record`.
struct run_figures {
    std::optional<double> cpu_user_s, cpu_sys_s, cpu_throttled_s;
    std::optional<std::int64_t> peak_rss_bytes, peak_anon_bytes, peak_file_bytes, peak_shm_bytes;
    std::optional<std::int64_t> read_bytes, write_bytes, read_logical_bytes, write_logical_bytes, write_cancelled_bytes;
    std::optional<std::int64_t> net_rx_bytes, net_tx_bytes, max_pids, left_running;
};

/// The result of a job.
struct outcome {
    std::uint64_t number = 0; ///< of the job
    std::int64_t started_ns = 0; ///< since 1970
    double wall_s = 0; ///< from the first exec to the last copy's end
    run_end end; ///< of the copy that ended worst
    std::vector<std::string> limits_hit;
    int copies = 0, copies_not_ok = 0; ///< copies that were started; those of them that did not end ok
    run_figures used;
    std::optional<bool> fresh; ///< no run used its sandbox before; no value without a sandbox
    std::optional<run_noise> noise;
    watch::captured out, err; ///< of the first copy that did not end well, else of the first
    std::vector<std::string> reports; ///< what each copy wrote to its report channel
    bool reports_cut = false; ///< there was more than is kept
    std::string lost; ///< why a check could not see what its run left; empty: it could
};

class lane {
public:
    virtual ~lane() = default;
    /// Begins the first of these jobs, or queues it behind earlier jobs, and the others behind it. Does not wait.
    virtual result<void> start(std::vector<job> const& what) = 0;
    /// Readable when `take` may have something new. The caller may change its flags.
    virtual int descriptor() const = 0;
    /// The next outcome, in the order of the jobs; no value when there is none yet. An error: the lane is dead.
    virtual result<std::optional<outcome>> take() = 0;
    /// Ends its current run, without an outcome. It takes no job after that.
    virtual void stop() = 0;
    /// The process to kill when there is no time to stop: all that the lane runs dies with it. -1: there is none.
    virtual pid_t process() const { return -1; }
    /// A file with the standard output that the last job kept; the next job overwrites it. -1: this backend has none.
    virtual int output() const { return -1; }
    /// Keeps what the last run left, under this name in the backend's folder for kept runs.
    virtual result<void> keep(std::string const& name) { return caller_error(cat("--keep ", name, ": this backend keeps nothing")); }
};

} // namespace sb::run
