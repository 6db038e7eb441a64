// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/key/typed_preset.hpp>
#include <sb/stress/preset_source.hpp>

using namespace sb;

namespace {
/// Do the amounts stand in the order of the keys?
bool agree(key::preset const& p) {
    std::vector<std::string_view> keys, asked;
    for (auto const& [name, v] : p.keys) keys.push_back(name);
    for (auto const& each : p.asked) asked.push_back(each.name());
    return keys == asked;
}
} // namespace

TEST_CASE("the amounts of a preset stand in the order of its keys, whoever adds to them") {
    std::string warning;
    auto p = stress::preset_of({{"TIMEOUT", "2m"}, {"ENV_B", "x"}, {"CPU_LIMIT", "0.5"}, {"ENV_A", 1}}, 3, warning).value();
    CHECK(agree(p));
    CHECK(p.keys.size() == 7); // with name, severity and seed
    stress::overrides given;
    REQUIRE(given.set("AAA=1").has_error());
    REQUIRE_FALSE(given.set("MEMORY_LIMIT=64Mi").has_error());
    REQUIRE_FALSE(given.set("ENV_0=first").has_error());
    REQUIRE_FALSE(stress::override_preset(p, given).has_error());
    CHECK(agree(p));
    CHECK(agree(stress::empty_preset(7).value()));
    stress::source_request request;
    request.count = 20, request.given = given;
    auto const made = stress::find_presets(request, [](std::string const&) { return std::nullopt; }, {}).value();
    CHECK(made.presets.size() == 20);
    for (auto const& each : made.presets) CHECK(agree(each));
}

TEST_CASE("an amount has the type of its key's unit") {
    auto const p = key::read(preset_record{{}, {{"CPU_LIMIT", "0.5"}, {"FAILURE_MODES", "disk,cpu"}, {"MEMORY_LIMIT", "1Mi"}, {"TIMEOUT", "2m"}}}).value();
    CHECK(std::get<key::cores>(*p.asked.find(key::cpu_limit)).count == 0.5);
    CHECK(std::get<key::words>(*p.asked.find(key::failure_modes)).are == std::vector<std::string>{"disk", "cpu"});
    CHECK(std::get<key::bytes>(*p.asked.find(key::memory_limit)).count == 1048576);
    CHECK(std::get<key::seconds>(*p.asked.find(key::timeout)).count == 120);
    CHECK(p.asked.find(key::disk_limit) == nullptr);
}

TEST_CASE("OVERRIDES says which values were given by hand") {
    auto const p = key::read(preset_record{{}, {{"CPU_LIMIT", 1}, {"OVERRIDES", array{"CPU_LIMIT"}}}}).value();
    CHECK(p.asked.is_by_hand(key::cpu_limit));
    CHECK_FALSE(p.asked.is_by_hand(key::timeout));
    CHECK_FALSE(key::read(preset_record{{}, {{"CPU_LIMIT", 1}}})->asked.is_by_hand(key::cpu_limit));
}

TEST_CASE("a name that nobody knows is an error, but kept where any name may stand") {
    preset_record const one{{}, {{"NOBODYS", 1}}};
    CHECK(key::read(one).error().what.starts_with("unknown preset key \"NOBODYS\""));
    auto const kept = key::read_any(one).value();
    CHECK(agree(kept));
    CHECK(kept.asked.begin()->key == nullptr);
}
