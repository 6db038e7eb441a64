// SPDX-License-Identifier: MIT
// A place for runs without a sandbox: private folders, and a reaper that shares the host's processes.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/files/workspace.hpp>
#include <sb/local/site.hpp>
#include <sb/machine/process_cpu.hpp>
#include <sb/watch/watcher.hpp>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <utility>

namespace sb::local {

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
