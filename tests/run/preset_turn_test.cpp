// SPDX-License-Identifier: MIT
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/run/preset_turn.hpp>

using namespace sb::test;
using sb::run::next_turn;

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
