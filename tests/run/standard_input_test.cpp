// SPDX-License-Identifier: MIT
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/run/standard_input.hpp>

using namespace sb::test;
using sb::run::find_input_file;

TEST_CASE("an input is a file that can be read again, or nothing") {
    folder top;
    put(top / "input", "given");
    auto const why = [](std::string const& path) { return find_input_file(path).error(); };
    for (auto const* nothing : {"null", "/dev/null"}) CHECK_FALSE(find_input_file(nothing).value());
    auto const file = find_input_file(top / "input").value();
    CHECK(file.called() == top / "input");
    CHECK(sb::read_file(file.name()).value() == "given");
    CHECK_FALSE(find_input_file("/dev/zero").has_error());
    CHECK(why("-").on == sb::blame::caller);
    CHECK(why(top.path()).what == "--stdin " + top.path() + ": is a folder");
    REQUIRE(::mkfifo((top / "fifo").c_str(), 0600) == 0);
    CHECK(why(top / "fifo").what == sb::cat("--stdin ", top / "fifo", ": must be a file that can be read more than once"));
    auto const pipe = sb::make_pipe().value();
    auto const end = sb::cat("/dev/fd/", pipe.read.get()); // as <(command) gives it
    CHECK(why(end).what == sb::cat("--stdin ", end, ": must be a file that can be read more than once"));
    CHECK(why(top / "none").what == sb::cat("--stdin: open ", top / "none", ": No such file or directory"));
    if (::geteuid() == 0) return;
    put(top / "closed", "x", 0200);
    CHECK(why(top / "closed").what == sb::cat("--stdin: open ", top / "closed", ": Permission denied"));
}
