// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/core/open_input.hpp>
#include <string>
#include <sys/stat.h>

using sb::read_input;

TEST_CASE("a FIFO without a writer is waited for, and that is told once") {
    sb::test::folder const here;
    auto const fifo = here / "fifo", link = here / "link";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    REQUIRE(::symlink("fifo", link.c_str()) == 0);
    for (auto const& path : {fifo, link}) {
        std::string told;
        auto const text = read_input(path, [&](std::string const& what) {
            told += what;
            auto const writer = sb::open_file(fifo, O_WRONLY | O_NONBLOCK); // it is there: the reader has opened it
            REQUIRE_FALSE(writer.has_error());
            REQUIRE_FALSE(sb::write_all(writer->get(), "text", fifo).has_error());
        });
        CHECK(text.value() == "text");
        CHECK(told == path);
    }
}

TEST_CASE("a FIFO whose writer left without a word is empty") {
    sb::test::folder const here;
    auto const fifo = here / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(read_input(fifo, [&](std::string const&) { REQUIRE_FALSE(sb::open_file(fifo, O_WRONLY | O_NONBLOCK).has_error()); }).value().empty());
}

TEST_CASE("what is written already is read without a word, from a FIFO, a pipe or a file") {
    sb::test::folder const here;
    auto const silent = [](std::string const&) { FAIL("there is nothing to wait for"); };
    auto const fifo = here / "fifo", file = here / "file";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    auto both = sb::open_file(fifo, O_RDWR).value();
    REQUIRE_FALSE(sb::write_all(both.get(), "text", fifo).has_error());
    auto const opened = sb::open_input(fifo, silent);
    both.reset();
    CHECK(sb::read_all(opened->get(), fifo, 10).value() == "text");
    auto ends = sb::make_pipe().value();
    REQUIRE_FALSE(sb::write_all(ends.write.get(), "text", "pipe").has_error());
    ends.write.reset();
    CHECK(read_input(sb::cat("/dev/fd/", ends.read.get()), silent).value() == "text");
    CHECK(read_input(sb::cat("/dev/fd/", ends.read.get()), silent).value().empty()); // nobody holds its other end any more
    REQUIRE_FALSE(sb::write_all(sb::open_file(file, O_WRONLY | O_CREAT, 0600)->get(), "text", file).has_error());
    CHECK(read_input(file, silent).value() == "text");
    CHECK(sb::open_input(here / "none", silent).error().what == sb::cat("open ", here / "none", ": No such file or directory"));
}
