// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/process/adopt_and_kill.hpp>
#include <algorithm>
#include <csignal>
#include <poll.h>
#include <vector>

using namespace sb::process;
using sb::test::in_child;

namespace {

std::vector<pid_t> children() {
    std::vector<pid_t> all;
    each_child([&](pid_t pid) { all.push_back(pid); });
    std::sort(all.begin(), all.end());
    return all;
}
/// How many children there are to wait for until there are none. Each must be dead already, or be dying.
int wait_for_all() {
    int count = 0;
    for (;;) {
        if (::waitpid(-1, nullptr, 0) > 0) ++count;
        else if (errno != EINTR) return count;
    }
}
[[noreturn]] void stay(int ready) {
    (void)!::write(ready, "x", 1);
    for (;;) ::pause();
}
/// A process of the test's own in which everything may be killed; `work` says whether all went well.
template <class Work>
int alone(Work work) {
    return in_child([&] {
        bool const well = !adopt_orphans().has_error() && work();
        errno = EDOM;
        return well ? 0 : -1;
    });
}

} // namespace

TEST_CASE("the children of a process are listed, and nobody else") {
    CHECK(alone([] {
        if (!children().empty()) return false;
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        std::vector<pid_t> made;
        for (int i = 0; i < 3; ++i) {
            made.push_back(::fork());
            if (made.back() != 0) continue;
            if (::fork() == 0) stay(ends[1]); // no child of ours
            stay(ends[1]);
        }
        char byte = 0;
        for (int i = 0; i < 6; ++i)
            if (::read(ends[0], &byte, 1) != 1) return false;
        std::sort(made.begin(), made.end());
        bool const listed = children() == made;
        kill_children();
        for (int left = 6; left > 0; --left) kill_children(), (void)::waitpid(-1, nullptr, 0);
        return listed && children().empty();
    }) == 0);
}

TEST_CASE("an orphan becomes a child of whoever adopts orphans, however it fled, and is killed") {
    CHECK(alone([] {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        auto const middle = ::fork();
        if (middle == 0) {
            if (::fork() != 0) ::_exit(0);
            ::setsid();
            if (::fork() != 0) ::_exit(0);
            for (int s = 1; s < 32; ++s) std::signal(s, SIG_IGN);
            stay(ends[1]);
        }
        char byte = 0;
        if (::read(ends[0], &byte, 1) != 1) return false;
        int reaped = 0, status = 0;
        for (; reaped < 2; ++reaped) // both parents in between are gone
            if (::waitpid(-1, &status, 0) < 0 || !WIFEXITED(status)) return false;
        auto const orphan = children();
        if (orphan.size() != 1 || orphan.front() == middle) return false;
        kill_children();
        return ::waitpid(orphan.front(), &status, 0) == orphan.front() && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && children().empty();
    }) == 0);
}

TEST_CASE("a child's whole group is killed at once, and our own group is spared") {
    CHECK(alone([] {
        int ends[2], life[2];
        if (::pipe2(ends, O_CLOEXEC) != 0 || ::pipe2(life, O_CLOEXEC) != 0) return false;
        bool const leads = ::fork() == 0;
        if (leads) {
            ::setpgid(0, 0);
            for (int i = 0; i < 3; ++i)
                if (::fork() == 0) stay(ends[1]);
            ::close(life[1]); // its children alone hold it
            stay(ends[1]);
        }
        bool const same_group = ::fork() == 0;
        if (same_group) ::close(life[1]), stay(ends[1]);
        ::close(life[1]);
        char byte = 0;
        for (int i = 0; i < 5; ++i)
            if (::read(ends[0], &byte, 1) != 1) return false;
        kill_children(); // one call, before anybody is waited for
        pollfd end{life[0], POLLIN, 0};
        bool const all_died = ::poll(&end, 1, 10'000) == 1 && ::read(life[0], &byte, 1) == 0;
        if (!all_died) ::kill(0, SIGKILL);
        return wait_for_all() == 5;
    }) == 0);
}

TEST_CASE("where there are no children nothing is killed") {
    CHECK(alone([] {
        kill_children();
        return children().empty();
    }) == 0);
}

TEST_CASE("a process's parent is found whatever its name is, and none of a process that is gone") {
    CHECK(in_child([] {
        ::prctl(PR_SET_NAME, ") R 1 (x) S 2");
        errno = EDOM;
        return sb::process::detail::parent_of(sb::cat(::getpid())) == ::getppid() ? 0 : -1;
    }) == 0);
    auto const gone = ::fork();
    if (gone == 0) ::_exit(0);
    REQUIRE(::waitpid(gone, nullptr, 0) == gone);
    CHECK(sb::process::detail::parent_of(sb::cat(gone)) == -1);
    CHECK(sb::process::detail::parent_of("no number") == -1);
}
