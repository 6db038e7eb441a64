// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tool_io.hpp"
#include <sb/cli/record_table.hpp>
#include <sb/record/rank.hpp>
#include <limits>
#include <string>
#include <vector>

namespace cli = sb::cli;

namespace {

struct fruit {
    std::string name;
    int weight = 0;
};

cli::record_columns<fruit> columns() {
    return {{"fruit", cli::table::align::left, [](fruit const& f) { return f.name; }},
            {"g", cli::table::align::right, [](fruit const& f) { return std::to_string(f.weight); }, 5}};
}

} // namespace

TEST_CASE("a table has a row for each record and a cell for each column") {
    auto const table = cli::table_of(std::vector<fruit>{{"pear", 150}, {"fig", 40}}, columns());
    CHECK(table.csv() == "fruit,g\npear,150\nfig,40\n");
    CHECK(table.text() == "fruit      g\npear     150\nfig       40\n");
}

TEST_CASE("the last column goes on below itself where the line is full") {
    cli::table t;
    t.column("key").column("meaning");
    t.row({"a", "one two three four"});
    t.row({"bcd", "x"});
    CHECK(t.text(false, 14) == "key  meaning\na    one two\n     three\n     four\nbcd  x\n");
    CHECK(t.text(false, 80) == "key  meaning\na    one two three four\nbcd  x\n");
}

TEST_CASE("a described record has a column for each member, with its exact value") {
    sb::rank_record row;
    row.by = "scenario", row.name = "a \"b\"", row.metric = "roi", row.total = 0.1, row.mean = std::numeric_limits<double>::infinity(), row.n = 3, row.tie = false;
    auto const table = cli::table_of(std::vector{row}, cli::member_columns<sb::rank_record>());
    CHECK(table.csv() == "by,name,metric,total,mean,lo,hi,n,last_security_score,effect,tie,overlaps_next,overlaps_baseline\n"
                         "scenario,\"a \"\"b\"\"\",roi,0.1,,,,3,,,false,,\n");
}

TEST_CASE("objects have a column for each name that any of them has, in the order in which it first comes") {
    std::vector<sb::object> const rows{{{"a", 1}, {"b", "x"}}, {{"c", sb::value()}, {"a", true}}};
    CHECK(cli::table_of(rows, cli::member_columns(rows)).csv() == "a,b,c\n1,x,\ntrue,,\n");
    CHECK(cli::table_of(rows, cli::member_columns(rows, [](sb::value const& v) { return std::string{v.is_null() ? "null" : "known"}; })).csv() == "a,b,c\nknown,known,\nknown,,null\n");
}

TEST_CASE("a table is written in the form asked for, and people are shown none without a row") {
    for (bool const is_empty : {false, true}) {
        auto const table = cli::table_of(is_empty ? std::vector<fruit>{} : std::vector<fruit>{{"fig", 40}}, columns());
        auto const written = [&](char const* format) {
            sb::test::tool_io at;
            cli::write_table(at.io, format, table);
            return at.written();
        };
        CHECK(written("csv") == (is_empty ? "fruit,g\n" : "fruit,g\nfig,40\n"));
        CHECK(written("md") == (is_empty ? "| fruit | g |\n| --- | ---: |\n" : "| fruit | g |\n| --- | ---: |\n| fig | 40 |\n"));
        CHECK(written("table") == (is_empty ? "" : "fruit      g\nfig       40\n"));
    }
}

TEST_CASE("records and objects are lines of JSON") {
    sb::test::tool_io at;
    cli::write_lines(at.io, std::vector<sb::object>{{{"a", 1}}, {{"b", "x\n"}}});
    CHECK(at.written() == "{\"a\":1}\n{\"b\":\"x\\n\"}\n");
}
