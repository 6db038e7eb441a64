// SPDX-License-Identifier: MIT
// Tests of command_line.hpp and resuming_line.hpp.
#include "support/catch.hpp"
#include <sb/run/command_line.hpp>
#include <sb/run/resuming_line.hpp>
#include <string>
#include <vector>

using namespace sb::run;

TEST_CASE("what would act on a terminal is typed by its number") {
    CHECK(typed_word("a b") == "'a b'");
    CHECK(typed_word("echo it's\n\x1b\\") == "$'echo it\\'s\\x0a\\x1b\\x5c'");
}

TEST_CASE("words are quoted when the shell would take them apart, and only then") {
    CHECK(shell_text({"./run", "--flag=1", "a b", "", "it's", "$x"}) == "./run --flag=1 'a b' '' 'it'\\''s' '$x'");
}

TEST_CASE("the line that makes the rest repeats the words, without what was resumed before, and no line that nobody can read") {
    auto const line = [](std::vector<char const*> words) {
        words.insert(words.begin(), "sb-exec");
        return resuming_line(static_cast<int>(words.size()), words.data());
    };
    CHECK(line({"--repeat", "3", "--", "echo", "a b", "--resume"}).find(" --repeat 3 -- echo 'a b' --resume") != std::string::npos);
    auto const again = line({"--resume", "old", "--resume=old", "-n", "3", "true"});
    CHECK(again.find(" -n 3 true") != std::string::npos);
    CHECK(again.find("--resume", again.find("--resume") + 1) == std::string::npos);
    std::string const much(100'000, 'x');
    auto const cut = line({"--", "echo", much.c_str()});
    CHECK(cut.size() < 1000);
    CHECK(cut.find("… (the same options and command)") != std::string::npos);
}
