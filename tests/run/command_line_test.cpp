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
