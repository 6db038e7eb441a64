// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/command_line.hpp>
#include <sb/run/inputs.hpp>
#include <sb/run/summary.hpp>
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

TEST_CASE("a summary has its quantiles as R's default has them") {
    summary all;
    sb::run_record run;
    run.scenario = "one", run.wall_s = 7;
    all.add(run, {});
    run.scenario = "four";
    for (double const wall : {4.0, 1.0, 3.0, 2.0}) run.wall_s = wall, all.add(run, {});
    auto const rows = all.rows();
    CHECK(rows[0].p95_wall_s == 7);
    CHECK(rows[1].median_wall_s == 2.5);
    CHECK(rows[1].p95_wall_s == Approx(3.85));
}

TEST_CASE("a stream of presets keeps their order and passes other records through") {
    auto pipe = sb::make_pipe();
    std::string_view const text = "{\"SCENARIO_NAME\":\"a\",\"TIMEOUT\":1}\n{\"kind\":\"sample\",\"v\":1}\nbroken\n{\"SCENARIO_NAME\":\"b\",\"TIMEOUT\":2}";
    REQUIRE(::write(pipe->write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    pipe->write.reset();
    std::string passed, bad;
    auto const got = read_preset_stream(
        pipe->read.get(), "test", [&](std::string_view line) { passed += line; },
        [&](sb::stress::bad_preset const& b) { bad += sb::cat(b.line, ":", b.byte); }, {});
    REQUIRE_FALSE(got.has_error());
    REQUIRE(got->presets.size() == 2);
    CHECK(got->presets[0].scenario() == "a");
    CHECK(got->presets[1].scenario() == "b");
    CHECK(passed == "{\"kind\":\"sample\",\"v\":1}");
    CHECK(bad == "3:1");
}
