// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/session_loop.hpp>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using sb::run::session_loop;

namespace {

/// Two pipes: a lane, and signals.
struct quiet_pipes {
    int lane[2], signals[2];
    quiet_pipes() { REQUIRE((::pipe2(lane, O_CLOEXEC) == 0 && ::pipe2(signals, O_CLOEXEC) == 0)); }
    ~quiet_pipes() {
        for (int const fd : {lane[0], lane[1], signals[0], signals[1]}) ::close(fd);
    }
};

/// A lane that owes one answer; each look at it is counted.
struct one_lane {
    bool busy = true, answers = true;
    int looks = 0;
    std::int64_t due_ns = sb::monotonic_ns() + 10'000'000'000;
    bool has_enough = false;
    session_loop::calls calls() {
        return {[this](std::size_t) { return busy; }, [this](std::size_t) { return std::optional{due_ns}; },
                [this](std::size_t) { return has_enough; },
                [this](std::size_t) {
                    ++looks;
                    if (answers) busy = false;
                    return sb::result<void>{};
                },
                [](std::size_t) { return sb::system_error("late"); }};
    }
};

/// As when somebody else has taken all that the kernel gives to this user.
bool refuse_epoll_watches() {
    sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 1),
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog const all{4, program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}
/// The exit code of a child that does so and then calls `act`.
template <class Act>
int without_watches(Act act) {
    auto const pid = ::fork();
    if (pid == 0) {
        ::alarm(60);
        ::_exit(refuse_epoll_watches() ? act() : 99);
    }
    int status = 0;
    return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_CASE("an answer that has come is taken before its lane is called late") {
    quiet_pipes const at;
    one_lane lane;
    lane.due_ns = sb::monotonic_ns() - 1; // as after a long stop of this process
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], lane.calls()).has_error());
    CHECK(lane.looks == 1);
}

TEST_CASE("a lane that is late and has no answer ends the loop") {
    quiet_pipes const at;
    one_lane lane;
    lane.answers = false, lane.due_ns = sb::monotonic_ns() + 1'000'000;
    auto const end = session_loop::run({at.lane[0]}, at.signals[0], lane.calls());
    REQUIRE(end.has_error());
    CHECK(end.error().what == "late");
}

TEST_CASE("a lane that has enough to do is looked at though nothing wakes the loop") {
    quiet_pipes const at;
    one_lane lane;
    lane.has_enough = true;
    auto const begun = sb::monotonic_ns();
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], lane.calls()).has_error());
    CHECK(lane.looks == 1);
    CHECK(sb::monotonic_ns() < begun + 5'000'000'000); // and not only when its answer is overdue
}

TEST_CASE("a loop with nothing to wait for, or after a signal, ends at once and closes no descriptor") {
    quiet_pipes const at;
    one_lane lane;
    lane.busy = false;
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], lane.calls()).has_error());
    CHECK(lane.looks == 0);
    lane.busy = true, lane.answers = false;
    REQUIRE(::write(at.signals[1], "x", 1) == 1);
    CHECK_FALSE(session_loop::run({at.lane[0]}, at.signals[0], lane.calls()).has_error());
    CHECK(lane.looks == 1); // what has ended by then is recorded
    CHECK(::fcntl(at.lane[0], F_GETFD) >= 0);
    CHECK(::fcntl(at.signals[0], F_GETFD) >= 0);
}

TEST_CASE("a loop without epoll watches waits for lanes, signals and the clock all the same") {
    quiet_pipes const at;
    CHECK(without_watches([&] {
        one_lane lane;
        if (::write(at.lane[1], "x", 1) != 1 || session_loop::run({at.lane[0]}, at.signals[0], lane.calls()).has_error()) return 1;
        return lane.looks == 1 ? 0 : 2;
    }) == 0);
    quiet_pipes const quiet;
    CHECK(without_watches([&] {
        one_lane lane;
        lane.answers = false, lane.due_ns = sb::monotonic_ns() + 1'000'000;
        auto const end = session_loop::run({quiet.lane[0]}, quiet.signals[0], lane.calls());
        return end.has_error() && end.error().what == "late" ? 0 : 1;
    }) == 0);
    CHECK(without_watches([&] {
        one_lane lane;
        lane.answers = false;
        if (::write(quiet.signals[1], "x", 1) != 1 || session_loop::run({quiet.lane[0]}, quiet.signals[0], lane.calls()).has_error()) return 1;
        return lane.looks == 1 ? 0 : 2;
    }) == 0);
}
