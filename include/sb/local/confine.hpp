// SPDX-License-Identifier: MIT
// One command, confined and measured, in one call: for programs that embed the sandbox.
//
// How it works: a forked child owns everything of the sandbox, so the caller's signals, limits and children do not change.
// The child makes the same things as a worker of sb-exec (sandbox_site.hpp), lets the watcher run the command, takes the
// figures and clears up. Its results come back in shared memory, and the two streams in files without a name. When the
// caller dies, the kernel sends the child SIGTERM; the child then ends the run and still clears up.
#pragma once
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/core/last_resort.hpp>
#include <sb/core/secret.hpp>
#include <sb/files/path.hpp>
#include <sb/key/list.hpp>
#include <sb/local/choose_view.hpp>
#include <sb/local/outcome_of.hpp>
#include <sb/local/host_abilities.hpp>
#include <sb/local/sandbox_abilities.hpp>
#include <sb/local/sandbox_site.hpp>
#include <sb/process/limits.hpp>
#include <sb/sandbox/lend_work.hpp>
#include <sb/watch/input_file.hpp>
#include <sb/watch/watcher.hpp>
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utility>
#include <vector>

namespace sb::local {

/// What to run, what it sees, and its limits. Limits are for the whole tree; `limits::none` is no limit.
struct confine_request {
    std::vector<std::string> argv; ///< a path as the command sees it, or a name to be found in /usr/local/bin, /usr/bin and /bin
    std::string work; ///< folder that it sees at its own path, and works in; its changes there are discarded. Empty: none
    std::vector<sandbox::binding> bindings; ///< more files and folders that it sees, by absolute paths
    std::vector<std::string> environment{"PATH=/usr/local/bin:/usr/bin:/bin"}; ///< NAME=VALUE; HOME and TMPDIR are added
    std::string input = "/dev/null"; ///< file that becomes standard input
    std::string groups_below; ///< v2 control group below which its own group is made; empty: below the caller's
    int level = default_level; ///< see filter/levels.hpp
    double wall_s = 30;
    std::int64_t memory_bytes = process::limits::none, processes = 1024, cpu_seconds = process::limits::none;
    std::int64_t open_files = 1024; ///< for each process
    double cores = process::limits::none;
    std::int64_t scratch_bytes = std::int64_t{64} << 20; ///< everything that it may write; it is kept in memory
    std::int64_t output_bytes = std::int64_t{8} << 20; ///< for each stream; more output ends the run
};

/// How it ended, and what it used.
struct confined {
    int status = 0; ///< as wait returns it, of the first process
    watch::killer killed_by = watch::killer::nobody; ///< why we ended it: time, output, files
    bool out_of_memory = false, out_of_processes = false, out_of_space = false; ///< limits that it reached
    double wall_s = 0; ///< from exec to its end
    std::optional<double> cpu_s; ///< of the whole tree
    std::optional<std::int64_t> peak_bytes; ///< of memory; see `peak_of_tree`. Without a group it is unknown where it was less than the caller's own memory
    bool peak_of_tree = false; ///< a control group counted the tree; else it is the largest process
    std::int64_t left_running = 0; ///< processes that were alive when the first had ended, and were killed
    std::string out, err; ///< up to `output_bytes` each
    std::vector<std::string> loose; ///< limits that are not enforced for the whole tree here, each with the reason

    bool ok() const noexcept { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
    /// One line for a person.
    std::string how() const {
        if (killed_by == watch::killer::wall) return "it exceeded its time limit";
        if (killed_by == watch::killer::sockets) return "its sockets held more of the host's memory than a run may";
        if (killed_by == watch::killer::kernel_memory) return "its file locks or sockets made the kernel keep more memory than a run may";
        if (killed_by == watch::killer::output) return "it wrote more output than allowed";
        if (killed_by == watch::killer::files) return "it had more open files than allowed";
        auto text = WIFEXITED(status) ? cat("exit status ", WEXITSTATUS(status)) : cat("signal ", WTERMSIG(status));
        if (out_of_memory) text += ", out of memory";
        if (out_of_processes) text += ", out of processes";
        if (out_of_space) text += ", out of space";
        return text;
    }
};

namespace detail {

/// The child's results, in memory that both share.
struct confine_report {
    int told = 0; ///< written last
    int status = 0;
    watch::killer killed_by = watch::killer::nobody;
    bool out_of_memory = false, out_of_processes = false, out_of_space = false, peak_of_tree = false;
    double wall_s = 0, cpu_s = -1;
    std::int64_t peak_bytes = -1, left_running = 0;
    blame wrong_on = blame::system;
    char wrong[1024] = {}; ///< why there was no run; empty: there was one
    char loose[2048] = {}; ///< one per line

    template <std::size_t Size>
    static void put(char (&into)[Size], std::string_view text) noexcept { into[text.copy(into, Size - 1)] = '\0'; }
};

inline result<std::string> program_of(confine_request const& what, sandbox::view const& shown) {
    auto const& name = what.argv.front();
    std::vector<std::string> places;
    if (name.find('/') == std::string::npos) places = {"/usr/local/bin/" + name, "/usr/bin/" + name, "/bin/" + name};
    else places = {name.starts_with('/') ? name : cat(shown.work.empty() ? sandbox::sandbox_home : std::string_view{shown.work}, "/", name)};
    for (auto const& each : places) {
        if (!sandbox::shows(shown, each)) return caller_error(cat("command ", name, ": not visible in the sandbox; choose a workspace that contains it, or bind its folder"));
        bool const bound = std::any_of(shown.bindings.begin(), shown.bindings.end(), [&](auto const& one) { return files::is_below(each, one.target); });
        if (bound || ::access(each.c_str(), X_OK) == 0) return each; // a binding may put another file under this name: exec will show it
    }
    return caller_error(cat("command ", name, ": not found, or not executable"));
}

/// In the child that owns the run: does what a worker of sb-exec does, once.
class confinement {
public:
    confinement(confine_request const& what, confine_report& told) : what_{what}, told_{told} {}

    result<void> run(int out, int err) {
        SB_CHECK(process::adopt_orphans());
        SB_TRY(auto runs, watch::watcher::make(out, err));
        SB_TRY(auto room, process::order_room::make());
        sandbox_session session;
        SB_CHECK(choose_view(session.shown));
        watch::job task;
        SB_TRY(task.path, program_of(what_, session.shown));
        SB_TRY(session.user, process::choose_payload_user());
        SB_TRY(auto lent, sandbox::lend_work(session.shown.work_place, session.user));
        session.owners = std::move(lent.owners), session.lower = lent.lower;
        SB_TRY(session.clone_key, make_secret());
        session.sockets = machine::socket_share::of_machine(1);

        SB_TRY(auto groups, cgroup::cgroup_host::find(cgroup::random_id(), what_.groups_below));
        key::host can;
        learn_machine(can), learn_groups(can, groups, session.user);
        if (can.holds_trees()) session.groups = &groups;
        run::job asked; // in the form that its figures need
        asked.setup = hold_what_can_be(as_seen_here(can));
        task.held = limits_of(asked.setup);
        SB_TRY(auto site, sandbox_site::make(session, 0, room));
        task.argv = what_.argv, task.environment = what_.environment;
        task.keep_output = true;
        watch::input_file input;
        if (what_.input != watch::nothing_to_read) {
            SB_TRY(input, watch::input_file::open(what_.input));
            if (watch::input_file::takes(input.facts())) input.guard();
            task.in = input.name(), task.in_called = input.was_named() ? input.called() : std::string{};
        }
        SB_CHECK(site->make_ready(task));
        last_resort overdue; // for everything that keeps us from checking the clock
        overdue.in(task.held.wall_ns + most_overdue_ns);
        auto got = runs.run(task, room, site->reaper());
        overdue.never();
        site->finish(got);
        auto const told = tell(got, asked);
        site->close();
        return told;
    }

private:
    static constexpr std::int64_t most_overdue_ns = 30'000'000'000;

    result<void> choose_view(sandbox::view& shown) const {
        if (!what_.work.empty()) SB_CHECK(show_workspace(shown, what_.work));
        for (auto const& each : what_.bindings)
            SB_CHECK(show_binding(shown, cat(each.source, ":", each.target, std::string_view{each.writable ? ":rw" : ":ro"})));
        return {};
    }

    /// Sets up what the keys of a preset would set up. Limits that are not enforced for the whole tree here are reported.
    key::setup hold_what_can_be(key::host const& here) {
        struct asked {
            key::definition const* key;
            key::amount is;
            bool given;
        };
        asked const limits[] = {{&key::timeout, key::seconds{what_.wall_s}, true},
                             {&key::output_limit, key::bytes{what_.output_bytes}, what_.output_bytes >= 0},
                             {&key::cpu_seconds, key::seconds{static_cast<double>(what_.cpu_seconds)}, what_.cpu_seconds >= 0},
                             {&key::open_files_limit, key::integer{what_.open_files}, what_.open_files >= 0},
                             {&key::memory_limit, key::bytes{what_.memory_bytes}, what_.memory_bytes >= 0},
                             {&key::security_level, key::integer{what_.level}, true},
                             {&key::pids_limit, key::integer{what_.processes}, what_.processes >= 0},
                             {&key::cpu_limit, key::cores{what_.cores}, what_.cores >= 0},
                             {&key::disk_limit, key::bytes{what_.scratch_bytes}, what_.scratch_bytes >= 0}};
        key::setup to;
        std::string loose;
        for (auto const& each : limits) {
            if (!each.given) continue;
            auto const told = each.key->plan(each.is, here, to);
            auto const add = [&](std::string const& why) { loose += cat(loose.empty() ? "" : "\n", each.key->name, why); };
            if (!told.achieved) add(cat(" cannot be enforced: ", told.by));
            else if (!told.loose.empty()) add(cat(" ", told.loose));
            else if (told.lowered) add(cat(" is more than this machine has; capped at ", told.machine));
            if (each.key == &key::pids_limit && to.user_processes >= 0) add(cat(": ", told.by, told.more)); // nobody sees that it is reached
        }
        key::outcome unused;
        for (auto const& each : limits)
            if (each.given && each.key->finish) each.key->finish(unused, here, to);
        confine_report::put(told_.loose, loose);
        return to;
    }

    result<void> tell(watch::outcome const& got, run::job const& asked) {
        if (!got.trouble.empty()) return system_error(got.trouble);
        auto const& first = got.copies.front();
        if (first.failure) return errno_error(name_of(first.failure.step), what_.argv.front(), first.failure.code);
        told_.status = first.status, told_.killed_by = got.killed_by, told_.wall_s = got.wall_s, told_.left_running = got.left_running;
        auto const used = figures_of(got, asked);
        if (used.cpu_user_s) told_.cpu_s = *used.cpu_user_s + used.cpu_sys_s.value_or(0);
        told_.peak_of_tree = got.group && got.group->memory_peak_bytes && got.group->memory_base_bytes;
        if (used.peak_rss_bytes && (told_.peak_of_tree || !hidden_by_caller(*used.peak_rss_bytes))) told_.peak_bytes = *used.peak_rss_bytes;
        told_.out_of_space = got.scratch_full;
        told_.out_of_memory = got.group && got.group->oom_kills.value_or(0) > 0;
        told_.out_of_processes = got.refused_forks > 0 || (got.group && got.group->fork_refusals.value_or(0) > 0);
        return {};
    }

    /// For the first peak of a program Linux takes the memory of the process that calls exec, and here that is a copy of the
    /// caller. A peak that is not larger says nothing. If the caller is small, it says enough.
    static bool hidden_by_caller(std::int64_t peak_bytes) noexcept {
        constexpr std::int64_t small = std::int64_t{4} << 20, grown = std::int64_t{1} << 20; // since the fork
        rusage own{};
        ::getrusage(RUSAGE_SELF, &own);
        auto const copied = static_cast<std::int64_t>(own.ru_maxrss) * 1024;
        return copied > small && peak_bytes <= copied + grown;
    }

    confine_request const& what_;
    confine_report& told_;
};

/// The child's whole life. It leaves by _exit, so that nothing of the caller is cleaned up twice.
[[noreturn]] inline void own_confinement(confine_request const& what, confine_report& told, int out, int err, pid_t caller) {
    sigset_t every_signal;
    sigfillset(&every_signal);
    ::sigprocmask(SIG_SETMASK, &every_signal, nullptr); // the watcher handles SIGTERM; no other signal concerns us
    std::signal(SIGCHLD, SIG_DFL); // the caller may ignore it, and then nobody could wait for a child here
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != caller) ::_exit(1);
    confine_report mine;
    auto const done = confinement{what, mine}.run(out, err);
    if (done.has_error()) mine.wrong_on = done.error().on, confine_report::put(mine.wrong, done.error().what);
    mine.told = 1;
    told = mine;
    ::_exit(0);
}

inline std::string whole_text(int file) {
    struct stat facts {};
    if (::fstat(file, &facts) != 0) return {};
    std::string text(static_cast<std::size_t>(facts.st_size), '\0');
    for (std::size_t at = 0; at < text.size();) {
        auto const n = retry([&] { return ::pread(file, text.data() + at, text.size() - at, static_cast<off_t>(at)); });
        if (n <= 0) return text.substr(0, at);
        at += static_cast<std::size_t>(n);
    }
    return text;
}

} // namespace detail

/// Runs it, waits for its end, and leaves nothing of it behind. Whatever the command does is a result; an error says why it
/// was not run. A sandbox costs a few milliseconds to make. Threads may call this concurrently.
inline result<confined> confine(confine_request const& what) {
    if (what.argv.empty()) return caller_error("no command to run");
    if (what.cores == 0) return caller_error("cores: must be more than 0");
    unique_fd const out{::memfd_create("stdout", MFD_CLOEXEC)}, err{::memfd_create("stderr", MFD_CLOEXEC)};
    void* const page = ::mmap(nullptr, sizeof(detail::confine_report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!out || !err || page == MAP_FAILED) return last_error("allocate memory for the report");
    std::unique_ptr<detail::confine_report, void (*)(detail::confine_report*)> const told{
        new (page) detail::confine_report, [](detail::confine_report* at) { ::munmap(at, sizeof *at); }};
    auto const caller = ::getpid();
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) detail::own_confinement(what, *told, out.get(), err.get(), caller);
    // if the caller ignores SIGCHLD, or waits for all children elsewhere, an ended child cannot be waited for here
    if (retry([&] { return ::waitpid(child, nullptr, 0); }) < 0 && errno != ECHILD) return last_error("wait for the owner of the sandbox");
    if (told->told == 0) return system_error("the owner of the sandbox was killed");
    if (told->wrong[0] != '\0') return error{told->wrong_on, told->wrong};
    confined seen;
    seen.status = told->status, seen.killed_by = told->killed_by, seen.wall_s = told->wall_s, seen.left_running = told->left_running;
    seen.out_of_memory = told->out_of_memory, seen.out_of_processes = told->out_of_processes, seen.out_of_space = told->out_of_space;
    if (told->cpu_s >= 0) seen.cpu_s = told->cpu_s;
    if (told->peak_bytes >= 0) seen.peak_bytes = told->peak_bytes;
    seen.peak_of_tree = told->peak_of_tree;
    seen.out = detail::whole_text(out.get()), seen.err = detail::whole_text(err.get());
    split(std::string_view{told->loose}, '\n', [&](std::string_view each) {
        if (!each.empty()) seen.loose.emplace_back(each);
    });
    return seen;
}

} // namespace sb::local
