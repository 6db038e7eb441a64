// SPDX-License-Identifier: MIT
// Tests of profile.hpp and suites.hpp.
#include "support/catch.hpp"
#include <sb/stress/profile.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/stress/suites.hpp>
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace sb;
using namespace sb::stress;

namespace {
using list = std::vector<std::string>;
} // namespace

TEST_CASE("severity changes more than a label in every profile and stage") {
    std::vector<profile> all(built_in_profiles.begin(), built_in_profiles.end());
    for (auto const& each : trajectory) all.push_back(each.from);
    for (auto const& p : all) {
        if (p.settings.empty()) continue;
        std::set<std::string_view> differ;
        for (auto const& each : p.settings)
            if (each.low != each.high && !key::find(each.key)->labels()) differ.insert(each.key);
        INFO(p.name);
        differ.erase("THREAT_INTENSITY"); // which alone was all that the predecessor changed
        CHECK_FALSE(differ.empty());
    }
    for (auto const& [profile_name, key_name] : {std::pair{"hostile_input", "PAYLOAD_COUNT"}, {"hostile_input", "PAYLOAD_BYTES"}, {"user_misuse", "MISUSE_PROBES"}}) {
        INFO(profile_name << " " << key_name);
        auto const p = std::find_if(built_in_profiles.begin(), built_in_profiles.end(), [&, name = profile_name](auto const& each) { return each.name == name; });
        REQUIRE(p != built_in_profiles.end());
        auto const at = std::find_if(p->settings.begin(), p->settings.end(), [&, name = key_name](auto const& each) { return each.key == name; });
        REQUIRE(at != p->settings.end());
        CHECK(at->low != at->high);
    }
}

TEST_CASE("the text of every built-in setting is a valid value") {
    for (auto const& p : built_in_profiles)
        for (auto const& each : p.settings) {
            INFO(p.name << " " << each.key);
            REQUIRE(key::find(each.key));
            CHECK(key::value_of_text(*key::find(each.key), each.low).has_value());
            CHECK(key::value_of_text(*key::find(each.key), each.high).has_value());
        }
    for (auto const& each : suite_settings) CHECK(key::value_of_text(*key::find(each.key), each.low).has_value());
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

TEST_CASE("names and aliases of profiles and stages do not collide, and mean something") {
    std::set<std::string_view> profiles, stages;
    for (auto const& p : built_in_profiles) CHECK(profiles.insert(p.name).second);
    auto const own = profiles;
    for (auto const& alias : profile_aliases) {
        CHECK(own.contains(alias.means));
        CHECK(profiles.insert(alias.name).second);
    }
    for (auto const& each : trajectory) {
        CHECK(stages.insert(each.name).second);
        key::each_word(each.aliases, [&](std::string_view alias) { CHECK(stages.insert(alias).second); });
    }
    for (auto const scenario : scenario_suite) CHECK(own.contains(scenario));
}
