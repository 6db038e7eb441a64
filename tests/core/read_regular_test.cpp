// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/core/read_regular.hpp>
#include <string>
#include <sys/stat.h>

using sb::read_regular;

TEST_CASE("of a file as much is read as is asked for, through a link too") {
    sb::test::folder here;
    auto const file = sb::open_file(here / "file", O_WRONLY | O_CREAT, 0600).value();
    REQUIRE(::write(file.get(), "0123456789", 10) == 10);
    CHECK(read_regular(here / "file", 100).value() == "0123456789");
    CHECK(read_regular(here / "file", 4).value() == "0123");
    REQUIRE(::symlink("file", (here / "link").c_str()) == 0);
    CHECK(read_regular(here / "link", 4).value() == "0123");
}

TEST_CASE("what is no file is neither opened nor waited for") {
    sb::test::folder here;
    REQUIRE(::mkfifo((here / "fifo").c_str(), 0600) == 0); // to open it would wait for a writer
    REQUIRE(::symlink("/dev/zero", (here / "device").c_str()) == 0);
    for (auto const& each : {here / "fifo", here / "device", here.path()}) CHECK(read_regular(each, 100).error().what == sb::cat("read ", each, ": not a regular file"));
    CHECK(read_regular(here / "none", 100).error().what.ends_with("No such file or directory"));
}
