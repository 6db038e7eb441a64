// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <sb/core/clock.hpp>
#include <sb/machine/file_count.hpp>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>

using namespace sb::machine;
using namespace sb::test;

namespace {
constexpr std::int64_t ms = 1'000'000;
}

TEST_CASE("files are not looked at before a run can have a sixteenth of its part, and never without a limit") {
    file_watch watch;
    watch.begin(-1, 1, 1, 4, 0);
    CHECK(watch.due_ns() == -1);
    watch.begin(800'000, 1, -1, 4, 0);
    CHECK(watch.due_ns() == -1);
    watch.begin(800'000, 1, 1, 4, 5 * ms); // 50,000 files, of which 8 are made in a microsecond
    CHECK(watch.due_ns() == 11'250'000);
    watch.begin(8'000, 1, 1, 4, 5 * ms);
    CHECK(watch.due_ns() == 6 * ms);
}

TEST_CASE("a run's files are counted when the machine's have grown by as many as it may have, and not again and again") {
    file_watch watch;
    watch.begin(800'000, 2, 1, 1, 0); // 200,000 more of the machine's and 50,000 of its own are too many
    CHECK_FALSE(watch.learn(50'000, 50 * ms));
    CHECK_FALSE(watch.learn(249'999, 100 * ms));
    CHECK(watch.due_ns() == 101 * ms); // one is missing
    CHECK_FALSE(watch.learn(10'000, 101 * ms)); // others have gone
    CHECK_FALSE(watch.learn(209'999, 102 * ms));
    CHECK(watch.learn(210'000, 103 * ms));
    CHECK_FALSE(watch.learn_own(10'000, 103 * ms)); // it was somebody else
    CHECK(watch.due_ns() == 113 * ms); // 20,000 more are half of what is missing
    CHECK_FALSE(watch.learn(229'999, 113 * ms));
    CHECK(watch.learn(230'000, 114 * ms));
    CHECK_FALSE(watch.learn_own(49'999, 114 * ms));
    CHECK_FALSE(watch.learn(230'000, 363 * ms));
    CHECK(watch.learn(230'000, 364 * ms)); // a count does not hold for ever
    CHECK(watch.learn_own(50'000, 364 * ms));
    CHECK(watch.due_ns() == -1);
}

namespace {

/// One that orphans go to; its grandchild has lost its parent, and keeps `files` open. 0: it did not come about.
struct family {
    static constexpr int files = 200;
    pid_t first = 0, orphan = 0;

    family() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        first = ::fork();
        if (first == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::prctl(PR_SET_CHILD_SUBREAPER, 1);
            if (::fork() == 0) {
                auto const parent = ::getpid();
                if (::fork() != 0) ::_exit(0);
                while (::getppid() == parent) ::usleep(1000);
                ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (int i = 0; i < files; ++i) ::eventfd(0, EFD_CLOEXEC);
                for (int i = 0; i < 2 * files; ++i) ::mmap(nullptr, 4096, i % 2 != 0 ? PROT_READ : PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                auto const self = ::getpid();
                (void)!::write(ends[1], &self, sizeof self);
            }
            for (;;) ::pause();
        }
        ::close(ends[1]);
        if (::read(ends[0], &orphan, sizeof orphan) != sizeof orphan) orphan = 0;
        ::close(ends[0]);
    }
    family(family const&) = delete;
    family& operator=(family const&) = delete;
    ~family() {
        if (first <= 0) return;
        if (orphan > 0) ::kill(orphan, SIGKILL);
        ::kill(first, SIGKILL), ::waitpid(first, nullptr, 0);
    }
};

} // namespace

TEST_CASE("whoever descends from the first process of a sandbox is counted and killed, orphans too, and nobody else") {
    family counted, other;
    REQUIRE((counted.orphan > 0 && other.orphan > 0));
    sb::unique_fd const end{static_cast<int>(::syscall(SYS_pidfd_open, counted.orphan, 0))}, beside{static_cast<int>(::syscall(SYS_pidfd_open, other.orphan, 0))};
    REQUIRE((end && beside));
    detail::file_census all{counted.first};
    CHECK(all.holds(counted.orphan));
    CHECK_FALSE(all.holds(other.orphan));
    auto const kept = all.count(1'000'000, 0);
    CHECK(kept >= family::files);
    CHECK(kept < 2 * family::files); // the other has as many, and memory without a file is none
    all.kill_all();
    pollfd ended[] = {{end.get(), POLLIN, 0}, {beside.get(), POLLIN, 0}};
    CHECK(::poll(ended, 1, 10'000) == 1);
    CHECK(::poll(ended + 1, 1, 0) == 0);
    CHECK(::kill(counted.first, 0) == 0);
}

TEST_CASE("what a program that cannot be read keeps is counted too", "[sandbox]") {
    NEEDS_ISOLATION();
    constexpr std::int64_t each = 300, any = 1'000'000;
    slot here;
    here.make_ready();
    REQUIRE(::mkfifo(here.bound("over").c_str(), 0600) == 0);
    REQUIRE(::chmod(here.bound("over").c_str(), 0666) == 0);
    sb::unique_fd const over{::open(here.bound("over").c_str(), O_RDWR | O_CLOEXEC)}; // the shell alone, and no program that comes and goes, waits for a line
    REQUIRE(over);
    std::thread beside{[&] { here.shell(sb::cat("/opt/victims/closed keep_files ", each, " /opt/write/ready & read -r line </opt/write/over")); }};
    for (auto const until = sb::monotonic_ns() + 10'000 * ms; ::access(here.bound("ready").c_str(), F_OK) != 0 && sb::monotonic_ns() < until;) ::usleep(1000);
    bool const done = ::access(here.bound("ready").c_str(), F_OK) == 0;
    detail::file_census all{here.place().reaper().pid};
    auto const seen = all.count(any, 0), at_most = all.count(any, any), bounded = all.count(any, 7);
    (void)!::write(over.get(), "\n", 1);
    beside.join();
    REQUIRE(done);
    struct stat facts {};
    auto const victims = victim_path();
    REQUIRE(::stat(sb::cat(victims.substr(0, victims.rfind('/')), "/closed").c_str(), &facts) == 0);
    bool const hidden = ::geteuid() != 0 && facts.st_uid != ::geteuid();
    CHECK(seen >= (hidden ? 1 : 2) * each); // its table; and mappings
    // before Linux 6.2 a table counts as large as it is, a power of two; `each` once more stands for the shell and for programs' files
    struct stat own_table {};
    REQUIRE(::stat("/proc/self/fd", &own_table) == 0);
    auto const table = own_table.st_size > 0 ? each : 512;
    CHECK(seen < table + (hidden ? 1 : 2) * each);
    CHECK(at_most >= 2 * each);
    CHECK(bounded < table + (hidden ? 1 : 2) * each);
}

TEST_CASE("what a run keeps is counted, in tables of open files and in mappings", "[sandbox]") {
    NEEDS_ISOLATION();
    slot here;
    here.make_ready();
    std::string const keep = sb::cat("for i in $(seq 20); do sleep 60 3</etc/passwd 4</etc/passwd 5</etc/passwd 6</etc/passwd 7</etc/passwd & done; "
                                     "echo x >/opt/write/ready; until [ -e /opt/write/over ]; do sleep 0.01; done");
    std::thread beside{[&] { here.shell(keep); }};
    for (auto const until = sb::monotonic_ns() + 10'000 * ms; ::access(here.bound("ready").c_str(), F_OK) != 0 && sb::monotonic_ns() < until;) ::usleep(1000);
    detail::file_census all{here.place().reaper().pid};
    auto const kept = all.count(1'000'000, 0), few = all.count(100, 0), one = all.count(1, 0), none = detail::file_census{::getpid() + 1'000'000'000}.count(1'000'000, 0);
    put(here.bound("over"), "x");
    beside.join();
    CHECK(kept >= 20 * (7 + 10)); // a program has ten mappings and more
    CHECK(kept < 20 * 200);
    CHECK(few == 100);
    CHECK(one == 1);
    CHECK(none == 0);
}
