// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/cli/io.hpp>
#include <string>

TEST_CASE("of many bad lines the first ten are told, then how many more there are") {
    sb::test::tool_io at;
    at.io.log.level = sb::cli::log_level::warning;
    for (int line = 1; line <= 12; ++line) at.io.reject("f", line, 3, "no JSON");
    CHECK(at.io.bad_lines == 12);
    auto const told = at.said();
    CHECK(told.starts_with("sb-x: f: line 1, byte 3: no JSON\n"));
    CHECK(told.ends_with("sb-x: f: line 10, byte 3: no JSON\n"));
    at.io.tell_rest();
    CHECK(at.said() == told + "sb-x: and 2 more bad lines; --verbose shows each\n");
    at.io.tell_rest(); // and not again
    CHECK(at.said().size() == told.size() + std::string{"sb-x: and 2 more bad lines; --verbose shows each\n"}.size());
}

TEST_CASE("who asks for more is told each bad line") {
    sb::test::tool_io at;
    for (int line = 1; line <= 12; ++line) at.io.reject("", line, 1, "no JSON");
    CHECK(at.said().ends_with("sb-x: line 12, byte 1: no JSON\n"));
    CHECK(at.io.untold == 0);
}

TEST_CASE("without a format asked for, a terminal gets a table and a pipe gets lines") {
    sb::test::tool_io at;
    CHECK(at.io.format_of("auto") == "jsonl");
    at.io.out_terminal = true;
    CHECK(at.io.format_of("auto") == "table");
    CHECK(at.io.format_of("csv") == "csv");
}
