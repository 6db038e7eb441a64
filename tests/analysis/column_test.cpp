// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/column.hpp>
#include <cmath>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using sb::analysis::column;
using sb::analysis::column_reader;

namespace {

struct read_back {
    std::vector<column> columns;
    std::vector<std::string> faults; // "line:byte what"
    sb::analysis::column_counts counts;
};
read_back read(std::vector<std::string> const& inputs, sb::analysis::column_question const& asked) {
    read_back all;
    column_reader reader{asked};
    for (auto const& text : inputs) {
        sb::unique_fd const file{::memfd_create("numbers", MFD_CLOEXEC)};
        REQUIRE(::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        REQUIRE(::lseek(file.get(), 0, SEEK_SET) == 0);
        sb::source from{file.get()};
        auto const done = reader.read(from, sb::cat("input ", all.columns.size() + 1), all.columns,
                                      [&](std::int64_t line, std::size_t byte, std::string_view what) { all.faults.push_back(sb::cat(line, ":", byte, " ", what)); });
        REQUIRE_FALSE(done.has_error());
    }
    all.counts = reader.counts();
    return all;
}

} // namespace

TEST_CASE("a column of numbers, however it is written") {
    auto const got = read({"1\n-2.5e-3\r\n  +4\t\n\n# five\n1e308\nnan\n-inf\n0x1p3\n7"}, {});
    REQUIRE(got.columns.size() == 1);
    CHECK(got.columns[0].name == "input 1");
    CHECK(got.faults == std::vector<std::string>{"9:2 more than one number"});
    auto const& x = got.columns[0].values;
    REQUIRE(x.size() == 7);
    CHECK((x[0] == 1 && x[1] == -2.5e-3 && x[2] == 4 && x[3] == 1e308 && x[6] == 7));
    CHECK(std::isnan(x[4]));
    CHECK((std::isinf(x[5]) && x[5] < 0));
    CHECK(got.counts.lines == 10);
    CHECK(got.counts.blank == 2);
}

TEST_CASE("each input is a column, an empty one too") {
    auto const got = read({"1\n2\n", "", "3"}, {});
    REQUIRE(got.columns.size() == 3);
    CHECK(got.columns[0].values == std::vector<double>{1, 2});
    CHECK(got.columns[1].values.empty());
    CHECK(got.columns[2].values == std::vector<double>{3});
}

TEST_CASE("what is no number is told where it begins") {
    CHECK(read({"1\n two\n"}, {}).faults == std::vector<std::string>{"2:2 not a number"});
    CHECK(read({"\xef\xbb\xbf""1\n2\n"}, {}).faults == std::vector<std::string>{"1:1 byte order mark; save the text as UTF-8 without one"});
    CHECK(read({"\xef\xbb\xbf{\"x\":1}\n"}, {"x", {}}).faults == std::vector<std::string>{"1:1 byte order mark; save the text as UTF-8 without one"});
    CHECK(read({"+2\n+-2\n++2\n+\n+ 2\n"}, {}).faults == std::vector<std::string>{"2:1 not a number", "3:1 not a number", "4:1 not a number", "5:1 not a number"});
    CHECK(read({"1e400\n-1e400\n"}, {}).faults.size() == 2);
    CHECK(read({"3 4\n"}, {}).faults == std::vector<std::string>{"1:2 more than one number"});
    CHECK(read({"{\"a\":1}\n"}, {}).faults.at(0).starts_with("1:1 an object"));
}

TEST_CASE("a member of each line, at the top or in its metrics") {
    std::string const lines = "{\"roi\":1,\"metrics\":{\"hits\":5}}\n{\"metrics\":{\"roi\":2}}\n{\"metrics\":{\"roi\":9},\"roi\":3}\n\n{\"roi\":null}\n{\"other\":1}\n{\"roi\":-0.5e1}\n";
    auto const got = read({lines}, {"roi", {}});
    REQUIRE(got.columns.size() == 1);
    CHECK(got.columns[0].values == std::vector<double>{1, 2, 3, -5}); // the top wins
    CHECK(got.faults.empty());
    CHECK(got.counts.without == 2);
    CHECK(got.counts.blank == 1);
    CHECK(read({lines}, {"metrics.hits", {}}).columns[0].values == std::vector<double>{5});
    CHECK(read({lines}, {"metrics.roi", {}}).columns[0].values == std::vector<double>{2, 9});
}

TEST_CASE("lines are apart by another member, in the order in which it comes") {
    auto const got = read({"{\"x\":1,\"k\":\"b\"}\n{\"x\":2,\"k\":\"a\\u0021\"}\n{\"x\":3,\"k\":7}\n{\"x\":4}\n{\"x\":5,\"k\":\"a!\"}\n", "{\"x\":6,\"k\":\"b\"}\n"}, {"x", "k"});
    REQUIRE(got.columns.size() == 3);
    CHECK((got.columns[0].name == "b" && got.columns[1].name == "a!" && got.columns[2].name == "7"));
    CHECK(got.columns[0].values == std::vector<double>{1, 6});
    CHECK(got.columns[1].values == std::vector<double>{2, 5});
    CHECK(got.columns[2].values == std::vector<double>{3});
    CHECK(got.counts.without == 1);
}

TEST_CASE("groups that are numbers are told apart by value") {
    auto const group = [](std::string const& k) {
        auto const got = read({"{\"x\":1,\"k\":" + k + "}\n"}, {"x", "k"});
        return got.faults.empty() ? got.columns.at(0).name : got.faults[0];
    };
    for (auto const* one : {"1", "1.0", "10e-1", "\"1\""}) CHECK(group(one) == "1");
    CHECK(group("-0") == "0");
    CHECK(group("-0.0") == "0");
    CHECK(group("0.10") == "0.1");
    CHECK(group("1e3") == "1000");
    CHECK(group("-2e0") == "-2");
    CHECK(group("9007199254740993") == "9007199254740993"); // not its neighbour, whatever a double holds
    CHECK(group("1e19") == "10000000000000000000");
    CHECK(group("10000000000000000000") == "10000000000000000000");
    CHECK(group("100000000000000000000") == group("1e20"));
    CHECK(group("1e-400") == "0");
    CHECK(group("1e400") == "1:12 \"k\" is too large for a double");
    CHECK(group("\"1.0\"") == "1.0"); // a text is what it reads
    CHECK(group("true") == "true");
    CHECK(group("null") == "null");
    CHECK(group("NaN") == "1:12 \"k\" is not JSON, which has no NaN and no infinity");
    CHECK(group("nul") == "1:12 \"k\" is neither text, a number, true, false nor null");
}

TEST_CASE("a name has one dot at most, and something on both sides of it") {
    auto const wrong = [](sb::analysis::column_question const& asked) {
        auto const got = asked.check();
        return got.has_error() ? got.error().what : std::string{};
    };
    CHECK(wrong({"x", "metrics.y"}).empty());
    CHECK(wrong({}).empty());
    CHECK(wrong({"x.", {}}) == "--field x.: write a name on each side of the dot");
    CHECK(wrong({".x", {}}) == "--field .x: write a name on each side of the dot");
    CHECK(wrong({"x", "."}) == "--by .: write a name on each side of the dot");
    CHECK(wrong({"a.b.c", {}}) == "--field a.b.c: more than one dot; a dot goes one level down");
    CHECK(wrong({"a..", {}}) == "--field a..: more than one dot; a dot goes one level down");
}

TEST_CASE("a bad line of JSON is told, and others are read") {
    auto const got = read({"{\"x\":1}\n{\"x\":\"2\"}\n{\"x\":[3]}\n{\"x\"\n{\"x\":true}\n{\"x\":01}\n[1]\n{\"x\":2}\n"}, {"x", {}});
    CHECK(got.columns[0].values == std::vector<double>{1, 2});
    REQUIRE(got.faults.size() == 6);
    CHECK(got.faults[0] == "2:7 \"x\" is not a number");
    CHECK(read({"{\"x\":-Infinity}\n"}, {"x", {}}).faults == std::vector<std::string>{"1:6 \"x\" is not a number: JSON has no NaN and no infinity"});
    CHECK(got.faults[1].starts_with("3:6 "));
    CHECK(got.faults[2].starts_with("4:"));
    CHECK(got.faults[3].starts_with("5:6 "));
    CHECK(got.faults[4].starts_with("6:"));
    CHECK(got.faults[5].starts_with("7:"));
}

TEST_CASE("lines without a number keep their place where that is asked for") {
    auto const plain = read({"# head\n1\n\n# a word\n2\n3\n\n", "4\n"}, {{}, {}, true});
    CHECK(plain.columns[0].values == std::vector<double>{1, 2, 3});
    CHECK(plain.columns[0].holes == std::vector<std::size_t>{0, 2, 3}); // blank lines at the end are none
    CHECK(plain.columns[1].holes.empty());
    CHECK(read({"1\n\n2\n"}, {}).columns[0].holes.empty());
    auto const lines = read({"{\"x\":1}\n{\"x\":null}\n\n{\"y\":1}\n{\"metrics\":{\"x\":2}}\n{\"x\":null}\n"}, {"x", {}, true});
    CHECK(lines.columns[0].values == std::vector<double>{1, 2});
    CHECK(lines.columns[0].holes == std::vector<std::size_t>{1, 2, 3, 5});
    CHECK(lines.counts.without == 3);
}

TEST_CASE("of a group its own lines are counted") {
    auto const got = read({"{\"x\":1,\"k\":\"a\"}\n\n{\"x\":null,\"k\":\"b\"}\n{\"x\":2,\"k\":\"a\"}\n{\"x\":9}\n{\"k\":\"a\"}\n{\"x\":3,\"k\":\"b\"}\n{\"x\":4,\"k\":\"a\"}\n"}, {"x", "k", true});
    REQUIRE(got.columns.size() == 2);
    CHECK(got.columns[0].values == std::vector<double>{1, 2, 4});
    CHECK(got.columns[0].holes == std::vector<std::size_t>{2});
    CHECK(got.columns[1].values == std::vector<double>{3});
    CHECK(got.columns[1].holes == std::vector<std::size_t>{0});
    CHECK(got.counts.without == 3);
}

TEST_CASE("a group stands where its first line does, though that has no number") {
    std::string const lines = "{\"x\":null,\"k\":\"a\"}\n{\"x\":1,\"k\":\"b\"}\n{\"x\":2,\"k\":\"a\"}\n";
    for (bool const holes : {false, true}) {
        auto const got = read({lines}, {"x", "k", holes});
        REQUIRE(got.columns.size() == 2);
        CHECK(got.columns[0].name == "a");
        CHECK(got.columns[0].values == std::vector<double>{2});
        CHECK(got.columns[0].holes.size() == (holes ? 1 : 0));
    }
}
