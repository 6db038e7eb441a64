// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/app/preset_rows.hpp>
#include <string>
#include <vector>

TEST_CASE("kind is for programs: CSV and JSON have it, people do not see it") {
    std::vector<sb::object> const rows{{{"kind", "key"}, {"name", "A"}, {"n", 3}, {"none", sb::value()}}};
    auto const written = [&](char const* format) {
        sb::test::tool_io at;
        sb::app::write_rows(at.io, format, rows);
        return at.written();
    };
    CHECK(written("jsonl") == "{\"kind\":\"key\",\"name\":\"A\",\"n\":3,\"none\":null}\n");
    CHECK(written("csv") == "kind,name,n,none\nkey,A,3,null\n");
    CHECK(written("md") == "| name | n | none |\n| --- | --- | --- |\n| A | 3 | null |\n");
    CHECK(written("table") == "name  n  none\nA     3  null\n");
}

TEST_CASE("no rows are no table in any format") {
    for (auto const* format : {"jsonl", "csv", "md", "table"}) {
        sb::test::tool_io at;
        sb::app::write_rows(at.io, format, {});
        CHECK(at.written().empty());
    }
}

TEST_CASE("a preset's row says what it sets, and not its labels twice") {
    sb::preset_record preset;
    preset.id = "p1";
    preset.keys = {{"SCENARIO_NAME", "hot"}, {"SEVERITY", "high"}, {"SEED", 7}, {"MEMORY_LIMIT", "64Mi"}};
    auto const row = sb::app::row_of(preset);
    CHECK(sb::string_or(*row.if_contains("scenario"), {}) == preset.scenario());
    CHECK(sb::string_or(*row.if_contains("severity"), {}) == "high");
    CHECK(sb::string_or(*row.if_contains("id"), {}) == "p1");
    auto const sets = std::string{sb::string_or(*row.if_contains("sets"), {})};
    CHECK(sets.find("MEMORY_LIMIT=64Mi") != std::string::npos);
    CHECK(sets.find("SEED") == std::string::npos);
}

TEST_CASE("the list has a table for each kind of thing, with titles in a document") {
    sb::test::tool_io at;
    sb::app::write_list(at.io, "md", {});
    auto const text = at.written();
    std::size_t last = 0;
    for (auto const* title : {"# Profiles\n", "\n# Other names\n", "\n# Stages\n", "\n# Keys\n"}) {
        auto const found = text.find(title);
        REQUIRE(found != std::string::npos);
        CHECK(found >= last);
        last = found;
    }
    CHECK(text.find("| MEMORY_LIMIT |") > last);
}

TEST_CASE("a key alone is told with one member a line, and what is unknown is refused with a hint") {
    sb::test::tool_io at;
    REQUIRE_FALSE(sb::app::write_description(at.io, "table", "MEMORY_LIMIT", {}).has_error());
    CHECK(at.written().starts_with("about   is\nname    MEMORY_LIMIT\n"));
    CHECK(std::string{sb::app::write_description(at.io, "table", "MEMORY_LIMT", {}).error().what}.find("MEMORY_LIMIT") != std::string::npos);
}
