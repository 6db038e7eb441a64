// SPDX-License-Identifier: MIT
// A program under limits, in one copy or several at once, followed to its end and measured.
//
// How it works: this process blocks SIGCHLD and SIGTERM and reads them from a signalfd; each copy has a pipe of its
// own for standard output, standard error and reports. One poll waits for all of these with the time left. A copy that
// ended is looked at while it is still a zombie (its I/O counts live in /proc until it is reaped), then reaped with its
// resource usage. Orphans come to us (see tree.hpp) and are counted in. When the last copy has ended, what is left is
// killed, or waited for on request; the pipes are read dry, never waited for, so a process that fled with one of their
// ends delays nothing.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/isolate/capture.hpp>
#include <sb/isolate/spawn.hpp>
#include <sb/isolate/tree.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <vector>

namespace sb::isolate {

/// What to run.
struct job {
    std::string path; ///< of the program, looked up already
    std::vector<std::string> argv, environment;
    limits held;
    std::string in = "/dev/null"; ///< file that becomes standard input, opened anew for each copy
    int copies = 1;
    bool wait_tree = false; ///< wait for what the first process leaves behind instead of killing it
    bool reports = false; ///< give it a report channel
    bool keep_output = false; ///< copy the first copy's output to the files given to `watcher`
    std::size_t first_cpu = 0;
};

/// Why we ended a run; the first cause stays.
enum class killer { nobody, wall, output, request, trouble };

/// Processor time, memory and traffic with storage, added up as they are learnt.
struct usage {
    double user_s = 0, system_s = 0;
    std::int64_t peak_rss_bytes = 0; ///< of the largest process
    std::optional<std::int64_t> read_bytes, write_bytes; ///< null when the kernel would not say
    bool known = false;

    void add(usage const& other) {
        if (!other.known) return;
        user_s += other.user_s;
        system_s += other.system_s;
        peak_rss_bytes = std::max(peak_rss_bytes, other.peak_rss_bytes);
        if (!known) read_bytes = other.read_bytes, write_bytes = other.write_bytes;
        else sum(read_bytes, other.read_bytes), sum(write_bytes, other.write_bytes);
        known = true;
    }

private:
    static void sum(std::optional<std::int64_t>& into, std::optional<std::int64_t> more) {
        if (into && more) *into += *more;
        else into.reset();
    }
};

/// How one copy came to its end.
struct copy_end {
    spawn_failure failure; ///< its program could not be executed
    int status = 0; ///< as wait gives it
    double wall_s = 0; ///< from the call of exec to its end
    usage used;
};

struct outcome {
    std::int64_t started_ns = 0; ///< since 1970
    double wall_s = 0; ///< from the first exec to the last copy's end
    killer killed_by = killer::nobody;
    std::string trouble; ///< why not all copies could be started; empty when they were
    std::vector<copy_end> copies; ///< those that were started
    usage orphans; ///< of what outlived its parent and was reaped by us
    std::int64_t left_running = 0; ///< processes that were alive when the run ended, and were killed
    bool orphan_broke_file_limit = false;
    std::size_t shown = 0; ///< the copy whose streams these are: the first that did not end well, else the first
    captured out, err;
    std::vector<std::string> reports; ///< what each copy wrote to its report channel
    bool reports_cut = false; ///< more came than is kept
};

class watcher {
public:
    static constexpr std::size_t most_report_bytes = std::size_t{256} << 10; ///< a copy

    /// Blocks SIGCHLD and SIGTERM in this thread for good: SIGTERM ends a run in progress and is remembered.
    /// `keep_out` and `keep_err` are files for `job::keep_output`, -1 for none.
    static result<watcher> make(int keep_out = -1, int keep_err = -1) {
        SB_CHECK(adopt_orphans());
        SB_TRY(auto spawns, spawner::make());
        sigset_t ours;
        sigemptyset(&ours);
        sigaddset(&ours, SIGCHLD);
        sigaddset(&ours, SIGTERM);
        ::pthread_sigmask(SIG_BLOCK, &ours, nullptr);
        unique_fd signals{::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)};
        if (!signals) return last_error("signalfd");
        return watcher{std::move(spawns), std::move(signals), keep_out, keep_err};
    }

    /// Readable when SIGTERM came while nothing ran.
    int signals() const noexcept { return signals_.get(); }
    bool stop_asked() {
        read_signals();
        return stop_;
    }

    /// Whatever the program does is an outcome, and so is a system that would not start it.
    outcome run(job const& what) {
        got_ = {};
        copies_.clear();
        none_left_ = ending_ = false;
        alive_ = 0;
        first_ns_ = last_ns_ = monotonic_ns();
        whole_tree_ = what.wait_tree;
        if (auto const started = start(what); started.has_error()) {
            got_.trouble = started.error().what;
            kill_all(killer::trouble);
        }
        follow(what);
        if (!none_left_) end_the_rest();
        read_dry();
        return collect();
    }

private:
    struct stream {
        unique_fd end;
        capture into;
    };
    struct copy {
        pid_t pid = 0;
        bool ended = true; // and not before it has begun: kill(0, …) would be for us
        std::int64_t start_ns = 0;
        copy_end how;
        stream out, err;
        unique_fd report;
        std::string reported;
    };

    watcher(spawner spawns, unique_fd signals, int keep_out, int keep_err)
        : spawns_{std::move(spawns)}, signals_{std::move(signals)}, keep_out_{keep_out}, keep_err_{keep_err},
          block_{std::make_unique<char[]>(block_size)} {
        ::getrlimit(RLIMIT_NOFILE, &open_files_);
        auto raised = open_files_; // many copies need many pipes; the children get the old limit back
        raised.rlim_cur = raised.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &raised);
    }

    static std::vector<char*> pointers(std::vector<std::string> const& from, std::size_t skip = 0) {
        std::vector<char*> all;
        all.reserve(from.size() + 3);
        for (auto i = skip; i < from.size(); ++i) all.push_back(const_cast<char*>(from[i].c_str()));
        return all;
    }

    result<void> start(job const& what) {
        auto argv = pointers(what.argv), environment = pointers(what.environment);
        argv.push_back(nullptr), environment.push_back(nullptr);
        std::vector<char*> through_shell{const_cast<char*>("/bin/sh"), const_cast<char*>(what.path.c_str())};
        for (auto* each : pointers(what.argv, 1)) through_shell.push_back(each);
        through_shell.push_back(nullptr);
        rlimit_list rlimits{what.held};
        rlimits.restore(RLIMIT_NOFILE, open_files_);
        cpu_set_t cpus;
        if (what.held.cpus >= 0) cpus = choose_cpus(what.held.cpus, what.first_cpu);

        launch plan;
        plan.path = what.path.c_str();
        plan.argv = argv.data(), plan.shell_argv = through_shell.data(), plan.environment = environment.data();
        plan.rlimits = &rlimits;
        plan.cpus = what.held.cpus >= 0 ? &cpus : nullptr;
        got_.started_ns = wall_ns();
        copies_.reserve(static_cast<std::size_t>(what.copies));
        for (int i = 0; i < what.copies && got_.killed_by == killer::nobody; ++i) {
            SB_TRY(auto const in, open_file(what.in, O_RDONLY));
            SB_TRY(auto out, make_pipe());
            SB_TRY(auto err, make_pipe());
            pipe_ends report;
            if (what.reports) {
                SB_TRY(report, make_pipe());
            }
            bool const keep = what.keep_output && i == 0;
            auto& c = copies_.emplace_back(copy{0, true, 0, {},
                {std::move(out.read), capture{what.held.output_bytes, keep ? keep_out_ : -1}},
                {std::move(err.read), capture{what.held.output_bytes, keep ? keep_err_ : -1}}, std::move(report.read), {}});
            plan.in = in.get(), plan.out = out.write.get(), plan.err = err.write.get();
            plan.report = what.reports ? report.write.get() : -1;
            c.start_ns = monotonic_ns();
            auto const pid = spawns_.start(plan, c.how.failure, c.start_ns);
            if (pid.has_error()) return copies_.pop_back(), pid.error();
            c.pid = *pid;
            if (i == 0) first_ns_ = last_ns_ = c.start_ns;
            if (!c.how.failure.step) c.ended = false, ++alive_;
            if (what.copies > 1 && what.held.wall_ns >= 0 && monotonic_ns() - first_ns_ > what.held.wall_ns) kill_all(killer::wall);
        }
        return {};
    }

    /// Until the last copy has ended; with `wait_tree` until nothing is left.
    void follow(job const& what) {
        auto const due = what.held.wall_ns < 0 ? -1 : first_ns_ + what.held.wall_ns;
        for (;;) {
            if (alive_ == 0 && (!whole_tree_ || none_left_)) return;
            auto const now = monotonic_ns();
            if (due >= 0 && now >= due) kill_all(killer::wall);
            bool const again = got_.killed_by != killer::nobody; // what forked between our look and our kill
            wait_for(again ? now + sweep_ns : due, now);
            for (auto& c : copies_)
                if (c.out.into.over() || c.err.into.over()) kill_all(killer::output);
            if (stop_) kill_all(killer::request);
            if (got_.killed_by != killer::nobody) kill_children();
            if (whole_tree_) reap();
        }
    }

    /// What the first processes left behind.
    void end_the_rest() {
        ending_ = got_.killed_by == killer::nobody;
        for (reap(); !none_left_; reap()) {
            kill_children();
            reap();
            if (none_left_) return;
            auto const now = monotonic_ns();
            wait_for(now + sweep_ns, now);
        }
    }

    void kill_all(killer why) {
        if (got_.killed_by == killer::nobody) got_.killed_by = why;
        for (auto const& c : copies_)
            if (!c.ended) ::kill(-c.pid, SIGKILL), ::kill(c.pid, SIGKILL);
        kill_children();
    }

    /// One poll: signals and whatever the streams hold, at most until `until` (-1: as long as it takes).
    void wait_for(std::int64_t until, std::int64_t now) {
        waiting_.clear();
        waiting_.push_back({signals_.get(), POLLIN, 0});
        auto const watch = [&](unique_fd const& fd) {
            if (fd) waiting_.push_back({fd.get(), POLLIN, 0}); // nothing for what is closed: poll takes as many as may be open
        };
        for (auto const& c : copies_) watch(c.out.end), watch(c.err.end), watch(c.report);
        timespec left{};
        if (until >= 0) {
            auto const ns = std::max<std::int64_t>(until - now, 0);
            left = {ns / 1'000'000'000, ns % 1'000'000'000};
        }
        if (::ppoll(waiting_.data(), waiting_.size(), until < 0 ? nullptr : &left, nullptr) <= 0) return;
        std::size_t i = 1;
        auto const ready = [&](unique_fd const& fd) { return fd && waiting_[i++].revents != 0; };
        for (auto& c : copies_) {
            bool const out = ready(c.out.end), err = ready(c.err.end), report = ready(c.report); // before any is closed
            if (out) drain(c.out);
            if (err) drain(c.err);
            if (report) drain_report(c);
        }
        if (waiting_[0].revents) read_signals(), reap();
    }

    /// Reads once; true while more may come. Called only when poll says that it will not wait.
    bool read_some(unique_fd& from, std::string_view& block) {
        auto const n = retry([&] { return ::read(from.get(), block_.get(), block_size); });
        if (n <= 0) return from.reset(), false;
        block = {block_.get(), static_cast<std::size_t>(n)};
        return true;
    }
    void drain(stream& s) {
        std::string_view block;
        if (read_some(s.end, block)) s.into.take(block);
    }
    void drain_report(copy& c) {
        std::string_view block;
        if (!read_some(c.report, block)) return;
        auto const room = most_report_bytes - c.reported.size();
        if (block.size() > room) got_.reports_cut = true;
        c.reported.append(block.substr(0, room));
    }
    /// What is in the pipes already; nobody of the tree is left to write more.
    void read_dry() {
        auto const empty = [&](unique_fd const& fd) {
            pollfd one{fd.get(), POLLIN, 0};
            return !fd || ::poll(&one, 1, 0) <= 0;
        };
        for (auto& c : copies_) {
            // bounded: a stranger who was handed the other end may be writing still
            for (int i = 0; i < most_dry_reads && !empty(c.out.end); ++i) drain(c.out);
            for (int i = 0; i < most_dry_reads && !empty(c.err.end); ++i) drain(c.err);
            for (int i = 0; i < most_dry_reads && !empty(c.report); ++i) drain_report(c);
        }
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

    static double as_seconds(timeval t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

    /// Takes in every child that has ended. Sets `none_left_` when there is none at all.
    void reap() {
        for (;;) {
            siginfo_t info{};
            if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
                if (errno == EINTR) continue;
                none_left_ = true;
                return;
            }
            if (info.si_pid == 0) return;
            auto const seen = monotonic_ns();
            usage used;
            read_io(info.si_pid, used);
            rusage spent{};
            int status = 0;
            if (::wait4(info.si_pid, &status, 0, &spent) < 0) continue;
            used.known = true;
            used.user_s = as_seconds(spent.ru_utime);
            used.system_s = as_seconds(spent.ru_stime);
            used.peak_rss_bytes = std::int64_t{spent.ru_maxrss} * 1024;
            auto const c = std::find_if(copies_.begin(), copies_.end(), [&](copy const& each) { return each.pid == info.si_pid && !each.ended; });
            if (c == copies_.end()) {
                got_.orphans.add(used);
                if (whole_tree_) last_ns_ = seen;
                if (ending_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++got_.left_running;
                if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) got_.orphan_broke_file_limit = true;
                continue;
            }
            c->ended = true;
            c->how.status = status;
            c->how.used = used;
            c->how.wall_s = static_cast<double>(seen - c->start_ns) / 1e9;
            last_ns_ = std::max(last_ns_, seen);
            --alive_;
        }
    }

    /// A zombie still has its I/O counts, those of the children it waited for included; reaping it loses them.
    static void read_io(pid_t pid, usage& into) {
        char path[32];
        auto const length = static_cast<std::size_t>(std::to_chars(path + 6, path + 20, pid).ptr - path);
        std::copy_n("/proc/", 6, path);
        std::copy_n("/io", 4, path + length);
        unique_fd const file{::open(path, O_RDONLY | O_CLOEXEC)};
        if (!file) return;
        char text[512];
        auto const n = ::read(file.get(), text, sizeof text);
        if (n <= 0) return;
        std::string_view const all{text, static_cast<std::size_t>(n)};
        auto const field = [&](std::string_view name) -> std::optional<std::int64_t> {
            auto const at = all.find(name);
            if (at == std::string_view::npos) return std::nullopt;
            std::int64_t count = 0;
            auto const* const from = all.data() + at + name.size();
            if (std::from_chars(from, all.data() + all.size(), count).ec != std::errc{}) return std::nullopt;
            return count;
        };
        into.read_bytes = field("\nread_bytes: ");
        into.write_bytes = field("\nwrite_bytes: ");
    }

    outcome collect() {
        got_.wall_s = static_cast<double>(last_ns_ - first_ns_) / 1e9;
        auto const bad = std::find_if(copies_.begin(), copies_.end(), [](copy const& c) { return c.how.failure.step || c.how.status != 0; });
        got_.shown = bad == copies_.end() ? 0 : static_cast<std::size_t>(bad - copies_.begin());
        for (auto& c : copies_) {
            got_.copies.push_back(c.how);
            if (!c.reported.empty()) got_.reports.push_back(std::move(c.reported));
        }
        if (!copies_.empty()) {
            got_.out = copies_[got_.shown].out.into.finish();
            got_.err = copies_[got_.shown].err.into.finish();
        }
        return std::move(got_);
    }

    static constexpr std::size_t block_size = std::size_t{64} << 10; // a pipe's capacity
    static constexpr std::int64_t sweep_ns = 2'000'000;
    static constexpr int most_dry_reads = 64; // four times what a pipe holds

    spawner spawns_;
    unique_fd signals_;
    int keep_out_, keep_err_;
    std::unique_ptr<char[]> block_;
    rlimit open_files_{};
    std::vector<copy> copies_;
    std::vector<pollfd> waiting_;
    outcome got_;
    std::int64_t first_ns_ = 0, last_ns_ = 0;
    std::size_t alive_ = 0; // copies that have not ended
    bool whole_tree_ = false, none_left_ = false, ending_ = false, stop_ = false;
};

} // namespace sb::isolate
