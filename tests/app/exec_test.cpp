// SPDX-License-Identifier: MIT
// Tests of exec.hpp, exec_choices.hpp, exec_place.hpp, exec_presets.hpp and exec_report.hpp.
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/app/exec.hpp>
#include <sb/app/exec_choices.hpp>
#include <sb/app/exec_place.hpp>
#include <sb/app/exec_presets.hpp>
#include <sb/app/exec_report.hpp>
#include <algorithm>
#include <string>

using namespace sb::app;

namespace {

exec_choices runs_true(std::string format) {
    exec_choices asked;
    asked.command = {"true"};
    asked.isolate = "none";
    asked.format = std::move(format);
    return asked;
}
std::string wrong(exec_choices const& asked) {
    auto const checked = check_choices(asked);
    return checked.has_error() ? checked.error().what : std::string{};
}

} // namespace

TEST_CASE("choices that cannot be met are refused with the option's name") {
    auto asked = runs_true("jsonl");
    CHECK(wrong(asked).empty());
    asked.jobs = 0;
    CHECK(wrong(asked) == "--jobs: must be from 1 to 1024");
    asked.jobs = 1, asked.timeout = sb::seconds{0};
    CHECK(wrong(asked) == "--timeout: must be more than 0");
    asked.timeout.reset(), asked.sandbox.fresh = true;
    CHECK(wrong(asked).find("--fresh: needs --isolate full") == 0);
    asked.isolate = "full";
    CHECK(wrong(asked).empty());
    CHECK(needs_sandbox(asked)->name == "--fresh");
    asked.command.clear();
    CHECK(wrong(asked).find("no command to run") == 0);
}

TEST_CASE("without presets a command runs once under normal, and each repetition is a record") {
    sb::test::tool_io at;
    at.io.in_terminal = true;
    auto asked = runs_true("jsonl");
    asked.repeat = 3;
    REQUIRE_FALSE(execute(at.io, asked, "again").has_error());
    auto const written = at.written();
    CHECK(std::count(written.begin(), written.end(), '\n') == 3);
    CHECK(written.find(R"({"kind":"run")") == 0);
    CHECK(written.find(R"("scenario":"normal")") != std::string::npos);
    CHECK(at.said().find("no isolation; only time and output are limited") != std::string::npos);
}

TEST_CASE("a table has a row for each scenario, and the first failure is told with its reason") {
    sb::test::tool_io at;
    at.io.in_terminal = true;
    auto asked = runs_true("table");
    asked.command = {"sh", "-c", "echo broken >&2; exit 3"};
    asked.set = {"SCENARIO_NAME=mine"};
    REQUIRE_FALSE(execute(at.io, asked, "again").has_error());
    CHECK(at.written().find("mine") != std::string::npos);
    CHECK(at.written().find("failed: exit status 3") != std::string::npos);
    CHECK(at.said().find("first failure: mine, repetition 0: exit status 3") != std::string::npos);
    CHECK(at.said().find("broken") != std::string::npos);
}

TEST_CASE("a dry run plans every repetition and runs nothing") {
    sb::test::tool_io at;
    at.io.in_terminal = true;
    auto asked = runs_true("jsonl");
    asked.command = {"sh", "-c", "echo it ran >&2"};
    asked.repeat = 2, asked.warmup = 1, asked.dry_run = true;
    REQUIRE_FALSE(execute(at.io, asked, "again").has_error());
    auto const written = at.written();
    CHECK(std::count(written.begin(), written.end(), '\n') == 3);
    CHECK(written.find("planned") != std::string::npos);
    CHECK(at.said().find("it ran") == std::string::npos);
}

TEST_CASE("an option that says which presets to take and has no say is told") {
    sb::test::tool_io at;
    at.io.in_terminal = true;
    auto asked = runs_true("jsonl");
    asked.mode = "canonical", asked.presets = R"([{"SCENARIO_NAME":"given"}])", asked.asked = {"--mode"};
    auto const taken = take_presets(at.io, asked);
    REQUIRE_FALSE(taken.has_error());
    REQUIRE(taken->presets.size() == 1);
    CHECK(taken->presets.front().scenario() == "given");
    CHECK(at.said().find("--mode: not used") != std::string::npos);
}
