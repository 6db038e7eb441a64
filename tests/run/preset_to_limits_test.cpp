// SPDX-License-Identifier: MIT
// Tests of preset_to_limits.hpp and enforcement.hpp.
#include "support/catch.hpp"
#include <sb/run/enforcement.hpp>
#include <sb/run/preset_to_limits.hpp>
#include <algorithm>
#include <string>
#include <vector>

using namespace sb;
using run::enforcement;

namespace {

result<enforcement> ask(object keys, key::host const& can = {.cpus = 4}, run::overrides const& wins = {}) {
    preset_record preset;
    preset.keys = std::move(keys);
    return run::enforce(key::read_any(std::move(preset)).value(), wins, can);
}
using list = std::vector<std::string>;
list names_of(std::vector<applied_key> const& all) {
    list names;
    for (auto const& each : all) names.push_back(each.key);
    return names;
}

} // namespace

TEST_CASE("the keys of a preset come first, in their order, and then what holds by default") {
    auto const got = ask({{"FILE_LIMIT", "1Mi"}, {"CPU_LIMIT", "2"}}).value();
    CHECK(names_of(got.applied) == list{"FILE_LIMIT", "CPU_LIMIT", "TIMEOUT", "OUTPUT_LIMIT", "OPEN_FILES_LIMIT"});
    CHECK(got.applied[0].requested == value("1Mi"));
    CHECK(got.applied[0].achieved == value(1 << 20));
    CHECK(got.applied[1].by == "sched_setaffinity");
    CHECK(got.applied[2].requested.is_null());
    CHECK(got.applied[2].by == "wall clock, by default");
    CHECK(got.setup.file_bytes == 1 << 20);
    CHECK(got.setup.cpus == 2);
    CHECK(got.setup.wall_ns == 30'000'000'000);
}

TEST_CASE("a variable of the workload's own is text, labels and unknown names are only told") {
    auto const got = ask({{"ENV_A", "x y"}, {"ENV_N", 2.5}, {"ENV_B", true}, {"SCENARIO_NAME", "s"}, {"SEED", 7}, {"NOBODY_KNOWS", 1}}).value();
    CHECK(got.variables == std::map<std::string, std::string>{{"A", "x y"}, {"N", "2.5"}, {"B", "true"}});
    CHECK(got.informational == list{"SCENARIO_NAME", "SEED", "NOBODY_KNOWS"});
    REQUIRE(got.applied.size() >= 3);
    CHECK(got.applied[1].key == "ENV_N");
    CHECK(got.applied[1].requested == value(2.5));
    CHECK(got.applied[1].achieved == value("2.5"));
    CHECK(got.applied[1].by == "environment variable");
    CHECK(got.unsupported.empty());
}

TEST_CASE("a key that cannot act says why, and does not hold if it is a limit") {
    key::host can{.cpus = 4};
    can.why_no_cores = "no cpu group is ours";
    auto const got = ask({{"CPU_LIMIT", "0.5"}, {"GPU_LIMIT", 1}}, can).value();
    REQUIRE(got.unsupported.size() == 2);
    CHECK(got.unsupported[0].key == "CPU_LIMIT");
    CHECK(got.unsupported[0].requested == value("0.5"));
    CHECK(got.unsupported[0].why == "a fraction of a processor needs a cpu control group: no cpu group is ours");
    CHECK_FALSE(got.unsupported[1].why.empty());
    REQUIRE_FALSE(got.loose.empty());
    CHECK(got.loose[0] == "CPU_LIMIT cannot be enforced: " + got.unsupported[0].why);
    CHECK(got.setup.cpus == key::setup::none);
}

TEST_CASE("a limit that holds for each process alone is told as loose") {
    auto const got = ask({{"MEMORY_LIMIT", "64Mi"}}).value();
    CHECK(got.setup.memory_bytes == 64 << 20);
    CHECK(got.setup.tree_memory_bytes == key::setup::none);
    REQUIRE(got.loose.size() == 1);
    CHECK(got.loose[0].starts_with("MEMORY_LIMIT holds for each process"));
    key::host can{.cpus = 4};
    can.sandboxed = can.tree_memory = true;
    auto const whole = ask({{"MEMORY_LIMIT", "64Mi"}}, can).value();
    CHECK(whole.setup.tree_memory_bytes == 64 << 20);
    CHECK(std::none_of(whole.loose.begin(), whole.loose.end(), [](auto const& each) { return each.starts_with("MEMORY_LIMIT"); }));
}

TEST_CASE("a limit beyond the machine is lowered if a preset wants it, and refused if it was given by hand") {
    key::host can{.cpus = 4};
    can.sandboxed = can.tree_memory = true, can.memory_bytes = std::int64_t{1} << 30;
    auto const lowered = ask({{"MEMORY_LIMIT", "4Gi"}}, can).value();
    CHECK(lowered.lowered == list{"MEMORY_LIMIT 4Gi is more than this machine has; capped at 1.0 GiB"});
    CHECK(lowered.setup.tree_memory_bytes == std::int64_t{1} << 30);
    auto const by_hand = ask({{"MEMORY_LIMIT", "4Gi"}, {"OVERRIDES", array{"MEMORY_LIMIT"}}}, can);
    REQUIRE(by_hand.has_error());
    CHECK(by_hand.error().on == blame::caller);
    CHECK(by_hand.error().what == "MEMORY_LIMIT 4Gi limits nothing: this machine has only 1.0 GiB");
}

TEST_CASE("--timeout wins over a preset's, and stands in for one that is silent") {
    auto const over = ask({{"TIMEOUT", 10}}, {.cpus = 4}, {.timeout_s = 2.5}).value();
    CHECK(over.setup.wall_ns == 2'500'000'000);
    CHECK(over.applied[0].requested == value(10));
    CHECK(over.applied[0].achieved == value(2.5));
    CHECK(over.applied[0].by == "wall clock, by --timeout");
    auto const silent = ask({}, {.cpus = 4}, {.timeout_s = 2.5}).value();
    CHECK(silent.setup.wall_ns == 2'500'000'000);
    REQUIRE(names_of(silent.applied)[0] == "TIMEOUT");
    CHECK(silent.applied[0].by == "wall clock, by --timeout");
    CHECK(names_of(silent.applied).size() == 3); // once
}

TEST_CASE("without limits only time and output are limited, and every other limit says so") {
    auto const got = ask({{"MEMORY_LIMIT", "64Mi"}, {"TIMEOUT", 1}, {"OUTPUT_LIMIT", "1Ki"}, {"CONCURRENCY_LEVEL", 3}}, {.limits = false}).value();
    CHECK(got.setup.wall_ns == 1'000'000'000);
    CHECK(got.setup.output_bytes == 1024);
    CHECK(got.setup.memory_bytes == key::setup::none);
    CHECK(got.setup.copies == 3);
    REQUIRE(got.unsupported.size() == 1);
    CHECK(got.unsupported[0].why == "--isolate none limits only time and output");
    CHECK(got.loose == list{"MEMORY_LIMIT cannot be enforced: --isolate none limits only time and output"});
}

TEST_CASE("an empty preset names nothing, and what holds by default is in force") {
    auto const got = ask({}).value();
    CHECK(names_of(got.applied) == list{"TIMEOUT", "OUTPUT_LIMIT", "OPEN_FILES_LIMIT"});
    CHECK(got.unsupported.empty());
    CHECK(got.informational.empty());
    CHECK(got.loose.empty());
    CHECK(got.variables.empty());
}
