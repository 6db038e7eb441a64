// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stress/preset_check.hpp>
#include <map>
#include <set>

using namespace sb;
using namespace sb::stress;

namespace {
std::vector<std::string> ladder_of(std::string_view name) {
    std::vector<std::string> all;
    each_word(find_key(name)->ladder, [&](std::string_view rung) { all.emplace_back(rung); });
    return all;
}
using list = std::vector<std::string>;
std::string fault(std::string_view name, value const& v) {
    auto const got = check_value(name, v);
    return got.has_error() ? got.error().what : "";
}
double amount(std::string_view name, value const& v) { return amount_of(*find_key(name), v).value(); }
} // namespace

TEST_CASE("the ladders are those of the specification") {
    CHECK(ladder_of("CPU_LIMIT") == list{"0.5", "1", "2", "4", "8"});
    CHECK(ladder_of("MEMORY_LIMIT") == list{"128Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi"});
    CHECK(ladder_of("DISK_LIMIT") == list{"512Mi", "1Gi", "2Gi", "4Gi", "8Gi"});
    CHECK(ladder_of("NETWORK_LATENCY_MS") == list{"10", "50", "100", "200", "500"});
    CHECK(ladder_of("NETWORK_JITTER_MS") == list{"0", "5", "10", "20", "50"});
    CHECK(ladder_of("API_LATENCY_MS") == list{"50", "100", "200", "500", "1000"});
    for (auto const* name : {"BANDWIDTH_LIMIT", "MIN_BANDWIDTH", "MAX_BANDWIDTH"})
        CHECK(ladder_of(name) == list{"1Mbps", "5Mbps", "10Mbps", "50Mbps", "100Mbps"});
    CHECK(ladder_of("PACKET_LOSS") == list{"0", "0.01", "0.05", "0.1"});
    CHECK(ladder_of("PACKET_DUPLICATION") == list{"0", "0.01", "0.05"});
    CHECK(ladder_of("SECURITY_LEVEL") == list{"1", "2", "3", "4", "5"});
    CHECK(ladder_of("THREAT_INTENSITY") == list{"10", "30", "50", "70", "90"});
    CHECK(ladder_of("CONCURRENCY_LEVEL") == list{"1", "5", "10", "20", "50", "100"});
    CHECK(ladder_of("GPU_LIMIT") == list{"0", "1", "2", "4"});
    CHECK(ladder_of("THREAD_BURST") == list{"10", "20", "50"});
    CHECK(ladder_of("ASYNC_TASK_BURST") == list{"20", "50", "100"});
    CHECK(ladder_of("MAX_THREADS") == list{"100", "200", "500"});
}

TEST_CASE("every rung is a valid value, and no rung is milder than the one before it") {
    for (auto const& k : all_keys) {
        double before = -1;
        each_word(k.ladder, [&](std::string_view rung) {
            INFO(k.name << " " << rung);
            auto const v = parse_value(k, rung);
            REQUIRE(v.has_value());
            CHECK(check_value(k, *v).has_value());
            if (!counts(k.type)) return;
            CHECK(amount(k.name, *v) > before);
            before = amount(k.name, *v);
        });
    }
}

TEST_CASE("every key says what it is in one line") {
    for (auto const& k : all_keys) {
        INFO(k.name);
        CHECK_FALSE(k.help.empty());
        CHECK(k.help.find('\n') == std::string_view::npos);
        CHECK_FALSE(valid_text(k).empty());
        CHECK(find_key(k.name) == &k);
        if (counts(k.type)) CHECK(k.least < k.most);
    }
    CHECK(find_key("") == nullptr);
    CHECK(find_key("CPU") == nullptr);
    CHECK(find_key("ZZZ") == nullptr);
}

TEST_CASE("the keys that only label are these") {
    std::set<std::string_view> labels;
    for (auto const& k : all_keys)
        if (!k.acts) labels.insert(k.name);
    CHECK(labels == std::set<std::string_view>{"CONCURRENCY_MULTIPLIER", "OVERRIDES", "SCENARIO_NAME", "SEED",
        "SEVERITY"});
}

TEST_CASE("numbers and text mean the same amount") {
    CHECK(amount("CPU_LIMIT", "0.5") == 0.5);
    CHECK(amount("CPU_LIMIT", 2) == 2);
    CHECK(amount("MEMORY_LIMIT", "512Mi") == 536870912);
    CHECK(amount("MEMORY_LIMIT", "512mb") == 536870912);
    CHECK(amount("MEMORY_LIMIT", 536870912) == 536870912);
    CHECK(amount("MEMORY_LIMIT", "0.5Gi") == 536870912);
    CHECK(amount("BANDWIDTH_LIMIT", "10Mbps") == 1e7);
    CHECK(amount("BANDWIDTH_LIMIT", "512kbps") == 512e3);
    CHECK(amount("BANDWIDTH_LIMIT", "1Gbps") == 1e9);
    CHECK(amount("TIMEOUT", 5) == 5);
    CHECK(amount("TIMEOUT", "5") == 5);
    CHECK(amount("TIMEOUT", "2m") == 120);
    CHECK(amount("NETWORK_LATENCY_MS", 200) == 200);
    CHECK(amount("NETWORK_LATENCY_MS", "200") == 200);
    CHECK(amount("NETWORK_LATENCY_MS", "0.2s") == 200);
    CHECK(amount("PACKET_LOSS", 0.1) == 0.1);
    CHECK(amount("PACKET_LOSS", "10%") == Approx(0.1));
    CHECK(amount("THREAT_INTENSITY", "30%") == 30);
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
    CHECK(fault("CPU_LIMIT", value{}) == "CPU_LIMIT: null is not valid; it takes 0.01 to 64 cores");
    CHECK(fault("CPU_LIMTI",
        1) == "unknown preset key \"CPU_LIMTI\"; did you mean \"CPU_LIMIT\"? a variable of the workload's own is written ENV_NAME");
    CHECK(fault("cpu_limit", 1).find("did you mean \"CPU_LIMIT\"?") != std::string::npos);
    CHECK(fault("FAILURE_MODES",
        "disk,hostil_input").find("unknown word \"hostil_input\"; did you mean \"hostile_input\"?") != std::string::npos);
}

TEST_CASE("failure modes come as text, as text with commas, or as nested arrays") {
    auto const words = [](value const& v) { return words_of(*find_key("FAILURE_MODES"), v).value(); };
    CHECK(words("disk") == list{"disk"});
    CHECK(words("disk, cpu") == list{"disk", "cpu"});
    CHECK(words(value{array{"disk", array{"cpu", "network,memory"}}}) == list{"disk", "cpu", "network", "memory"});
    CHECK(words("none").empty());
    CHECK(modes_value(modes_of(words("malicious_data"))) == value{"hostile_input"});
    CHECK(modes_value(modes_of(words("memory,cpu,memory"))) == value{array{"cpu", "memory"}});
    CHECK(modes_scenario(modes_of(words("schema_drift,api_latency"))) == "high_latency_api+schema_drift");
}

TEST_CASE("a preset's keys must agree with each other") {
    CHECK(check_keys({{"MIN_BANDWIDTH", "5Mbps"}, {"MAX_BANDWIDTH", "5Mbps"}}).has_value());
    CHECK(check_keys({{"MIN_BANDWIDTH", "5Mbps"},
        {"MAX_BANDWIDTH", "1Mbps"}}).error().what == "MIN_BANDWIDTH \"5Mbps\" is above MAX_BANDWIDTH \"1Mbps\"");
    CHECK(check_keys({{"SCHEMA_MISMATCHES", 6},
        {"SCHEMA_CHECKS", 5}}).error().what == "SCHEMA_MISMATCHES 6 is above SCHEMA_CHECKS 5");
    CHECK(check_keys({{"UPSTREAM_FAILURES", 21}, {"UPSTREAM_REQUESTS", 20}}).has_error());
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
    CHECK(fault("ENV_X", value{array{}}) == "ENV_X: [] is not valid; it takes a single value");
}

TEST_CASE("text from a person becomes a value of the key's kind") {
    auto const parsed = [](std::string_view name, std::string_view text) {
        return json::text_of(parse_value(*find_key(name), text).value()); };
    CHECK(parsed("CPU_LIMIT", " 2 ") == "\"2\"");
    CHECK(parsed("MEMORY_LIMIT", "512mb") == "\"512mb\"");
    CHECK(parsed("NETWORK_LATENCY_MS", "0.2s") == "200");
    CHECK(parsed("PACKET_LOSS", "0.0") == "0");
    CHECK(parsed("PACKET_LOSS", "5%") == "0.05");
    CHECK(parsed("TIMEOUT", "1.5") == "1.5");
    CHECK(parsed("CPU_SPIKE", "on") == "true");
    CHECK(parsed("FAILURE_MODES", "memory,malicious_data") == "[\"hostile_input\",\"memory\"]");
    CHECK(parsed("VM_SETTINGS", "{\"memory\":\"4Gi\"}") == "{\"memory\":\"4Gi\"}");
    CHECK(parse_value(*find_key("VM_SETTINGS"), "{").has_error());
}
