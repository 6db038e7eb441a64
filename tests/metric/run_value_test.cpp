// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/metric/run_value.hpp>

using namespace sb::metric;

TEST_CASE("success alone decides where nothing else applies") {
    CHECK(value_of({.success = true}) == 1.0);
    CHECK(value_of({.success = false}) == 0.0);
}

TEST_CASE("weights of the terms that apply are scaled up to one") {
    value_weights const w{.success = 4, .output = 4, .time = 1, .memory = 1};
    // half of the budget is left: (4·1 + 1·0.5) / 5
    CHECK(value_of({.success = true, .wall_s = 5, .budget_s = 10}, w) == Approx(0.9));
    // a wrong output: (4·1 + 4·0) / 8
    CHECK(value_of({.success = true, .output_right = false}, w) == Approx(0.5));
    // all four: (4 + 4 + 0.75 + 0.5) / 10
    CHECK(value_of({.success = true, .output_right = true, .wall_s = 2.5, .budget_s = 10, .peak_rss_bytes = 512, .memory_limit_bytes = 1024}, w) ==
          Approx(0.925));
}

TEST_CASE("where nothing that applies has a weight the value is unknown, not 0") {
    CHECK_FALSE(value_of({.success = true}, {.success = 0}));
    CHECK_FALSE(value_of({.success = true, .output_right = true}, {.success = 0, .output = 0}));
    CHECK(value_of({.success = true, .output_right = true}, {.success = 0}) == 1.0);
}

TEST_CASE("beyond the budget time is worth nothing, and never less") {
    CHECK(value_of({.success = true, .wall_s = 100, .budget_s = 10}) == Approx(0.8));
}

TEST_CASE("a run that failed earns nothing by having been quick and small") {
    CHECK(value_of({.success = false, .wall_s = 0.001, .budget_s = 10, .peak_rss_bytes = 1, .memory_limit_bytes = 1024}) == 0.0);
}

TEST_CASE("cost is the sum of price times resource, and nothing by default") {
    run_facts const facts{.wall_s = 2, .peak_rss_bytes = 512.0 * 1024 * 1024, .cpu_s = 3.0, .bytes_out = 1024.0 * 1024 * 1024};
    CHECK(cost_of(facts, {}) == 0.0);
    CHECK(cost_of(facts, {.cpu_s = 0.1, .gib_s = 0.2, .gib_out = 0.5}) == Approx(0.3 + 0.2 + 0.5));
}

TEST_CASE("of several copies those that ended ok count, and the output of one speaks for them alone") {
    value_weights const w{.success = 4, .output = 4, .time = 1, .memory = 1};
    CHECK(value_of({.success = false, .share_ok = 0.07}, w) == Approx(0.07));
    CHECK(value_of({.success = false, .share_ok = 0.07, .output_right = true}, w) == Approx(0.07));
    CHECK(value_of({.success = true, .share_ok = 1, .output_right = true}, w) == Approx(1));
    CHECK(value_of({.success = true, .share_ok = 1, .output_right = false}, w) == Approx(0.5));
}
