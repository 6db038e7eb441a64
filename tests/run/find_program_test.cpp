// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/run/find_program.hpp>
#include <string>

using namespace sb::run;

TEST_CASE("programs are found as exec would find them, and each way of not finding one has its words") {
    sb::test::folder here;
    auto const make = [&](std::string const& name, mode_t mode) {
        ::close(::open((here / name).c_str(), O_WRONLY | O_CREAT, mode));
        ::chmod((here / name).c_str(), mode);
    };
    make("tool", 0755), make("text", 0644);
    REQUIRE(::mkdir((here / "folder").c_str(), 0755) == 0);
    CHECK(*find_program("tool", "/nowhere:" + here.path()) == here / "tool");
    CHECK(*find_program(here / "tool", "") == here / "tool");
    CHECK(find_program("none", here.path()).error().what == sb::cat("command none: not found in PATH (", here.path(), ")"));
    CHECK(find_program("text", here.path()).error().what == sb::cat("command text: ", here.path(), "/text is not executable"));
    CHECK(find_program("folder", here.path()).error().what == sb::cat("command folder: not found in PATH (", here.path(), ")"));
    CHECK(find_program(here / "folder", "").error().what == sb::cat("command ", here.path(), "/folder: Is a directory"));
    CHECK(find_program(here / "text", "").error().what == sb::cat("command ", here.path(), "/text: not executable"));
    REQUIRE(::mkfifo((here / "fifo").c_str(), 0755) == 0);
    CHECK(find_program(here / "fifo", "").error().what == sb::cat("command ", here.path(), "/fifo: not a regular file"));
    CHECK(find_program("fifo", here.path()).error().what == sb::cat("command fifo: not found in PATH (", here.path(), ")"));
    CHECK(find_program("/dev/null", "").error().what == "command /dev/null: not a regular file");
    CHECK(find_program("", "/bin").error().on == sb::blame::caller);
    REQUIRE(::mkdir((here / "closed").c_str(), 0) == 0);
    bool const root = ::geteuid() == 0; // to whom nothing is closed
    if (root) REQUIRE((::chmod(here.path().c_str(), 0755) == 0 && ::seteuid(65534) == 0));
    auto const in_path = find_program("tool", here / "closed"), named = find_program(here / "closed/tool", "");
    if (root) REQUIRE(::seteuid(0) == 0);
    CHECK(in_path.error().what == sb::cat("command tool: not found in PATH (", here.path(), "/closed)"));
    CHECK(named.error().what == sb::cat("command ", here.path(), "/closed/tool: Permission denied"));
}
