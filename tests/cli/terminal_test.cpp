// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/cli/terminal.hpp>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace cli = sb::cli;

TEST_CASE("text is as wide as a terminal shows it") {
    CHECK(cli::width("abc") == 3);
    CHECK(cli::width("\xe6\x97\xa5\xe6\x9c\xac") == 4); // two characters of East Asia
    CHECK(cli::width("e\xcc\x81") == 1); // with a combining accent
    CHECK(cli::width("\xf0\x9f\x98\x80") == 2); // an emoji
    CHECK(cli::width("a\xff") == 2); // a byte that is no UTF-8 takes a cell
    CHECK(cli::width("") == 0);
}

TEST_CASE("lines are broken between words, each after the first indented") {
    CHECK(cli::wrapped("one two three", 2, 9) == "one two\n  three");
    CHECK(cli::wrapped("unbreakable", 0, 4) == "unbreakable"); // a word is never cut
    CHECK(cli::wrapped("a unbreakable b", 0, 4) == "a\nunbreakable\nb");
    CHECK(cli::wrapped("", 5, 10).empty());
}

TEST_CASE("color is for a terminal, unless somebody says otherwise") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    for (auto const* name : {"NO_COLOR", "CLICOLOR_FORCE"}) ::unsetenv(name);
    CHECK_FALSE(cli::use_color(ends[1], cli::color_mode::automatic));
    CHECK(cli::use_color(ends[1], cli::color_mode::always));
    ::setenv("CLICOLOR_FORCE", "1", 1);
    CHECK(cli::use_color(ends[1], cli::color_mode::automatic));
    CHECK_FALSE(cli::use_color(ends[1], cli::color_mode::never));
    ::setenv("NO_COLOR", "1", 1);
    CHECK_FALSE(cli::use_color(ends[1], cli::color_mode::automatic));
    ::unsetenv("CLICOLOR_FORCE"), ::unsetenv("NO_COLOR");
    CHECK(cli::columns(ends[1], 77) == 77); // a pipe has none
    ::close(ends[0]), ::close(ends[1]);
}
