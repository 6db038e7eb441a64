// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/forecast_answer.hpp>
#include <cmath>
#include <string>
#include <vector>

using namespace sb::analysis;

namespace {

std::vector<double> series(int n) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(0.5 * i + std::sin(i * i * 0.7));
    return values;
}
std::string model(sb::test_record const& r) { return std::string{sb::string_or(*r.besides.if_contains("model"), {})}; }

} // namespace

TEST_CASE("short series are smoothed, and from twenty values on an ARIMA model is chosen, unless one is named") {
    CHECK(model(forecast_of(series(19), {})).starts_with("smoothed "));
    CHECK(model(forecast_of(series(20), {})).starts_with("arima("));
    test_question asked;
    asked.model = "smoothing";
    CHECK(model(forecast_of(series(40), asked)).starts_with("smoothed "));
}

TEST_CASE("each step asked for has an interval around its mean, and the first is the statistic") {
    test_question asked;
    asked.steps = 7, asked.confidence = 0.9;
    auto const r = forecast_of(series(40), asked);
    auto const* const steps = r.besides.if_contains("steps")->if_array();
    REQUIRE(steps);
    REQUIRE(steps->size() == 7);
    CHECK(sb::number_or(*steps->front().if_object()->if_contains("mean"), 0) == *r.statistic);
    for (auto const& each : *steps) {
        auto const at = [&](char const* name) { return sb::number_or(*each.if_object()->if_contains(name), NAN); };
        CHECK((at("lo") < at("mean") && at("mean") < at("hi")));
    }
    // the line is at 20 to 23 there, with a wave of 1 upon it
    CHECK(*r.statistic == Approx(20).margin(2));
}

TEST_CASE("forecasts of the second half are judged, each from what was before it") {
    auto const r = forecast_of(series(30), {});
    CHECK(sb::number_or(*r.besides.if_contains("judged"), 0) == 15);
    CHECK(sb::number_or(*r.besides.if_contains("mae"), NAN) > 0);
    CHECK(sb::number_or(*r.besides.if_contains("skill"), NAN) <= 1);
}

TEST_CASE("where nothing can be fitted there is a reason and no step") {
    auto const r = forecast_of({1}, {});
    CHECK(r.reason);
    CHECK(r.besides.if_contains("steps") == nullptr);
}
