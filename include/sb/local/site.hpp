// SPDX-License-Identifier: MIT
// The place where the runs of a worker happen: prepared before each run, checked after it.
#pragma once
#include <sb/core/result.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/watch/watcher.hpp>
#include <functional>
#include <memory>
#include <string>

namespace sb::local {

class site {
public:
    virtual ~site() = default;
    /// Builds what a run at this level needs, ahead of the first.
    virtual result<void> prepare(int level) = 0;
    /// Before a run: a clean place, a living reaper, limits in force. Adds to the job what only the site knows.
    virtual result<void> make_ready(watch::job& job) = 0;
    /// The place as the previous run left it, for checks.
    virtual result<void> look(watch::job& job) = 0;
    virtual process::reaper_link& reaper() = 0;
    /// Before a run: the next run will probably find the place in the same state.
    virtual bool again() const { return false; }
    /// While a run is in progress: time to prepare the next.
    virtual void under_way() {}
    /// Before a run is killed: gives it the processor time that it needs to die.
    virtual void release() {}
    /// Processor time used so far by the helpers of the runs, to distinguish it from that of others.
    virtual std::int64_t helpers_cpu_ns() const = 0;
    /// After a run: figures that only the site can take.
    virtual void finish(watch::outcome& got) = 0;
    /// Moves what the last run left into the folder `kept`, which this makes.
    virtual result<void> keep(files::session_folder const& in, std::string const& name) = 0;
    /// Removes everything that it made.
    virtual void close() = 0;
};

/// Makes the site of the worker with this number, in the worker's process.
using site_maker = std::function<result<std::unique_ptr<site>>(files::session_folder&, std::size_t, process::order_room&)>;

} // namespace sb::local
