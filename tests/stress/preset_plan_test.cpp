// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/preset_plan.hpp>
#include <sb/stress/suites.hpp>

using namespace sb;
using namespace sb::stress;

namespace {
using list = std::vector<std::string>;
} // namespace

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

TEST_CASE("a plan writes the sets first, then the stages, then what was named") {
    plan p;
    p.canonical = p.scenarios = p.trajectory = true;
    p.stages_named = {"chaos"}, p.profiles = {"normal"};
    auto const got = named_presets(p, profile_set{}, keyword_map{}, {}).value();
    CHECK_FALSE(got.baseline);
    REQUIRE(got.named.size() == 12 + 5 + 5 + 1 + 1);
    CHECK(got.named[0].scenario() == "high_latency_api");
    CHECK(got.named[12].scenario() == "normal");
    CHECK(got.named[18].scenario() == "high_latency");
    CHECK(got.named[22].scenario() == "chaotic_failure");
    CHECK(got.named[23].scenario() == "normal");
    CHECK(got.named[23].id == got.named[12].id);
}

TEST_CASE("a plan that names nothing has no named preset, and one of modules those of their words") {
    plan p;
    CHECK_FALSE(p.names_something());
    CHECK(named_presets(p, profile_set{}, keyword_map{}, {})->named.empty());
    p.modules = {{"src/cache.py", {}}, {"src/api.py", "import auth\n"}};
    CHECK(p.names_something());
    for (bool const misuse : {false, true}) {
        p.misuse = misuse;
        auto const got = named_presets(p, profile_set{}, keyword_map{}, {}).value();
        list names;
        for (auto const& each : got.named) names.emplace_back(each.scenario());
        CHECK(names == (misuse ? list{"high_latency_api", "user_misuse", "hostile_input"} : list{"high_latency_api", "hostile_input"}));
    }
}

TEST_CASE("a plan takes all profiles of a file, and settings only for the suite") {
    profile_set own;
    REQUIRE(own.add(R"({"mine":{"CPU_LIMIT":"2"},"other":{"CPU_LIMIT":"3"}})", "my.json", "my").has_value());
    plan p;
    p.custom_only = true;
    auto const got = named_presets(p, own, keyword_map{}, {}).value();
    REQUIRE(got.named.size() == 2);
    CHECK(got.named[0].text("CPU_LIMIT") == "2");
    CHECK(got.named[1].scenario() == "other");
    plan suite;
    suite.scenarios = suite.canonical = true;
    lookup const setting = [](std::string const& name) { return name == "SANDBOX_PRESET_UPSTREAM_FAILURES" ? std::optional<std::string>{"7"} : std::nullopt; };
    auto const both = named_presets(suite, profile_set{}, keyword_map{}, {}, setting).value();
    REQUIRE(both.named.size() == 17);
    CHECK(json::text_of(*both.named[11].keys.if_contains("UPSTREAM_FAILURES")) == "5");
    CHECK(json::text_of(*both.named[16].keys.if_contains("UPSTREAM_FAILURES")) == "7");
}

TEST_CASE("a plan with a name, a stage or a severity that is unknown is refused") {
    auto const wrong = [](plan const& p) { return named_presets(p, profile_set{}, keyword_map{}, {}).error().what; };
    plan name, stage, level;
    name.profiles = {"nothing"};
    CHECK(wrong(name).find("unknown profile \"nothing\"") == 0);
    stage.stages_named = {"nothing"};
    CHECK(wrong(stage).find("unknown stage \"nothing\"") == 0);
    level.levels.for_all = "medium", level.canonical = true;
    CHECK(wrong(level) == "no profile has a severity \"medium\"; known are low, high");
}
