// SPDX-License-Identifier: MIT
// A worker: a small process in which runs happen, one after the other.
//
// How it works: a backend forks its workers before the session reads anything large. Each worker waits on a socket for jobs,
// runs them (watch/watcher.hpp) in its site (site.hpp) and answers with what happened. Because a worker is a process, its runs
// are separate from those of another. Its reaper keeps the peak memory of a payload correct, because Linux counts the memory
// of the process that calls exec as the payload's first peak. When the session dies, by whatever signal, the kernel tells
// its workers: they end their run and clear up. When a worker dies, its reaper and its payload die with it. The rest of its
// tree comes to the session, which is a subreaper too. A worker that does not end in time is killed: by the session that
// told it to end, or by the kernel when the session is dead or a run is overdue.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/last_resort.hpp>
#include <sb/machine/home_cpu.hpp>
#include <sb/local/input_for_check.hpp>
#include <sb/local/host_abilities.hpp>
#include <sb/local/site.hpp>
#include <sb/local/worker_messages.hpp>
#include <sb/machine/process_cpu.hpp>
#include <sb/run/lane.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace sb::local {

enum class errand : std::uint8_t {
    prepare, ///< builds the site ahead of the first run
    run, ///< in clean folders; a check runs in the folders as the previous run left them
    keep ///< moves those folders elsewhere, under a name
};

/// How a worker may use processors.
struct worker_cpus {
    bool spare = false; ///< see watch_calls
    machine::home_cpu home = {};
};

class worker {
public:
    /// Forks. `others` are workers made before; the child closes its copies of their ends.
    static result<worker> make(files::session_folder& session, std::size_t number, std::vector<worker> const& others, site_maker const& make_site, worker_cpus const& cpus) {
        worker made;
        made.cpus_ = cpus;
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return last_error("socketpair");
        made.socket_ = unique_fd{ends[0]};
        unique_fd theirs{ends[1]};
        made.out_ = unique_fd{::memfd_create("stdout", MFD_CLOEXEC)};
        made.err_ = unique_fd{::memfd_create("stderr", MFD_CLOEXEC)};
        if (!made.out_ || !made.err_) return last_error("memfd_create");
        made.number_ = number;
        auto const session_pid = ::getpid();
        sigset_t before;
        block_all_signals(&before); // the worker must not run a handler of the session's program
        made.pid_ = ::fork();
        if (made.pid_ < 0) {
            auto const wrong = last_error("fork");
            ::sigprocmask(SIG_SETMASK, &before, nullptr);
            return wrong;
        }
        ::setpgid(made.pid_, 0); // called by both parent and child; a worker's processes are recognized by its group, unless they have a session of their own
        if (made.pid_ > 0) {
            ::sigprocmask(SIG_SETMASK, &before, nullptr);
            return made;
        }

        hear_of_death();
        ::prctl(PR_SET_NAME, "sb-exec worker");
        for (auto const& other : others) ::close(other.socket_.get());
        ::close(ends[0]);
        for (int const s : {SIGINT, SIGTERM, SIGHUP}) std::signal(s, SIG_DFL);
        if (unique_fd const null{::open("/dev/null", O_RDWR | O_CLOEXEC)}; null) ::dup2(null.get(), 0), ::dup2(null.get(), 1);
        made.serve(session, theirs.get(), session_pid, make_site);
        ::_exit(0); // so that nothing of the session is cleaned up twice
    }

    int socket() const noexcept { return socket_.get(); }
    pid_t pid() const noexcept { return pid_; }
    std::size_t number() const noexcept { return number_; }
    /// Files with the first copy's output, for jobs that keep it; the next such job overwrites them.
    int out() const noexcept { return out_.get(); }
    int err() const noexcept { return err_.get(); }

    result<void> send(std::vector<run::job> const& jobs) {
        outbox orders;
        for (auto const& each : jobs) {
            packer wire;
            wire(errand::run);
            pass_job(wire, each);
            orders.put(wire.text());
        }
        return send_all(orders);
    }
    result<void> send_keep(std::string const& name) { return send(errand::keep, name); }
    result<void> send_prepare(int level) { return send(errand::prepare, level); }
    /// Reads the answers that are there, without waiting for more; false when the worker is gone. A worker sends as much of
    /// an answer as there is room for, and then makes its next run.
    bool look_for_answers() { return answers_.take_in(socket_.get(), MSG_DONTWAIT); }
    /// A complete answer is already here; polling `socket` would not show it.
    bool has_answer() const noexcept { return answers_.has_one(); }
    /// Closes our end: a worker that wants to send something finds nobody, and ends.
    void hang_up() noexcept { socket_.reset(); }
    /// Waits until it has ended. Kills it if it has not ended by then (monotonic). True when it ended by itself, and so
    /// cleared up.
    bool await_end(std::int64_t until_ns) const noexcept {
        unique_fd const end{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
        pollfd one{end.get(), POLLIN, 0};
        auto const left_ms = static_cast<int>(std::max<std::int64_t>((until_ns - monotonic_ns()) / 1'000'000, 0));
        if (end && retry([&] { return ::poll(&one, 1, left_ms); }) == 0) ::kill(pid_, SIGKILL);
        int status = 0;
        return retry([&] { return ::waitpid(pid_, &status, 0); }) > 0 && WIFEXITED(status);
    }
    struct answer {
        std::uint64_t number; ///< of the job; 0 for a message that is not a job
        watch::outcome got;
    };
    /// Waits for the answer to what was sent.
    result<answer> receive() {
        auto const text = answers_.receive(socket_.get());
        if (!text) return system_error(cat("worker ", number_, " (process ", pid_, ") died"));
        unpacker wire{*text};
        std::string wrong;
        wire(wrong);
        if (!wrong.empty()) return system_error(wrong);
        answer made{};
        wire(made.number);
        pass_outcome(wire, made.got);
        return made;
    }

private:
    template <class What>
    result<void> send(errand order, What const& about) {
        packer wire;
        wire(order), wire(about);
        outbox orders;
        orders.put(wire.text());
        return send_all(orders);
    }
    result<void> send_all(outbox& orders) {
        if (!orders.send(socket_.get(), true)) return last_error("send to a worker");
        return {};
    }

    /// Separates what others use of the machine from what we use.
    struct usage_watch {
        machine::noise_watch looks;
        pid_t session = -1;
        std::int64_t runs_cpu_ns = 0; // of all payloads so far
    };
    static std::int64_t tree_cpu_ns(watch::outcome const& got) {
        auto all = got.orphans;
        double before_s = 0; // also counted by a group, unless the process waited for its call
        for (auto const& each : got.copies) all.add(each.used), before_s += each.before_s;
        bool const grouped = got.group && got.group->cpu_ns;
        auto const runs_ns = grouped ? std::max<std::int64_t>(*got.group->cpu_ns - got.reaper_cpu_ns, 0) : static_cast<std::int64_t>((all.user_s + all.system_s) * 1e9);
        return runs_ns + (grouped && !got.called ? 0 : static_cast<std::int64_t>(before_s * 1e9));
    }

    static constexpr int session_is_dead = SIGUSR1;
    static constexpr std::int64_t most_overdue_ns = 30'000'000'000; // for a run, beyond its limit: its start, its end, and a starved machine
    static constexpr std::int64_t most_ending_ns = 5'000'000'000; // for a run whose session is dead
    static constexpr std::int64_t most_clearing_ns = 60'000'000'000; // for clearing up after it

    static last_resort& without_session() noexcept {
        static last_resort one;
        return one;
    }
    static last_resort& overdue() noexcept {
        static last_resort one;
        return one;
    }
    /// A signal tells us that the session is dead, whatever we wait for. We then send SIGTERM to ourselves, as the session
    /// would, and it is noticed at the places that check for it.
    static void hear_of_death() noexcept {
        (void)without_session(); // created before a signal can come
        struct sigaction act {};
        act.sa_handler = [](int) {
            int const code = errno;
            without_session().in(most_ending_ns);
            ::kill(::getpid(), SIGTERM);
            errno = code;
        };
        act.sa_flags = SA_RESTART;
        ::sigaction(session_is_dead, &act, nullptr);
        ::prctl(PR_SET_PDEATHSIG, session_is_dead);
        sigset_t heard;
        sigemptyset(&heard), sigaddset(&heard, session_is_dead);
        ::sigprocmask(SIG_UNBLOCK, &heard, nullptr);
    }
    static void block_all_signals(sigset_t* before) {
        sigset_t all;
        sigfillset(&all);
        ::sigprocmask(SIG_SETMASK, &all, before);
    }

    /// In the child: answers until the session is gone or sends SIGTERM.
    void serve(files::session_folder& session, int socket, pid_t session_pid, site_maker const& make_site) {
        auto runs = watch::watcher::make(out_.get(), err_.get());
        auto room = process::order_room::make();
        std::string broken = runs.has_error() ? runs.error().what : room.has_error() ? room.error().what : "";
        std::unique_ptr<site> here;
        usage_watch meanwhile{machine::noise_watch::of_this_machine(), session_pid};
        if (broken.empty()) {
            auto made = make_site(session, number_, *room);
            if (made.has_error()) broken = made.error().what;
            else here = std::move(*made);
        }
        // an answer is packed and sent while the next run is in progress, so that neither waits for the session to wake up
        struct debt {
            std::string wrong;
            answer made;
        };
        std::optional<debt> owed;
        inbox orders;
        outbox answers;
        auto const pay = [&](bool wait) { // a session that does not read is waited for between runs, not during one
            if (owed) {
                packer wire;
                wire(owed->wrong);
                wire(owed->made.number);
                pass_outcome(wire, owed->made.got);
                owed.reset();
                answers.put(wire.text());
            }
            return wait ? send_and_take_in(answers, orders, socket) : answers.send(socket, false);
        };
        while (::getppid() == session_pid) {
            pollfd waiting[] = {{socket, POLLIN, 0}, {runs.has_error() ? -1 : runs->signals(), POLLIN, 0}};
            bool const at_hand = orders.has_one();
            if (::poll(waiting, 2, at_hand || owed || !answers.empty() ? 0 : -1) < 0) continue;
            if (!at_hand && !waiting[0].revents && !waiting[1].revents && !pay(true)) break;
            if (waiting[1].revents && runs->stop_asked()) break;
            if (!at_hand && !waiting[0].revents) continue;
            auto const text = orders.receive(socket);
            if (!text) break;
            debt next{broken, {}};
            if (broken.empty()) {
                auto const done = execute(*text, session, *runs, *room, *here, meanwhile, next.made, pay);
                if (done.has_error()) next.wrong = done.error().what;
            }
            if (!pay(true)) break;
            owed.emplace(std::move(next));
        }
        (void)pay(true);
        if (!here) return;
        if (::getppid() != session_pid) without_session().in(most_clearing_ns);
        here->close();
        // the session removes its own folder; when it is dead, the last of its workers does
        if (::getppid() == session_pid) return;
        if (auto const left = files::names_in(session.fd()); left && *left == std::vector<std::string>{"owner"}) (void)session.remove();
    }

    static void make_empty(int file) {
        if (::ftruncate(file, 0) == 0) ::lseek(file, 0, SEEK_SET);
    }

    watch::job as_watched(run::job&& asked) const {
        watch::job job;
        job.path = std::move(asked.path), job.argv = std::move(asked.argv), job.environment = std::move(asked.environment);
        job.held = limits_of(asked.setup);
        job.in = std::move(asked.in), job.in_called = std::move(asked.in_called);
        job.copies = asked.setup.copies, job.wait_tree = asked.wait_tree, job.reports = asked.reports, job.keep_output = asked.keep_output;
        if (job.held.cpus >= 0) job.first_cpu = number_ * static_cast<std::size_t>(job.held.cpus);
        return job;
    }

    result<void> execute(std::string_view text, files::session_folder& session, watch::watcher& runs, process::order_room& room, site& here,
                         usage_watch& meanwhile, answer& made, std::function<bool(bool)> const& pay) {
        unpacker wire{text};
        errand what{};
        wire(what);
        if (what == errand::keep) {
            std::string name;
            wire(name);
            return here.keep(session, name);
        }
        if (what == errand::prepare) {
            int level = 0;
            wire(level);
            return here.prepare(level);
        }
        run::job asked;
        pass_job(wire, asked);
        made.number = asked.number;
        auto& got = made.got;
        bool const is_check = asked.is_check;
        auto job = as_watched(std::move(asked));
        unique_fd shown;
        if (!is_check) {
            SB_CHECK(here.make_ready(job));
        } else if (auto const ready = here.look(job); ready.has_error()) {
            got.trouble = ready.error().what; // the run had to be ended with everything around it: its check fails, and the next run is not affected
            return {};
        } else {
            hide_home(job.environment);
            SB_TRY(shown, sealed_copy(out_.get()));
            job.in = cat("/proc/self/fd/", shown.get());
        }
        if (job.keep_output) make_empty(out_.get()), make_empty(err_.get());
        auto const ours = [&] { return machine::process_cpu_ns(::getpid()) + machine::process_cpu_ns(meanwhile.session) + here.helpers_cpu_ns() + meanwhile.runs_cpu_ns; };
        cpus_.home.settle(here.reaper().pid);
        meanwhile.looks.before(monotonic_ns(), ours);
        if (job.held.wall_ns >= 0) overdue().in(job.held.wall_ns + most_overdue_ns);
        got = runs.run(job, room, here.reaper(), {[&] { (void)pay(false), here.under_way(); }, [&] { here.release(); }, cpus_.spare, here.again()});
        overdue().never();
        here.finish(got);
        meanwhile.runs_cpu_ns += tree_cpu_ns(got);
        got.noise = meanwhile.looks.after(monotonic_ns(), ours);
        if (got.noise) cpus_.home.saw(*got.noise);
        return {};
    }

    unique_fd socket_, out_, err_;
    inbox answers_;
    pid_t pid_ = -1;
    std::size_t number_ = 0;
    worker_cpus cpus_;
};

} // namespace sb::local
