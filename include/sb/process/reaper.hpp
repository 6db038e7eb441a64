// SPDX-License-Identifier: MIT
// A reaper: the small process that starts programs, waits for every process that ends, and kills the rest.
//
// How it works: a watcher (watch/watcher.hpp) stays outside and has the pipes and the clock. The reaper is the parent of every
// program of the run. In its own process namespace it is process 1: orphans of a payload become its children, and one
// kill(-1) reaches every process. Without a namespace it is a subreaper and kills its children until there are none
// (adopt_and_kill.hpp). It reads its orders from memory shared with the watcher and from a socket. When that socket is closed, or the
// watcher is dead, it kills everything and ends. It never depends on a payload to cooperate.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/process/adopt_and_kill.hpp>
#include <sb/process/reaper_figures.hpp>
#include <sb/process/reaper_messages.hpp>
#include <sb/process/spawn.hpp>
#include <algorithm>
#include <ctime>
#include <optional>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace sb::process {

class reaper {
public:
    /// In the process that becomes the reaper; `alone` when it is process 1 of its namespace. Blocks SIGCHLD.
    static result<reaper> make(unique_fd socket, order_room& room, bool alone, reaper_files files) {
        std::signal(SIGCHLD, SIG_DFL); // if it is ignored, the kernel reaps the children itself, and we would wait forever
        if (!alone) SB_CHECK(adopt_orphans());
        SB_TRY(auto spawns, spawner::make(alone ? 0 : ignored_signals())); // in a sandbox none is ignored (sandbox_template.hpp)
        sigset_t ours;
        sigemptyset(&ours);
        sigaddset(&ours, SIGCHLD);
        ::sigprocmask(SIG_BLOCK, &ours, nullptr);
        unique_fd signals{::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)};
        if (!signals) return last_error("signalfd");
        return reaper{std::move(socket), room, alone, std::move(files), std::move(spawns), std::move(signals)};
    }

    /// Runs until the watcher is gone. No process that it started is alive when it returns.
    void serve() {
        message text;
        while (next(text)) {
            if (text.what == word::start) {
                let_go();
                run([&] { start(text.copy); });
            } else if (text.what == word::rules) {
                let_go();
                rules_ = std::move(passed_[0]), rules_flags_ = static_cast<unsigned>(text.copy);
            } else if (text.what == word::let_go) {
                let_go();
                (void)send_message(socket_.get(), {word::done, 0});
            }
        }
        kill_all();
        clear();
    }

private:
    struct child {
        pid_t pid = 0;
        bool ended = false;
    };
    reaper(unique_fd socket, order_room& room, bool alone, reaper_files files, spawner spawns, unique_fd signals)
        : socket_{std::move(socket)}, room_{&room}, alone_{alone}, figures_{std::move(files)}, spawns_{std::move(spawns)}, signals_{std::move(signals)} {}

    bool receive(message& text) {
        passed_files came;
        for (auto& each : passed_) each.reset();
        if (!receive_message(socket_.get(), text, came)) return false;
        count_ = came.left();
        for (std::size_t i = 0; i < count_; ++i) passed_[i] = came.take();
        return true;
    }

    /// The next message. A waiting child may be called before that; then its run is done first.
    bool next(message& text) {
        while (ahead_pid_ > 0) {
            pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
            if (::ppoll(waiting, 2, nullptr, nullptr) < 0) continue;
            if (room_->ahead().is_called(ahead_)) {
                if (waiting[0].revents) read_signals();
                auto const pid = std::exchange(ahead_pid_, 0);
                run([&] { take_in(pid), reap(); }); // its end may have been signalled already
                if (gone_) return false;
                continue;
            }
            if (waiting[1].revents) break;
            read_signals();
            siginfo_t info{};
            bool const died = ::waitid(P_PID, static_cast<id_t>(ahead_pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == ahead_pid_;
            if (died) let_go();
        }
        return receive(text);
    }

    /// `begin` starts the first copy, or adopts one that was started.
    template <class Begin>
    void run(Begin const& begin) {
        auto const cpu_before = own_cpu_ns();
        auto& order = room_->order();
        tree_ = {};
        children_.clear();
        children_.reserve(static_cast<std::size_t>(std::max(order.copies, 1)));
        alive_ = 0;
        stopped_ = none_left_ = ending_ = gone_ = false;
        begin();
        while (!gone_) {
            bool const all_there = stopped_ || children_.size() == static_cast<std::size_t>(order.copies);
            if (all_there && alive_ == 0 && (!order.wait_tree || stopped_ || none_left_)) break;
            wait_for_news();
        }
        end_the_rest();
        if (gone_) return; // the watcher is gone: nobody to report to
        order.tree = tree_;
        order.tree.cleared = 1;
        figures_.count_traffic(order.tree.traffic);
        if (auto const last = figures_.last_pid(); last > 0 && !children_.empty() && children_.front().pid > 0) order.tree.processes_made = last - children_.front().pid + 1;
        if (alone_) order.tree.leftovers = ipc_objects();
        order.tree.own_cpu_ns = own_cpu_ns() - cpu_before;
        auto const next = order.ahead; // read before `done` is sent: afterwards the watcher may write to this memory
        auto const awake_ns = order.awake ? waking_ns : 0;
        bool const well = !stopped_ && !children_.empty() && order.reports[0].status == 0 && !order.reports[0].failure;
        if (next != 0 && !well) (void)room_->ahead().withdraw(next);
        (void)send_message(socket_.get(), {word::done, 0});
        if (next != 0 && well) start_ahead(next, awake_ns); // while the watcher works on its figures
    }

    void take_in(pid_t pid) {
        children_.emplace_back().pid = pid;
        ++alive_;
    }
    void start(int index) {
        auto& order = room_->order();
        auto& report = order.reports[index];
        auto plan = launch_of(order);
        auto const last = order.grouped ? std::size_t{1} : 0;
        plan.in = passed_[0].get(), plan.out = passed_[1].get(), plan.err = passed_[2].get();
        plan.report = count_ - last > 3 ? passed_[3].get() : -1;
        if (order.grouped && count_ > 0) plan.group = passed_[count_ - 1].get(), plan.key = order.clone_key;
        plan.rules = rules_.get(), plan.rules_flags = rules_flags_;
        auto const pid = spawns_.start(plan, report);
        for (std::size_t i = 0; i < most_passed; ++i) {
            kept_[i].reset();
            if (order.ahead != 0) kept_[i] = std::move(passed_[i]);
            passed_[i].reset();
        }
        if (pid.has_error()) return fail(report, errno);
        if (report.failure) children_.emplace_back().ended = true;
        else take_in(*pid);
    }
    void fail(copy_report& report, int code) {
        report.failure = {spawn_step::clone, code};
        children_.emplace_back().ended = true;
    }

    /// Clones a child for the next run, with the pipes of the last start.
    void start_ahead(ahead_call::number number, std::int64_t awake_ns) {
        launch plan;
        plan.in_path = "/dev/null";
        plan.out = kept_[1].get(), plan.err = kept_[2].get(), plan.report = kept_[3].get();
        plan.rules = rules_.get(), plan.rules_flags = rules_flags_;
        auto const pid = spawns_.start_ahead(plan, *room_, number, awake_ns);
        int const code = errno;
        if (!pid.has_error()) ahead_ = number, ahead_pid_ = *pid;
        else if (!room_->ahead().withdraw(number)) run([&] { fail(room_->order().reports[0], code); }); // it was called meanwhile
    }
    /// Ends the waiting child, if there is one and it was not called. If it was called, its run is done first.
    void let_go() {
        auto const pid = std::exchange(ahead_pid_, 0);
        if (pid == 0) return;
        if (!room_->ahead().withdraw(ahead_) && room_->ahead().is_called(ahead_)) return run([&] { take_in(pid), reap(); });
        ::kill(pid, SIGKILL);
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
    }

    void wait_for_news() {
        pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
        timespec const soon{0, sweep_ns};
        if (::ppoll(waiting, 2, stopped_ ? &soon : nullptr, nullptr) < 0) return;
        if (waiting[0].revents) {
            read_signals();
            reap();
        }
        if (waiting[1].revents) {
            message text;
            if (!receive(text)) gone_ = stopped_ = true;
            else if (text.what == word::stop) stopped_ = true;
            else if (text.what == word::start && !stopped_) start(text.copy);
        }
        if (stopped_) kill_all(), reap();
    }

    /// Ends what the first processes left behind.
    void end_the_rest() {
        ending_ = !stopped_;
        if (ending_ && alive_ == 0 && !none_left_) reap();
        clear();
    }
    void clear() {
        for (; !none_left_; reap()) {
            kill_all();
            reap();
            if (none_left_) return;
            pollfd waiting{signals_.get(), POLLIN, 0};
            timespec const soon{0, sweep_ns};
            (void)::ppoll(&waiting, 1, &soon, nullptr);
            read_signals();
        }
    }
    void kill_all() {
        if (alone_) {
            (void)::kill(-1, SIGKILL); // all processes of our namespace except us
            return;
        }
        for (auto const& each : children_)
            if (!each.ended) ::kill(-each.pid, SIGKILL), ::kill(each.pid, SIGKILL);
        kill_children();
    }

    /// Reaps every child that has ended. Sets `none_left_` when there is no child at all.
    void reap() {
        for (;;) {
            siginfo_t info{};
            if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
                if (errno == EINTR) continue;
                none_left_ = true;
                return;
            }
            none_left_ = false;
            if (info.si_pid == 0) return;
            auto const seen = monotonic_ns();
            auto const at = std::find_if(children_.begin(), children_.end(), [&](child const& each) { return each.pid == info.si_pid && !each.ended; });
            rusage spent{};
            int status = 0;
            bool const by_limit = info.si_code != CLD_EXITED && (info.si_status == SIGXCPU || info.si_status == SIGKILL);
            auto const own_us = by_limit && at != children_.end() ? figures_.processor_time(info.si_pid) : -1; // readable until we reap it
            if (::wait4(info.si_pid, &status, 0, &spent) < 0) continue;
            auto used = usage_of(spent);
            tree_.last_end_ns = seen;
            if (at == children_.end()) {
                add(tree_.orphans, used);
                if (ending_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++tree_.left_running;
                if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) tree_.orphan_broke_file_limit = 1;
                continue;
            }
            at->ended = true;
            auto& report = room_->order().reports[at - children_.begin()];
            report.status = status;
            take_off(used, report.before_ns / 1000);
            report.used = used;
            report.own_us = own_us;
            report.end_ns = seen;
            report.ended = 1;
            --alive_;
        }
    }

    /// Reads all pending signals; counts these bytes as ours, not the payload's.
    void read_signals() noexcept {
        signalfd_siginfo all[8];
        for (;;) {
            auto const n = ::read(signals_.get(), all, sizeof all);
            if (n > 0) figures_.own_read(n);
            if (n < static_cast<ssize_t>(sizeof all)) return;
        }
    }

    static constexpr long sweep_ns = 2'000'000;
    static constexpr std::int64_t waking_ns = 60'000; // time to wake an idle processor, plus the watcher's work between two runs

    unique_fd socket_;
    order_room* room_;
    bool alone_;
    reaper_figures figures_;
    spawner spawns_;
    unique_fd signals_;
    unique_fd passed_[most_passed];
    unique_fd kept_[most_passed]; // descriptors of the last start, for the child after it
    std::size_t count_ = 0;
    unique_fd rules_;
    unsigned rules_flags_ = 0;
    ahead_call::number ahead_ = 0;
    pid_t ahead_pid_ = 0; // the waiting child; 0: there is none
    std::vector<child> children_;
    tree_report tree_;
    std::size_t alive_ = 0;
    bool stopped_ = false, none_left_ = false, ending_ = false, gone_ = false;
};

} // namespace sb::process
