// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/process/privileges.hpp>
#include <algorithm>
#include <csignal>
#include <cstring>
#include <sys/socket.h>

using namespace sb::process;
using namespace sb::test;

namespace {
int of_class(int number) { return number << 13; }
int gives_up() { return give_up_privileges().has_error() ? -1 : 0; }
} // namespace

TEST_CASE("what goes before others is given up, with the right to it") {
    auto const ahead = [] {
        sched_param const first{1};
        return ::sched_setscheduler(0, SCHED_FIFO, &first) == 0 && ::setpriority(PRIO_PROCESS, 0, -3) == 0 && ::syscall(SYS_ioprio_set, 1, 0, of_class(1)) == 0 ? 0 : -1;
    };
    if (in_child(ahead, [] { return 0; }) != 0) {
        WARN("skipped: we may not go before others");
        return;
    }
    CHECK(in_child(ahead, [] { return ::sched_getscheduler(0) == SCHED_FIFO && ::getpriority(PRIO_PROCESS, 0) == -3 && ::syscall(SYS_ioprio_get, 1, 0) == of_class(1) ? 0 : -1; }) == 0);
    CHECK(in_child([&] { return ahead() == 0 ? gives_up() : -1; }, [] {
        bool const usual = ::sched_getscheduler(0) == SCHED_OTHER && ::getpriority(PRIO_PROCESS, 0) == 0 && ::syscall(SYS_ioprio_get, 1, 0) >> 13 != 1;
        return usual ? 0 : -1;
    }) == 0);
}

TEST_CASE("what stands back stays back") {
    auto const back = [] { return ::setpriority(PRIO_PROCESS, 0, 7) == 0 && ::syscall(SYS_ioprio_set, 1, 0, of_class(3)) == 0 ? 0 : -1; };
    CHECK(in_child([&] { return back() == 0 ? gives_up() : -1; }, [] { return ::getpriority(PRIO_PROCESS, 0) == 7 && ::syscall(SYS_ioprio_get, 1, 0) == of_class(3) ? 0 : -1; }) == 0);
    auto const batch = [] {
        sched_param const usual{0};
        return ::sched_setscheduler(0, SCHED_BATCH, &usual);
    };
    CHECK(in_child([&] { return batch() == 0 ? gives_up() : -1; }, [] { return ::sched_getscheduler(0) == SCHED_BATCH ? 0 : -1; }) == 0);
}

TEST_CASE("who is put before others comes first in its session, and the session among others; a member of another's alone") {
    auto const session_of = [](pid_t who) { // "/autogroup-7 nice 0"
        auto const text = sb::read_file(sb::cat("/proc/", who, "/autogroup"));
        return text.has_error() ? std::string{} : text->substr(std::min(text->find("nice"), text->size()));
    };
    for (bool const leads : {true, false}) {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        auto const child = ::fork();
        if (child == 0) {
            if (leads) ::setsid();
            (void)!::write(ends[1], "x", 1);
            for (;;) ::pause();
        }
        char byte = 0;
        REQUIRE(::read(ends[0], &byte, 1) == 1);
        ::close(ends[0]), ::close(ends[1]);
        auto const before = session_of(child);
        bool const done = put_first(child, true);
        auto const rank = ::getpriority(PRIO_PROCESS, static_cast<id_t>(child));
        auto const session = session_of(child);
        put_first(child, false);
        auto const rank_after = ::getpriority(PRIO_PROCESS, static_cast<id_t>(child));
        auto const after = session_of(child);
        ::kill(child, SIGKILL), ::waitpid(child, nullptr, 0);
        if (!done) {
            REQUIRE(in_child([] { return ::setpriority(PRIO_PROCESS, 0, -20); }) != 0);
            WARN("SKIPPED: we may put nobody before others");
            return;
        }
        CHECK(rank == -20);
        CHECK(session == (before.empty() || !leads ? before : "nice -20\n"));
        CHECK(rank_after == ::getpriority(PRIO_PROCESS, 0));
        CHECK(after == before);
    }
}

TEST_CASE("whoever was spared by the killer is not any more, and cannot be again") {
    auto const score = [](char const* to) { // 0, or an errno
        sb::unique_fd const file{::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)};
        return file && ::write(file.get(), to, std::strlen(to)) > 0 ? 0 : errno;
    };
    // as somebody without rights, when it has been told to go on
    auto const tries = [&](char const* before, char const* after) {
        int pair[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
        auto const child = ::fork();
        if (child == 0) {
            char byte = score(before) == 0 ? 'y' : 'n';
            bool const fine = byte == 'y' && ::write(pair[1], &byte, 1) == 1 && ::read(pair[1], &byte, 1) == 1;
            if (!fine) ::_exit(254);
            sb::unique_fd const file{::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)}; // the right is asked for when it is written
            if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(254);
            ::_exit(::write(file.get(), after, std::strlen(after)) > 0 ? 0 : errno);
        }
        ::close(pair[1]);
        char byte = 0;
        if (::read(pair[0], &byte, 1) == 1) {
            CHECK_FALSE(give_up_being_spared(child).has_error());
            (void)!::write(pair[0], &byte, 1);
        }
        ::close(pair[0]);
        int status = 0;
        ::waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    CHECK(tries("300", "301") == 0);
    if (tries("-500", "0") == 254) {
        WARN("skipped: we may not be spared");
        return;
    }
    CHECK(tries("-500", "-1") == EACCES);
    CHECK(tries("300", "299") == EACCES);
}

TEST_CASE("the limits of a payload that need not be asked for stand, and stay") {
    CHECK(in_child(gives_up, [] {
        rlimit core{}, first{}, rank{};
        ::getrlimit(RLIMIT_CORE, &core), ::getrlimit(RLIMIT_RTPRIO, &first), ::getrlimit(RLIMIT_NICE, &rank);
        return core.rlim_max <= 1 && first.rlim_max == 0 && rank.rlim_max == 0 ? 0 : -1;
    }) == 0);
}
