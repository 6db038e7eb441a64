// SPDX-License-Identifier: MIT
// Tests of amount.hpp, bits.hpp, burst.hpp, concurrency_level.hpp, cpu_limit.hpp, cpu_seconds.hpp, definition.hpp, device.hpp, disk_limit.hpp, end_rule.hpp, failure_modes.hpp, file_limit.hpp, guest.hpp, host.hpp, label.hpp, limits_manual.hpp, memory_limit.hpp, network.hpp, open_files_limit.hpp, output_limit.hpp, payload.hpp, pids_limit.hpp, read_value.hpp, security_level.hpp, setup.hpp, timeout.hpp and upstream.hpp.
#include "support/catch.hpp"
#include <sb/key/amount.hpp>
#include <sb/key/bits.hpp>
#include <sb/key/burst.hpp>
#include <sb/key/concurrency_level.hpp>
#include <sb/key/cpu_limit.hpp>
#include <sb/key/cpu_seconds.hpp>
#include <sb/key/definition.hpp>
#include <sb/key/device.hpp>
#include <sb/key/disk_limit.hpp>
#include <sb/key/end_rule.hpp>
#include <sb/key/failure_modes.hpp>
#include <sb/key/file_limit.hpp>
#include <sb/key/guest.hpp>
#include <sb/key/host.hpp>
#include <sb/key/label.hpp>
#include <sb/key/limits_manual.hpp>
#include <sb/key/list.hpp>
#include <sb/key/memory_limit.hpp>
#include <sb/key/network.hpp>
#include <sb/key/open_files_limit.hpp>
#include <sb/key/output_limit.hpp>
#include <sb/key/payload.hpp>
#include <sb/key/pids_limit.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/key/read_value.hpp>
#include <sb/key/security_level.hpp>
#include <sb/key/setup.hpp>
#include <sb/key/timeout.hpp>
#include <sb/key/upstream.hpp>
#include <map>
#include <set>

using namespace sb;
using namespace sb::key;

namespace {
std::vector<std::string> ladder_of(std::string_view name) {
    std::vector<std::string> all;
    each_word(find(name)->ladder, [&](std::string_view rung) { all.emplace_back(rung); });
    return all;
}
using texts = std::vector<std::string>;
std::string fault(std::string_view name, value const& v) {
    auto const got = read_one(name, v);
    return got.has_error() ? got.error().what : "";
}
double size(std::string_view name, value const& v) { return size_of(sb::key::read(*find(name), v).value()); }
} // namespace

TEST_CASE("the ladders are those of the specification") {
    CHECK(ladder_of("CPU_LIMIT") == texts{"0.5", "1", "2", "4", "8"});
    CHECK(ladder_of("MEMORY_LIMIT") == texts{"128Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi"});
    CHECK(ladder_of("DISK_LIMIT") == texts{"512Mi", "1Gi", "2Gi", "4Gi", "8Gi"});
    CHECK(ladder_of("NETWORK_LATENCY_MS") == texts{"10", "50", "100", "200", "500"});
    CHECK(ladder_of("NETWORK_JITTER_MS") == texts{"0", "5", "10", "20", "50"});
    CHECK(ladder_of("API_LATENCY_MS") == texts{"50", "100", "200", "500", "1000"});
    for (auto const* name : {"BANDWIDTH_LIMIT", "MIN_BANDWIDTH", "MAX_BANDWIDTH"})
        CHECK(ladder_of(name) == texts{"1Mbps", "5Mbps", "10Mbps", "50Mbps", "100Mbps"});
    CHECK(ladder_of("PACKET_LOSS") == texts{"0", "0.01", "0.05", "0.1"});
    CHECK(ladder_of("PACKET_DUPLICATION") == texts{"0", "0.01", "0.05"});
    CHECK(ladder_of("SECURITY_LEVEL") == texts{"1", "2", "3", "4", "5"});
    CHECK(ladder_of("THREAT_INTENSITY") == texts{"10", "30", "50", "70", "90"});
    CHECK(ladder_of("CONCURRENCY_LEVEL") == texts{"1", "5", "10", "20", "50", "100"});
    CHECK(ladder_of("GPU_LIMIT") == texts{"0", "1", "2", "4"});
    CHECK(ladder_of("THREAD_BURST") == texts{"10", "20", "50"});
    CHECK(ladder_of("ASYNC_TASK_BURST") == texts{"20", "50", "100"});
    CHECK(ladder_of("MAX_THREADS") == texts{"100", "200", "500"});
}

TEST_CASE("every rung is a valid value, and no rung is milder than the one before it") {
    for (auto const* k : list) {
        double before = -1;
        each_word(k->ladder, [&](std::string_view rung) {
            INFO(k->name << " " << rung);
            auto const v = value_of_text(*k, rung);
            REQUIRE(v.has_value());
            CHECK(sb::key::read(*k, *v).has_value());
            if (!counts(k->in)) return;
            CHECK(size(k->name, *v) > before);
            before = size(k->name, *v);
        });
    }
}

TEST_CASE("every key says what it is in one line") {
    for (auto const* k : list) {
        INFO(k->name);
        CHECK_FALSE(k->help.empty());
        CHECK(k->help.find('\n') == std::string_view::npos);
        CHECK_FALSE(valid_text(*k).empty());
        CHECK(find(k->name) == k);
        if (counts(k->in)) CHECK(k->least < k->most);
    }
    CHECK(find("") == nullptr);
    CHECK(find("CPU") == nullptr);
    CHECK(find("ZZZ") == nullptr);
}

TEST_CASE("the keys that only label are these") {
    std::set<std::string_view> labels;
    for (auto const* k : list)
        if (k->labels()) labels.insert(k->name);
    CHECK(labels == std::set<std::string_view>{"CONCURRENCY_MULTIPLIER", "OVERRIDES", "SCENARIO_NAME", "SEED",
        "SEVERITY"});
}

TEST_CASE("numbers and text mean the same amount") {
    CHECK(size("CPU_LIMIT", "0.5") == 0.5);
    CHECK(size("CPU_LIMIT", 2) == 2);
    CHECK(size("MEMORY_LIMIT", "512Mi") == 536870912);
    CHECK(size("MEMORY_LIMIT", "512mb") == 536870912);
    CHECK(size("MEMORY_LIMIT", 536870912) == 536870912);
    CHECK(size("MEMORY_LIMIT", "0.5Gi") == 536870912);
    CHECK(size("BANDWIDTH_LIMIT", "10Mbps") == 1e7);
    CHECK(size("BANDWIDTH_LIMIT", "512kbps") == 512e3);
    CHECK(size("BANDWIDTH_LIMIT", "1Gbps") == 1e9);
    CHECK(size("TIMEOUT", 5) == 5);
    CHECK(size("TIMEOUT", "5") == 5);
    CHECK(size("TIMEOUT", "2m") == 120);
    CHECK(size("NETWORK_LATENCY_MS", 200) == 200);
    CHECK(size("NETWORK_LATENCY_MS", "200") == 200);
    CHECK(size("NETWORK_LATENCY_MS", "0.2s") == 200);
    CHECK(size("PACKET_LOSS", 0.1) == 0.1);
    CHECK(size("PACKET_LOSS", "10%") == Approx(0.1));
    CHECK(size("THREAT_INTENSITY", "30%") == 30);
}

TEST_CASE("what a key does not take is an error that says what it takes") {
    CHECK(fault("CPU_LIMIT", "0") == "CPU_LIMIT: \"0\" is not valid; it takes 0.01 to 64 cores");
    CHECK(fault("CPU_LIMIT", 65) == "CPU_LIMIT: 65 is not valid; it takes 0.01 to 64 cores");
    CHECK(fault("MEMORY_LIMIT", "65Gi") == "MEMORY_LIMIT: \"65Gi\" is not valid; it takes 1Mi to 64Gi");
    CHECK(fault("MEMORY_LIMIT", "lots") == "MEMORY_LIMIT: \"lots\" is not valid; it takes 1Mi to 64Gi");
    CHECK(fault("BANDWIDTH_LIMIT", "11Gbps") == "BANDWIDTH_LIMIT: \"11Gbps\" is not valid; it takes 1kbps to 10Gbps");
    CHECK(fault("PACKET_LOSS", 5) == "PACKET_LOSS: 5 is not valid; it takes 0 to 1 (a fraction)");
    CHECK(fault("SECURITY_LEVEL", 2.5) == "SECURITY_LEVEL: 2.5 is not valid; it takes a whole number from 1 to 5");
    CHECK(fault("CPU_SPIKE", "perhaps") == "CPU_SPIKE: \"perhaps\" is not valid; it takes true or false");
    CHECK(fault("OS_TYPE",
        "maco") == "OS_TYPE: unknown word \"maco\"; did you mean \"macos\"? it takes one of linux, macos, windows");
    CHECK(fault("VM_SETTINGS", "image") == "VM_SETTINGS: \"image\" is not valid; it takes a JSON object");
    CHECK(fault("TIMEOUT", -1) == "TIMEOUT: -1 is not valid; it takes 0.001 to 2592000 s");
    CHECK(fault("CPU_LIMIT", value()) == "CPU_LIMIT: null is not valid; it takes 0.01 to 64 cores");
    CHECK(fault("CPU_LIMTI",
        1) == "unknown preset key \"CPU_LIMTI\"; did you mean \"CPU_LIMIT\"? to set a variable of the workload, write ENV_NAME");
    CHECK(fault("cpu_limit", 1).find("did you mean \"CPU_LIMIT\"?") != std::string::npos);
    CHECK(fault("FAILURE_MODES",
        "disk,hostil_input").find("unknown word \"hostil_input\"; did you mean \"hostile_input\"?") != std::string::npos);
}

TEST_CASE("failure modes come as text, as text with commas, or as nested arrays") {
    auto const found = [](value const& v) { return std::get<sb::key::words>(sb::key::read(failure_modes, v).value()).are; };
    CHECK(found("disk") == texts{"disk"});
    CHECK(found("disk, cpu") == texts{"disk", "cpu"});
    CHECK(found(value(array{"disk", array{"cpu", "network,memory"}})) == texts{"disk", "cpu", "network", "memory"});
    CHECK(found("none").empty());
    CHECK(modes_value(modes_of(found("malicious_data"))) == value("hostile_input"));
    CHECK(modes_value(modes_of(found("memory,cpu,memory"))) == value(array{"cpu", "memory"}));
    CHECK(modes_scenario(modes_of(found("schema_drift,api_latency"))) == "high_latency_api+schema_drift");
}

TEST_CASE("a preset's keys must agree with each other") {
    CHECK(sb::key::read({{"MIN_BANDWIDTH", "5Mbps"}, {"MAX_BANDWIDTH", "5Mbps"}}).has_value());
    CHECK(sb::key::read({{"MIN_BANDWIDTH", "5Mbps"},
        {"MAX_BANDWIDTH", "1Mbps"}}).error().what == "MIN_BANDWIDTH \"5Mbps\" is above MAX_BANDWIDTH \"1Mbps\"");
    CHECK(sb::key::read({{"SCHEMA_MISMATCHES", 6},
        {"SCHEMA_CHECKS", 5}}).error().what == "SCHEMA_MISMATCHES 6 is above SCHEMA_CHECKS 5");
    CHECK(sb::key::read({{"UPSTREAM_FAILURES", 21}, {"UPSTREAM_REQUESTS", 20}}).has_error());
}

TEST_CASE("a variable of the workload's own takes any single value") {
    CHECK(own_variable("ENV_DATABASE_URL") == "DATABASE_URL");
    CHECK(own_variable("ENV_").empty());
    CHECK(own_variable("ENV_http_proxy") == "http_proxy");
    CHECK(own_variable("ENV_A=B").empty()); // the variable would be A
    CHECK(own_variable(std::string_view{"ENV_A\0B", 7}).empty());
    CHECK(own_variable("ENVELOPE").empty());
    CHECK(fault("ENV_X", "any text").empty());
    CHECK(fault("ENV_X", 3).empty());
    CHECK(fault("ENV_X", value(array{})) == "ENV_X: [] is not valid; it takes a single value");
}

TEST_CASE("text from a person becomes a value of the key's kind") {
    auto const parsed = [](std::string_view name, std::string_view text) {
        return json::text_of(value_of_text(*find(name), text).value()); };
    CHECK(parsed("CPU_LIMIT", " 2 ") == "\"2\"");
    CHECK(parsed("MEMORY_LIMIT", "512mb") == "\"512mb\"");
    CHECK(parsed("NETWORK_LATENCY_MS", "0.2s") == "200");
    CHECK(parsed("PACKET_LOSS", "0.0") == "0");
    CHECK(parsed("PACKET_LOSS", "5%") == "0.05");
    CHECK(parsed("TIMEOUT", "1.5") == "1.5");
    CHECK(parsed("CPU_SPIKE", "on") == "true");
    CHECK(parsed("FAILURE_MODES", "memory,malicious_data") == "[\"hostile_input\",\"memory\"]");
    CHECK(parsed("VM_SETTINGS", "{\"memory\":\"4Gi\"}") == "{\"memory\":\"4Gi\"}");
    CHECK(value_of_text(*find("VM_SETTINGS"), "{").has_error());
}

TEST_CASE("every cause by which a limit ends a run is one key's, and has words") {
    for (int i = 1; i <= static_cast<int>(end_cause::disk); ++i) {
        auto const cause = static_cast<end_cause>(i);
        int keys = 0;
        for (auto const* k : list) keys += k->rule_of(cause) ? 1 : 0;
        INFO(i);
        CHECK(keys == 1);
        auto const* const key = all_keys.ending_by(cause);
        REQUIRE(key);
        CHECK(key->is_limit);
        CHECK_FALSE(key->rule_of(cause)->words({}).empty());
    }
    CHECK(all_keys.ending_by(end_cause::none) == nullptr);
}

TEST_CASE("what acts has a row in the manual, and what does not act yet says why") {
    for (auto const* k : list) {
        INFO(k->name);
        CHECK(k->acts() == !k->manual.how.empty());
        if (k->why_not)
            for (bool const sandboxed : {false, true}) CHECK(k->why_not({.sandboxed = sandboxed}).starts_with("needs "));
    }
}

TEST_CASE("what holds where a preset is silent is what help and manual say") {
    struct {
        definition const& key;
        value is;
        std::string_view manual, help;
    } const rows[] = {{timeout, value(30.0), "default 30 s", "default 30"},
                      {output_limit, value(8388608), "default 8 MiB", ""},
                      {open_files_limit, value(1024), "default 1024", ""},
                      {pids_limit, value(1024), "default 1024", ""},
                      {security_level, value(3), "default 3", "default 3"},
                      {disk_limit, value(std::int64_t{1} << 30), "Default: half of the machine's memory, divided by `--jobs`", ""}};
    std::size_t with_default = 0;
    for (auto const* k : list) with_default += k->by_default ? 1 : 0;
    CHECK(with_default == std::size(rows));
    for (auto const& each : rows) {
        INFO(each.key.name);
        setup to;
        CHECK(each.key.by_default({.sandboxed = true, .tree_pids = true, .memory_bytes = std::int64_t{8} << 30, .jobs = 4}, to)->achieved == each.is);
        CHECK(each.key.manual.how.find(each.manual) != std::string_view::npos);
        CHECK(cat(each.key.help, each.key.note).find(each.help) != std::string::npos);
    }
}

TEST_CASE("limits that nothing holds yet are named in the manual") {
    CHECK(limits_to_come() == "BANDWIDTH_LIMIT, MAX_BANDWIDTH, MAX_THREADS, GPU_LIMIT, DISK_IO_THROTTLE");
}

TEST_CASE("a plan takes the amount that its key is read as") {
    for (auto const* k : list) {
        if (!k->plan) continue;
        INFO(k->name);
        setup to;
        auto const v = value_of_text(*k, k->in == unit::word ? k->words.substr(0, k->words.find(' ')) : k->ladder.substr(0, k->ladder.find(' ')));
        REQUIRE(v.has_value());
        CHECK_FALSE(k->plan(sb::key::read(*k, *v).value(), {.sandboxed = true, .tree_memory = true, .tree_cores = true}, to).by.empty());
    }
}

TEST_CASE("the words of FAILURE_MODES are its modes and their other name, sorted") {
    std::vector<std::string_view> names{mode_alias};
    for (auto const& mode : all_modes) names.push_back(mode.name);
    std::sort(names.begin(), names.end());
    CHECK(words_of(failure_modes.words) == names);
}

TEST_CASE("a set of more than sixty-four bits is gone through like a small one") {
    std::bitset<130> many;
    std::vector<std::size_t> const wanted{0, 1, 63, 64, 65, 127, 128, 129};
    for (auto const i : wanted) many.set(i);
    std::vector<std::size_t> found;
    each_bit(many, [&](std::size_t i) { found.push_back(i); });
    CHECK(found == wanted);
    each_bit(std::bitset<130>{}, [&](std::size_t) { FAIL("no bit is set"); });
    std::bitset<64> word;
    word.set(0), word.set(63);
    found.clear();
    each_bit(word, [&](std::size_t i) { found.push_back(i); });
    CHECK(found == std::vector<std::size_t>{0, 63});
}
