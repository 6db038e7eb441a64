// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/severity.hpp>
#include <map>
#include <string>

using namespace sb;
using namespace sb::stress;

namespace {
using levels = std::map<std::string, std::string, std::less<>>;
std::string wrong(std::string_view text) {
    auto const got = severity::parse(text);
    REQUIRE(got.has_error());
    CHECK(got.error().on == blame::caller);
    return got.error().what;
}
constexpr char const* how = "; write a level (low, high), or PROFILE=LEVEL with commas between";
} // namespace

TEST_CASE("a severity is one level for all, one for each named profile, or both") {
    auto const one = severity::parse("high").value();
    CHECK(one.for_all == "high");
    CHECK(one.by_profile.empty());
    auto const each = severity::parse("hostile_input=low,concurrency_spike=high").value();
    CHECK(each.for_all.empty());
    CHECK(each.by_profile == levels{{"hostile_input", "low"}, {"concurrency_spike", "high"}});
    for (auto const* both : {"low,schema_drift=high", "schema_drift=high,low", " low , schema_drift = high "}) {
        INFO(both);
        CHECK(severity::parse(both)->for_all == "low");
        CHECK(severity::parse(both)->by_profile == levels{{"schema_drift", "high"}});
    }
}

TEST_CASE("an empty severity asks for nothing") {
    for (auto const* nothing : {"", " ", "\t"}) {
        CHECK(severity::parse(nothing)->for_all.empty());
        CHECK(severity::parse(nothing)->by_profile.empty());
    }
}

TEST_CASE("a severity that is not clear is refused with the part that is wrong") {
    CHECK(wrong("low,high") == cat("severity: \"high\" after \"low\"", how));
    CHECK(wrong("a=low,a=high") == cat("severity: \"a=high\" after \"a=low\"", how));
    CHECK(wrong("a=") == cat("severity: \"a=\"", how));
    CHECK(wrong("=low") == cat("severity: \"=low\"", how));
    CHECK(wrong("low, ,a=high") == cat("severity: empty item between commas", how));
    CHECK(wrong(",") == cat("severity: empty item between commas", how));
}
