// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/tool_io.hpp"
#include <sb/app/ranking.hpp>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using sb::test::scratch_file;

namespace {

constexpr auto lines = "{\"kind\":\"sample\",\"scenario\":\"a\",\"roi\":1}\n{\"kind\":\"sample\",\"scenario\":\"b\",\"roi\":5}\n{\"kind\":\"sample\",\"scenario\":\"a\",\"roi\":2}\n";

sb::app::rank_choices ask(std::string file, char const* format) {
    sb::app::rank_choices asked;
    asked.files = {std::move(file)}, asked.format = format;
    return asked;
}

} // namespace

TEST_CASE("runs are ranked in the format asked for, and notes are for the table alone") {
    scratch_file const runs{lines};
    auto const written = [&](char const* format) {
        sb::test::tool_io at;
        REQUIRE_FALSE(sb::app::write_ranks(at.io, ask(runs.path(), format)).has_error());
        return at.written();
    };
    CHECK(written("csv").starts_with("by,name,metric,total,mean,lo,hi,n,"));
    CHECK(written("csv").find("\nscenario,b,roi,5.0,5.0,,,1,,,false,,\nscenario,a,roi,3.0,1.5,") != std::string::npos);
    CHECK(written("jsonl").starts_with("{\"kind\":\"rank\",\"v\":1,\"by\":\"scenario\",\"name\":\"b\",\"metric\":\"roi\",\"total\":5.0,"));
    CHECK(written("md").starts_with("| # | scenario | total |"));
    CHECK(written("md").find("ordered by total") == std::string::npos);
    CHECK(written("table").find("ordered by total; n differs (1 to 2)") != std::string::npos);
}

TEST_CASE("states are written instead of rows, and add up to the same ranking") {
    scratch_file const runs{lines};
    auto asked = ask(runs.path(), "csv");
    asked.partial = true;
    std::string states;
    {
        sb::test::tool_io at;
        REQUIRE_FALSE(sb::app::write_ranks(at.io, asked).has_error());
        CHECK(at.said().find("--partial writes states as JSON lines; --format csv is ignored") != std::string::npos);
        states = at.written();
    }
    scratch_file const file{states};
    sb::test::tool_io again;
    REQUIRE_FALSE(sb::app::write_ranks(again.io, ask(file.path(), "csv")).has_error());
    CHECK(again.written().find("\nscenario,b,roi,5.0,5.0,,,1,,,false,,\nscenario,a,roi,3.0,1.5,") != std::string::npos);
}

TEST_CASE("where nothing can be ranked it is said why") {
    auto const said = [](std::string const& text) {
        scratch_file const file{text};
        sb::test::tool_io at;
        at.io.log.level = sb::cli::log_level::warning;
        REQUIRE_FALSE(sb::app::write_ranks(at.io, ask(file.path(), "table")).has_error());
        CHECK(at.written().empty());
        return at.said();
    };
    CHECK(said("\n") == "sb-x: warning: nothing to rank: the input is empty\n");
    CHECK(said("{\"kind\":\"sample\",\"scenario\":\"a\"}\n") == "sb-x: warning: nothing to rank: no line has a number as \"roi\"\n");
    CHECK(said("{\"kind\":\"sample\",\"roi\":1}\n") == "sb-x: warning: nothing to rank: no line has a scenario\n");
}

TEST_CASE("a folder stands for the history in it") {
    char folder[] = "/tmp/sb-test-XXXXXX";
    REQUIRE(::mkdtemp(folder));
    sb::test::tool_io at;
    CHECK(std::string{sb::app::write_ranks(at.io, ask(folder, "csv")).error().what} == std::string{folder} + ": has no roi_history.json");
    auto const history = std::string{folder} + "/roi_history.json";
    REQUIRE(::symlink("/dev/null", history.c_str()) == 0);
    CHECK_FALSE(sb::app::write_ranks(at.io, ask(folder, "csv")).has_error());
    ::unlink(history.c_str()), ::rmdir(folder);
}

TEST_CASE("a baseline that is no row has no effects, and that is said") {
    scratch_file const runs{lines};
    sb::test::tool_io at;
    auto asked = ask(runs.path(), "jsonl");
    asked.baseline = "calm";
    REQUIRE_FALSE(sb::app::write_ranks(at.io, asked).has_error());
    CHECK(at.said().find("no scenario is called \"calm\", so there are no effects") != std::string::npos);
}
