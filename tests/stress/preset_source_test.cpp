// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/keywords.hpp>
#include <sb/stress/preset_plan.hpp>
#include <sb/stress/preset_source.hpp>
#include <map>

using namespace sb;
using namespace sb::stress;

namespace {
using variables = std::map<std::string, std::string>;
lookup from(variables all) {
    return [all = std::move(all)](std::string const& name) -> std::optional<std::string> {
        auto const at = all.find(name);
        return at == all.end() ? std::nullopt : std::optional{at->second};
    };
}
result<std::string> read_nothing(std::string const& path) {
    return system_error("open " + path + ": No such file or directory"); }
result<std::string> read_two(std::string const& path) {
    if (path == "a.json") return std::string{R"({"SCENARIO_NAME":"a","CPU_LIMIT":"1"})"};
    if (path == "b.json") return std::string{R"([{"SCENARIO_NAME":"b1","CPU_LIMIT":"1"},{"SCENARIO_NAME":"b2","CPU_LIMIT":"2"}])"};
    if (path == "empty.json") return std::string{"\n"};
    return read_nothing(path);
}
std::string sources(source_request const& request, variables const& env) {
    auto const found = find_presets(request, from(env), read_two);
    if (found.has_error()) return found.error().what;
    std::string all{name_of(found->from)};
    for (auto const& p : found->presets) all += cat(" ", p.scenario());
    return all;
}
using list = std::vector<std::string>;
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
    CHECK(find_presets(request, from(env), read_nothing)->presets.size() == 2);
    CHECK(find_presets(request, from(env), read_nothing)->presets[0].id == generator({7, {}, false, false},
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
    CHECK(find_presets(request, from({{"SANDBOX_ENV_PRESETS", "[]"}}), read_nothing).error().on == blame::caller);
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
        auto const found = find_presets(request, from(env), read_nothing).value();
        for (auto const& p : found.presets) {
            CHECK(p.text("CPU_LIMIT") == "3");
            CHECK(json::text_of(*p.keys.if_contains("OVERRIDES")) == R"(["CPU_LIMIT"])");
            auto again = p;
            seal(again);
            CHECK(again.id == p.id);
        }
    }
}

TEST_CASE("the gate for user_misuse opens by its switch and by the modes that mean it") {
    CHECK_FALSE(misuse_allowed(from({})).value());
    for (auto const* yes : {"1", "true", "yes", "on", "YES"})
        CHECK(misuse_allowed(from({{"SANDBOX_INCLUDE_USER_MISUSE", yes}})).value());
    for (auto const* no : {"0", "false", "no", "off"})
        CHECK_FALSE(misuse_allowed(from({{"SANDBOX_INCLUDE_USER_MISUSE", no}})).value());
    for (auto const* mode : {"canonical", "chaos", "robustness"})
        CHECK(misuse_allowed(from({{"SANDBOX_PRESET_MODE", mode}})).value());
    CHECK_FALSE(misuse_allowed(from({{"SANDBOX_PRESET_MODE", "random"}})).value());
}

TEST_CASE("words of a path are parted at every hump and mark") {
    CHECK(words_in("src/HTTPServer_v2/apiClient.py") == list{"src", "http", "server", "v", "api", "client", "py"});
    CHECK(words_in("").empty());
}

TEST_CASE("modules get the profiles of their words, and only of whole words") {
    keyword_map const words;
    auto const suggest = [&](std::string_view path, bool misuse = true) { return words.suggest(path, {}, misuse); };
    list const six{"high_latency_api", "hostile_input", "user_misuse", "concurrency_spike", "schema_drift",
        "flaky_upstream"};
    CHECK(suggest("src/api/users.py") == list{"high_latency_api"});
    CHECK(suggest("lib/capital.py") == six); // no "api" in it
    CHECK(suggest("db/database.c") == list{"high_latency_api", "concurrency_spike", "schema_drift"});
    CHECK(suggest("JsonParser.cpp") == list{"hostile_input", "user_misuse"});
    CHECK(suggest("json_parsers.cpp", false) == list{"hostile_input"});
    CHECK(suggest("auth/login.go") == list{"user_misuse", "hostile_input"});
    CHECK(suggest("legacy/schema.py") == list{"schema_drift"});
    CHECK(suggest("utils.py") == six);
    CHECK(suggest("utils.py", false).size() == 5);
    CHECK(suggest("upstream_cache.rs") == list{"flaky_upstream", "high_latency_api"});
}

TEST_CASE("a module's source is asked after its path") {
    keyword_map const words;
    CHECK(words.suggest("job.py", "import threading\nfrom app.cache import get\nx = 1\n",
        true) == list{"high_latency_api"});
    CHECK(words.suggest("job.c", "#include \"net/upstream.h\"\nint api;\n", true) == list{"flaky_upstream"});
    CHECK(words.suggest("job.py", "@auth.required\ndef f(): pass\n", false) == list{"hostile_input"});
    CHECK(words.suggest("job.py", "SCHEMA_VERSION = 3\n", true) == list{"schema_drift"});
    CHECK(words.suggest("api.py", "import parser\n", false) == list{"high_latency_api", "hostile_input"});
}

TEST_CASE("keyword_profiles of the settings replace keyword by keyword") {
    profile_set const known;
    keyword_map words;
    REQUIRE(words.merge(value(object{{"api", "schema_drift"},
        {"Billing", value(array{"flaky_upstream", "high_latency"})}}), known).has_value());
    CHECK(words.suggest("api.py", {}, true) == list{"schema_drift"});
    CHECK(words.suggest("billing.py", {}, true) == list{"flaky_upstream", "high_latency_api"});
    CHECK(words.suggest("cache.py", {}, true) == list{"high_latency_api"});
    CHECK(words.merge(value(3),
        known).error().what == "settings: keyword_profiles: must be a map of keywords to profiles");
    CHECK(words.merge(value(object{{"x", 3}}),
        known).error().what == "settings: keyword_profiles: x: must be a profile or a list of profiles");
    CHECK(words.merge(value(object{{"x", "schema_drfit"}}),
        known).error().what.find("settings: keyword_profiles: x: unknown profile \"schema_drfit\"; did you mean") == 0);
}

TEST_CASE("a plan counts random presets after those with a name") {
    plan p;
    CHECK(p.random_presets(0) == 3);
    p.count = 5;
    CHECK(p.random_presets(0) == 5);
    p.profiles = {"schema_drift", "hostile_input"};
    CHECK(p.random_presets(2) == 3);
    p.count = 1;
    CHECK(p.random_presets(2) == 0);
    p.count.reset();
    CHECK(p.random_presets(2) == 0);
}

TEST_CASE("a plan names each preset once, the baseline first") {
    plan p;
    p.seed = 7, p.baseline = true, p.profiles = {"hostile_input", "normal", "hostile_input"},
        p.categories_named = {"security"};
    auto const got = named_presets(p, profile_set{}, keyword_map{}, {}).value();
    REQUIRE(got.baseline);
    CHECK(got.baseline->scenario() == "normal");
    list names;
    for (auto const& each : got.named) names.emplace_back(each.scenario());
    CHECK(names == list{"hostile_input", "user_misuse"});
    p.categories_named = {"safety"};
    CHECK(named_presets(p, profile_set{}, keyword_map{},
        {}).error().what == "unknown category \"safety\"; categories: baseline, stress, security, concurrency");
}

TEST_CASE("each profile is in a category, and each category has one") {
    std::map<std::string_view, int> seen;
    for (auto const& p : built_in_profiles) ++seen[p.category];
    list known;
    key::each_word(categories, [&](std::string_view c) { known.emplace_back(c); });
    CHECK(known == list{"baseline", "stress", "security", "concurrency"});
    CHECK(seen.size() == known.size());
    for (auto const& c : known) CHECK(seen[c] > 0);
}
