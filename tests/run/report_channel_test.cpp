// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/run/report_channel.hpp>
#include <string>

using namespace sb::run;

TEST_CASE("numbers in report lines are metrics, the last of a name counts, and value stands apart") {
    auto const got = read_reports({"{\"a\":1,\"text\":\"x\",\"flag\":true,\"nested\":{\"b\":2}}\n{\"a\":2.5,\"value\":0.75}\n"});
    CHECK(got.metrics == std::map<std::string, double>{{"a", 2.5}});
    CHECK(got.value == 0.75);
    CHECK(got.bad_lines == 0);
}

TEST_CASE("several copies are averaged over those that reported") {
    auto const got = read_reports({"{\"a\":1,\"value\":0}", "{\"a\":3,\"b\":10,\"value\":1}", ""});
    CHECK(got.metrics == std::map<std::string, double>{{"a", 2.0}, {"b", 10.0}});
    CHECK(got.value == 0.5);
}

TEST_CASE("what is no object is counted and does no harm") {
    auto const got = read_reports({"nonsense\n[1]\n{\"a\":1}\n{\"torn\":"});
    CHECK(got.bad_lines == 3);
    CHECK(got.metrics.size() == 1);
}

TEST_CASE("what copies report is averaged, however large") {
    auto const got = read_reports({"{\"a\":1e308,\"value\":1e308}", "{\"a\":1.5e308,\"value\":1.5e308}"}, value_range::parse("..").value());
    CHECK(got.metrics.at("a") == 1.25e308);
    CHECK(got.value == 1.25e308);
}

TEST_CASE("a value outside of its range is no value, and is counted") {
    auto const got = read_reports({"{\"value\":0.5}\n{\"value\":1e308}\n{\"value\":-0.1}\n", "{\"value\":1.5}"});
    CHECK(got.value == 0.5); // the last that was one, and no mean with what is none
    CHECK(got.bad_values == 3);
    CHECK_FALSE(read_reports({"{\"value\":2}"}).value);
    CHECK(read_reports({"{\"value\":2}"}, {0, 2}).value == 2.0);
    CHECK(read_reports({"{\"value\":0}", "{\"value\":1}"}).bad_values == 0);
}

TEST_CASE("a range of values has two sides, each of which may be open") {
    auto const range = value_range::parse("-2.5..1e3").value();
    CHECK(range.low == -2.5);
    CHECK(range.high == 1000.0);
    CHECK(value_range::parse("0..")->holds(1e308));
    CHECK_FALSE(value_range::parse("0..")->holds(-1));
    CHECK(value_range::parse("..0")->holds(-1e308));
    CHECK_FALSE(value_range::parse("..")->holds(HUGE_VAL));
    for (auto const* each : {"", "1", "1..0", "a..b", "0..1x", "nan..1", "0..1..2"}) {
        INFO(each);
        CHECK(value_range::parse(each).has_error());
    }
    CHECK(value_range::parse("x").error().what == "--value-range \"x\": write LOW..HIGH, as in 0..1 or 0..");
}

TEST_CASE("of a copy so many lines are read, and the rest is said to be cut") {
    std::string text;
    for (std::size_t i = 0; i < most_report_lines; ++i) text += "{\"n\":1}\n";
    CHECK_FALSE(read_reports({text}).cut);
    text += "{\"n\":2}\n";
    auto const got = read_reports({text, "{\"m\":1}"});
    CHECK(got.cut);
    CHECK(got.metrics == std::map<std::string, double>{{"m", 1.0}, {"n", 1.0}});
}
