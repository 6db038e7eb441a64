// SPDX-License-Identifier: MIT
// Runs a program under limits, in one copy or several at once, follows it to its end and measures it.
//
// How it works: the watcher stays outside. It makes three or four pipes for each copy and passes their far ends to the
// reaper (reaper.hpp), which starts the copies, waits for them and kills what is left. One poll waits for the pipes, for the
// reaper, for SIGTERM and for the time limit. A run always ends with the reaper's message that nothing of it is alive. A
// reaper that does not send it soon after it was told to stop is killed, and everything in its process namespace, if it has
// one, dies with it. At the end the watcher reads what is in the pipes but never waits for more, so a process that fled with
// one of their ends delays nothing.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/process/privileges.hpp>
#include <sb/process/reaper_link.hpp>
#include <sb/watch/output_pipes.hpp>
#include <sb/watch/job.hpp>
#include <sb/watch/polled_limits.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <vector>

namespace sb::watch {

/// Callbacks for the owner of a watcher; each is called at most once per run.
struct watch_calls {
    std::function<void()> under_way = {}; ///< the reaper has its orders: there is time for other work
    std::function<void()> before_kill = {}; ///< the run is about to be killed
    bool spare = false; ///< not a call: a processor is idle, so the watcher may poll for a few microseconds instead of sleeping
    bool again = false; ///< not a call: a similar run will probably follow in the same place, so a child may be cloned ahead for it
};

class watcher {
public:
    /// Blocks SIGTERM in this thread for good: SIGTERM ends a run in progress and is remembered. `keep_out` and `keep_err`
    /// are files for `job::keep_output`, -1 for none.
    static result<watcher> make(int keep_out = -1, int keep_err = -1) {
        sigset_t ours;
        sigemptyset(&ours);
        sigaddset(&ours, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &ours, nullptr);
        unique_fd signals{::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)};
        if (!signals) return last_error("signalfd");
        return watcher{std::move(signals), keep_out, keep_err};
    }

    /// Readable when SIGTERM came while no run was in progress.
    int signals() const noexcept { return signals_.get(); }
    bool stop_asked() {
        read_signals();
        return stop_;
    }
    /// The limit on open files before we raised it for ourselves.
    rlimit const& open_files() const noexcept { return open_files_; }

    /// Whatever the program does is a result, and so is a system that would not start it. `room` is the memory shared with
    /// the reaper at the other end of `by`.
    outcome run(job const& what, process::order_room& room, process::reaper_link& by, watch_calls const& calls = {}) {
        got_ = {};
        streams_.begin(what);
        room_ = &room, by_ = &by, calls_ = &calls;
        done_ = stopping_ = false;
        reports_ = nullptr;
        patience_ns_ = -1;
        first_ns_ = monotonic_ns();
        if (auto const started = start(what); started.has_error()) {
            got_.trouble = started.error().what;
            end_all(killer::trouble);
        }
        if (calls.under_way) calls.under_way();
        first_end_.reset();
        find_first_ns_ = calls.spare && by.alone && what.copies == 1 ? first_ns_ : -1;
        follow(what);
        first_end_.reset();
        streams_.read_dry(waiting_);
        return collect();
    }

private:
    watcher(unique_fd signals, int keep_out, int keep_err) : signals_{std::move(signals)}, streams_{keep_out, keep_err} {
        ::getrlimit(RLIMIT_NOFILE, &open_files_);
        auto raised = open_files_; // many copies need many pipes; the children get the old limit back
        raised.rlim_cur = raised.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &raised);
    }

    /// Writes the order where the reaper reads it.
    result<void> write_order(job const& what) {
        room_->clear();
        if (std::exchange(by_->hurries, false)) process::put_first(by_->pid, false); // children inherit its priority
        auto& order = room_->order();
        order.copies = what.copies;
        order.wait_tree = what.wait_tree;
        order.awake = calls_->spare;
        order.grouped = what.group >= 0, order.clone_key = what.clone_key;
        order.affine = what.held.cpus >= 0 || machine::is_at_home(); // we may be bound to a processor, but not the payload
        if (order.affine) order.cpus = what.held.cpus >= 0 ? machine::choose_cpus(what.held.cpus, what.first_cpu) : machine::allowed_cpus();
        order.rlimits = process::rlimit_list{what.held, by_->alone};
        order.rlimits.restore(RLIMIT_NOFILE, open_files_);
        auto* const path = room_->put(what.path);
        order.path = path;
        order.argv = room_->put({}, what.argv);
        order.shell_argv = room_->put({"/bin/sh", path}, what.argv, 1);
        order.environment = room_->put({}, what.environment);
        order.folder = what.folder.empty() ? nullptr : room_->put(what.folder);
        order.reports = reports_ = room_->put_reports(static_cast<std::size_t>(what.copies)); // what is there may change, so it is not read back
        if (!path || !order.argv || !order.shell_argv || !order.environment || !reports_)
            return system_error("the command and its environment are too large for exec");
        return {};
    }

    result<void> start(job const& what) {
        SB_CHECK(write_order(what));
        got_.started_ns = wall_ns();
        first_ns_ = monotonic_ns();
        limits_.begin(what, by_->alone ? by_->pid : -1, first_ns_);
        for (int i = 0; i < what.copies && got_.killed_by == killer::nobody; ++i) {
            unique_fd in;
            if (by_->ahead.number == 0 || !suits_ahead(what)) { // a waiting child has opened it already
                SB_TRY(in, open_input(what));
            }
            SB_CHECK(streams_.add(what, by_->alone));
            auto const next = ask_ahead(what);
            if (call_ahead(what)) {
                by_->ahead = next;
                continue;
            }
            auto const not_made = [&](error const& why) {
                streams_.drop_last();
                return why;
            };
            if (!in) {
                auto opened = open_input(what);
                if (opened.has_error()) return not_made(opened.error());
                in = std::move(*opened);
            }
            int ends[most_passed] = {in.get()};
            std::size_t count = 1 + streams_.far_ends(ends + 1);
            if (what.group >= 0) ends[count++] = what.group;
            if (!process::send_message(by_->socket.get(), {process::word::start, i}, {ends, count})) return not_made(last_error("send to the reaper"));
            streams_.forget_far_ends();
            by_->ahead = next;
            if (what.copies > 1 && what.held.wall_ns >= 0 && monotonic_ns() - first_ns_ > what.held.wall_ns) end_all(killer::wall);
        }
        return {};
    }

    /// A descriptor can still read a file that was removed or replaced. Such a file is reported and not read.
    static result<unique_fd> open_input(job const& what) {
        if (what.in_called.empty()) return open_file(what.in, O_RDONLY);
        unique_fd in{retry([&] { return ::open(what.in.c_str(), O_RDONLY | O_CLOEXEC); })};
        struct stat facts {};
        if (!in || ::fstat(in.get(), &facts) != 0) return last_error("open", what.in_called);
        if (facts.st_nlink == 0) return system_error(cat("open ", what.in_called, ": ", std::strerror(ENOENT), "; it was removed or replaced"));
        return in;
    }

    /// A child that another run of this kind could use. It waits where the run will be, so not in a group that is made anew.
    bool suits_ahead(job const& what) const {
        return by_->alone && what.copies == 1 && what.reports && what.group < 0 && what.held.numbered_pids < 0 && what.in == nothing_to_read;
    }
    /// Requests a child for the run after this one. Not under a limit on memory, where it might be one process too many, nor
    /// under one on processor time, which could delay it.
    process::reaper_link::child_ahead ask_ahead(job const& what) {
        if (!calls_->again || !suits_ahead(what) || what.held.tree_memory_bytes >= 0 || what.held.tree_cores >= 0) return {};
        room_->order().ahead = room_->ahead().expect();
        return {room_->order().ahead, streams_.replaced()};
    }
    /// True when the waiting child has been told to go on.
    bool call_ahead(job const& what) {
        auto const [number, pipes] = std::exchange(by_->ahead, {});
        if (number == 0 || pipes != streams_.replaced() || !suits_ahead(what) || !streams_.has_first_pipes()) return false;
        got_.called = room_->ahead().call(number);
        return got_.called;
    }

    /// Waits until the reaper says that nothing is alive, or is dead itself.
    void follow(job const& what) {
        auto begun = first_ns_;
        while (!done_) {
            auto const now = monotonic_ns();
            // the clock of a run starts with its exec, as the reaper reports it; a lie could gain only a bounded time
            if (auto const exec = reports_ ? reports_[0].exec_ns : 0; exec > begun && exec < std::min(now, first_ns_ + most_late)) begun = exec;
            auto const due = what.held.wall_ns < 0 ? -1 : begun + what.held.wall_ns;
            if (!stopping_ && due >= 0 && now >= due) end_all(killer::wall);
            if (patience_ns_ >= 0 && now >= patience_ns_) {
                ::kill(by_->pid, SIGKILL); // a namespace dies with its first process
                got_.reaper_lost = true;
                patience_ns_ = -1;
            }
            limits_.look_at_disk(now);
            if (auto const over = stopping_ ? killer::nobody : limits_.look(now); over != killer::nobody) end_all(over);
            if (find_first_ns_ >= 0 && now >= find_first_ns_) find_first(now);
            wait_for(stopping_ ? patience_ns_ : due, now);
            if (streams_.over()) end_all(killer::output);
            if (stop_) end_all(killer::request);
        }
    }

    void end_all(killer why) {
        if (got_.killed_by == killer::nobody) got_.killed_by = why;
        if (stopping_ || done_) return;
        stopping_ = true;
        if (calls_->before_kill) calls_->before_kill();
        if (by_->alone) patience_ns_ = monotonic_ns() + patience;
        // if we may: the reaper must run before the processes that it kills, which can be many and all have work to do when
        // they end
        if (by_->alone) by_->hurries = process::put_first(by_->pid, true);
        (void)process::send_message(by_->socket.get(), {process::word::stop, 0});
        by_->ahead.pipes = no_pipes; // if the reaper is done already, a call would overtake that message; an order comes after it
    }

    /// One poll for signals, the reaper and the streams, until `until` at most (-1: no limit).
    void wait_for(std::int64_t until, std::int64_t now) {
        waiting_.clear();
        waiting_.push_back({signals_.get(), POLLIN, 0});
        waiting_.push_back({by_->socket.get(), POLLIN, 0});
        auto const sooner = [&](std::int64_t at) {
            if (at >= 0) until = until < 0 ? at : std::min(until, at);
        };
        sooner(streams_.wait_with(waiting_, now));
        if (first_end_) waiting_.push_back({first_end_.get(), POLLIN, 0});
        if (!stopping_) sooner(limits_.due_ns());
        sooner(find_first_ns_);
        timespec left{};
        if (until >= 0) {
            auto const ns = std::max<std::int64_t>(until - now, 0);
            left = {ns / 1'000'000'000, ns % 1'000'000'000};
        }
        if (::ppoll(waiting_.data(), waiting_.size(), until < 0 ? nullptr : &left, nullptr) <= 0) return;
        streams_.drain_ready(waiting_.data() + 2);
        if (waiting_[0].revents) read_signals();
        if (waiting_[1].revents) hear_reaper();
        else if (first_end_ && waiting_.back().revents) expect_reaper();
    }

    /// Finds the reaper's only child, if it has one by now: the child's end then wakes us together with the reaper, not
    /// after it. This is only a hint; only the reaper's report counts.
    void find_first(std::int64_t now) {
        find_first_ns_ = find_first_ns_ == first_ns_ ? now + first_look_ns : -1; // a reaper that slept has not begun yet: try once more
        if (!by_->children) by_->children = unique_fd{::open(cat("/proc/", by_->pid, "/task/", by_->pid, "/children").c_str(), O_RDONLY | O_CLOEXEC)};
        char text[64];
        auto const n = by_->children ? ::pread(by_->children.get(), text, sizeof text, 0) : -1;
        pid_t pid = -1;
        if (n <= 0 || std::from_chars(text, text + n, pid).ec != std::errc{}) return;
        find_first_ns_ = -1;
        first_end_ = unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    }
    /// The reaper only needs to count and to report. Sleeping meanwhile would take longer than polling.
    void expect_reaper() {
        first_end_.reset();
        for (auto const until = monotonic_ns() + counting_ns; !done_ && monotonic_ns() < until;) hear_reaper(MSG_DONTWAIT);
    }

    void hear_reaper(int flags = 0) {
        process::message text;
        passed_files none;
        bool const said = process::receive_message(by_->socket.get(), text, none, flags);
        if (!said && flags != 0 && errno == EAGAIN) return;
        if (said && text.what == process::word::done) done_ = true;
        if (said) return;
        done_ = got_.reaper_lost = true;
        if (!by_->alone) process::kill_children(); // its orphans come to us, if we adopt orphans
    }

    void read_signals() {
        signalfd_siginfo all[8];
        for (;;) {
            auto const n = ::read(signals_.get(), all, sizeof all);
            if (n <= 0) return;
            for (std::size_t i = 0; i < static_cast<std::size_t>(n) / sizeof all[0]; ++i)
                if (all[i].ssi_signo == SIGTERM) stop_ = true;
        }
    }

    outcome collect() {
        auto const& order = room_->order();
        auto const tree = order.tree; // read once: others can write to this memory
        auto first = std::int64_t{0}, last = std::int64_t{0};
        for (std::size_t i = 0; i < streams_.size(); ++i) {
            auto const said = reports_[i];
            auto& how = got_.copies.emplace_back();
            how.failure = said.failure;
            auto const begun = said.exec_ns > 0 ? said.exec_ns : first_ns_;
            auto const ended = said.ended != 0 ? said.end_ns : monotonic_ns();
            if (i == 0) first = last = begun;
            if (how.failure) continue;
            // a run that we ended before it had begun, on a starved machine, did not fail to start
            if (said.exec_ns == 0 && said.ended == 0 && got_.reaper_lost && got_.killed_by == killer::nobody) how.failure = {process::spawn_step::clone, ECHILD};
            how.before_s = static_cast<double>(said.before_ns) / 1e9;
            how.status = said.ended != 0 ? said.status : SIGKILL; // it died with its reaper
            if (said.ended != 0) how.used = usage{said.used};
            if (said.ended != 0 && said.own_us >= 0) how.own_s = static_cast<double>(said.own_us) / 1e6;
            how.wall_s = static_cast<double>(ended - begun) / 1e9;
            last = std::max(last, ended);
        }
        if (tree.cleared != 0) {
            got_.orphans = usage{tree.orphans};
            got_.left_running = tree.left_running;
            got_.orphan_broke_file_limit = tree.orphan_broke_file_limit != 0;
            got_.reaper_cpu_ns = tree.own_cpu_ns;
            auto const known = [](std::int64_t n) { return n >= 0 ? std::optional{n} : std::nullopt; };
            got_.read_chars = known(tree.traffic.read_chars), got_.written_chars = known(tree.traffic.written_chars);
            got_.cancelled_bytes = known(tree.traffic.cancelled_bytes);
            if (by_->alone) got_.processes_made = known(tree.processes_made);
            if (order.wait_tree) last = std::max(last, tree.last_end_ns);
        } else {
            got_.reaper_lost = true;
        }
        got_.scratch_full = limits_.disk_was_full();
        got_.wall_s = static_cast<double>(last - first) / 1e9;
        auto const bad = std::find_if(got_.copies.begin(), got_.copies.end(), [](copy_end const& c) { return c.failure || c.status != 0; });
        got_.shown = bad == got_.copies.end() ? 0 : static_cast<std::size_t>(bad - got_.copies.begin());
        streams_.hand_over(got_, !got_.reaper_lost);
        return std::move(got_);
    }

    static constexpr std::int64_t first_look_ns = 150'000; // until a reaper that slept has started its first child
    static constexpr std::int64_t counting_ns = 50'000; // the longest time that a reaper takes if nothing else is left to end
    static constexpr std::uint64_t no_pipes = ~std::uint64_t{0};
    static constexpr std::int64_t most_late = 1'000'000'000; // the longest delay of an exec, on a starved machine
    static constexpr std::int64_t patience = 6'000'000; // for a reaper to kill and count; after that it is killed too

    unique_fd signals_;
    output_pipes streams_;
    polled_limits limits_;
    rlimit open_files_{};
    process::order_room* room_ = nullptr;
    process::reaper_link* by_ = nullptr;
    watch_calls const* calls_ = nullptr;
    process::copy_report* reports_ = nullptr;
    std::vector<pollfd> waiting_;
    outcome got_;
    unique_fd first_end_; // readable when the first process has ended
    std::int64_t find_first_ns_ = -1; // when to look for it; -1: never again
    std::int64_t first_ns_ = 0, patience_ns_ = -1;
    bool stop_ = false, stopping_ = false, done_ = false;
};

} // namespace sb::watch
