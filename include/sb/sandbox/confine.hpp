// SPDX-License-Identifier: MIT
// One command, confined and measured, in one call: for programs that embed the sandbox.
//
// How it works: a forked child owns all there is of the sandbox, so the caller's signals, limits and children stay as
// they are: it makes the control group and the box, lets the watcher run the command, takes the figures and clears away.
// What it learnt comes back in shared memory, the two streams in files without a name. When the caller dies, the kernel
// sends the child SIGTERM, and it ends the run and clears away all the same.
#pragma once
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/core/last_resort.hpp>
#include <sb/core/secret.hpp>
#include <sb/files/path.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/process/task_limit_here.hpp>
#include <sb/sandbox/box.hpp>
#include <sb/sandbox/lend_work.hpp>
#include <sb/watch/input_file.hpp>
#include <sb/watch/watch.hpp>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <vector>

namespace sb::sandbox {

/// What to run, what it sees, and what holds it. Limits are of the whole tree; `limits::none` is no limit.
struct confine_request {
    std::vector<std::string> argv; ///< a path as the command sees it, or a name to be found in /usr/local/bin, /usr/bin and /bin
    std::string work; ///< folder that it sees at its own path, and works in; what it writes there is gone with it. Empty: none
    std::vector<binding> bindings; ///< more to be seen, by absolute paths
    std::vector<std::string> environment{"PATH=/usr/local/bin:/usr/bin:/bin"}; ///< NAME=VALUE; HOME and TMPDIR are added
    std::string input = "/dev/null"; ///< file that becomes standard input
    std::string groups_below; ///< v2 control group in which one of its own is made; empty: in the caller's
    int level = filter::default_level; ///< see security_level.hpp
    double wall_s = 30;
    std::int64_t memory_bytes = process::limits::none, processes = 1024, cpu_seconds = process::limits::none;
    std::int64_t open_files = 1024; ///< a process
    double cores = process::limits::none;
    std::int64_t scratch_bytes = std::int64_t{64} << 20; ///< all that it may write; it lies in memory
    std::int64_t output_bytes = std::int64_t{8} << 20; ///< a stream; more of it ends the run
};

/// How it ended, and what it took.
struct confined {
    int status = 0; ///< as wait gives it, of the first process
    watch::killer killed_by = watch::killer::nobody; ///< why we ended it: time, output, files
    bool out_of_memory = false, out_of_processes = false, out_of_space = false; ///< limits that were reached
    double wall_s = 0; ///< from exec to its end
    std::optional<double> cpu_s; ///< of the whole tree
    std::optional<std::int64_t> peak_bytes; ///< of memory; see `peak_of_tree`. Without a group unknown where it was less than the caller held
    bool peak_of_tree = false; ///< a control group counted the tree; else it is the largest process
    std::int64_t left_running = 0; ///< processes that were alive when the first had ended, and were killed
    std::string out, err; ///< up to `output_bytes` each
    std::vector<std::string> loose; ///< limits that do not hold for the whole tree here, each with the reason

    bool ok() const noexcept { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
    /// One line for a person.
    std::string how() const {
        if (killed_by == watch::killer::wall) return "its time was up";
        if (killed_by == watch::killer::sockets) return "its sockets held more of the host's memory than one run may";
        if (killed_by == watch::killer::kernel_memory) return "its file locks or sockets made the kernel keep more memory than one run may";
        if (killed_by == watch::killer::output) return "it wrote more than it may";
        if (killed_by == watch::killer::files) return "it kept more files than it may";
        auto text = WIFEXITED(status) ? cat("exit status ", WEXITSTATUS(status)) : cat("signal ", WTERMSIG(status));
        if (out_of_memory) text += ", out of memory";
        if (out_of_processes) text += ", out of processes";
        if (out_of_space) text += ", out of space";
        return text;
    }
};

namespace detail {

/// What the child tells, in memory that both share.
struct confine_report {
    int told = 0; ///< the last to be written
    int status = 0;
    watch::killer killed_by = watch::killer::nobody;
    bool out_of_memory = false, out_of_processes = false, out_of_space = false, peak_of_tree = false;
    double wall_s = 0, cpu_s = -1;
    std::int64_t peak_bytes = -1, left_running = 0;
    blame wrong_on = blame::system;
    char wrong[1024] = {}; ///< why there was no run; empty: there was one
    char loose[2048] = {}; ///< one a line

    template <std::size_t Size>
    static void put(char (&into)[Size], std::string_view text) noexcept { into[text.copy(into, Size - 1)] = '\0'; }
};

inline result<std::string> program_of(confine_request const& what, view const& shown) {
    auto const& name = what.argv.front();
    std::vector<std::string> places;
    if (name.find('/') == std::string::npos) places = {"/usr/local/bin/" + name, "/usr/bin/" + name, "/bin/" + name};
    else places = {name.starts_with('/') ? name : cat(shown.work.empty() ? sandbox_home : std::string_view{shown.work}, "/", name)};
    for (auto const& each : places) {
        if (!shows(shown, each)) return caller_error(cat("command ", name, ": outside of what it would see; name its folder in the workspace or the bindings"));
        bool const bound = std::any_of(shown.bindings.begin(), shown.bindings.end(), [&](auto const& one) { return files::is_below(each, one.target); });
        if (bound || ::access(each.c_str(), X_OK) == 0) return each; // under a binding's name another file may be there: exec will tell
    }
    return caller_error(cat("command ", name, ": not found, or not executable"));
}

/// In the child that owns the run.
class confinement {
public:
    confinement(confine_request const& what, confine_report& told) : what_{what}, told_{told} {}

    result<void> run(int out, int err) {
        SB_CHECK(process::adopt_orphans());
        SB_TRY(auto runs, watch::watcher::make(out, err));
        SB_TRY(auto room, process::order_room::make());
        nursery_plan plan;
        SB_CHECK(choose_view(plan.shown));
        watch::job task;
        SB_TRY(task.path, program_of(what_, plan.shown));
        SB_TRY(plan.user, process::choose_payload_user());
        SB_TRY(auto lent, lend_work(plan.shown.work_place, plan.user));
        plan.owners = std::move(lent.owners), plan.lower = lent.lower;

        SB_TRY(auto host, cgroup::cgroup_host::find(cgroup::random_id(), what_.groups_below));
        auto const held = hold_what_can_be(host, plan.user, task.held);
        std::optional<cgroup::cgroup> group;
        if (can_group_) {
            SB_TRY(auto made, cgroup::cgroup::make(host, "confined"));
            group.emplace(std::move(made));
            if (::geteuid() == 0) SB_CHECK(group->give_to(plan.user.uid));
        }
        if (group) {
            SB_TRY(task.clone_key, make_secret());
        }
        box_plan walls{what_.level, {}, task.held.numbered_pids};
        SB_TRY(walls.filter, filter::make_filter(filter::level_of(walls.level), {task.clone_key, plan.shown.host_writable()}));
        SB_TRY(auto origin, nursery::make(plan, room, group ? &*group : nullptr));
        SB_TRY(auto place, box::make(origin, walls, {task.held.scratch_bytes, process::scratch_files(task.held.scratch_bytes, held.memory_bytes)}));
        int socket_count = -1;
        if (group) {
            SB_TRY(auto const in_force, group->hold(held));
            if (in_force.socket_bytes) socket_count = group->socket_count();
            SB_TRY([[maybe_unused]] bool const moved, group->begin());
            task.group = group->run_leaf();
        }
        task.sockets = place.sockets(machine::socket_share::of_machine(1), held.memory_bytes);
        if (socket_count >= 0) task.sockets.group = socket_count, task.sockets.most = held.socket_bytes;
        task.argv = what_.argv, task.environment = what_.environment;
        task.environment.push_back(cat("HOME=", sandbox_home));
        task.environment.push_back("TMPDIR=/tmp");
        task.folder = plan.shown.work.empty() ? std::string{sandbox_home} : plan.shown.work;
        task.keep_output = true;
        watch::input_file input;
        if (what_.input != watch::nothing_to_read) {
            SB_TRY(input, watch::input_file::open(what_.input));
            if (watch::input_file::takes(input.facts())) input.guard();
            task.in = input.name(), task.in_called = input.was_named() ? input.called() : std::string{};
        }
        last_resort overdue; // whatever keeps us from looking at the clock
        overdue.in(task.held.wall_ns + most_overdue_ns);
        auto const got = runs.run(task, room, place.reaper());
        overdue.never();
        return tell(got, place, group ? &*group : nullptr);
    }

private:
    static constexpr std::int64_t most_overdue_ns = 30'000'000'000;

    result<void> choose_view(view& shown) const {
        if (!what_.work.empty()) {
            SB_TRY(shown.work_place, workspace_folder(what_.work));
            shown.work = shown.work_place.path();
        }
        for (auto const& each : what_.bindings) {
            SB_TRY(auto made, parse_binding(cat(each.source, ":", each.target, std::string_view{each.writable ? ":rw" : ":ro"})));
            shown.bindings.push_back(std::move(made));
        }
        return {};
    }

    /// By a control group what one can hold here; else for each process, and that is said.
    cgroup::group_limits hold_what_can_be(cgroup::cgroup_host const& host, process::payload_user const& user, process::limits& each) {
        std::string loose;
        auto const say = [&](std::string_view which, cgroup::controller c) { loose += cat(loose.empty() ? "" : "\n", which, ": ", host.why_not(c)); };
        cgroup::group_limits tree;
        tree.socket_bytes = machine::socket_share::of_machine(1).beside(host.has(cgroup::controller::memory) ? what_.memory_bytes : process::limits::none);
        each.wall_ns = static_cast<std::int64_t>(std::min(what_.wall_s, 1e9) * 1e9);
        each.output_bytes = what_.output_bytes, each.scratch_bytes = what_.scratch_bytes, each.cpu_seconds = what_.cpu_seconds;
        each.open_files = what_.open_files;
        if (auto const all = machine::most_files_here(); all > 0) each.all_files = all / machine::files_part;
        for (auto const c : {cgroup::controller::memory, cgroup::controller::pids, cgroup::controller::cpu, cgroup::controller::cpuacct}) can_group_ = can_group_ || host.has(c);
        if (what_.memory_bytes >= 0) {
            if (host.has(cgroup::controller::memory)) tree.memory_bytes = what_.memory_bytes;
            else each.memory_bytes = what_.memory_bytes, say("memory holds for each process", cgroup::controller::memory);
        }
        if (what_.processes >= 0) {
            if (host.has(cgroup::controller::pids)) tree.pids = what_.processes;
            else if (what_.processes <= process::most_numbered && !process::can_limit_tasks(user).has_error()) each.numbered_pids = what_.processes;
            else each.user_processes = what_.processes + process::resident_processes, say("that processes run out stays unknown", cgroup::controller::pids);
        }
        if (what_.cores >= 0) {
            if (host.has(cgroup::controller::cpu)) tree.cores = std::min(what_.cores, static_cast<double>(machine::usable_cpus()));
            else each.cpus = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(what_.cores)), 1, machine::usable_cpus()), say("cores are rounded up", cgroup::controller::cpu);
        }
        confine_report::put(told_.loose, loose);
        return tree;
    }

    result<void> tell(watch::outcome const& got, box& place, cgroup::cgroup* group) {
        if (!got.trouble.empty()) return system_error(got.trouble);
        auto const& first = got.copies.front();
        if (first.failure) return errno_error(process::name_of(first.failure.step), what_.argv.front(), first.failure.code);
        told_.status = first.status, told_.killed_by = got.killed_by, told_.wall_s = got.wall_s, told_.left_running = got.left_running;
        auto used = first.used;
        used.add(got.orphans);
        if (used.known) told_.cpu_s = used.user_s + used.system_s;
        if (used.known && !hidden_by_caller(used.peak_rss_bytes)) told_.peak_bytes = used.peak_rss_bytes;
        told_.out_of_space = place.is_full();
        if (auto const made = place.tasks_made(); made && got.processes_made) told_.out_of_processes = *got.processes_made > *made;
        if (!group) return {};
        auto const figures = group->end(); // on v2 of the command alone, on v1 with the reaper beside it
        if (figures.cpu_ns) told_.cpu_s = static_cast<double>(std::max<std::int64_t>(*figures.cpu_ns - (group->run_leaf() >= 0 ? 0 : got.reaper_cpu_ns), 0)) / 1e9;
        if (figures.memory_peak_bytes && figures.memory_base_bytes)
            told_.peak_bytes = std::max<std::int64_t>(*figures.memory_peak_bytes - *figures.memory_base_bytes, 0), told_.peak_of_tree = true;
        told_.out_of_memory = figures.oom_kills.value_or(0) > 0, told_.out_of_processes = told_.out_of_processes || figures.fork_refusals.value_or(0) > 0;
        return {};
    }

    /// Linux takes the memory of whoever calls exec for the first peak of what is executed, and here that is a copy of the
    /// caller: what is no more than that says nothing. Of a small caller it says enough.
    static bool hidden_by_caller(std::int64_t peak_bytes) noexcept {
        constexpr std::int64_t small = std::int64_t{4} << 20, grown = std::int64_t{1} << 20; // since the fork
        rusage own{};
        ::getrusage(RUSAGE_SELF, &own);
        auto const copied = static_cast<std::int64_t>(own.ru_maxrss) * 1024;
        return copied > small && peak_bytes <= copied + grown;
    }

    confine_request const& what_;
    confine_report& told_;
    bool can_group_ = false;
};

/// The child's whole life. Nothing of the caller is undone twice, so it leaves by _exit.
[[noreturn]] inline void own_confinement(confine_request const& what, confine_report& told, int out, int err, pid_t caller) {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr); // SIGTERM is the watcher's, and no other concerns us
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

/// Runs it, waits for its end, and leaves nothing of it behind. Whatever the command does is an answer; an error says why
/// it was not run. A sandbox costs a few milliseconds to make. Threads may call this side by side.
inline result<confined> confine(confine_request const& what) {
    if (what.argv.empty()) return caller_error("no command to run");
    unique_fd const out{::memfd_create("stdout", MFD_CLOEXEC)}, err{::memfd_create("stderr", MFD_CLOEXEC)};
    void* const page = ::mmap(nullptr, sizeof(detail::confine_report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!out || !err || page == MAP_FAILED) return last_error("make memory for the report");
    std::unique_ptr<detail::confine_report, void (*)(detail::confine_report*)> const told{
        new (page) detail::confine_report, [](detail::confine_report* at) { ::munmap(at, sizeof *at); }};
    auto const caller = ::getpid();
    auto const child = ::fork();
    if (child < 0) return last_error("fork");
    if (child == 0) detail::own_confinement(what, *told, out.get(), err.get(), caller);
    // where the caller ignores SIGCHLD, or waits for all children elsewhere, there is nothing to take in once it has ended
    if (retry([&] { return ::waitpid(child, nullptr, 0); }) < 0 && errno != ECHILD) return last_error("wait for the sandbox's owner");
    if (told->told == 0) return system_error("the sandbox's owner was killed");
    if (told->wrong[0] != '\0') return error{told->wrong_on, told->wrong};
    confined all;
    all.status = told->status, all.killed_by = told->killed_by, all.wall_s = told->wall_s, all.left_running = told->left_running;
    all.out_of_memory = told->out_of_memory, all.out_of_processes = told->out_of_processes, all.out_of_space = told->out_of_space;
    if (told->cpu_s >= 0) all.cpu_s = told->cpu_s;
    if (told->peak_bytes >= 0) all.peak_bytes = told->peak_bytes;
    all.peak_of_tree = told->peak_of_tree;
    all.out = detail::whole_text(out.get()), all.err = detail::whole_text(err.get());
    split(std::string_view{told->loose}, '\n', [&](std::string_view each) {
        if (!each.empty()) all.loose.emplace_back(each);
    });
    return all;
}

} // namespace sb::sandbox
