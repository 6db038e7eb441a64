// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/fd.hpp>
#include <sb/core/output.hpp>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <unistd.h>

TEST_CASE("what is written comes out whole and in order, gathered until it is flushed") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    char block[64];
    sb::output out{ends[1]};
    out << "one " << "two";
    CHECK(::read(ends[0], block, sizeof block) < 0); // nothing yet
    out.buffer() += " three";
    CHECK_FALSE(out.flush().has_error());
    auto const n = ::read(ends[0], block, sizeof block);
    REQUIRE(n > 0);
    CHECK(std::string(block, static_cast<std::size_t>(n)) == "one two three");
    ::close(ends[0]), ::close(ends[1]);
}

TEST_CASE("a reader that went away is no error, and nothing more is written") {
    auto const before = std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    sb::output out{ends[1]};
    out << "lost";
    CHECK_FALSE(out.flush().has_error());
    CHECK(out.closed());
    CHECK_FALSE(out.usable());
    ::close(ends[1]);
    std::signal(SIGPIPE, before);
}

TEST_CASE("the first failure is kept and names the output") {
    int const full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    REQUIRE(full >= 0);
    sb::output out{full, "results"};
    out << "x";
    CHECK(out.flush().error().what == "write results: No space left on device");
    CHECK_FALSE(out.usable());
    CHECK(out.flush().has_error()); // and again
    ::close(full);
}
