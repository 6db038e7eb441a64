// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/variables.hpp"
#include <sb/stress/environment_mode.hpp>
#include <map>

using namespace sb;
using namespace sb::stress;
using sb::test::lookup_in;

TEST_CASE("the gate for user_misuse opens by its switch and by the modes that mean it") {
    CHECK_FALSE(misuse_allowed(lookup_in({})).value());
    for (auto const* yes : {"1", "true", "yes", "on", "YES"})
        CHECK(misuse_allowed(lookup_in({{"SANDBOX_INCLUDE_USER_MISUSE", yes}})).value());
    for (auto const* no : {"0", "false", "no", "off"})
        CHECK_FALSE(misuse_allowed(lookup_in({{"SANDBOX_INCLUDE_USER_MISUSE", no}})).value());
    for (auto const* mode : {"canonical", "chaos", "robustness"})
        CHECK(misuse_allowed(lookup_in({{"SANDBOX_PRESET_MODE", mode}})).value());
    CHECK_FALSE(misuse_allowed(lookup_in({{"SANDBOX_PRESET_MODE", "random"}})).value());
}

TEST_CASE("the mode of presets is random where nobody says, and else one of four") {
    CHECK(preset_mode(lookup_in({})).value() == "random");
    for (auto const* mode : {"random", "canonical", "chaos", "robustness"}) CHECK(preset_mode(lookup_in({{"SANDBOX_PRESET_MODE", mode}})).value() == mode);
    CHECK(preset_mode(lookup_in({{"SANDBOX_PRESET_MODE", " Chaos "}})).value() == "chaos");
    auto const bad = preset_mode(lookup_in({{"SANDBOX_PRESET_MODE", "quiet"}}));
    REQUIRE(bad.has_error());
    CHECK(bad.error().what == "SANDBOX_PRESET_MODE: \"quiet\" is not one of random, canonical, chaos, robustness");
    CHECK(bad.error().on == blame::caller);
}

TEST_CASE("a switch for user_misuse that is no word for yes or no is refused, and so is a mode that is none") {
    CHECK(misuse_allowed(lookup_in({{"SANDBOX_INCLUDE_USER_MISUSE", "2"}})).error().what == "SANDBOX_INCLUDE_USER_MISUSE: \"2\" is neither yes nor no");
    CHECK(misuse_allowed(lookup_in({{"SANDBOX_INCLUDE_USER_MISUSE", "1"}, {"SANDBOX_PRESET_MODE", "quiet"}})).has_error());
    CHECK(misuse_allowed(lookup_in({{"SANDBOX_INCLUDE_USER_MISUSE", "0"}, {"SANDBOX_PRESET_MODE", "chaos"}})).value());
}

TEST_CASE("variables that determine presets are the keys that are more than labels, and our own few") {
    for (auto const* known : {"CPU_LIMIT", "TIMEOUT", "FAILURE_MODES", "SANDBOX_STUB_STRATEGY", "SANDBOX_PRESET_MODE", "SANDBOX_PRESET_UPSTREAM_FAILURES",
                              "SANDBOX_INCLUDE_USER_MISUSE", "SANDBOX_GENERATE_PRESETS", "SANDBOX_ENV_PRESETS"}) {
        INFO(known);
        CHECK(is_variable(known));
    }
    for (auto const* foreign : {"", "PATH", "SEED", "SEVERITY", "SCENARIO_NAME", "OVERRIDES", "CPU_LIMITS", "cpu_limit", "SANDBOX_DATA_DIR", "ENV_MODE"}) {
        INFO(foreign);
        CHECK_FALSE(is_variable(foreign));
    }
}
