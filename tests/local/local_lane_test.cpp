// SPDX-License-Identifier: MIT
#include "support/shell_job.hpp"
#include "support/victim.hpp"
#include <sb/local/local_lane.hpp>
#include <sb/local/worker_pool.hpp>
#include <csignal>
#include <fstream>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

using namespace sb::local;
using sb::test::shell_job;

namespace {

struct one_lane {
    worker_pool pool = worker_pool::make(1).value();
    local_lane lane{pool.workers().front(), pool.folder()};

    /// As a session takes them: when the descriptor is readable.
    sb::result<sb::run::outcome> next() {
        for (;;) {
            auto got = lane.take();
            if (got.has_error()) return got.error();
            if (*got) return std::move(**got);
            pollfd at{lane.descriptor(), POLLIN, 0};
            REQUIRE(::poll(&at, 1, 60'000) == 1);
        }
    }
};

} // namespace

TEST_CASE("a lane gives its outcomes in the order of the jobs, and none before there is one") {
    one_lane at;
    CHECK_FALSE(at.lane.take().value());
    CHECK_FALSE(at.lane.take().value());
    for (int const n : {3, 0, 1}) REQUIRE_FALSE(at.lane.start({shell_job(sb::cat("exit ", n), static_cast<std::uint64_t>(10 + n))}).has_error());
    for (int const n : {3, 0, 1}) {
        auto const got = at.next().value();
        CHECK(got.number == static_cast<std::uint64_t>(10 + n));
        CHECK(got.end.class_ == (n == 0 ? sb::end_class::ok : sb::end_class::failed));
        CHECK(got.end.code == n);
        CHECK(got.copies == 1);
        CHECK(got.wall_s > 0);
    }
    CHECK_FALSE(at.lane.take().value());
}

TEST_CASE("an outcome is read by the limits of its own job") {
    one_lane at;
    auto late = shell_job("sleep 600", 1), loud = shell_job("while :; do echo words; done", 2);
    late.setup.wall_ns = 50'000'000, loud.setup.output_bytes = 1000;
    for (auto const& each : {late, loud, shell_job("exit 0", 3)}) REQUIRE_FALSE(at.lane.start({each}).has_error());
    auto const first = at.next().value(), second = at.next().value();
    CHECK(first.end.class_ == sb::end_class::timeout);
    CHECK(first.end.reason == "TIMEOUT: still running after 0.05 s");
    CHECK(first.limits_hit == std::vector<std::string>{"TIMEOUT"});
    CHECK(second.end.class_ == sb::end_class::output);
    CHECK(at.next().value().end.class_ == sb::end_class::ok);
}

TEST_CASE("the output that a job kept can be read, and the next job overwrites it") {
    one_lane at;
    for (std::string const word : {"first", "second"}) {
        REQUIRE_FALSE(at.lane.start({shell_job("echo " + word)}).has_error());
        REQUIRE_FALSE(at.next().has_error());
        char text[64];
        auto const n = ::pread(at.lane.output(), text, sizeof text, 0);
        CHECK(std::string(text, static_cast<std::size_t>(n)) == word + "\n");
    }
}

TEST_CASE("what a run left is kept with its two streams, and a name that is taken is refused") {
    one_lane at;
    REQUIRE_FALSE(at.lane.start({shell_job("echo said; echo warned >&2; echo word >\"$HOME/left\"")}).has_error());
    REQUIRE_FALSE(at.next().has_error());
    auto const kept = at.lane.keep("run-1");
    INFO((kept.has_error() ? kept.error().what : std::string{}));
    REQUIRE_FALSE(kept.has_error());
    auto const in = at.pool.folder().path() + "/run-1/";
    CHECK(sb::read_file(in + "stdout").value() == "said\n");
    CHECK(sb::read_file(in + "stderr").value() == "warned\n");
    CHECK(sb::read_file(in + "home/left").value() == "word\n");
    CHECK(at.lane.keep("run-1").has_error());
    REQUIRE_FALSE(at.lane.start({shell_job("exit 0")}).has_error());
    CHECK(at.next().value().end.class_ == sb::end_class::ok);
}

TEST_CASE("a lane whose worker is killed is dead") {
    one_lane at;
    REQUIRE_FALSE(at.lane.start({shell_job("sleep 600")}).has_error());
    ::kill(at.lane.process(), SIGKILL);
    auto const got = at.next();
    REQUIRE(got.has_error());
    CHECK(got.error().what == sb::cat("worker 0 (process ", at.lane.process(), ") died"));
    CHECK(at.lane.start({shell_job("exit 0")}).has_error());
}

TEST_CASE("a run that somebody else ended through its worker is no outcome") {
    sb::test::folder const here;
    sb::test::named_pipe begun{here / "begun"};
    one_lane at;
    REQUIRE_FALSE(at.lane.start({shell_job(sb::cat("echo >", begun.path(), "; exec sleep 600"))}).has_error());
    (void)begun.line();
    ::kill(at.lane.process(), SIGTERM);
    auto const got = at.next();
    REQUIRE(got.has_error());
    CHECK(got.error().what == "worker 0 was stopped from outside");
}

TEST_CASE("a lane that is stopped ends its run, and its worker with it") {
    sb::test::folder const here;
    sb::test::named_pipe begun{here / "begun"};
    one_lane at;
    REQUIRE_FALSE(at.lane.start({shell_job(sb::cat("echo $$ >", begun.path(), "; exec sleep 600"))}).has_error());
    auto const run = static_cast<pid_t>(std::stol(begun.line()));
    sb::unique_fd const end{static_cast<int>(::syscall(SYS_pidfd_open, run, 0))};
    REQUIRE(end);
    at.lane.stop();
    pollfd ended{end.get(), POLLIN, 0};
    CHECK(::poll(&ended, 1, 30'000) == 1);
    CHECK(at.pool.workers().front().await_end(sb::monotonic_ns() + 30'000'000'000));
    CHECK(at.lane.start({shell_job("exit 0")}).has_error());
}
