// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/random.hpp>
#include <sb/stress/compose_preset.hpp>
#include <sb/stress/read_preset.hpp>

using namespace sb;
using namespace sb::stress;

namespace {
struct heard {
    std::vector<preset_record> presets;
    std::vector<std::string> bad, warnings;
    std::uint64_t others = 0;
};
heard hear(std::string_view text, std::size_t piece = std::string_view::npos) {
    heard all;
    auto const located = [](bad_preset const& b) { return cat(b.line, ":", b.byte, ": ", b.what); };
    preset_reader reader{[&](preset_record p) { all.presets.push_back(std::move(p)); },
        [&](bad_preset const& b) { all.bad.push_back(located(b)); },
                         [&](bad_preset const& b) { all.warnings.push_back(located(b)); }};
    for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size())) reader.feed(text.substr(at, piece));
    reader.finish();
    all.others = reader.others();
    return all;
}
std::string keys(preset_record const& p) { return json::text_of(value(p.keys)); }
using lines = std::vector<std::string>;
} // namespace

TEST_CASE("a bare flat object of the predecessor becomes a whole preset") {
    auto const all = hear(R"({
  "CPU_LIMIT": "1",
  "MEMORY_LIMIT": "512Mi",
  "FAILURE_MODES": "hostile_input",
  "SANDBOX_STUB_STRATEGY": "hostile"
})");
    REQUIRE(all.presets.size() == 1);
    CHECK(keys(all.presets[0]) == R"({"CPU_LIMIT":"1","FAILURE_MODES":"hostile_input","MEMORY_LIMIT":"512Mi","SANDBOX_STUB_STRATEGY":"hostile",)"
                                  R"("SCENARIO_NAME":"hostile_input","SEED":0,"SEVERITY":"custom"})");
    CHECK(all.presets[0].id.size() == 16);
    CHECK(all.bad.empty());
}

TEST_CASE("the id is the first digits of the SHA-256 of the keys' canonical text") {
    // printf '{"CPU_LIMIT":"1","SCENARIO_NAME":"x","SEED":3,"SEVERITY":"low","VM_SETTINGS":{"a":1,"b":2}}' | sha256sum
    auto const all = hear(R"({"SEED":3.0,"VM_SETTINGS":{"b":2,"a":1.0},"SCENARIO_NAME":"x","CPU_LIMIT":"1","SEVERITY":"low"})");
    REQUIRE(all.presets.size() == 1);
    CHECK(all.presets[0].id == "171ce4256ed05dc4");
}

TEST_CASE("lines, arrays, objects of arrays or of levels, and lists under presets are the same presets") {
    profile_set const built_in;
    auto const canonical = composer{built_in, {}, {}, 7}.canonical().value();
    std::string as_lines, list, bare, mapping = "{", lists = "{";
    for (std::size_t i = 0; i < canonical.size(); ++i) {
        auto const text = json::text_of(value(canonical[i].to_object()));
        as_lines += text + "\n";
        list += (i ? ",\n" : "") + text;
        auto shorn = canonical[i].keys; // the name and level stand around it
        shorn.erase("SCENARIO_NAME"), shorn.erase("SEVERITY");
        bare += json::text_of(value(canonical[i].keys)) + "\n";
        auto const low = i % 2 == 0;
        mapping += cat(low ? (i ? ",\"" : "\"") : "", low ? canonical[i].scenario() : "", low ? "\":{\"low\":"
            : ",\"high\":", json::text_of(value(shorn)), low ? "" : "}");
        lists += cat(low ? (i ? ",\"" : "\"") : "", low ? canonical[i].scenario() : "", low ? "\":[" : ",",
            json::text_of(value(canonical[i].keys)), low ? "" : "]");
    }
    mapping += "}", lists += "}";
    for (auto const& text
        : {as_lines, bare, "[" + list + "]", "{\"presets\":[" + list + "]}", mapping, lists,
            "{\"presets\":" + mapping + "}"}) {
        auto const all = hear(text);
        INFO(text.substr(0, 80));
        CHECK(all.bad.empty());
        CHECK(all.warnings.empty());
        REQUIRE(all.presets.size() == canonical.size());
        for (std::size_t i = 0; i < canonical.size(); ++i) CHECK(all.presets[i].id == canonical[i].id);
    }
}

TEST_CASE("what is read does not depend on how the text arrives") {
    std::string text = "{\"CPU_LIMIT\":1}\n{\"torn\n[{\"CPU_LIMIT\":\"2\",\"ENV_X\":\"}{\\\"]\"},\n {}]\n{\"presets\":[\n{\"TIMEOUT\":\n5}]}\nnonsense\n{\"CPU_LIMIT\":4";
    auto const whole = hear(text);
    CHECK(whole.presets.size() == 4);
    for (std::size_t const piece : {1u, 2u, 7u, 30u}) {
        auto const cut = hear(text, piece);
        CHECK(cut.bad == whole.bad);
        REQUIRE(cut.presets.size() == whole.presets.size());
        for (std::size_t i = 0; i < cut.presets.size(); ++i) CHECK(cut.presets[i].id == whole.presets[i].id);
    }
}

TEST_CASE("a preset is given as soon as it is whole") {
    int given = 0;
    preset_reader reader{[&](preset_record) { ++given; }, [](bad_preset const&) {}};
    reader.feed("{\"CPU_LIMIT\":");
    CHECK(given == 0);
    reader.feed("1}");
    CHECK(given == 1); // before the line's end
}

TEST_CASE("a broken line is reported with its place and stops nothing else") {
    auto const all = hear("{\"CPU_LIMIT\":1}\n"
                          "{\"CPU_LIMIT\":\n" // torn: the next line begins anew
                          "{\"CPU_LIMIT\":2}\n"
                          "{\"CPU_LIMIT\":3}\n"
                          "{\"CPU_LIMIT\":\"4\n" // torn inside text
                          "{\"CPU_LIMIT\":5}\n"
                          "what\n"
                          "[7]\n"
                          "{\"CPU_LIMIT\":700}\n"
                          "{\"CPU_LIMIT\":8}}\n"
                          "{\"CPU_LIMIT\":9}\n");
    CHECK(all.bad == lines{"2:14: the text ends where a value should be", "5:16: a string without its closing quote",
        "7:1: not a value",
                           "8:1: a preset is an object of upper-case keys, not 7",
                               "9:1: CPU_LIMIT: 700 is not valid; it takes 0.01 to 64 cores",
                           "10:16: not a value"});
    std::vector<double> limits;
    for (auto const& p : all.presets) limits.push_back(sb::number_or(*p.keys.if_contains("CPU_LIMIT"), 0));
    CHECK(limits == std::vector<double>{1, 2, 3, 5, 8, 9});
}

TEST_CASE("a bare word of JSON is said not to be a preset") {
    CHECK(hear("5").bad == lines{"1:1: a preset is an object of upper-case keys, not 5"});
    CHECK(hear("\"yes\"\n true\n").bad == lines{"1:1: a preset is an object of upper-case keys, not \"yes\"",
                                              "2:2: a preset is an object of upper-case keys, not true"});
    CHECK(read_presets("5", "--presets").error().what == "--presets: line 1, byte 1: a preset is an object of upper-case keys, not 5");
}

TEST_CASE("text that is no preset never hangs and never grows") {
    random_stream chance{1};
    constexpr std::string_view letters = "{}[]\",:\\ \n1aA";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (auto n = chance.below(200); n > 0; --n) text.push_back(letters[chance.below(letters.size())]);
        auto const whole = hear(text);
        auto const cut = hear(text, 3);
        REQUIRE(whole.bad == cut.bad);
        REQUIRE(whole.presets.size() == cut.presets.size());
    }
    std::string deep(100000, '[');
    CHECK(hear(deep).bad.size() >= 1);
    std::string torn;
    for (int i = 0; i < 20000; ++i) torn += "{\"a\":[\n";
    CHECK(hear(torn).presets.empty());
}

TEST_CASE("names, severities and seeds that are missing are filled in") {
    auto const all = hear(R"([{"CPU_LIMIT":1},{"FAILURE_MODES":["disk","malicious_data"]},{},{"SCENARIO_NAME":"mine","SEVERITY":"low","SEED":9,"CPU_LIMIT":1}])");
    REQUIRE(all.presets.size() == 4);
    CHECK(all.presets[0].scenario() == "scenario_0");
    CHECK(all.presets[1].scenario() == "disk+hostile_input");
    CHECK(keys(all.presets[2]) == R"({"SCENARIO_NAME":"normal","SEED":0,"SEVERITY":"none"})");
    CHECK(keys(all.presets[3]) == R"({"CPU_LIMIT":1,"SCENARIO_NAME":"mine","SEED":9,"SEVERITY":"low"})");
}

TEST_CASE("an id that its content does not have is replaced, and said") {
    auto const all = hear(R"({"kind":"preset","v":1,"id":"0123456789abcdef","CPU_LIMIT":1})");
    REQUIRE(all.presets.size() == 1);
    CHECK(all.presets[0].id != "0123456789abcdef");
    CHECK(all.warnings == lines{"1:1: preset id 0123456789abcdef does not match its content; it is now " + all.presets[0].id});
    auto const again = hear(json::text_of(value(all.presets[0].to_object())));
    CHECK(again.warnings.empty());
    CHECK(again.presets.at(0).id == all.presets[0].id);
}

TEST_CASE("records of other kinds are passed over") {
    auto const all = hear("{\"kind\":\"run\",\"v\":1}\n{\"kind\":\"preset\",\"v\":1,\"CPU_LIMIT\":1}\n");
    CHECK(all.presets.size() == 1);
    CHECK(all.others == 1);
    CHECK(all.bad.empty());
}

TEST_CASE("a document is all of its presets, or the first thing wrong in it") {
    CHECK(read_presets("[{},{}]", "p.json").value().size() == 2);
    CHECK(read_presets("", "p.json").error().what == "p.json: no preset in it");
    CHECK(read_presets("[\n{\"CPU_LIMIT\": 1},\n{\"CPU_LIMIT\": }]",
        "p.json").error().what == "p.json: line 3, byte 15: not a value");
    CHECK(read_presets("{\"CPU\": 1}",
        "p.json").error().what.find("p.json: line 1, byte 1: unknown preset key \"CPU\"") == 0);
    CHECK(read_presets("{\"a\": 1}", "p.json").error().on == blame::input);
}
