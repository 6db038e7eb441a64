// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/cli/standard_streams.hpp>
#include <cerrno>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace sb::cli;

namespace {

/// What `look` says in a process that began without these descriptors, by its exit status.
template <class Look>
int without(std::string const& closed, Look look) {
    auto const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (char const each : closed) ::close(each - '0');
        ::_exit(look());
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

} // namespace

TEST_CASE("a file that is opened never takes the place of a standard stream that was closed") {
    for (char const* const closed : {"", "0", "1", "2", "02", "012"}) {
        INFO(closed);
        CHECK(without(closed, [&] {
            bool const in_closed = open_missing_descriptors();
            if (in_closed != (std::string{closed}.find('0') != std::string::npos)) return 1;
            return ::open("/dev/zero", O_RDONLY) > 2 ? 0 : 2;
        }) == 0);
    }
}

TEST_CASE("a stream that was closed is at its end for a reader, and refuses a writer of answers, but not of messages") {
    CHECK(without("012", [] {
        open_missing_descriptors();
        char c;
        if (::read(0, &c, 1) != 0) return 1;
        if (::write(1, "a", 1) >= 0 || errno != EBADF) return 2;
        return ::write(2, "a", 1) == 1 ? 0 : 3;
    }) == 0);
}

TEST_CASE("the null device is known by what it is") {
    int const null = ::open("/dev/null", O_RDONLY | O_CLOEXEC), zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK(is_null_device(null));
    CHECK_FALSE(is_null_device(zero));
    CHECK_FALSE(is_null_device(-1));
    ::close(null), ::close(zero);
}
