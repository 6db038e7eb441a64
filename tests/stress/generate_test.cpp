// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/generate.hpp>
#include <sb/key/typed_preset.hpp>
#include <map>
#include <set>

using namespace sb;
using namespace sb::stress;

namespace {
generator_options open_gates(std::uint64_t seed) { return {seed, {}, true, true}; }
overrides given(std::initializer_list<char const*> all) {
    overrides o;
    for (auto const* each : all) REQUIRE(o.set(each).has_value());
    return o;
}
std::string line_of(generator& g, std::uint64_t i) {
    std::string text(g.most_bytes(), '\0');
    auto const length = static_cast<std::size_t>(g.write_lines(text.data(), i, i + 1) - text.data());
    REQUIRE(length + palette::slack <= text.size()); // what is copied in whole blocks stays inside
    return text.substr(0, length);
}
std::string record_line(preset_record const& p) { return json::text_of(value(p.to_object())) + "\n"; }
std::set<std::string> modes_in(preset_record const& p) {
    auto const* v = p.keys.if_contains("FAILURE_MODES");
    if (!v) return {};
    auto const words = std::get<key::words>(key::read(key::failure_modes, *v).value()).are;
    return {words.begin(), words.end()};
}
} // namespace

TEST_CASE("a preset written as bytes is the preset told as a record") {
    auto const sets = {given({}), given({"CPU_LIMIT=3", "FAILURE_MODES=hostile_input,cpu"}),
        given({"FAILURE_MODES=none"}),
                       given({"MIN_BANDWIDTH=20Mbps", "ENV_B=x",
                           "ENV_A=a \"quoted\" text that is longer than the bytes which are copied at once"}),
                       given({"SCHEMA_CHECKS=4", "UPSTREAM_FAILURES=30", "NETWORK_LATENCY_MS=400",
                           "SCENARIO_NAME=mine"})};
    for (auto const& by_hand : sets)
        for (bool const open : {false, true}) {
            generator fast{{11, {}, open, open}, by_hand}, slow{{11, {}, open, open}, by_hand};
            for (std::uint64_t i = 0; i < 3000; ++i) {
                auto const line = line_of(fast, i);
                auto const record = record_line(slow.make(i));
                if (line != record) REQUIRE(line == record);
            }
        }
}

TEST_CASE("many lines at once are the same lines one by one") {
    generator many{{3, {}, true, true}, {}}, single{{3, {}, true, true}, {}};
    for (std::uint64_t n : {0u, 1u, 2u, 3u, 128u, 129u}) {
        std::string text(n * many.most_bytes(), '\0'), expected;
        text.resize(static_cast<std::size_t>(many.write_lines(text.data(), 5, 5 + n) - text.data()));
        for (std::uint64_t i = 5; i < 5 + n; ++i) expected += line_of(single, i);
        CHECK(text == expected);
    }
}

TEST_CASE("no line outgrows the room that was promised at first") {
    auto const by_hand = given({"CONTAINER_IMAGE=registry.example/a/name/that/is/rather/long:and-has-a-tag-too"});
    generator g{open_gates(1), by_hand};
    auto const room = g.most_bytes();
    std::string text(room, '\0');
    for (std::uint64_t i = 0; i < 20000; ++i)
        REQUIRE(static_cast<std::size_t>(g.write_lines(text.data(), i, i + 1) - text.data()) + palette::slack <= room);
}

TEST_CASE("every random preset is valid, sorted and has a name, a severity, a seed and its id") {
    generator g{open_gates(5), given({"MAX_BANDWIDTH=3Mbps"})};
    for (std::uint64_t i = 0; i < 5000; ++i) {
        auto const p = g.make(i);
        auto const checked = key::read(p.keys);
        if (checked.has_error()) FAIL(checked.error().what);
        REQUIRE(std::is_sorted(p.keys.begin(), p.keys.end(),
            [](auto const& a, auto const& b) { return a.key() < b.key(); }));
        REQUIRE(!p.scenario().empty());
        REQUIRE(!p.text("SEVERITY").empty());
        REQUIRE(p.keys.if_contains("SEED")->if_int64());
        auto again = p;
        seal(again);
        REQUIRE(again.id == p.id);
    }
}

TEST_CASE("the same seed gives the same bytes, another seed others") {
    generator a{{42, {}, false, false}, {}}, b{{42, {}, false, false}, {}}, c{{43, {}, false, false}, {}};
    int same = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        auto const line = line_of(a, i);
        CHECK(line == line_of(b, i));
        if (line == line_of(c, i)) ++same;
    }
    CHECK(same == 0);
}

TEST_CASE("the first presets of seed 7 are these, on every machine") {
    generator g{{7, {}, false, false}, {}};
    CHECK(line_of(g, 0) ==
          R"({"kind":"preset","v":1,"id":"f63a5d38214e6149","API_LATENCY_MS":50,"BANDWIDTH_LIMIT":"100Mbps","CONCURRENCY_LEVEL":20,"CPU_LIMIT":"4",)"
          R"("DISK_LIMIT":"8Gi","FAILURE_MODES":"flaky_upstream","GPU_LIMIT":2,"MAX_BANDWIDTH":"100Mbps","MEMORY_LIMIT":"256Mi",)"
          R"("MIN_BANDWIDTH":"100Mbps","NETWORK_JITTER_MS":0,"NETWORK_LATENCY_MS":10,"PACKET_DUPLICATION":0.05,"PACKET_LOSS":0.01,)"
          R"("SANDBOX_STUB_STRATEGY":"flaky_upstream","SCENARIO_NAME":"flaky_upstream","SECURITY_LEVEL":5,"SEED":7,"SEVERITY":"random",)"
          R"("THREAT_INTENSITY":70,"UPSTREAM_FAILURES":1,"UPSTREAM_REQUESTS":20})"
          "\n");
}

TEST_CASE("any random preset is made again alone by its own seed") {
    generator all{{7, {}, false, false}, {}};
    std::set<std::uint64_t> seeds;
    for (std::uint64_t i = 0; i < 300; ++i) {
        auto const p = all.make(i);
        auto const seed = static_cast<std::uint64_t>(*p.keys.if_contains("SEED")->if_int64());
        CHECK(seed < std::uint64_t{1} << 53);
        generator alone{{seed, {}, false, false}, {}};
        CHECK(alone.make(0).id == p.id);
        seeds.insert(seed);
    }
    CHECK(seeds.size() == 300);
    CHECK(all.seed_of(0) == 7);
}

TEST_CASE("each rung of each ladder that is drawn is as likely as the next") {
    constexpr int n = 40000;
    generator g{{1, {}, false, false}, given({"FAILURE_MODES=none"})}; // no mode and no profile: the ladders alone
    std::map<std::string, std::map<std::string, int>> seen;
    for (std::uint64_t i = 0; i < n; ++i)
        for (auto const& [key, v] : g.make(i).keys) ++seen[key][json::text_of(v)];
    // the 0.001 quantile of chi-square at 2, 3, 4 and 5 degrees of freedom
    std::map<std::size_t, double> const bound{{3, 13.82}, {4, 16.27}, {5, 18.47}, {6, 20.52}};
    for (auto const* key : {"CPU_LIMIT", "MEMORY_LIMIT", "DISK_LIMIT", "NETWORK_LATENCY_MS", "NETWORK_JITTER_MS",
        "API_LATENCY_MS", "BANDWIDTH_LIMIT",
                            "MIN_BANDWIDTH", "PACKET_LOSS", "PACKET_DUPLICATION", "SECURITY_LEVEL", "CONCURRENCY_LEVEL",
                                "GPU_LIMIT"}) {
        INFO(key);
        std::size_t rungs = 0;
        key::each_word(key::find(key)->ladder, [&](std::string_view) { ++rungs; });
        auto const& counts = seen[key];
        REQUIRE(counts.size() == rungs);
        double total = 0, chi = 0;
        for (auto const& [v, count] : counts) total += count;
        for (auto const& [v, count] : counts) chi += (count - total / double(rungs)) * (count - total / double(rungs))
            / (total / double(rungs));
        CHECK(chi < bound.at(rungs));
        if (std::string_view{key} == "GPU_LIMIT") CHECK(total == Approx(n / 2).epsilon(0.03));
        else CHECK(total == n);
    }
}

TEST_CASE("MAX_BANDWIDTH is drawn from MIN_BANDWIDTH up") {
    generator g{{3, {}, false, false}, {}};
    std::map<std::pair<double, double>, int> seen;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        auto const p = g.make(i);
        auto const low = key::size_of(key::read(key::min_bandwidth, *p.keys.if_contains("MIN_BANDWIDTH")).value());
        auto const high = key::size_of(key::read(key::max_bandwidth, *p.keys.if_contains("MAX_BANDWIDTH")).value());
        REQUIRE(low <= high);
        ++seen[{low, high}];
    }
    CHECK(seen.size() == 15); // 5 + 4 + 3 + 2 + 1
    CHECK(seen[std::pair{1e8, 1e8}] == Approx(4000).epsilon(0.1));
    CHECK(seen[std::pair{1e6, 1e6}] == Approx(800).epsilon(0.2));
}

TEST_CASE("failure modes are drawn as the specification says") {
    constexpr int n = 60000;
    generator g{{9, {}, true, false}, {}};
    std::map<std::string, int> alone;
    std::map<std::size_t, int> by_count;
    int labelled = 0, random = 0, profiles = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
        auto const p = g.make(i);
        auto const modes = modes_in(p);
        if (p.scenario() == "random") ++random;
        if (p.text("SEVERITY") != "random") {
            ++profiles;
            continue;
        }
        ++by_count[modes.size()];
        if (modes.size() == 1) ++alone[*modes.begin()];
        if (modes.contains("network") && p.scenario() == "high_latency_api") ++labelled;
    }
    // two or three modes: one in five, either as likely; of the rest each of 14 modes is drawn 1 time in 15
    CHECK(by_count[2] == Approx(n * 0.1).epsilon(0.05));
    CHECK(by_count[3] == Approx(n * 0.1).epsilon(0.05));
    for (auto const& mode : key::all_modes) {
        INFO(mode.name);
        auto const expected = n * 0.8 / 15;
        if (mode.name == "network" || mode.name == "api_latency")
            CHECK(alone[std::string{mode.name}] > expected); // and by label
        else CHECK(alone[std::string{mode.name}] == Approx(expected).epsilon(0.08));
    }
    // no mode drawn: 0.8/15 of all; limits alone are a failure when API latency is among the upper two of five rungs,
    // or the link is slow (two of five) and jittery (two of five) or lossy (two of four): 0.4 + 0.6 · 0.4 · 0.7 = 0.568
    CHECK(profiles + random == Approx(n * 0.8 / 15 * (1 - 0.568)).epsilon(0.08));
    CHECK(profiles == Approx(0.3 * (profiles + random)).epsilon(0.15));
    CHECK(labelled == Approx(n * 0.8 / 15 * 0.168).epsilon(0.2));
}

TEST_CASE("every drawn mode has a name and what it needs to act") {
    generator g{open_gates(2), {}};
    std::map<std::string, int> scenarios;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        auto const p = g.make(i);
        auto const modes = modes_in(p);
        ++scenarios[std::string{p.scenario()}];
        auto const has = [&](char const* key) { return p.keys.if_contains(key) != nullptr; };
        REQUIRE(has("THREAT_INTENSITY") == !modes.empty());
        if (p.text("SEVERITY") != "random") continue; // a profile laid over: its own keys
        if (modes.contains("hostile_input"))
            REQUIRE((has("MALICIOUS_DATA") && has("PAYLOAD_COUNT") && has("PAYLOAD_BYTES")
                && has("PAYLOAD_INDICATOR")));
        if (modes.contains("user_misuse"))
            REQUIRE((has("MISUSE_PROBES") && has("INVALID_CONFIG") && has("UNEXPECTED_API_CALLS")));
        if (modes.contains("schema_drift")) REQUIRE((has("SCHEMA_CHECKS") && has("SCHEMA_MISMATCHES")));
        if (modes.contains("flaky_upstream")) REQUIRE((has("UPSTREAM_REQUESTS") && has("UPSTREAM_FAILURES")));
        if (modes.contains("concurrency_spike")) {
            REQUIRE((has("THREAD_BURST") && has("ASYNC_TASK_BURST") && has("MAX_THREADS") && has("CPU_SPIKE")));
            REQUIRE(*p.keys.if_contains("CONCURRENCY_LEVEL")->if_int64() >= 20);
        }
        if (modes.contains("api_latency")) REQUIRE(*p.keys.if_contains("API_LATENCY_MS")->if_int64() >= 500);
        for (auto const& mode : modes) // each has its part of the name
            for (auto const& known : key::all_modes)
                if (known.name == mode && mode != "network")
                    REQUIRE(p.scenario().find(known.scenario) != std::string_view::npos);
    }
    for (auto const& mode : key::all_modes) CHECK(scenarios[std::string{mode.scenario}] > 0);
    CHECK(scenarios["random"] > 0);
}

TEST_CASE("user_misuse is drawn only when the gate is open, in modes and in profiles alike") {
    for (bool const open : {false, true}) {
        generator g{{6, {}, open, false}, {}};
        int misuse = 0;
        for (std::uint64_t i = 0; i < 20000; ++i) misuse += modes_in(g.make(i)).contains("user_misuse");
        CHECK((misuse > 0) == open);
    }
}

TEST_CASE("guests are drawn only on request, for three presets in ten") {
    for (bool const open : {false, true}) {
        generator g{{6, {}, false, open}, {}};
        int guests = 0;
        for (std::uint64_t i = 0; i < 10000; ++i) {
            auto const p = g.make(i);
            REQUIRE((p.keys.if_contains("OS_TYPE") != nullptr) == (p.keys.if_contains("VM_SETTINGS") != nullptr));
            guests += p.keys.if_contains("OS_TYPE") != nullptr;
        }
        if (open) CHECK(guests == Approx(3000).epsilon(0.06));
        else CHECK(guests == 0);
    }
}

TEST_CASE("profiles laid over random presets keep to the severity asked for") {
    generator g{{6, "low", false, false}, {}};
    std::set<std::string> levels;
    for (std::uint64_t i = 0; i < 20000; ++i) levels.emplace(g.make(i).text("SEVERITY"));
    CHECK(levels == std::set<std::string>{"low", "random"});
}

TEST_CASE("values given by hand are in every random preset") {
    generator g{open_gates(4),
        given({"CPU_LIMIT=3", "MIN_BANDWIDTH=70Mbps", "FAILURE_MODES=concurrency_spike", "THREAD_BURST=32"})};
    for (std::uint64_t i = 0; i < 500; ++i) {
        auto const p = g.make(i);
        REQUIRE(p.text("CPU_LIMIT") == "3");
        REQUIRE(p.scenario() == "concurrency_spike");
        REQUIRE(*p.keys.if_contains("THREAD_BURST")->if_int64() == 32);
        REQUIRE(p.keys.if_contains("ASYNC_TASK_BURST"));
        REQUIRE(json::text_of(*p.keys.if_contains("OVERRIDES")) == R"(["CPU_LIMIT","FAILURE_MODES","MIN_BANDWIDTH","THREAD_BURST"])");
        REQUIRE(key::read(p.keys).has_value());
    }
}

TEST_CASE("keys that are never drawn are never written") {
    generator g{open_gates(8), {}};
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < 20000; ++i)
        for (auto const& [key, v] : g.make(i).keys) seen.insert(key);
    for (auto const* never
        : {"CONCURRENCY_MULTIPLIER", "CONTAINER_IMAGE", "HOSTILE_INPUT", "SCHEMA_DRIFT", "UNEXPECTED_INPUT", "TIMEOUT",
            "OVERRIDES"})
        CHECK_FALSE(seen.contains(never));
}
