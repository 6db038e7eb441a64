// SPDX-License-Identifier: MIT
// Memory of the kernel's that nobody counts: told from what comes and goes, and laid to whom it belongs.
#include "support/sandbox_slot.hpp"
#include <sb/core/clock.hpp>
#include <sb/machine/kernel_memory.hpp>
#include <sb/sandbox/tcp_leftovers.hpp>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace sb::machine;
using namespace sb::test;

namespace {

constexpr std::int64_t ms = 1'000'000, mib = 1 << 20;

/// Locks of so many bytes apart in a file of their own, that belong to the open file.
sb::unique_fd locked_file(int locks) {
    sb::unique_fd file{::memfd_create("locked", MFD_CLOEXEC)};
    for (int i = locks; i > 0; --i) {
        struct flock one {};
        one.l_type = F_WRLCK, one.l_start = 2 * i, one.l_len = 1;
        if (::fcntl(file.get(), F_OFD_SETLK, &one) != 0) return sb::unique_fd{};
    }
    return file;
}

} // namespace

TEST_CASE("what is neither free nor of use to anybody is the kernel's") {
    auto const machine = detail::machine_memory::of("MemTotal:       1000 kB\nMemFree:         400 kB\nMemAvailable:    700 kB\nBuffers:           1 kB\nCached:          100 kB\n"
                                                    "AnonPages:       200 kB\nShmem:             50 kB\nKReclaimable:     30 kB\nSlab:            90 kB\nSReclaimable:     30 kB\n"
                                                    "SUnreclaim:       60 kB\nKernelStack:        7 kB\nPageTables:         2 kB\nHugePages_Total:    9\nHugetlb:         100 kB\n");
    REQUIRE(machine);
    CHECK(machine->total == 1000 << 10);
    CHECK(machine->kernels == (1000 - 400 - 1 - 100 - 200 - 30 - 7 - 2 - 100) << 10);
    CHECK_FALSE(detail::machine_memory::of(""));
    CHECK(detail::free_on_processors("Node 0, zone   Normal\n  pages free 77\n    cpu: 0\n              count:    10\n              high:     69\n    cpu: 1\n              count:    5\n") ==
          15 * ::sysconf(_SC_PAGESIZE));
    CHECK(detail::free_on_processors("") == 0);
}

TEST_CASE("a lock names who holds it, an open file's nobody") {
    CHECK(detail::holder_of("1: POSIX  ADVISORY  WRITE 4242 00:1b:935 574 574") == 4242);
    CHECK(detail::holder_of("2: -> FLOCK  ADVISORY  READ  17 fe:00:9 0 EOF") == 17);
    CHECK(detail::holder_of("3: OFDLCK ADVISORY  WRITE -1 00:1b:935 0 EOF") == -1);
    CHECK(detail::holder_of("") == 0);
}

TEST_CASE("the machine's growth decides when a run is asked, and for what") {
    kernel_memory_watch watch;
    using causes = kernel_memory_watch::causes;
    socket_place at;
    at.counts = 0, at.share.uncounted_bytes = 2000 * mib, at.most_uncounted = 64 * mib;
    watch.begin(at, -1, 2, 0);
    CHECK(watch.due_ns() == -1); // without walls nobody can be asked
    watch.begin(at, 1, 2, 0);
    CHECK(watch.due_ns() == 10 * ms);
    auto const now = [&](std::int64_t kernels, std::int64_t free = 0) { return watch.learn({20'000 * mib, kernels * mib}, free * mib, 0); };
    CHECK(now(500) == causes{});
    CHECK(watch.due_ns() == 8'388'608); // 64 MiB at 8 bytes a nanosecond
    CHECK(now(563) == causes{});
    CHECK(now(900, 400) == causes{}); // free on processors
    CHECK(now(400) == causes{}); // others gave some back
    CHECK(now(463) == causes{});
    CHECK(now(464) == causes{true, false});
    CHECK(watch.due_ns() == 50 * ms);
    CHECK(now(1399) == causes{true, false});
    CHECK(watch.due_ns() == 5 * ms);
    CHECK(now(1400) == causes{true, true});
    CHECK(watch.due_ns() == 50 * ms); // it need not be this run
    at.most_uncounted = 8 * mib; // less than what comes and goes
    watch.begin(at, 1, 2, 0);
    CHECK(now(500) == causes{});
    CHECK(now(531) == causes{});
    CHECK(now(532) == causes{true, false});
    at.most_uncounted = -1;
    watch.begin(at, 1, 2, 0);
    CHECK(watch.due_ns() == -1);
}

TEST_CASE("locks are counted for whoever may hold them") {
    constexpr int some = 6000;
    auto const ours = locked_file(some);
    REQUIRE(ours);
    auto const nobodys = ::fork();
    if (nobodys == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) ::pause();
    }
    REQUIRE(nobodys > 0);
    CHECK(detail::lock_census{nobodys}.count() < some); // an open file's are laid to who has such locks
    CHECK(detail::lock_census{::getppid()}.count() >= some);
    struct flock all {};
    all.l_type = F_UNLCK;
    REQUIRE(::fcntl(ours.get(), F_OFD_SETLK, &all) == 0);
    auto const before = detail::lock_census{nobodys}.count();
    for (int i = some; i > 0; --i) {
        struct flock one {};
        one.l_type = F_WRLCK, one.l_start = 2 * i, one.l_len = 1;
        REQUIRE(::fcntl(ours.get(), F_SETLK, &one) == 0);
    }
    CHECK(detail::lock_census{nobodys}.count() < before + some); // a process's only to its run
    CHECK(detail::lock_census{::getppid()}.count() >= some);
    ::kill(nobodys, SIGKILL);
    ::waitpid(nobodys, nullptr, 0);
}

TEST_CASE("as much as waits in sockets can have many times that kept") {
    auto list = sb::sandbox::tcp_leftovers::open();
    REQUIRE_FALSE(list.has_error());
    sb::unique_fd const counts{::open("/proc/self/net/sockstat", O_RDONLY | O_CLOEXEC)}, kinds{::open("/proc/self/net/protocols", O_RDONLY | O_CLOEXEC)};
    REQUIRE((counts && kinds));
    socket_place at;
    at.counts = counts.get(), at.list = list->descriptor(), at.kinds = kinds.get();
    at.resident = 1 << 20;
    CHECK(most_kept_by_sockets(at) == 0); // it has no socket
    at.resident = 0, at.resident_known = 1 << 20; // none that no protocol knows
    sb::unique_fd const socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    std::string const text(60'000, 'x');
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_addr.s_addr = htonl(INADDR_LOOPBACK), to.sin_port = htons(9);
    REQUIRE(::sendto(socket.get(), text.data(), text.size(), MSG_MORE, reinterpret_cast<sockaddr*>(&to), sizeof to) == std::ssize(text));
    CHECK(most_kept_by_sockets(at) >= 60'000 / 768 * 17 * 32'768);
}
