// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/fake_backend.hpp"
#include <sb/run/record_of.hpp>
#include <map>
#include <string>

using namespace sb::run;

namespace {

sb::run_record told(outcome got, std::optional<bool> output_right = std::nullopt, reported found = {}, enforcement const& held = {}) {
    fake_backend const with{{}};
    run_context context;
    context.with = &with;
    return record_of(context, {}, held, {}, got, output_right, std::move(found));
}
outcome failed() {
    outcome got;
    got.copies = 1, got.copies_not_ok = 1;
    got.end.class_ = sb::end_class::failed, got.end.code = 1;
    return got;
}

} // namespace

TEST_CASE("a record of several copies says how many, how many failed and how fast they were") {
    outcome got;
    got.copies = 2, got.copies_not_ok = 1, got.wall_s = 4;
    enforcement held;
    held.setup.copies = 2;
    auto const r = told(got, std::nullopt, {}, held);
    CHECK(r.metrics.at("concurrency_level") == 2.0);
    CHECK(r.metrics.at("concurrency_error_rate") == 0.5);
    CHECK(r.metrics.at("concurrency_throughput") == 0.5);
    CHECK_FALSE(r.cpu_user_s.has_value()); // nobody counted
}

TEST_CASE("a value that the workload reports replaces the rule") {
    CHECK(told(failed()).value == 0.0);
    reported found;
    found.value = 12.5;
    CHECK(told(failed(), std::nullopt, found).value == 12.5);
    CHECK(told(failed(), true, found).value == 12.5);
    CHECK(told(failed(), false, found).value == 0.0); // its output was wrong, and so is not believed
}

TEST_CASE("a metric under a name of ours is ours or none") {
    reported found;
    found.metrics = {{"output_check", 1.0}, {"wall_s", 0.0}, {"speed", 3.0}};
    CHECK(told({}, std::nullopt, found).metrics == std::map<std::string, double>{{"speed", 3.0}});
    CHECK(told({}, false, found).metrics == std::map<std::string, double>{{"output_check", 0.0}, {"speed", 3.0}});
}
