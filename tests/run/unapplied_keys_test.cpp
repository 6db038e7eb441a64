// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/unapplied_keys.hpp>
#include <string>
#include <vector>

using namespace sb::run;

namespace {
sb::run_record run(std::string scenario, std::vector<sb::applied_key> applied, std::vector<std::string> idle) {
    static int presets = 0;
    sb::run_record made;
    made.preset_id = sb::cat("preset", ++presets);
    made.scenario = std::move(scenario);
    made.applied = std::move(applied);
    for (auto& each : idle) made.unsupported.push_back({std::move(each), true, "needs more"});
    return made;
}
sb::applied_key const half{"CPU_LIMIT", "0.5", 0.5, "a group"}, one{"CPU_LIMIT", "1", 1, "a group"}, silent{"TIMEOUT", {}, 30, "by default"};
} // namespace

TEST_CASE("a scenario of which all acted is not remarked") {
    unapplied_keys all;
    all.add(run("normal", {one}, {}));
    all.add(run("slow", {half}, {}));
    CHECK_FALSE(all.any());
    CHECK(all.remarks().empty());
    CHECK(all.of("slow") == acted::all);
    CHECK(all.of("never seen") == acted::all);
}

TEST_CASE("one that differs from the baseline by nothing that acted ran as the baseline did") {
    unapplied_keys all;
    all.add(run("hostile_input", {one}, {"PAYLOAD_COUNT", "FAILURE_MODES"}));
    all.add(run("spike", {half}, {"CPU_SPIKE"}));
    all.add(run("normal", {one}, {}));
    CHECK(all.remarks() == std::vector<std::string>{
        "hostile_input: FAILURE_MODES, PAYLOAD_COUNT did not act (unsupported here); none of its keys acted, so it ran like normal",
        "spike: CPU_SPIKE did not act (unsupported here)"});
    CHECK(all.of("hostile_input") == acted::as_baseline);
    CHECK(all.of("spike") == acted::in_part);
    CHECK(all.of("normal") == acted::all);
}

TEST_CASE("one preset of a scenario that acted is enough to set it apart") {
    unapplied_keys all;
    all.add(run("normal", {one}, {}));
    all.add(run("spike", {one}, {"CPU_SPIKE"}));
    all.add(run("spike", {half}, {"CPU_SPIKE"}));
    CHECK(all.of("spike") == acted::in_part);
    CHECK(all.remarks().size() == 1);
}

TEST_CASE("without a baseline it is said whether anything acted, and no more") {
    unapplied_keys all;
    all.add(run("loss", {silent}, {"PACKET_LOSS"}));
    all.add(run("mixed", {one, silent}, {"PACKET_LOSS"}));
    CHECK(all.remarks() == std::vector<std::string>{"loss: PACKET_LOSS did not act (unsupported here); none of its keys acted",
                                                    "mixed: PACKET_LOSS did not act (unsupported here)"});
}

TEST_CASE("a baseline of which a key did not act is not compared with itself") {
    unapplied_keys all;
    all.add(run("normal", {one}, {"GPU_LIMIT"}));
    CHECK(all.of("normal") == acted::in_part);
}

TEST_CASE("many keys and many scenarios are counted beyond what can be read") {
    unapplied_keys all;
    for (int i = 0; i < 25; ++i) all.add(run(sb::cat("scenario_", i), {one}, {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"}));
    auto const said = all.remarks();
    REQUIRE(said.size() == 21);
    CHECK(said[0] == "scenario_0: A, B, C, D, E, F, G, H and 2 more did not act (unsupported here)");
    CHECK(said[20] == "5 more scenarios have keys that did not act; `unsupported` in each record names them");
}
