// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/variables.hpp"
#include <sb/stress/preset_source.hpp>
#include <map>

using namespace sb;
using namespace sb::stress;
using sb::test::lookup_in;

namespace {
using variables = std::map<std::string, std::string>;
result<std::string> read_nothing(std::string const& path) {
    return system_error("open " + path + ": No such file or directory"); }
result<std::string> read_two(std::string const& path) {
    if (path == "a.json") return std::string{R"({"SCENARIO_NAME":"a","CPU_LIMIT":"1"})"};
    if (path == "b.json") return std::string{R"([{"SCENARIO_NAME":"b1","CPU_LIMIT":"1"},{"SCENARIO_NAME":"b2","CPU_LIMIT":"2"}])"};
    if (path == "empty.json") return std::string{"\n"};
    return read_nothing(path);
}
std::string sources(source_request const& request, variables const& env) {
    auto const found = find_presets(request, lookup_in(env), read_two);
    if (found.has_error()) return found.error().what;
    std::string all{name_of(found->from)};
    for (auto const& p : found->presets) all += cat(" ", p.scenario());
    return all;
}
} // namespace

TEST_CASE("presets come from the first source that has any") {
    source_request request;
    request.standard_input = true, request.files = {"a.json"}, request.seed = 7, request.count = 2;
    variables env{{"SANDBOX_ENV_PRESETS", R"({"SCENARIO_NAME":"e"})"}, {"SANDBOX_PRESET_MODE", "canonical"}, {"SANDBOX_GENERATE_PRESETS", "0"}};
    CHECK(sources(request, env) == "stdin");
    request.standard_input = false;
    CHECK(sources(request, env) == "preset-file a");
    request.files.clear();
    CHECK(sources(request, env) == "env e");
    env.erase("SANDBOX_ENV_PRESETS");
    CHECK(sources(request, env).starts_with("canonical high_latency_api high_latency_api hostile_input"));
    env.erase("SANDBOX_PRESET_MODE");
    CHECK(sources(request, env) == "none normal");
    env.erase("SANDBOX_GENERATE_PRESETS");
    CHECK(sources(request, env).starts_with("generated "));
    CHECK(find_presets(request, lookup_in(env), read_nothing)->presets.size() == 2);
    CHECK(find_presets(request, lookup_in(env), read_nothing)->presets[0].id == generator({7, {}, false, false},
        {}).make(0).id);
}

TEST_CASE("preset files are used in rotation") {
    source_request request;
    request.files = {"a.json", "b.json"};
    CHECK(sources(request, {}) == "preset-file a");
    request.turn = 1;
    CHECK(sources(request, {}) == "preset-file b1 b2");
    request.turn = 4;
    CHECK(sources(request, {}) == "preset-file a");
}

TEST_CASE("a source that cannot be read says which it is and what is wrong") {
    source_request request;
    request.files = {"gone.json"};
    CHECK(sources(request, {}) == "open gone.json: No such file or directory");
    request.files = {"empty.json"};
    CHECK(sources(request, {}) == "empty.json: empty; a preset file has presets as JSON");
    request.files.clear();
    CHECK(sources(request,
        {{"SANDBOX_ENV_PRESETS",
            "{\"CPU_LIMIT\":"}}) == "SANDBOX_ENV_PRESETS: line 1, byte 14: the text ends where a value should be");
    CHECK(sources(request, {{"SANDBOX_ENV_PRESETS", "[]"}}) == "SANDBOX_ENV_PRESETS: no preset in it");
    CHECK(find_presets(request, lookup_in({{"SANDBOX_ENV_PRESETS", "[]"}}), read_nothing).error().on == blame::caller);
    CHECK(sources(request,
        {{"SANDBOX_PRESET_MODE",
            "canon"}}) == "SANDBOX_PRESET_MODE: \"canon\" is not one of random, canonical, chaos, robustness");
    CHECK(sources(request,
        {{"SANDBOX_GENERATE_PRESETS", "maybe"}}) == "SANDBOX_GENERATE_PRESETS: \"maybe\" is neither yes nor no");
    CHECK(sources(request,
        {{"SANDBOX_INCLUDE_USER_MISUSE", "maybe"}}) == "SANDBOX_INCLUDE_USER_MISUSE: \"maybe\" is neither yes nor no");
    CHECK(sources(request, {{"SANDBOX_ENV_PRESETS", " "}}).starts_with("generated"));
}

TEST_CASE("inline presets are an object or a list") {
    CHECK(sources({}, {{"SANDBOX_ENV_PRESETS", R"([{"SCENARIO_NAME":"x"},{"SCENARIO_NAME":"y"}])"}}) == "env x y");
    CHECK(sources({}, {{"SANDBOX_ENV_PRESETS", "{}"}}) == "env normal");
}

TEST_CASE("values given by hand win over presets from every source found here") {
    source_request request;
    REQUIRE(request.given.set("CPU_LIMIT=3").has_value());
    for (auto const& env : {variables{{"SANDBOX_ENV_PRESETS", R"({"CPU_LIMIT":"1"})"}}, variables{{"SANDBOX_PRESET_MODE", "canonical"}},
                            variables{{"SANDBOX_GENERATE_PRESETS", "0"}}, variables{}}) {
        auto const found = find_presets(request, lookup_in(env), read_nothing).value();
        for (auto const& p : found.presets) {
            CHECK(p.text("CPU_LIMIT") == "3");
            CHECK(json::text_of(*p.keys.if_contains("OVERRIDES")) == R"(["CPU_LIMIT"])");
            auto again = p;
            seal(again);
            CHECK(again.id == p.id);
        }
    }
}
