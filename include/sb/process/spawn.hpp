// SPDX-License-Identifier: MIT
// Starts a program as cheaply as the kernel allows, in a session of its own, with exactly the descriptors it is given.
//
// How it works: the parent blocks its signals and calls clone(CLONE_VM | CLONE_VFORK). The child borrows the parent's memory
// and has its own stack. The parent sleeps until the child has called exec or _exit. So the child only makes system calls,
// and writes only its stack and its report: the step that failed, and the moment of exec. When the parent wakes, either the
// program runs or the report says why not. A child that is started ahead of its run waits half-way (ahead_call.hpp); in that
// case the parent does not sleep.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/result.hpp>
#include <sb/core/sole.hpp>
#include <sb/core/text.hpp>
#include <sb/process/limits.hpp>
#include <sb/process/raw_call.hpp>
#include <sb/process/reaper_messages.hpp>
#include <sb/process/rlimit_list.hpp>
#include <sb/process/signals.hpp>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sb::process {

/// The descriptor through which a workload reports: the number in SB_REPORT_FD.
inline constexpr int report_descriptor = 3;

/// Everything a child needs, prepared before it exists. Owns nothing.
struct launch {
    char const* path = nullptr; ///< the path for exec, already looked up
    char* const* argv = nullptr;
    char* const* shell_argv = nullptr; ///< for a script without "#!": {"/bin/sh", path, argv[1]…}; null: such a script fails
    char* const* environment = nullptr;
    int in = -1, out = -1, err = -1; ///< become 0, 1 and 2
    char const* in_path = nullptr; ///< instead of `in`: a file that the child opens itself
    int report = -1; ///< becomes `report_descriptor`; -1: none
    rlimit_list const* rlimits = nullptr;
    cpu_set_t const* cpus = nullptr; ///< null: all that we may use
    char const* folder = nullptr; ///< working folder; null: our own
    int group = -1; ///< folder of a control group (v2) in which the child is born; -1: our own
    std::uint64_t key = 0; ///< what our own system-call filter requires in clone3
    int rules = -1; ///< Landlock rules that the child applies to itself; -1: none
    unsigned rules_flags = 0; ///< as landlock_restrict_self takes them
};

/// What an order says about every copy. An order does not contain the copy's descriptors.
inline launch launch_of(run_request const& order) noexcept {
    launch what;
    what.path = order.path, what.argv = order.argv, what.shell_argv = order.shell_argv, what.environment = order.environment;
    what.rlimits = &order.rlimits;
    what.cpus = order.affine ? &order.cpus : nullptr;
    what.folder = order.folder;
    return what;
}

/// The stack that children borrow, one at a time, and the ignored signals that they must not inherit.
class spawner {
public:
    static result<spawner> make(signal_bits ignored = ignored_signals()) {
        void* const stack = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED) return last_error("mmap", "a stack for children");
        ::mprotect(stack, guard, PROT_NONE); // the stack grows down: an overflow faults instead of writing elsewhere
        spawner made{static_cast<char*>(stack)};
        made.ignored_ = ignored; // exec resets handlers, but not these
        return made;
    }
    spawner(spawner&&) noexcept = default;
    ~spawner() {
        if (stack_) ::munmap(stack_, size);
    }

    /// The pid of the child, which has called exec by now. An error is our own or the system's. A program that cannot be
    /// executed is not an error but a `failure` in its report, and its pid (already reaped) is 0. The child itself reports
    /// the moment at which it called exec (monotonic_ns): on a busy machine the parent may wake only after a short program
    /// has ended.
    result<pid_t> start(launch const& what, copy_report& report) {
        report.failure = {};
        borrowed shared{&what, &report, ::getpid(), ignored_};
        SB_TRY(auto const pid, cloned([&] {
                   return what.group < 0 ? ::clone(&child, stack_ + size, CLONE_VM | CLONE_VFORK | SIGCHLD, &shared) : clone_into(what, &shared);
               }));
        if (!report.failure) return pid;
        int status = 0;
        while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
        return pid_t{0};
    }

    /// Starts a child that has its descriptors (`what` contains no more than those) and waits for its call. Then it executes
    /// the order in this room. It uses the stack until then, so no other child may be started before it is called or dead.
    result<pid_t> start_ahead(launch const& what, order_room& room, ahead_call::number number, std::int64_t awake_ns) {
        ahead_ = {what, &room, number, awake_ns, ::getpid(), ignored_};
        return cloned([&] { return ::clone(&child_ahead, stack_ + size, CLONE_VM | SIGCHLD, &ahead_); });
    }

private:
    struct borrowed {
        launch const* what;
        copy_report* report;
        pid_t parent;
        signal_bits ignored;
    };
    /// What a waiting child reads; it outlives the call that made it.
    struct waiting {
        launch what;
        order_room* room = nullptr;
        ahead_call::number number = 0;
        std::int64_t awake_ns = 0;
        pid_t parent = -1;
        signal_bits ignored = 0;
    };
    static constexpr std::size_t size = std::size_t{64} << 10, guard = 4096;
    explicit spawner(char* stack) : stack_{stack} {}

    template <class Clone>
    static result<pid_t> cloned(Clone clone) {
        signals_blocked const quiet;
        int const pid = clone();
        if (pid < 0) return last_error("clone");
        return pid_t{pid};
    }
    /// The same by clone3, which the C library does not offer: the child begins on the borrowed stack and has no caller to
    /// return to.
    int clone_into(launch const& what, borrowed* shared) const {
        constexpr std::uint64_t into_cgroup = std::uint64_t{1} << 33;
        struct {
            std::uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
        } arguments{CLONE_VM | CLONE_VFORK | into_cgroup, 0, 0, 0, SIGCHLD, reinterpret_cast<std::uintptr_t>(static_cast<char*>(stack_)), size, 0, 0, 0,
                    static_cast<std::uint64_t>(what.group)};
#if defined(__x86_64__)
        long answer = SYS_clone3;
        // not const: the compiler would put a known value into a register of its choice
        register long key asm("r9") = static_cast<long>(what.key);
        register int (*run)(void*) asm("r12") = &child;
        register void* with asm("r13") = shared;
        asm volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "movq %%r13, %%rdi\n\t"
                     "callq *%%r12\n\t"
                     "ud2\n"
                     "1:"
                     : "+a"(answer)
                     : "D"(&arguments), "S"(sizeof arguments), "r"(key), "r"(run), "r"(with)
                     : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
        register long answer asm("x0") = reinterpret_cast<long>(&arguments);
        register long size_of asm("x1") = sizeof arguments;
        register long key asm("x5") = static_cast<long>(what.key);
        register long number asm("x8") = SYS_clone3;
        register int (*run)(void*) asm("x19") = &child;
        register void* with asm("x20") = shared;
        asm volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x0, x20\n\t"
                     "blr x19\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(answer)
                     : "r"(size_of), "r"(key), "r"(number), "r"(run), "r"(with)
                     : "memory", "cc");
#else
        long answer = -ENOSYS; // another architecture needs its own five instructions
        (void)shared;
#endif
        if (answer >= 0) return static_cast<int>(answer);
        errno = static_cast<int>(-answer);
        return -1;
    }

    static bool move_up(int& fd) noexcept { // away from the numbers that dup2 is about to use
        if (fd < 0 || fd > report_descriptor) return true;
        fd = ::fcntl(fd, F_DUPFD_CLOEXEC, report_descriptor + 1);
        return fd >= 0;
    }

    // In the child: only async-signal-safe calls, and writes only to `shared` and this stack.

    /// Sets up the child itself and its descriptors.
    __attribute__((no_sanitize("address", "undefined"))) static bool settle(launch const& what, pid_t parent, signal_bits ignored, spawn_step& step) noexcept {
        // we would never notice a parent that died before this call, so check again
        step = spawn_step::prctl;
        if (::prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return false;
        if (::getppid() != parent) ::_exit(127);
        step = spawn_step::setsid;
        if (::setsid() < 0) return false;
        let_be(ignored);

        step = spawn_step::descriptors;
        int in = what.in_path ? ::open(what.in_path, O_RDONLY) : what.in;
        if (what.in_path && in < 0) return false;
        int out = what.out, err = what.err, report = what.report;
        if (!move_up(in) || !move_up(out) || !move_up(err) || !move_up(report)) return false;
        if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) return false;
        if (report >= 0 && ::dup2(report, report_descriptor) < 0) return false;
        step = spawn_step::landlock;
        if (what.rules >= 0 && ::syscall(SYS_landlock_restrict_self, what.rules, what.rules_flags) < 0) return false;
        auto const first = static_cast<unsigned>(report >= 0 ? report_descriptor + 1 : report_descriptor);
        if (::syscall(SYS_close_range, first, ~0u, 0u) < 0) { // before Linux 5.9
            rlimit open{};
            ::getrlimit(RLIMIT_NOFILE, &open);
            for (auto fd = first; fd < open.rlim_cur; ++fd) ::close(static_cast<int>(fd));
        }
        return true;
    }
    /// Carries out the order. Returns, with an error number, only when a step failed.
    __attribute__((no_sanitize("address", "undefined"))) static int execute(launch const& what, copy_report& report, spawn_step& step) noexcept {
        step = spawn_step::folder;
        if (what.folder && ::chdir(what.folder) < 0) return errno;
        step = spawn_step::affinity;
        if (what.cpus && ::sched_setaffinity(0, sizeof *what.cpus, what.cpus) < 0) return errno;
        step = spawn_step::limits;
        if (what.rlimits)
            for (auto const& each : *what.rlimits)
                if (::setrlimit(static_cast<__rlimit_resource>(each.resource), &each.to) < 0) return errno;
        step = spawn_step::exec;
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        timespec used{};
        if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0) report.before_ns = std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
        report.exec_ns = monotonic_ns();
        auto const code = exec(what.path, what.argv, what.environment);
        return code == ENOEXEC && what.shell_argv ? exec(what.shell_argv[0], what.shell_argv, what.environment) : code;
    }
    __attribute__((no_sanitize("address", "undefined"))) static int exec(char const* path, char* const* argv, char* const* environment) noexcept {
        return static_cast<int>(-raw_call(SYS_execve, reinterpret_cast<long>(path), reinterpret_cast<long>(argv), reinterpret_cast<long>(environment)));
    }
    __attribute__((no_sanitize("address", "undefined"))) static int child(void* argument) noexcept {
        auto const& shared = *static_cast<borrowed*>(argument);
        auto step = spawn_step::none;
        bool const settled = settle(*shared.what, shared.parent, shared.ignored, step);
        int const code = settled ? execute(*shared.what, *shared.report, step) : errno;
        shared.report->failure = {step, code};
        ::_exit(127);
    }
    __attribute__((no_sanitize("address", "undefined"))) static int child_ahead(void* argument) noexcept {
        auto& shared = *static_cast<waiting*>(argument);
        auto step = spawn_step::none;
        bool const settled = settle(shared.what, shared.parent, shared.ignored, step);
        int code = errno;
        if (!shared.room->ahead().wait(shared.number, shared.awake_ns)) ::_exit(127);
        auto& order = shared.room->order();
        if (settled) code = execute(launch_of(order), order.reports[0], step);
        order.reports[0].failure = {step, code};
        ::_exit(127);
    }

    sole<char*, nullptr> stack_;
    signal_bits ignored_ = 0;
    waiting ahead_{};
};

} // namespace sb::process
