// SPDX-License-Identifier: MIT
// The workers of a session and the folder they work in.
//
// How it works: a worker clears up after its runs. The processes that a killed worker leaves become children of this
// process, which adopts orphans as long as the pool exists. When the pool ends, it kills every child in a worker's process
// group, and every child in another session that was not there before the pool, because everything that a run starts is in
// another session. Other children of an embedding program are not touched.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/local/plain_site.hpp>
#include <sb/local/worker.hpp>
#include <sb/process/adopt_and_kill.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::local {

/// The workers and their folder. Make it before the process uses much memory.
class worker_pool {
public:
    static result<worker_pool> make(int jobs, site_maker const& make_site = &plain_site::make) {
        worker_pool pool;
        SB_TRY(auto folder, files::session_folder::make());
        ::prctl(PR_GET_CHILD_SUBREAPER, &pool.adopted_before_);
        process::each_child([&](pid_t child) { pool.others_.push_back(child); });
        SB_CHECK(process::adopt_orphans());
        pool.folder_ = std::make_unique<files::session_folder>(std::move(folder));
        auto const usable = machine::usable_cpus();
        for (int i = 0; i < jobs; ++i) {
            auto const number = static_cast<std::size_t>(i);
            worker_cpus const cpus{jobs < usable, jobs == usable ? machine::home_cpu{number, jobs - 1} : machine::home_cpu{}};
            auto made = worker::make(*pool.folder_, number, pool.workers_, make_site, cpus);
            if (made.has_error()) return made.error();
            pool.workers_.push_back(std::move(*made));
        }
        return pool;
    }
    /// Builds all sites for runs at this level; the first error when one cannot be built.
    result<void> prepare(int level) {
        for (auto& each : workers_) SB_CHECK(each.send_prepare(level));
        result<void> prepared{};
        for (auto& each : workers_)
            if (auto const done = each.receive(); done.has_error() && !prepared.has_error()) prepared = done.error();
        return prepared;
    }
    worker_pool(worker_pool&&) = default;
    worker_pool& operator=(worker_pool&&) = delete;
    ~worker_pool() {
        if (folder_) close();
    }
    std::vector<worker>& workers() noexcept { return workers_; }
    files::session_folder& folder() noexcept { return *folder_; }

    /// Ends the workers, whatever they do, and all that is left of their runs.
    void close() {
        for (auto& each : workers_) ::kill(each.pid(), SIGTERM), each.hang_up();
        auto const until = monotonic_ns() + most_ending_ns;
        bool cleared_up = true;
        for (auto const& each : workers_) cleared_up = each.await_end(until) && cleared_up;
        if (!cleared_up) end_orphans();
        workers_.clear();
        folder_.reset();
        if (!adopted_before_) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    }

private:
    static constexpr std::int64_t most_ending_ns = 10'000'000'000; // for a run and for clearing up after it; then we clear up ourselves

    worker_pool() = default;

    /// When a process dies, its children become ours.
    void end_orphans() const {
        auto const is_ours = [&](pid_t child) {
            auto const group = ::getpgid(child);
            if (std::any_of(workers_.begin(), workers_.end(), [&](auto const& each) { return each.pid() == group; })) return true;
            return ::getsid(child) != ::getsid(0) && std::find(others_.begin(), others_.end(), child) == others_.end();
        };
        for (;;) {
            std::vector<pid_t> left;
            process::each_child([&](pid_t child) {
                if (is_ours(child)) left.push_back(child);
            });
            if (left.empty()) return;
            for (auto const child : left) {
                if (auto const group = ::getpgid(child); group > 1) ::kill(-group, SIGKILL); // a group dies as one: no fork escapes
                ::kill(child, SIGKILL);
                while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
            }
        }
    }

    int adopted_before_ = 0;
    std::vector<pid_t> others_; // children that were there before
    std::unique_ptr<files::session_folder> folder_;
    std::vector<worker> workers_;
};

} // namespace sb::local
