// SPDX-License-Identifier: MIT
// make_records [MEGABYTES [SEED]] - seeded results of a predecessor's sandbox on standard output, one JSON line each:
// scenario, preset{name,sig}, module, roi, roi_delta, metrics{12}, resources{3}, ts; about 616 bytes a line; 2 % with
// escapes and non-ASCII text; 24 scenarios.
#include <sb/core/output.hpp>
#include <sb/core/random.hpp>
#include <sb/core/text.hpp>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view scenarios[] = {
    "normal", "hostile_input", "high_latency_api", "latency", "misuse", "user_misuse", "concurrency_spike", "schema_drift",
    "flaky_upstream", "cpu_starved", "memory_pressure", "disk_full", "slow_disk", "packet_loss", "jitter", "cold_start",
    "burst", "io_contention", "clock_skew", "partial_failure", "retry_storm", "quota_exceeded", "large_payload", "unicode"};
constexpr std::string_view metrics[] = {"security_score", "safety_rating", "adaptability", "antifragility", "shannon_entropy",
                                        "efficiency", "flexibility", "projected_lucrativity", "profitability",
                                        "patch_complexity", "energy_consumption", "resilience"};

} // namespace

int main(int argc, char** argv) {
    auto const wanted = static_cast<std::uint64_t>((argc > 1 ? std::atof(argv[1]) : 200.0) * 1e6);
    sb::random_stream chance{argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1};
    sb::output out{1};
    std::string line;
    std::uint64_t written = 0;
    auto const number = [&](double scale, int decimals) { line += sb::fixed((chance.unit() - 0.3) * scale, decimals); };
    auto const hex = [&](int digits) {
        for (int i = 0; i < digits; ++i) line += "0123456789abcdef"[chance.below(16)];
    };
    for (std::uint64_t i = 0; written < wanted && out.usable(); ++i) {
        auto const scenario = scenarios[chance.below(24)];
        bool const awkward = chance.chance(0.02);
        line = sb::cat("{\"scenario\":\"", scenario, "\",\"preset\":{\"name\":\"", scenario, chance.chance(0.5) ? "_high" : "_low", "\",\"sig\":\"");
        hex(16);
        line += sb::cat("\"},\"module\":\"", awkward ? "na\xc3\xafve/\\u00e9t\xc3\xa9 \\\"quoted\\\".py" : "src/services/", "mod_", chance.below(400), ".py\",\"roi\":");
        number(2, 5);
        line += ",\"roi_delta\":";
        number(0.2, 6);
        line += ",\"metrics\":{";
        bool first = true;
        for (auto const name : metrics) {
            if (!first) line += ',';
            first = false;
            line += sb::cat('"', name, "\":");
            number(100, chance.chance(0.3) ? 14 : 6);
        }
        line += "},\"resources\":{\"cpu\":";
        number(90, 3);
        line += sb::cat(",\"memory\":", chance.below(std::uint64_t{1} << 33), ",\"disk\":");
        number(1e4, 1);
        line += sb::cat("},\"ts\":", 1'735'689'600 + i / 4, i % 4 == 0 ? ".0" : i % 4 == 1 ? ".25" : i % 4 == 2 ? ".5" : ".75");
        line += "}\n";
        written += line.size();
        out << line;
    }
    return out.flush().has_error() ? 4 : 0;
}
