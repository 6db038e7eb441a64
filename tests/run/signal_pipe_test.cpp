// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/run/signal_pipe.hpp>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using sb::run::signal_pipe;

namespace {

void mine(int) {}

struct sigaction now(int signal) {
    struct sigaction act {};
    REQUIRE(::sigaction(signal, nullptr, &act) == 0);
    return act;
}
/// Sets a handler of the program's own, and puts the one before back.
class own_handler {
public:
    own_handler(int signal, void (*handler)(int), int flags = 0) : signal_{signal} {
        struct sigaction act {};
        act.sa_handler = handler, act.sa_flags = flags;
        ::sigaction(signal, &act, &before_);
    }
    own_handler(own_handler const&) = delete;
    own_handler& operator=(own_handler const&) = delete;
    ~own_handler() { ::sigaction(signal_, &before_, nullptr); }

private:
    int signal_;
    struct sigaction before_ {};
};

int bytes_in(int fd) {
    char all[16];
    auto const n = ::read(fd, all, sizeof all);
    return n < 0 ? 0 : static_cast<int>(n);
}
/// Whether all that held the other end are gone, or are within ten seconds.
bool ended(int fd) {
    pollfd at{fd, POLLIN, 0};
    char byte;
    return ::poll(&at, 1, 10'000) == 1 && ::read(fd, &byte, 1) == 0;
}

} // namespace

TEST_CASE("the first of the three signals makes the pipe readable, and is remembered") {
    for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
        own_handler const as_usual{signal, SIG_DFL};
        auto const pipe = signal_pipe::make({}).value();
        pollfd at{pipe.fd(), POLLIN, 0};
        CHECK(::poll(&at, 1, 0) == 0);
        CHECK(signal_pipe::first() == 0);
        errno = EXDEV;
        ::raise(signal);
        CHECK(errno == EXDEV);
        CHECK(::poll(&at, 1, 0) == 1);
        CHECK(signal_pipe::first() == signal);
        CHECK(bytes_in(pipe.fd()) == 1);
        CHECK(bytes_in(pipe.fd()) == 0); // and reading an empty one does not wait
    }
    CHECK(bytes_in(signal_pipe::make({})->fd()) == 0);
    CHECK(signal_pipe::first() == 0);
}

TEST_CASE("a program's own handlers are back when its session is over, and what it ignores stays ignored") {
    own_handler const terminates{SIGTERM, &mine, SA_NODEFER}, hangs_up{SIGHUP, SIG_IGN}, interrupts{SIGINT, SIG_DFL};
    {
        auto first = signal_pipe::make({});
        REQUIRE_FALSE(first.has_error());
        auto const pipe = std::move(*first); // what is left of it puts nothing back
        CHECK(now(SIGTERM).sa_handler != &mine);
        CHECK(now(SIGINT).sa_handler != SIG_DFL);
        CHECK(now(SIGHUP).sa_handler == SIG_IGN);
        ::raise(SIGHUP);
        CHECK(signal_pipe::first() == 0);
        ::raise(SIGTERM);
        CHECK(signal_pipe::first() == SIGTERM);
    }
    CHECK(now(SIGTERM).sa_handler == &mine);
    CHECK((now(SIGTERM).sa_flags & SA_NODEFER) != 0);
    CHECK(now(SIGINT).sa_handler == SIG_DFL);
    CHECK(now(SIGHUP).sa_handler == SIG_IGN);
}

TEST_CASE("a handler that the program has set meanwhile stays") {
    own_handler const as_usual{SIGTERM, SIG_DFL};
    {
        auto const pipe = signal_pipe::make({});
        REQUIRE_FALSE(pipe.has_error());
        std::signal(SIGTERM, &mine);
    }
    CHECK(now(SIGTERM).sa_handler == &mine);
}

TEST_CASE("a second signal kills the session's processes, and ends us with the status of that signal") {
    int session_ends[2], bystander_ends[2], told[2];
    REQUIRE((::pipe2(session_ends, O_CLOEXEC) == 0 && ::pipe2(bystander_ends, O_CLOEXEC) == 0 && ::pipe2(told, O_CLOEXEC) == 0));
    auto const session = ::fork();
    REQUIRE(session >= 0);
    if (session == 0) {
        ::setsid();
        for (int const signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
        auto const child_without = [&](int not_its_own) {
            auto const child = ::fork();
            if (child != 0) return child;
            ::close(not_its_own), ::close(told[1]);
            for (;;) ::pause();
        };
        auto const one = child_without(bystander_ends[1]), two = child_without(bystander_ends[1]), bystander = child_without(session_ends[1]);
        auto const pipe = signal_pipe::make({one, -1, two, 0}); // -1 would be all that we may kill, 0 our own group
        ::raise(SIGINT);
        ::close(session_ends[1]), ::close(bystander_ends[1]);
        if (::write(told[1], &bystander, sizeof bystander) != sizeof bystander) ::_exit(1);
        ::close(told[1]);
        for (;;) ::pause();
    }
    for (int const fd : {session_ends[1], bystander_ends[1], told[1]}) ::close(fd);
    pid_t bystander = -1;
    REQUIRE(::read(told[0], &bystander, sizeof bystander) == sizeof bystander);
    pollfd alive{session_ends[0], POLLIN, 0};
    CHECK(::poll(&alive, 1, 0) == 0); // the first signal has killed nobody
    int status = 0;
    CHECK(::waitpid(session, &status, WNOHANG) == 0);
    ::kill(session, SIGTERM);
    REQUIRE(::waitpid(session, &status, 0) == session);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + SIGTERM);
    CHECK(ended(session_ends[0])); // both are gone
    alive.fd = bystander_ends[0];
    CHECK(::poll(&alive, 1, 0) == 0);
    ::kill(bystander, SIGKILL);
    CHECK(ended(bystander_ends[0]));
    for (int const fd : {session_ends[0], bystander_ends[0], told[0]}) ::close(fd);
}

TEST_CASE("a second signal ends us where the session's processes are gone already") {
    int const end = sb::test::in_child([] {
        std::signal(SIGINT, SIG_DFL);
        auto const child = ::fork();
        if (child == 0) {
            for (;;) ::pause();
        }
        auto const pipe = signal_pipe::make({child});
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        ::raise(SIGINT);
        ::raise(SIGINT);
        return 0;
    });
    CHECK(end == 128 + SIGINT);
}

TEST_CASE("after a session its processes are its no more: the next starts with a first signal") {
    int const end = sb::test::in_child([] {
        std::signal(SIGTERM, SIG_DFL);
        auto const child = ::fork();
        if (child == 0) {
            for (;;) ::pause();
        }
        {
            auto const before = signal_pipe::make({child});
            ::raise(SIGTERM);
        }
        auto const pipe = signal_pipe::make({});
        ::raise(SIGTERM); // the first of this one
        bool const alive = ::waitpid(child, nullptr, WNOHANG) == 0;
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        errno = ECANCELED;
        return alive ? 0 : -1;
    });
    CHECK(end == 0);
}
