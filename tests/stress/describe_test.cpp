// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/describe.hpp>
#include <sb/json/write.hpp>
#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace sb;
using namespace sb::stress;

namespace {
std::string text(object const& row, std::string_view member) { return std::string{string_or(row.at(member), "not text")}; }
object row_of(std::vector<object> const& rows, std::string_view kind, std::string_view name) {
    auto const at = std::find_if(rows.begin(), rows.end(), [&](object const& row) { return text(row, "kind") == kind && text(row, "name") == name; });
    REQUIRE(at != rows.end());
    return *at;
}
profile_set with_own() {
    profile_set own;
    REQUIRE(own.add(R"({"tiny":{"mild":{"MEMORY_LIMIT":"64Mi"},"hard":{"MEMORY_LIMIT":"16Mi"},"category":"mine","help":"little memory"}})", "my.json", "my").has_value());
    return own;
}
} // namespace

TEST_CASE("the list has each profile, alias, stage and key once, in this order, with the same members") {
    auto const rows = list_rows({});
    std::vector<std::string> kinds;
    std::map<std::string, std::size_t> count;
    for (auto const& row : rows) {
        if (kinds.empty() || kinds.back() != text(row, "kind")) kinds.push_back(text(row, "kind"));
        ++count[text(row, "kind")];
        std::vector<std::string> members;
        for (auto const& [name, v] : row) members.emplace_back(name);
        REQUIRE(members == std::vector<std::string>{"kind", "name", "sort", "choices", "help", "valid", "note"});
    }
    CHECK(kinds == std::vector<std::string>{"profile", "alias", "stage", "key"});
    CHECK(count["profile"] == 9);
    CHECK(count["alias"] == 5);
    CHECK(count["stage"] == 5);
    CHECK(count["key"] == key::by_name.size());
}

TEST_CASE("a row says what a name is and takes") {
    auto const rows = list_rows(with_own());
    CHECK(text(row_of(rows, "profile", "tiny"), "sort") == "mine");
    CHECK(text(row_of(rows, "profile", "tiny"), "choices") == "mild, hard");
    CHECK(text(row_of(rows, "profile", "normal"), "choices") == "none");
    CHECK(text(row_of(rows, "alias", "high_latency"), "help") == "another name of high_latency_api");
    CHECK(text(row_of(rows, "stage", "high_latency"), "note") == "Also called latency, latency_spike.");
    CHECK(text(row_of(rows, "key", "FAILURE_MODES"), "sort") == "words");
    CHECK(text(row_of(rows, "key", "CPU_LIMIT"), "valid") == "0.01 to 64 cores");
}

TEST_CASE("a key that does not act yet says so, and no other does") {
    for (auto const& row : list_rows({})) {
        if (text(row, "kind") != "key") continue;
        auto const* const k = key::find(text(row, "name"));
        INFO(k->name);
        CHECK(text(row, "note").starts_with("Does not act yet.") == (k->why_not != nullptr));
        CHECK(text(row, "note").ends_with(k->note));
    }
}

TEST_CASE("a key is described by one row") {
    auto const rows = describe_rows("MEMORY_LIMIT", {}).value();
    REQUIRE(rows.size() == 1);
    CHECK(text(rows[0], "kind") == "key");
    CHECK(text(rows[0], "name") == "MEMORY_LIMIT");
    CHECK(rows[0].at("acts") == value(true));
    CHECK(describe_rows("GPU_LIMIT", {})->at(0).at("acts") == value(false));
}

TEST_CASE("a profile is described by its keys at each level, with those that every preset has") {
    auto const rows = describe_rows("tiny", with_own()).value();
    std::vector<std::string> seen;
    for (auto const& row : rows) seen.push_back(cat(text(row, "name"), " ", text(row, "level"), " ", text(row, "key"), "=", text(row, "value")));
    CHECK(seen == std::vector<std::string>{"tiny mild CPU_LIMIT=1", "tiny mild MEMORY_LIMIT=64Mi", "tiny hard CPU_LIMIT=1", "tiny hard MEMORY_LIMIT=16Mi"});
    CHECK_FALSE(text(rows[0], "help").empty());
    CHECK(describe_rows("normal", {})->size() == 2);
}

TEST_CASE("a stage is described by any of its names, unless a profile has that name") {
    auto const rows = describe_rows("latency_spike", {}).value();
    REQUIRE(rows.size() == 8);
    for (auto const& row : rows) CHECK(text(row, "name") == "high_latency");
    CHECK(describe_rows("high_latency", {})->at(0).at("name") == value("high_latency_api"));
    CHECK(describe_rows("baseline", {})->at(0).at("name") == value("normal"));
}

TEST_CASE("an unknown name is an error with the nearest one") {
    auto const wrong = describe_rows("tinny", with_own());
    REQUIRE(wrong.has_error());
    CHECK(wrong.error().on == blame::caller);
    CHECK(wrong.error().what == "unknown name \"tinny\"; did you mean \"tiny\"? --list shows all profiles, stages and keys");
    CHECK(describe_rows("MEMRY_LIMIT", {}).error().what.find("did you mean \"MEMORY_LIMIT\"?") != std::string::npos);
    CHECK(describe_rows("", {}).has_error());
}
