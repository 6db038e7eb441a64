// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/cli/log.hpp>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {
/// What `act` writes to standard error.
template <class Act> std::string said(Act act) {
    sb::unique_fd const file{::memfd_create("said", MFD_CLOEXEC)}, before{::dup(2)};
    REQUIRE(::dup2(file.get(), 2) == 2);
    act();
    REQUIRE(::dup2(before.get(), 2) == 2);
    char text[500];
    auto const n = ::pread(file.get(), text, sizeof text, 0);
    return {text, static_cast<std::size_t>(n > 0 ? n : 0)};
}
} // namespace

TEST_CASE("a name that holds line ends and escape sequences stays one line") {
    sb::cli::logger log;
    log.tool = "sb-x";
    CHECK(said([&] { log.error("write a\x1b[31m\nsb-x: forged: File too large"); }) == "sb-x: write a\\x1b[31m\\x0asb-x: forged: File too large\n");
    CHECK(said([&] { log.warn("\xff"); }) == "sb-x: warning: \\xff\n");
    log.json = true;
    auto const line = said([&] { log.error("a\n\x1b"); });
    CHECK(line.find("\"message\":\"a\\n\\u001b\"}\n") != std::string::npos);
    CHECK(line.find('\n') == line.size() - 1);
}
