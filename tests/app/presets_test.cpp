// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/tool_io.hpp"
#include <sb/app/presets.hpp>
#include <algorithm>
#include <string>

namespace {

sb::app::preset_choices ask(char const* format = "jsonl") {
    sb::app::preset_choices asked;
    asked.format = format;
    return asked;
}
std::string written(sb::app::preset_choices const& asked) {
    sb::test::tool_io at;
    REQUIRE_FALSE(sb::app::write_presets(at.io, asked).has_error());
    return at.written();
}
auto lines(std::string const& text) { return std::count(text.begin(), text.end(), '\n'); }

} // namespace

TEST_CASE("three random presets where nothing is named, the same for the same seed") {
    auto const text = written(ask());
    CHECK(lines(text) == 3);
    CHECK(text == written(ask()));
    auto other = ask();
    other.seed = 1;
    CHECK(text != written(other));
}

TEST_CASE("a longer sequence begins with the shorter one, across the blocks that it is written in") {
    auto few = ask(), many = ask();
    few.count = 5, many.count = 300;
    auto const text = written(many);
    CHECK(lines(text) == 300);
    CHECK(text.starts_with(written(few)));
}

TEST_CASE("a table shows the same presets as the lines") {
    auto asked = ask();
    asked.profiles = {"flaky_upstream, hostile_input"}, asked.plan.baseline = true;
    auto const records = written(asked);
    CHECK(lines(records) == 3);
    asked.format = "csv";
    auto const table = written(asked);
    CHECK(lines(table) == 4); // titles
    CHECK(table.starts_with("scenario,severity,seed,id,sets\nnormal,"));
    CHECK(table.find("\nflaky_upstream,") < table.find("\nhostile_input,"));
}

TEST_CASE("what cannot be meant is refused") {
    sb::test::tool_io at;
    auto const refused = [&](auto change) {
        auto asked = ask();
        change(asked);
        auto const answer = sb::app::write_presets(at.io, asked);
        REQUIRE(answer.has_error());
        return std::string{answer.error().what};
    };
    CHECK(refused([](auto& asked) { asked.seed = -1; }) == "--seed: must be from 0 to 9007199254740991");
    CHECK(refused([](auto& asked) { asked.count = -1; }) == "--count: must be 0 or more");
    CHECK(refused([](auto& asked) { asked.profiles = {" , "}; }) == "--profile: the name is empty");
    CHECK(refused([](auto& asked) { asked.set = {"MEMORY_LIMIT"}; }).starts_with("--set: "));
    CHECK(at.written().empty());
}

TEST_CASE("profiles of one's own that no preset uses are told") {
    sb::test::scratch_file const file{"{\"mine\": {\"high\": {\"NETWORK_LATENCY_MS\": 400}}}"};
    sb::test::tool_io at;
    auto asked = ask();
    asked.profile_files = {file.path()}, asked.profiles = {"hostile_input"};
    REQUIRE_FALSE(sb::app::write_presets(at.io, asked).has_error());
    CHECK(at.said().find("is used: --profile mine would name one") != std::string::npos);
}
