// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/run/report_channel.hpp>
#include <sb/run/output_metric.hpp>
#include <sb/run/reserved_names.hpp>

using namespace sb::run;

TEST_CASE("the members of a record and the metrics that are ours are reserved, other names are not") {
    for (auto const* each : {"output_check", "concurrency_level", "concurrency_error_rate", "concurrency_throughput", "cpu_throttled_s", "value", "roi", "raroi", "wall_s",
                             "peak_rss_bytes", "left_running", "end", "stdout", "stderr", "limits_hit", "kind"})
        CHECK(is_reserved(each));
    for (auto const* each : {"accuracy", "speed", "security_score", "Value", "value_", "stdout_", "", "synergy_roi"}) CHECK_FALSE(is_reserved(each));
}

TEST_CASE("a report under a reserved name is not taken, whatever its order, and is counted") {
    auto const got = read_reports({"{\"output_check\":1,\"speed\":2}\n{\"wall_s\":0,\"output_check\":1}\n", "{\"roi\":9}"});
    CHECK(got.metrics == std::map<std::string, double>{{"speed", 2.0}});
    CHECK(got.reserved == 4);
    CHECK(got.reserved_names == std::set<std::string>{"output_check", "roi", "wall_s"});
}

TEST_CASE("a caller's own metric under such a name is the caller's error") {
    auto const got = output_metric::parse("output_check=([0-9]+)");
    REQUIRE(got.has_error());
    CHECK(got.error().on == sb::blame::caller);
    CHECK(got.error().what == "--metric output_check: this name is reserved for a figure of sb-exec; choose another");
}
