// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/command_line.hpp>
#include <string>

using namespace sb::run;

TEST_CASE("what would act on a terminal is typed by its number") {
    CHECK(typed_word("a b") == "'a b'");
    CHECK(typed_word("echo it's\n\x1b\\") == "$'echo it\\'s\\x0a\\x1b\\x5c'");
}

TEST_CASE("words are quoted when the shell would take them apart, and only then") {
    CHECK(shell_text({"./run", "--flag=1", "a b", "", "it's", "$x"}) == "./run --flag=1 'a b' '' 'it'\\''s' '$x'");
}

TEST_CASE("the last lines of a text, the broken first one too when it is all there is") {
    using lines = std::vector<std::string_view>;
    CHECK(last_lines("a\nb\nc\n", 2) == lines{"b", "c"});
    CHECK(last_lines("a", 10) == lines{"a"});
    CHECK(last_lines("", 10).empty());
    CHECK(last_lines("a\n\nb\n\n", 3) == lines{"a", "", "b"});
}
