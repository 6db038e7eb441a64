// SPDX-License-Identifier: MIT
#include "support/fake_backend.hpp"
#include "support/victim.hpp"
#include <sb/run/preset_to_limits.hpp>
#include <sb/run/prepared_presets.hpp>
#include <algorithm>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

using namespace sb::run;

namespace {

/// Plans as a host with one gibibyte would, and counts how often it is asked. It hides what is below `hides`.
struct planning_backend final : backend {
    backend_facts const& facts() const override { return about; }
    sb::result<enforcement> plan(sb::key::preset const& preset, overrides const& wins) const override {
        ++asked;
        sb::key::host can{.cpus = 2};
        can.sandboxed = can.tree_memory = true, can.memory_bytes = std::int64_t{1} << 30;
        return enforce(preset, wins, can);
    }
    sight seen() const override {
        sight all;
        if (!hides.empty()) all.hidden = [this](std::string const& file) { return file.starts_with(hides) ? std::optional<std::string>{"is hidden"} : std::nullopt; };
        return all;
    }
    sb::result<lanes> open(int) override { return sb::system_error("has no lanes"); }
    mutable int asked = 0;
    std::string hides;
    backend_facts about{"planning", {}, "", {}};
};

sb::key::preset preset_of(std::string id, sb::object keys) {
    sb::preset_record made;
    made.id = std::move(id), made.keys = std::move(keys);
    return sb::key::read_any(std::move(made)).value();
}
using list = std::vector<std::string>;
std::string at_seed(prepared_presets::ready const& one) { return one.environment.at(static_cast<std::size_t>(one.seed_at)); }
bool has(prepared_presets::ready const& one, std::string const& variable) { return std::find(one.environment.begin(), one.environment.end(), variable) != one.environment.end(); }
void make_program(std::string const& path) {
    std::ofstream{path} << "#!/bin/sh\n";
    REQUIRE(::chmod(path.c_str(), 0755) == 0);
}

} // namespace

TEST_CASE("limits beyond the machine are listed once for all presets that want them") {
    planning_backend const with;
    auto const big = sb::object{{"MEMORY_LIMIT", "4Gi"}};
    auto named = big;
    named["SCENARIO_NAME"] = "spike";
    std::vector<sb::key::preset> presets{preset_of("a", named)};
    auto const lines = [&] { return prepared_presets{with, {"true"}, presets, {}, {}}.check_limits(false).value(); };
    CHECK(lines() == list{"spike: MEMORY_LIMIT 4Gi is more than this machine has; capped at 1.0 GiB"});
    presets.push_back(preset_of("b", big));
    CHECK(lines() == list{"spike and 1 more preset: MEMORY_LIMIT 4Gi is more than this machine has; capped at 1.0 GiB"});
    presets.push_back(preset_of("c", big));
    presets.push_back(preset_of("d", {{"MEMORY_LIMIT", "64Mi"}}));
    CHECK(lines() == list{"spike and 2 more presets: MEMORY_LIMIT 4Gi is more than this machine has; capped at 1.0 GiB"});
    presets.clear();
    CHECK(lines().empty());
}

TEST_CASE("a preset that cannot be enforced is refused by its name") {
    planning_backend const with;
    std::vector<sb::key::preset> const presets{preset_of("a", {}), preset_of("b", {{"SCENARIO_NAME", "spike"}, {"MEMORY_LIMIT", "4Gi"}, {"OVERRIDES", sb::array{"MEMORY_LIMIT"}}})};
    auto const got = prepared_presets{with, {"true"}, presets, {}, {}}.check_limits(false);
    REQUIRE(got.has_error());
    CHECK(got.error().on == sb::blame::caller);
    CHECK(got.error().what == "preset b (spike): MEMORY_LIMIT 4Gi limits nothing: this machine has only 1.0 GiB");
}

TEST_CASE("a limit that does not hold is refused only where limits are required") {
    planning_backend const with;
    std::vector<sb::key::preset> const presets{preset_of("a", {{"SCENARIO_NAME", "spike"}, {"CPU_LIMIT", "0.5"}})};
    prepared_presets const all{with, {"true"}, presets, {}, {}};
    CHECK(all.check_limits(false).value().empty());
    auto const got = all.check_limits(true);
    REQUIRE(got.has_error());
    CHECK(got.error().on == sb::blame::system);
    CHECK(got.error().what == "--require-limits: preset a (spike): CPU_LIMIT cannot be enforced: a fraction of a processor needs a cpu control group");
}

TEST_CASE("a preset is planned once, however often it runs") {
    planning_backend const with;
    std::vector<sb::key::preset> const presets{preset_of("a", {{"TIMEOUT", 3}}), preset_of("b", {})};
    prepared_presets all{with, {"/bin/sh"}, presets, {{{"PATH", "/bin"}}, {}}, {.timeout_s = std::nullopt}};
    auto const first = all.at(0).value();
    CHECK(first->preset == &presets[0]);
    CHECK(first->held.setup.wall_ns == 3'000'000'000);
    CHECK(first->program.value() == "/bin/sh");
    CHECK(all.at(1).value()->held.setup.wall_ns == 30'000'000'000);
    CHECK(all.at(0).value() == first);
    CHECK(with.asked == 2);
}

TEST_CASE("a workload has the caller's variables, then the preset's, then its own, then the seed, and at last what was given by hand") {
    planning_backend const with;
    std::vector<sb::key::preset> const presets{preset_of("a", {{"TIMEOUT", 3}, {"SEED", 5}, {"ENV_A", "preset"}, {"ENV_B", "preset"}})};
    variables const base{{"A", "caller"}, {"B", "caller"}, {"C", "caller"}, {"HOME", "/home/me"}, {"TMPDIR", "/elsewhere"}, {"PATH", "/bin"}};
    prepared_presets all{with, {"sh"}, presets, {base, {{"B", "hand"}, {"HOME", "/hand"}}}, {}};
    auto const one = all.at(0).value();
    CHECK(has(*one, "A=preset"));
    CHECK(has(*one, "B=hand"));
    CHECK(has(*one, "C=caller"));
    CHECK(has(*one, "ENV_A=preset"));
    CHECK(has(*one, "TIMEOUT=3"));
    CHECK(has(*one, "SB_REPORT_FD=3"));
    for (auto const& each : one->environment) CHECK_FALSE((each.starts_with("HOME=") || each.starts_with("TMPDIR=")));
    CHECK(at_seed(*one) == "SEED=0"); // replaced for each run
    CHECK(all.variables_of(presets[0], one->held, 42).at("SEED") == "42");
}

TEST_CASE("a seed given by hand stays") {
    planning_backend const with;
    std::vector<sb::key::preset> const presets{preset_of("a", {})};
    prepared_presets all{with, {"sh"}, presets, {{{"PATH", "/bin"}}, {{"SEED", "9"}}}, {}};
    auto const one = all.at(0).value();
    CHECK(one->seed_at == -1);
    CHECK(has(*one, "SEED=9"));
}

TEST_CASE("a program is looked up with each preset's own PATH, and the first that has it counts") {
    sb::test::folder const here;
    make_program(here / "sb-tool");
    planning_backend const with;
    std::vector<sb::key::preset> const presets{preset_of("a", {}), preset_of("b", {{"ENV_PATH", here.path()}})};
    prepared_presets all{with, {"sb-tool"}, presets, {{{"PATH", "/nowhere"}}, {}}, {}};
    CHECK(all.at(0).value()->program.error().what == "command sb-tool: not found in PATH (/nowhere)");
    CHECK_FALSE(all.at(0).value()->hidden);
    CHECK(all.at(1).value()->program.value() == here / "sb-tool");
    CHECK(all.look_up("sb-tool", false).value() == here / "sb-tool");
    CHECK(all.look_up("sb-tool", true).value() == here / "sb-tool");
    CHECK(all.look_up("sb-none", false).error().what == "command sb-none: not found in PATH (/nowhere)"); // as the first preset says
    CHECK(prepared_presets{with, {}, presets, {{{"PATH", "/bin"}}, {}}, {}}.at(0).value()->program.error().on == sb::blame::caller);
}

TEST_CASE("a program that the sandbox hides is told apart from one that is not there") {
    sb::test::folder const here;
    make_program(here / "sb-tool");
    planning_backend with;
    with.hides = here.path();
    std::vector<sb::key::preset> const presets{preset_of("a", {})};
    prepared_presets all{with, {here / "sb-tool"}, presets, {{{"PATH", "/bin"}}, {}}, {}};
    auto const one = all.at(0).value();
    CHECK(one->hidden);
    CHECK(one->program.error().what == sb::cat("command ", here / "sb-tool", ": is hidden"));
}
