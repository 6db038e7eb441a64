// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/process/reaper_link.hpp>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <utility>

using namespace sb::process;

namespace {

/// A link to a "reaper" that is a process that only waits; what it would answer the test sends.
struct link_to_nobody {
    reaper_link link;
    sb::unique_fd theirs;

    link_to_nobody() {
        link.pid = ::fork(); // before the socket is made: it has no end of it
        if (link.pid == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) ::pause();
        }
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
        link.socket = sb::unique_fd{ends[0]}, theirs = sb::unique_fd{ends[1]};
    }
    ~link_to_nobody() { (void)end(SIGKILL); }
    /// How it ends by this signal; by 0 it is only waited for.
    int end(int signal) {
        int status = -1;
        if (link.pid <= 0) return status;
        if (signal != 0) ::kill(link.pid, signal);
        (void)sb::retry([&] { return ::waitpid(link.pid, &status, 0); });
        link.pid = -1;
        return status;
    }
    /// What was sent to it; nothing when there is no word.
    int heard() {
        message text;
        sb::passed_files none;
        return receive_message(theirs.get(), text, none, MSG_DONTWAIT) ? static_cast<int>(text.what) : -1;
    }
};

} // namespace

TEST_CASE("where no child was requested nobody is told to let it go") {
    link_to_nobody to;
    to.link.let_go();
    CHECK(to.heard() == -1);
}

TEST_CASE("a requested child is let go once, when its reaper has answered") {
    link_to_nobody to;
    to.link.ahead = {7, 3};
    REQUIRE(send_message(to.theirs.get(), {word::done, 0}));
    to.link.let_go();
    CHECK(to.heard() == static_cast<int>(word::let_go));
    CHECK(to.link.ahead.number == 0);
    CHECK(to.link.ahead.pipes == 0);
    to.link.let_go();
    CHECK(to.heard() == -1);
    CHECK(::kill(to.link.pid, 0) == 0);
    CHECK(to.end(SIGUSR1) == SIGUSR1); // nobody killed it before
}

TEST_CASE("a reaper that does not answer is killed, and its socket is closed for both sides") {
    link_to_nobody to;
    to.link.ahead = {7, 3};
    to.link.let_go();
    CHECK(to.end(0) == SIGKILL);
    CHECK(to.heard() == static_cast<int>(word::let_go));
    pollfd end{to.theirs.get(), POLLIN, 0};
    CHECK(::poll(&end, 1, 0) == 1);
    CHECK((end.revents & POLLHUP) != 0);
    CHECK_FALSE(send_message(to.link.socket.get(), {word::stop, 0}));
}

TEST_CASE("a reaper whose socket is closed already is not waited for") {
    link_to_nobody to;
    to.link.ahead = {7, 3};
    to.theirs.reset();
    to.link.let_go();
    CHECK(to.link.ahead.number == 0);
    CHECK(to.end(SIGUSR1) == SIGUSR1);
}

TEST_CASE("a reaper without a namespace is our child, and ends with its socket") {
    auto room = order_room::make().value();
    auto made = reaper_link::fork_here(room);
    REQUIRE_FALSE(made.has_error());
    CHECK_FALSE(made->alone);
    CHECK(made->ahead.number == 0);
    REQUIRE(made->pid > 0);
    // it serves, so it answers
    made->ahead.number = room.ahead().expect();
    made->let_go();
    CHECK(::waitpid(made->pid, nullptr, WNOHANG) == 0);
    made->socket.reset();
    int status = -1;
    CHECK(sb::retry([&] { return ::waitpid(made->pid, &status, 0); }) == made->pid);
    CHECK(status == 0);
}
