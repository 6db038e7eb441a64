// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/process/reaper_figures.hpp>
#include <sched.h>
#include <string>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sb::process;

namespace {

/// A child that has done this and was not waited for yet.
template <class Does>
pid_t ended(Does does) {
    auto const pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) does(), ::_exit(0);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
    return pid;
}
rusage wait_for(pid_t pid) {
    rusage spent{};
    int status = 0;
    REQUIRE(::wait4(pid, &status, 0, &spent) == pid);
    return spent;
}
void work(std::int64_t cpu_ns) {
    for (volatile int i = 0; own_cpu_ns() < cpu_ns;) i = i + 1;
}

} // namespace

TEST_CASE("what a process used is read before it is taken in, whatever its name is") {
    reaper_figures figures{reaper_files::open()};
    auto const pid = ended([] { ::prctl(PR_SET_NAME, ") 1 2 ) 3 (("), work(60'000'000); });
    auto const read_us = figures.processor_time(pid);
    auto const used = usage_of(wait_for(pid));
    CHECK(read_us >= 20'000); // in ticks of 10 ms, user and system each
    CHECK(read_us <= used.user_us + used.system_us + 20'000);
    CHECK(used.user_us + used.system_us >= 60'000);
    CHECK(used.processes == 1);
    CHECK(used.peak_rss_bytes > 0);
    CHECK(figures.processor_time(pid) == -1);
}

TEST_CASE("traffic is that of the children that were waited for, without the reaper's own reads") {
    if (::access("/proc/self/io", R_OK) != 0) {
        WARN("SKIPPED: the kernel does not count what processes read and write");
        return;
    }
    reaper_figures figures{reaper_files::open()};
    raw_traffic seen;
    figures.count_traffic(seen);
    CHECK(seen.read_chars == 0);
    CHECK(seen.written_chars == 0);
    auto const pid = ended([] {
        std::string block(100'000, 'x');
        int const from = ::open("/dev/zero", O_RDONLY), to = ::open("/dev/null", O_WRONLY);
        (void)!::read(from, block.data(), block.size()), (void)!::write(to, block.data(), 70'000);
    });
    auto const own = figures.processor_time(pid); // its bytes are the reaper's
    CHECK(own >= 0);
    (void)wait_for(pid);
    figures.count_traffic(seen);
    CHECK(seen.read_chars == 100'000);
    CHECK(seen.written_chars == 70'000);
    char zeros[500];
    int const from = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    figures.own_read(::read(from, zeros, sizeof zeros));
    ::close(from);
    figures.count_traffic(seen);
    CHECK(seen.read_chars == 0);
}

TEST_CASE("without the files of /proc nothing is told") {
    reaper_figures figures{reaper_files{}};
    raw_traffic seen;
    seen.read_chars = -7;
    figures.count_traffic(seen);
    CHECK(seen.read_chars == -7);
    CHECK(figures.last_pid() == -1);
}

TEST_CASE("what was used before exec is taken off system time first, then user time, and never more than there is") {
    raw_usage used;
    used.user_us = 100, used.system_us = 50;
    take_off(used, 30);
    CHECK((used.user_us == 100 && used.system_us == 20));
    take_off(used, 50);
    CHECK((used.user_us == 70 && used.system_us == 0));
    take_off(used, 1000);
    CHECK((used.user_us == 0 && used.system_us == 0));
}

TEST_CASE("the usage of several is their sum, and the peak is that of the largest") {
    raw_usage sum, one;
    one.user_us = 1, one.system_us = 2, one.peak_rss_bytes = 10, one.read_bytes = 3, one.written_bytes = 4, one.processes = 1;
    add(sum, one);
    one.peak_rss_bytes = 5;
    add(sum, one);
    CHECK((sum.user_us == 2 && sum.system_us == 4 && sum.peak_rss_bytes == 10 && sum.read_bytes == 6 && sum.written_bytes == 8 && sum.processes == 2));
}

TEST_CASE("objects of System V that a run left are counted") {
    constexpr int no_namespace = 77;
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) { // where nobody else makes any
        if (::unshare(CLONE_NEWIPC) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0) ::_exit(no_namespace);
        if (ipc_objects() != 0) ::_exit(1);
        if (::shmget(IPC_PRIVATE, 4096, 0600) < 0 || ipc_objects() != 1) ::_exit(2);
        if (::msgget(IPC_PRIVATE, 0600) < 0 || ipc_objects() != 2) ::_exit(3);
        ::_exit(::semget(IPC_PRIVATE, 1, 0600) < 0 || ipc_objects() != 3 ? 4 : 0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == no_namespace) WARN("SKIPPED: no namespace of System V objects can be had here");
    else CHECK(WEXITSTATUS(status) == 0);
}
