// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/overrides.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/write.hpp>
#include <initializer_list>
#include <string>

using namespace sb;
using namespace sb::stress;

namespace {
overrides given(std::initializer_list<char const*> assignments) {
    overrides o;
    for (auto const* each : assignments) REQUIRE(o.set(each).has_value());
    return o;
}
/// The keys of a preset after the values given by hand were put into it.
std::string applied(overrides const& o, std::string_view keys) {
    auto all = json::parse_document(keys, "keys").value().as_object();
    o.apply(all);
    sort_keys(all);
    return json::text_of(value(all));
}
} // namespace

TEST_CASE("variables called like a key that acts override, and flags come before them") {
    overrides given;
    REQUIRE(given.set("CPU_LIMIT=4").has_value());
    auto const env = [](std::string const& name) -> std::optional<std::string> {
        if (name == "CPU_LIMIT") return "2";
        if (name == "MEMORY_LIMIT") return "1Gi";
        if (name == "SCENARIO_NAME" || name == "SEED" || name == "SEVERITY") return "nonsense of another program";
        return std::nullopt;
    };
    REQUIRE(given.take_environment(env).has_value());
    CHECK(json::text_of(value(given.keys())) == R"({"CPU_LIMIT":"4","MEMORY_LIMIT":"1Gi"})");
    overrides bad;
    auto const got = bad.take_environment([](std::string const& name) -> std::optional<std::string> {
        return name == "TIMEOUT" ? std::optional<std::string>{"soon"} : std::nullopt;
    });
    CHECK(got.error().what == "environment variable TIMEOUT: \"soon\" is not valid; it takes 0.001 to 2592000 s");
    CHECK(bad.set("SEED=3").error().what == "SEED cannot be set; use --seed");
    CHECK(bad.set("CPU_LIMIT").error().what == "\"CPU_LIMIT\" is not KEY=VALUE");
}

TEST_CASE("without a value given by hand a preset is left as it is") {
    overrides const none;
    CHECK(none.empty());
    CHECK(applied(none, R"({"CPU_LIMIT":"1","OVERRIDES":["TIMEOUT"]})") == R"({"CPU_LIMIT":"1","OVERRIDES":["TIMEOUT"]})");
}

TEST_CASE("a preset lists what was given by hand, once, sorted, beside what it listed before") {
    auto const o = given({"TIMEOUT=5", "CPU_LIMIT=2", "CPU_LIMIT = 3", "ENV_mode=a=b"});
    CHECK_FALSE(o.empty());
    CHECK(applied(o, R"({"CPU_LIMIT":"1","OVERRIDES":["TIMEOUT","MEMORY_LIMIT"]})") ==
          R"({"CPU_LIMIT":"3","ENV_mode":"a=b","OVERRIDES":["CPU_LIMIT","ENV_mode","MEMORY_LIMIT","TIMEOUT"],"TIMEOUT":5})");
}

TEST_CASE("of two keys that belong together the one that was not given follows") {
    constexpr auto preset = R"({"MAX_BANDWIDTH":"10Mbps","MIN_BANDWIDTH":"5Mbps"})";
    CHECK(applied(given({"MIN_BANDWIDTH=20Mbps"}), preset) == R"({"MAX_BANDWIDTH":"20Mbps","MIN_BANDWIDTH":"20Mbps","OVERRIDES":["MIN_BANDWIDTH"]})");
    CHECK(applied(given({"MAX_BANDWIDTH=1Mbps"}), preset) == R"({"MAX_BANDWIDTH":"1Mbps","MIN_BANDWIDTH":"1Mbps","OVERRIDES":["MAX_BANDWIDTH"]})");
    CHECK(applied(given({"MIN_BANDWIDTH=7Mbps"}), preset) == R"({"MAX_BANDWIDTH":"10Mbps","MIN_BANDWIDTH":"7Mbps","OVERRIDES":["MIN_BANDWIDTH"]})");
    CHECK(applied(given({"MIN_BANDWIDTH=7Mbps"}), "{}") == R"({"MIN_BANDWIDTH":"7Mbps","OVERRIDES":["MIN_BANDWIDTH"]})");
}

TEST_CASE("no failure mode given by hand takes those of the preset away") {
    CHECK(applied(given({"FAILURE_MODES=none"}), R"({"FAILURE_MODES":"disk"})") == R"({"OVERRIDES":["FAILURE_MODES"]})");
}

TEST_CASE("an assignment that is not valid changes nothing") {
    overrides o;
    CHECK(o.set("CPU_LIMTI=1").error().what.find("unknown preset key \"CPU_LIMTI\"; did you mean \"CPU_LIMIT\"?") == 0);
    CHECK(o.set("=1").has_error());
    CHECK(o.set("ENV_=1").has_error());
    CHECK(o.set("").error().what == "\"\" is not KEY=VALUE");
    CHECK(o.set("CPU_LIMIT=0").error().what == "CPU_LIMIT: \"0\" is not valid; it takes 0.01 to 64 cores");
    CHECK(o.set("OVERRIDES=CPU_LIMIT").error().what == "OVERRIDES cannot be set; it is written by the tools");
    CHECK(o.empty());
}
