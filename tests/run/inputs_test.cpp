// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/run/inputs.hpp>

using namespace sb::test;
using sb::run::find_input_file;
using sb::run::next_turn;

namespace {
void put(std::string const& path, std::string_view text, mode_t mode = 0600) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_EXCL, mode).value();
    REQUIRE(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}
} // namespace

TEST_CASE("each use has its turn, kept in the data folder") {
    folder top;
    for (std::uint64_t turn = 0; turn < 12; ++turn) CHECK(next_turn(top / "a/data").value() == turn);
    CHECK(sb::read_file(top / "a/data/preset-turn").value() == "12\n");
}

TEST_CASE("a turn is counted in no file that others may have put there") {
    folder top;
    auto const shared = top / "shared", turn = shared + "/preset-turn";
    REQUIRE((::mkdir(shared.c_str(), 0700) == 0 && ::chmod(shared.c_str(), 0777) == 0));
    CHECK(next_turn(shared).error().on == sb::blame::caller);
    REQUIRE(::chmod(shared.c_str(), 01777) == 0); // here they may make names, and not take ours
    put(top / "precious", "7\n");
    REQUIRE(::symlink((top / "precious").c_str(), turn.c_str()) == 0);
    CHECK(next_turn(shared).has_error());
    REQUIRE((::unlink(turn.c_str()) == 0 && ::link((top / "precious").c_str(), turn.c_str()) == 0));
    CHECK(next_turn(shared).error().what == turn + ": is not a regular file of this user with one link; remove it");
    CHECK(sb::read_file(top / "precious").value() == "7\n");
    REQUIRE(::unlink(turn.c_str()) == 0);
    CHECK(next_turn(shared).value() == 0);
}

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
