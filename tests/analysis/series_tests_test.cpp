// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/series_tests.hpp>
#include <cmath>
#include <string>
#include <vector>

using namespace sb::analysis;

namespace {

double besides(sb::test_record const& r, char const* name) {
    auto const* const found = r.besides.if_contains(name);
    return found ? sb::number_or(*found, NAN) : NAN;
}

} // namespace

TEST_CASE("the three tests of a series say the same where it has no answer") {
    std::vector<double> const constant(20, 5);
    for (auto const& r : {adf_of(constant, {}), kpss_of(constant, {}), phillips_perron_of(constant, {})}) {
        CHECK(r.reason == "constant");
        CHECK(r.n == 20);
        CHECK((!r.statistic && !r.p));
        CHECK(sb::string_or(*r.besides.if_contains("regression"), {}) == "c");
        CHECK(r.besides.if_contains("lag") == nullptr);
    }
}

TEST_CASE("the three tests of a series take their regression and lags from the question") {
    std::vector<double> values;
    for (int i = 0; i < 60; ++i) values.push_back(std::sin(i * i * 0.7) + 0.02 * i);
    test_question asked;
    asked.regression = "ct", asked.lags = "3", asked.autolag = "none", asked.maxlag = 2;
    auto const adf = adf_of(values, asked), kpss = kpss_of(values, asked), pp = phillips_perron_of(values, asked);
    CHECK(besides(adf, "lag") == 2);
    CHECK(besides(kpss, "lag") == 3);
    CHECK(besides(pp, "lag") == 3);
    CHECK(besides(adf, "nobs") == 57); // a difference less, and two lags
    CHECK(besides(pp, "nobs") == 59);
    for (auto const& r : {adf, kpss, pp}) CHECK(sb::string_or(*r.besides.if_contains("regression"), {}) == "ct");
    asked.lags = "legacy";
    CHECK(besides(kpss_of(values, asked), "lag") == 11); // 12 (60/100)^(1/4) = 10.56
}

TEST_CASE("a line through all but one value is that line") {
    auto const r = trend_of({1, 3, 5, 7, 20}, {});
    CHECK(*r.statistic == 2); // six of ten slopes are 2
    CHECK(besides(r, "tau") == 1);
    CHECK(*r.p == Approx(2.0 / 120).epsilon(1e-12)); // of all orders of five, rising or falling
    CHECK(trend_of({1, 3, 5, 7}, {}).reason == "perfect fit");
}

TEST_CASE("the interval of a mean by each method holds the mean, and of one value there is none") {
    for (auto const* method : {"t", "bootstrap", "anytime"}) {
        test_question asked;
        asked.method = method;
        auto const r = interval_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, asked);
        CHECK(*r.statistic == Approx(6.5));
        CHECK((besides(r, "lo") < 6.5 && besides(r, "hi") > 6.5));
        auto const one = interval_of({4}, asked);
        CHECK(one.statistic == 4);
        CHECK((one.reason && one.besides.if_contains("lo") == nullptr));
        auto const none = interval_of({}, asked);
        CHECK((none.reason && !none.statistic));
    }
    auto const t = interval_of({1, 2, 3, 4, 5}, {}); // 3 -+ 2.7764451052 sqrt(0.5)
    CHECK(besides(t, "lo") == Approx(3 - 2.7764451052 * std::sqrt(0.5)).epsilon(1e-10));
}

TEST_CASE("a change is where the values are others, with the means on both sides") {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(i % 2 + (i < 20 ? 0 : 10));
    auto const r = changes_of(values, {});
    auto const* const points = r.besides.if_contains("points")->if_array();
    REQUIRE(points);
    REQUIRE(points->size() == 1);
    auto const& point = *points->front().if_object();
    CHECK(sb::number_or(*point.if_contains("at"), 0) == 21); // from 1
    CHECK(sb::number_or(*point.if_contains("mean_before"), 0) == Approx(0.5));
    CHECK(sb::number_or(*point.if_contains("mean_after"), 0) == Approx(10.5));
}

TEST_CASE("a series that hovers has converged, and one that climbs has not") {
    std::vector<double> hovers, climbs;
    for (int i = 0; i < 60; ++i) hovers.push_back(std::sin(i * i * 0.7)), climbs.push_back(i + std::sin(i * i * 0.7));
    test_question asked;
    asked.test = "converged", asked.margin = 3;
    auto const both = converged({{"hovers", hovers}, {"climbs", climbs}}, asked);
    REQUIRE(both.size() == 2);
    CHECK(*both[0].besides.if_contains("converged")->if_bool());
    CHECK_FALSE(*both[1].besides.if_contains("converged")->if_bool());
    CHECK(both[1].besides.if_contains("because") != nullptr);
}
