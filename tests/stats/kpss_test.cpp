// SPDX-License-Identifier: MIT
#include <sb/stats/kpss.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("KPSS agrees with exact arithmetic, and with R at its lags", "[kpss:oracle]") {
    auto const file = oracle("kpss.json");
    std::vector<double> room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const& exact = *member(c, "exact");
        auto const rule = text(c, "nlags");
        kpss_request asked{text(c, "regression") == "ct" ? trend::linear : trend::constant, rule == "auto" ? long_run_lags::automatic : rule == "legacy" ? long_run_lags::legacy : long_run_lags::fixed, 0};
        if (rule.empty()) asked.lags = static_cast<int>(number(c, "nlags"));
        INFO(text(c, "series") << " " << text(c, "regression") << " " << rule << " " << asked.lags);
        auto const got = kpss(all_series().at(text(c, "series")), asked, room);
        INFO(name_of(got.why));
        REQUIRE(got);
        CHECK(got.lags == static_cast<int>(number(exact, "lags")));
        CHECK(got.statistic == Approx(number(exact, "stat")).epsilon(1e-9));
        CHECK(got.p == Approx(number(exact, "p")).epsilon(1e-9));
        CHECK((got.bound == p_bound::at_most) == (got.p == kpss_least_p));
        CHECK((got.bound == p_bound::at_least) == (got.p == kpss_most_p));
        // R takes the mean off once, which leaves the seventh digit to chance 1e9 away from nothing
        if (auto const* r = member(c, "R_tseries"); r && !text(c, "series").starts_with("dev_rw_off1e9")) CHECK(got.statistic == Approx(number(*r, "stat")).epsilon(1e-9));
    }
}

TEST_CASE("what KPSS has no answer to gets a reason", "[kpss:degenerate]") {
    CHECK(kpss({}).why == no_answer::too_short);
    std::vector<double> const one{1}, two{1, 2}, same(30, 0.1), broken{1, NAN, 3, 4}, endless{1, INFINITY, 2, 3}, wide{-1e308, 1e308, 0, 1};
    CHECK(kpss(one).why == no_answer::constant);
    CHECK(kpss(two).why == no_answer::too_short);
    CHECK(kpss(same).why == no_answer::constant);
    CHECK(kpss(broken).why == no_answer::not_finite);
    CHECK(kpss(endless).why == no_answer::not_finite);
    CHECK(kpss(wide).why == no_answer::not_finite);
    std::vector<double> ramp;
    for (int i = 0; i < 30; ++i) ramp.push_back(0.1 * i);
    CHECK(kpss(ramp, {trend::linear, long_run_lags::automatic, 0}).why == no_answer::perfect_fit);
    CHECK(kpss(ramp).p == kpss_least_p);
    CHECK(kpss(ramp, {trend::constant, long_run_lags::fixed, 30}).why == no_answer::bad_request);
    CHECK(kpss(ramp, {trend::constant, long_run_lags::fixed, 29}).why == no_answer::no_freedom);
    CHECK(kpss(ramp, {trend::constant, long_run_lags::fixed, -1}).why == no_answer::bad_request);
    CHECK(kpss(ramp, {trend::quadratic, long_run_lags::fixed, 3}).why == no_answer::bad_request);
}

TEST_CASE("units and offsets do not move the statistic of KPSS", "[kpss:property]") {
    for (auto const& [name, values] : all_series())
        for (auto const around : {trend::constant, trend::linear}) {
            INFO(name);
            auto const want = kpss(values, {around, long_run_lags::automatic, 0});
            auto other = values;
            for (auto& x : other) x = std::ldexp(-x, 300);
            CHECK(kpss(other, {around, long_run_lags::automatic, 0}).statistic == want.statistic);
        }
}
