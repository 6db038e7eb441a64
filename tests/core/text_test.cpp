// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/text.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

TEST_CASE("texts, characters and numbers of any size are put together") {
    CHECK(sb::cat("line ", 3, ':', std::string{" x"}) == "line 3: x");
    CHECK(sb::cat(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(sb::cat(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(sb::cat().empty());
}

TEST_CASE("decimals are rounded to the nearest, however large the number") {
    CHECK(sb::fixed(2.675, 2) == "2.67"); // the double lies below
    CHECK(sb::fixed(-0.5, 0) == "-0");
    CHECK(sb::fixed(1e300, 0).size() == 301);
}

TEST_CASE("blanks go from both ends and from nowhere else") {
    CHECK(sb::trim(" \t a b\r\n") == "a b");
    CHECK(sb::trim("\n ").empty());
}

TEST_CASE("letters of ASCII become small, and no others") { CHECK(sb::lowered("ABC\xc3\x84z1") == "abc\xc3\x84z1"); }

TEST_CASE("a split gives each part, the empty ones too") {
    auto const parts = [](std::string_view text) {
        std::vector<std::string> found;
        sb::split(text, ',', [&](std::string_view part) { found.emplace_back(part); });
        return found;
    };
    CHECK(parts("a,,b,") == std::vector<std::string>{"a", "", "b", ""});
    CHECK(parts("") == std::vector<std::string>{""});
}

TEST_CASE("numbers are taken off a text one by one, and what is none stays") {
    std::string_view text = "  12 -3x";
    CHECK(sb::take_number(text) == 12);
    CHECK(sb::take_number(text) == -3);
    CHECK(!sb::take_number(text));
    CHECK(text == "x");
    std::string_view blanks = "   ", large = "9223372036854775808";
    CHECK((!sb::take_number(blanks) && !sb::take_number(large)));
    CHECK((blanks == "   " && large.size() == 19));
}

TEST_CASE("the number behind a word is found, with or without spaces between") {
    CHECK(sb::number_after("MemTotal:  2048 kB\nMemFree: 7", "MemTotal:") == 2048);
    CHECK(sb::number_after("a=1 a=2", "a=") == 1);
    CHECK(!sb::number_after("a=1", "b="));
    CHECK(!sb::number_after("a=", "a="));
    CHECK(!sb::number_after("a=x1", "a="));
}

TEST_CASE("parts are joined with something between them, as they are or as they are to be shown") {
    CHECK(sb::joined(std::vector<std::string>{"a", "b", "c"}, ", ") == "a, b, c");
    CHECK(sb::joined(std::vector<std::string>{}, ", ").empty());
    CHECK(sb::joined(std::vector{1, 2}, " ", [](int n) { return sb::cat("-", n); }) == "-1 -2");
}
