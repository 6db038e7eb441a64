// SPDX-License-Identifier: MIT
// Tests of compose_preset.hpp and profile_set.hpp.
#include "support/catch.hpp"
#include <sb/stress/compose_preset.hpp>
#include <sb/stress/profile_set.hpp>
#include <sb/stress/suites.hpp>
#include <map>

using namespace sb;
using namespace sb::stress;

namespace {
profile_set const built_in{};
preset_record named(std::string_view name, std::string_view severity_text = {}, overrides const& given = {},
    profile_set const& from = built_in) {
    return composer{from, from.resolve(severity::parse(severity_text).value()).value(), given, 7}.named(name).value();
}
std::string text(preset_record const& p, std::string_view key) {
    auto const* v = p.keys.if_contains(key);
    return v ? json::text_of(*v) : "-";
}
/// What is wrong with a request for one preset.
std::string wrong(std::string_view name, std::string_view severity_text = {}) {
    auto const levels = severity::parse(severity_text);
    if (levels.has_error()) return levels.error().what;
    auto const known = built_in.resolve(*levels);
    if (known.has_error()) return known.error().what;
    auto const got = composer{built_in, *known, {}, 7}.named(name);
    return got.has_error() ? got.error().what : "";
}
} // namespace

TEST_CASE("the canonical profiles have the values of the specification") {
    struct row {
        char const* profile;
        std::map<std::string, std::pair<std::string, std::string>> keys; // low, high
    };
    row const rows[] = {
        {"high_latency_api",
         {{"FAILURE_MODES", {"\"api_latency\"", "\"api_latency\""}}, {"NETWORK_LATENCY_MS", {"200", "500"}},
             {"NETWORK_JITTER_MS", {"20", "50"}},
          {"PACKET_LOSS", {"0.05", "0.1"}}, {"API_LATENCY_MS", {"500", "1000"}}, {"THREAT_INTENSITY", {"30", "70"}}}},
        {"hostile_input",
         {{"FAILURE_MODES", {"\"hostile_input\"", "\"hostile_input\""}},
             {"SANDBOX_STUB_STRATEGY", {"\"hostile\"", "\"hostile\""}},
          {"PAYLOAD_INDICATOR", {"\"corrupted_bytes\"", "\"corrupted_bytes\""}}, {"MALICIOUS_DATA", {"true", "true"}},
              {"THREAT_INTENSITY", {"30", "50"}}}},
        {"user_misuse",
         {{"FAILURE_MODES", {"\"user_misuse\"", "\"user_misuse\""}},
             {"SANDBOX_STUB_STRATEGY", {"\"misuse\"", "\"misuse\""}}, {"INVALID_CONFIG", {"true", "true"}},
          {"INVALID_PARAM_TYPES", {"true", "true"}}, {"UNEXPECTED_API_CALLS", {"true", "true"}},
              {"THREAT_INTENSITY", {"20", "30"}}}},
        {"concurrency_spike",
         {{"FAILURE_MODES", {"[\"concurrency_spike\",\"cpu_spike\"]", "[\"concurrency_spike\",\"cpu_spike\"]"}},
             {"CPU_SPIKE", {"true", "true"}},
          {"THREAD_BURST", {"10", "50"}}, {"ASYNC_TASK_BURST", {"20", "100"}}, {"MAX_THREADS", {"100", "200"}},
              {"CONCURRENCY_LEVEL", {"20", "100"}},
          {"THREAT_INTENSITY", {"30", "50"}}}},
        {"schema_drift",
         {{"FAILURE_MODES", {"\"schema_drift\"", "\"schema_drift\""}}, {"SCHEMA_CHECKS", {"100", "100"}},
             {"SANDBOX_STUB_STRATEGY", {"\"legacy_schema\"", "\"legacy_schema\""}},
          {"SCHEMA_MISMATCHES", {"5", "20"}}, {"THREAT_INTENSITY", {"20", "40"}}}},
        {"flaky_upstream",
         {{"FAILURE_MODES", {"\"flaky_upstream\"", "\"flaky_upstream\""}}, {"UPSTREAM_REQUESTS", {"20", "20"}},
             {"SANDBOX_STUB_STRATEGY", {"\"flaky_upstream\"", "\"flaky_upstream\""}},
          {"UPSTREAM_FAILURES", {"1", "5"}}, {"THREAT_INTENSITY", {"20", "40"}}}},
    };
    for (auto const& each : rows) {
        auto const low = named(each.profile, "low"), high = named(each.profile, "high");
        for (auto const& [key, values] : each.keys) {
            INFO(each.profile << " " << key);
            CHECK(text(low, key) == values.first);
            CHECK(text(high, key) == values.second);
        }
        for (auto const& [p, level] : {std::pair{low, "low"}, {high, "high"}}) {
            CHECK(p.scenario() == each.profile);
            CHECK(p.text("SEVERITY") == level);
            CHECK(text(p, "SEED") == "7");
            CHECK(p.text("CPU_LIMIT") == "1");
            CHECK(p.text("MEMORY_LIMIT") == "512Mi");
        }
    }
}

TEST_CASE("the scenario normal has no fault and the limits that all profiles start from") {
    auto const p = named("normal");
    CHECK(json::text_of(value(p.keys)) == R"({"CPU_LIMIT":"1","MEMORY_LIMIT":"512Mi","SCENARIO_NAME":"normal","SEED":7,"SEVERITY":"none"})");
}

TEST_CASE("a profile leaves nothing behind in the next preset") {
    auto const make = composer{built_in, {}, {}, 7};
    auto const before = make.named("flaky_upstream").value();
    (void)make.named("concurrency_spike").value();
    CHECK(make.named("flaky_upstream").value().keys == before.keys);
    CHECK_FALSE(before.keys.if_contains("THREAD_BURST"));
}

TEST_CASE("a combination merges in order, the later wins, and names and modes are joined") {
    auto const p = named("hostile_input+user_misuse");
    CHECK(p.scenario() == "hostile_input+user_misuse");
    CHECK(text(p, "FAILURE_MODES") == R"(["hostile_input","user_misuse"])");
    CHECK(p.text("SANDBOX_STUB_STRATEGY") == "misuse");
    CHECK(text(p, "THREAT_INTENSITY") == "30");
    CHECK(text(p, "PAYLOAD_COUNT") == "16");
    CHECK(named("user_misuse+hostile_input").text("SANDBOX_STUB_STRATEGY") == "hostile");
    CHECK(text(named("concurrency_spike+hostile_input"), "FAILURE_MODES") == R"(["concurrency_spike","cpu_spike","hostile_input"])");
    CHECK(text(named("schema_drift+schema_drift"), "FAILURE_MODES") == R"("schema_drift")");
    auto const mixed = named("hostile_input+schema_drift", "hostile_input=low");
    CHECK(mixed.text("SEVERITY") == "low+high");
    CHECK(text(mixed, "PAYLOAD_COUNT") == "4");
    CHECK(text(mixed, "SCHEMA_MISMATCHES") == "20");
    CHECK(named("normal+schema_drift", "low").text("SEVERITY") == "low");
}

TEST_CASE("aliases are the profiles they stand for") {
    CHECK(named("high_latency").id == named("high_latency_api").id);
    CHECK(named("malicious_data").id == named("hostile_input").id);
    CHECK(named("schema_mismatch").id == named("schema_drift").id);
    CHECK(named("upstream_failure").id == named("flaky_upstream").id);
    CHECK(named("schema_drift", "schema_mismatch=low").text("SEVERITY") == "low");
}

TEST_CASE("severity is one level or a map, and high where nothing is asked") {
    CHECK(named("schema_drift").text("SEVERITY") == "high");
    CHECK(named("schema_drift", "low").text("SEVERITY") == "low");
    CHECK(named("schema_drift", "high,schema_drift=low").text("SEVERITY") == "low");
    CHECK(named("hostile_input", "low,schema_drift=high").text("SEVERITY") == "low");
    CHECK(named("normal", "high").text("SEVERITY") == "none");
}

TEST_CASE("what is unknown is an error that says what would be valid") {
    CHECK(wrong("hostil_input").find("unknown profile \"hostil_input\"; did you mean \"hostile_input\"? known are high_latency_api,") == 0);
    CHECK(wrong("schema_drift+nothing").find("unknown profile \"nothing\"; known are ") == 0);
    CHECK(wrong("").find("unknown profile \"\"") == 0);
    CHECK(wrong("schema_drift", "medium") == "no profile has a severity \"medium\"; known are low, high");
    CHECK(wrong("schema_drift", "hihg") ==
          "no profile has a severity \"hihg\"; did you mean \"high\"? known are low, high");
    CHECK(wrong("schema_drift",
        "schema_drfit=low").find("unknown profile \"schema_drfit\"; did you mean \"schema_drift\"?") == 0);
    CHECK(wrong("schema_drift",
        "schema_drift=medium") == "profile schema_drift has no severity \"medium\"; it has low, high");
    CHECK(wrong("schema_drift", "low,high").find("severity: \"high\" after \"low\"") == 0);
    CHECK(wrong("schema_drift", "schema_drift=").find("severity: \"schema_drift=\"") == 0);
}

TEST_CASE("the canonical set is the six profiles, low and high, or at the level asked for") {
    auto const ids = [](std::string_view levels) {
        std::vector<std::string> all;
        auto const asked = built_in.resolve(severity::parse(levels).value()).value();
        for (auto const& p : composer{built_in, asked, {}, 7}.canonical().value())
            all.push_back(cat(p.scenario(), ":", p.text("SEVERITY")));
        return all;
    };
    CHECK(ids("") == std::vector<std::string>{"high_latency_api:low", "high_latency_api:high", "hostile_input:low",
        "hostile_input:high", "user_misuse:low",
                                              "user_misuse:high", "concurrency_spike:low", "concurrency_spike:high",
                                                  "schema_drift:low", "schema_drift:high",
                                              "flaky_upstream:low", "flaky_upstream:high"});
    CHECK(ids("low") == std::vector<std::string>{"high_latency_api:low", "hostile_input:low", "user_misuse:low",
        "concurrency_spike:low", "schema_drift:low",
                                                 "flaky_upstream:low"});
    CHECK(ids("user_misuse=high").size() == 11);
}

TEST_CASE("the scenario suite is the five of the specification with its values") {
    auto const all = composer{built_in, {}, {}, 7}.scenarios().value();
    REQUIRE(all.size() == 5);
    CHECK(all[0].scenario() == "normal");
    CHECK(all[1].scenario() == "concurrency_spike");
    CHECK(text(all[1], "CONCURRENCY_LEVEL") == "8");
    CHECK(all[2].scenario() == "hostile_input");
    CHECK(text(all[2], "INJECT_EDGE_CASES") == "true");
    CHECK(text(all[2], "SANDBOX_STUB_STRATEGY") == "\"hostile\"");
    CHECK(all[3].scenario() == "schema_drift");
    CHECK(text(all[3], "SCHEMA_MISMATCHES") == "5");
    CHECK(text(all[3], "SCHEMA_CHECKS") == "100");
    CHECK(all[4].scenario() == "flaky_upstream");
    CHECK(text(all[4], "UPSTREAM_FAILURES") == "1");
    CHECK(text(all[4], "UPSTREAM_REQUESTS") == "20");
    severity high;
    high.for_all = "high";
    CHECK(text(composer{built_in, high, {}, 7}.scenarios().value()[1], "CONCURRENCY_LEVEL") == "100");
}

TEST_CASE("variables of the suite's settings give its keys other values") {
    auto const setting = [](std::string const& name) -> std::optional<std::string> {
        if (name == "SANDBOX_PRESET_CONCURRENCY_LEVEL") return "16";
        if (name == "SANDBOX_PRESET_UPSTREAM_FAILURES") return "7";
        if (name == "SANDBOX_PRESET_HOSTILE_STUB_STRATEGY") return "random";
        return std::nullopt;
    };
    auto const all = composer{built_in, {}, {}, 7}.scenarios(setting).value();
    CHECK(text(all[1], "CONCURRENCY_LEVEL") == "16");
    CHECK(text(all[2], "SANDBOX_STUB_STRATEGY") == "\"random\"");
    CHECK(text(all[3], "SANDBOX_STUB_STRATEGY") == "\"legacy_schema\"");
    CHECK(text(all[4], "UPSTREAM_FAILURES") == "7");
    auto const bad = composer{built_in, {}, {}, 7}.scenarios([](std::string const& name) -> std::optional<std::string> {
        return name == "SANDBOX_PRESET_SCHEMA_CHECKS" ? std::optional<std::string>{"many"} : std::nullopt;
    });
    CHECK(bad.error().what == "environment variable SANDBOX_PRESET_SCHEMA_CHECKS: SCHEMA_CHECKS: \"many\" is not valid; it takes a whole number from 1 to 1000000");
}

TEST_CASE("the trajectory has five stages in order, each with an effect but the first") {
    auto const all = composer{built_in, {}, {}, 7}.stages().value();
    REQUIRE(all.size() == 5);
    char const* const names[] = {"normal", "high_latency", "resource_strain", "schema_drift", "chaotic_failure"};
    auto const normal = all[0].keys;
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(all[i].scenario() == names[i]);
        int effects = 0;
        for (auto const& [key, v] : all[i].keys)
            if (!key::find(key)->labels() && (!normal.if_contains(key) || *normal.if_contains(key) != v)) ++effects;
        INFO(names[i]);
        CHECK((effects > 0) == (i > 0));
    }
    CHECK(text(all[1], "NETWORK_LATENCY_MS") == "500");
    CHECK(text(all[2], "CPU_LIMIT") == "\"0.5\"");
    CHECK(text(all[2], "DISK_IO_THROTTLE") == "100");
    CHECK(text(all[4], "BROKEN_AUTH") == "true");
    CHECK(text(all[4], "CORRUPT_PAYLOAD") == "true");
}

TEST_CASE("stages answer to the names that other documents give them") {
    auto const make = composer{built_in, {}, {}, 7};
    for (auto const& [alias, name] : std::map<std::string,
        std::string>{{"baseline", "normal"}, {"latency", "high_latency"}, {"latency_spike", "high_latency"},
                                                                         {"strain", "resource_strain"},
                                                                             {"io_cpu_strain", "resource_strain"},
                                                                         {"drift", "schema_drift"},
                                                                             {"chaos", "chaotic_failure"}})
        CHECK(make.stages(alias).value().at(0).scenario() == name);
    CHECK(make.stages("chaotic").error().what.find("unknown stage \"chaotic\"; did you mean \"chaotic_failure\"?") == 0);
}

TEST_CASE("a profile file's shapes are all read") {
    profile_set own;
    REQUIRE(own.add(R"({"tiny":{"levels":{"low":{"MEMORY_LIMIT":"64Mi"},"high":{"MEMORY_LIMIT":"16Mi"}},"TIMEOUT":5},
                       "two":{"mild":{"CPU_LIMIT":"2"},"hard":{"CPU_LIMIT":"0.1"}},
                       "flat":{"CPU_LIMIT":"4","FAILURE_MODES":"disk"}})", "my.json", "my").has_value());
    CHECK(own.custom_names() == std::vector<std::string>{"tiny", "two", "flat"});
    CHECK(named("tiny", "low", {}, own).text("MEMORY_LIMIT") == "64Mi");
    CHECK(named("tiny", "", {}, own).text("MEMORY_LIMIT") == "16Mi");
    CHECK(text(named("tiny", "", {}, own), "TIMEOUT") == "5");
    CHECK(named("two", "mild", {}, own).text("CPU_LIMIT") == "2");
    CHECK(named("two", "", {}, own).text("CPU_LIMIT") == "0.1");
    CHECK(named("flat", "low", {}, own).text("CPU_LIMIT") == "4");
    CHECK(text(named("flat+schema_drift", "", {}, own), "FAILURE_MODES") == R"(["disk","schema_drift"])");
    REQUIRE(own.add(R"({"shared":{"low":{"CPU_LIMIT":1},"high":{"CPU_LIMIT":2,"TIMEOUT":3},"MEMORY_LIMIT":"64Mi","TIMEOUT":9,"help":"both"}})", "beside.json", "file").has_value());
    CHECK(named("shared", "low", {}, own).text("MEMORY_LIMIT") == "64Mi");
    CHECK(text(named("shared", "low", {}, own), "CPU_LIMIT") == "1");
    CHECK(text(named("shared", "low", {}, own), "TIMEOUT") == "9");
    CHECK(text(named("shared", "high", {}, own), "CPU_LIMIT") == "2");
    CHECK(text(named("shared", "high", {}, own), "TIMEOUT") == "3");
    REQUIRE(own.add(R"({"env":{"ENV_http_proxy":"http://here"}})", "env.json", "file").has_value());
    CHECK(named("env", "", {}, own).text("ENV_http_proxy") == "http://here");
    CHECK(own.remarks().empty());
    REQUIRE(own.add(R"({"seeded":{"low":{"SEED":5,"CPU_LIMIT":1},"high":{"CPU_LIMIT":2}}})", "seeded.json", "file").has_value());
    CHECK(text(named("seeded", "low", {}, own), "SEED") == "7");
    CHECK(own.remarks() == std::vector<std::string>{"seeded.json: profile \"seeded\": its SEED is ignored; use --seed"});
    REQUIRE(own.add(R"({"SCENARIO_NAME":"lone","CPU_LIMIT":"3"})", "lone.json", "file").has_value());
    CHECK(named("lone", "", {}, own).text("CPU_LIMIT") == "3");
    REQUIRE(own.add(R"({"CPU_LIMIT":"5"})", "stem.json", "stem").has_value());
    CHECK(named("stem", "", {}, own).text("CPU_LIMIT") == "5");
    REQUIRE(own.add(R"({"schema_drift":{"SCHEMA_MISMATCHES":50,"SCHEMA_CHECKS":60}})", "own.json", "own").has_value());
    CHECK(text(named("schema_drift", "", {}, own), "SCHEMA_MISMATCHES") == "50");
}

TEST_CASE("a level of one's own is asked for by name, and only of profiles that have it") {
    profile_set own;
    REQUIRE(own.add(R"({"two":{"mild":{"CPU_LIMIT":"2"},"hard":{"CPU_LIMIT":"0.1"}}})", "my.json", "my").has_value());
    CHECK(named("two", "mild", {}, own).text("SEVERITY") == "mild");
    auto const asked = own.resolve(severity::parse("mild").value()).value();
    CHECK(composer{own, asked, {}, 7}.named("schema_drift").error().what ==
          "profile schema_drift has no severity \"mild\"; it has low, high");
    CHECK(own.resolve(severity::parse("medium").value()).error().what ==
          "no profile has a severity \"medium\"; known are low, high, mild, hard");
}

TEST_CASE("two names of a profile in a severity are one, unless they are given different levels") {
    auto const of = [](char const* text) { return built_in.resolve(severity::parse(text).value()); };
    CHECK(of("malicious_data=low,hostile_input=low")->by_profile.at("hostile_input") == "low");
    CHECK(of("malicious_data=low,hostile_input=high").error().what ==
          "severity: profile hostile_input is given high under one of its names and low under another; write one of them");
}

TEST_CASE("what is wrong in a profile file is said with its place") {
    auto const fault = [](std::string_view text) {
        profile_set own;
        auto const got = own.add(text, "my.json", "my");
        return got.has_error() ? got.error().what : std::string{};
    };
    CHECK(fault("") == "my.json: empty; a profile file is a JSON object of profiles");
    CHECK(fault("[]") == "my.json: not a JSON object of profiles");
    CHECK(fault("{\n\"a\":{\"CPU_LIMIT\":}}") == "my.json: line 2, byte 18: not a value");
    CHECK(fault(R"({"a":7})") == "my.json: profile \"a\" is not an object");
    CHECK(fault(R"({"a":{"CPU_LIMIT":"400"}})") == "my.json: profile \"a\": CPU_LIMIT: \"400\" is not valid; it takes 0.01 to 64 cores");
    CHECK(fault(R"({"a":{"levels":{"low":{"CPU_LIMTI":"1"}}}})").find("my.json: profile \"a\": unknown preset key \"CPU_LIMTI\"; did you mean \"CPU_LIMIT\"?") == 0);
    CHECK(fault(R"({"a":{"cpu":"1"}})") == "my.json: profile \"a\": unknown member \"cpu\"; it takes levels, or preset keys in upper case");
    CHECK(fault(R"({"a+b":{"CPU_LIMIT":"1"}})").find("my.json: profile \"a+b\": write a name without blanks") == 0);
    CHECK(fault(R"({"a":{}})") == "my.json: profile \"a\": no level in it");
    CHECK(fault("{}") == "my.json: no profile in it");
    CHECK(fault(R"({"a":{"levels":{"low":{"CPU_LIMIT":1}},"high":{"CPU_LIMIT":2}}})") == "my.json: profile \"a\": \"high\" belongs beside levels, not in them");
    CHECK(fault(R"({"a":{"levels":{"low":1}}})") == "my.json: profile \"a\": level \"low\" is not an object");
}

TEST_CASE("values given by hand win and are recorded") {
    overrides given;
    REQUIRE(given.set("CPU_LIMIT=2").has_value());
    REQUIRE(given.set("SCHEMA_CHECKS=10").has_value());
    REQUIRE(given.set("ENV_MODE=fast").has_value());
    auto const p = named("schema_drift", "", given);
    CHECK(p.text("CPU_LIMIT") == "2");
    CHECK(p.text("ENV_MODE") == "fast");
    CHECK(text(p, "SCHEMA_CHECKS") == "10");
    CHECK(text(p, "SCHEMA_MISMATCHES") == "10"); // 20 of 10 cannot drift: the one that was not given follows
    CHECK(text(p, "OVERRIDES") == R"(["CPU_LIMIT","ENV_MODE","SCHEMA_CHECKS"])");
    CHECK(p.id != named("schema_drift").id);
    overrides off;
    REQUIRE(off.set("FAILURE_MODES=none").has_value());
    CHECK(text(named("schema_drift", "", off), "FAILURE_MODES") == "-");
}

TEST_CASE("two values given by hand that contradict each other are an error") {
    overrides given;
    REQUIRE(given.set("MIN_BANDWIDTH=10Mbps").has_value());
    REQUIRE(given.set("MAX_BANDWIDTH=1Mbps").has_value());
    CHECK(composer{built_in, {}, given,
        7}.named("normal").error().what == "MIN_BANDWIDTH \"10Mbps\" is above MAX_BANDWIDTH \"1Mbps\"");
}
