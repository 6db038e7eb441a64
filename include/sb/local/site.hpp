// SPDX-License-Identifier: MIT
// The place where the runs of a worker happen: prepared before each run, checked after it. This one has no sandbox, only
// private folders and a reaper that shares the host's processes.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/watch/watcher.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/files/workspace.hpp>
#include <functional>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <utility>

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

class plain_site final : public site {
public:
    static result<std::unique_ptr<site>> make(files::session_folder& session, std::size_t number, process::order_room& room) {
        SB_TRY(auto folders, files::workspace::make(session, cat("worker", number)));
        SB_CHECK(process::adopt_orphans()); // in case the reaper dies early
        return std::unique_ptr<site>{new plain_site{std::move(folders), room}};
    }
    result<void> prepare(int) override { return {}; }
    result<void> make_ready(watch::job& job) override {
        SB_CHECK(folders_.clean());
        return look(job);
    }
    result<void> look(watch::job& job) override {
        job.environment.push_back("HOME=" + folders_.home());
        job.environment.push_back("TMPDIR=" + folders_.tmp());
        if (reaper_.socket) return {};
        SB_TRY(reaper_, process::reaper_link::fork_here(*room_));
        return {};
    }
    process::reaper_link& reaper() override { return reaper_; }
    std::int64_t helpers_cpu_ns() const override { return machine::process_cpu_ns(reaper_.pid); }
    void finish(watch::outcome& got) override {
        if (got.reaper_lost) end_reaper();
    }
    result<void> keep(files::session_folder const& in, std::string const& name) override { return folders_.move_to(in, name); }
    void close() override {
        end_reaper();
        folders_.remove();
    }

private:
    plain_site(files::workspace folders, process::order_room& room) : folders_{std::move(folders)}, room_{&room} {}

    /// It kills all that is left of its runs before it ends. What a dead reaper left is our child now.
    void end_reaper() {
        if (!reaper_.socket) return;
        reaper_.socket.reset();
        while (::waitpid(reaper_.pid, nullptr, 0) < 0 && errno == EINTR) {}
        for (;;) {
            process::kill_children();
            if (::waitpid(-1, nullptr, 0) < 0 && errno != EINTR) break;
        }
        reaper_ = {};
    }

    files::workspace folders_;
    process::order_room* room_;
    process::reaper_link reaper_;
};

} // namespace sb::local
