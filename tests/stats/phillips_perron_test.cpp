// SPDX-License-Identifier: MIT
#include <sb/stats/phillips_perron.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

TEST_CASE("Phillips' and Perron's statistics agree with sixty digits, and with arch's where it keeps its digits", "[phillips_perron:oracle]") {
    auto const file = oracle("phillips_perron.json");
    int asked = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const& row = *c.if_array();
        std::string const name{sb::string_or(row[0], "")}, with{sb::string_or(row[1], "")}, rule{sb::string_or(row[2], "")};
        phillips_perron_request how{with == "n" ? trend::none : with == "c" ? trend::constant : trend::linear,
                                    rule == "auto" ? long_run_lags::automatic : rule == "legacy" ? long_run_lags::legacy : long_run_lags::fixed, 0};
        if (rule.empty()) how.lags = static_cast<int>(sb::number_or(row[2], NAN));
        INFO(name << " " << with << " " << rule << " " << how.lags);
        auto const got = phillips_perron(all_series().at(name), how);
        INFO(name_of(got.why));
        REQUIRE(got);
        CHECK(got.lags == static_cast<int>(sb::number_or(row[3], NAN)));
        CHECK(got.statistic == Approx(sb::number_or(row[4], NAN)).epsilon(1e-10));
        CHECK(got.level_statistic == Approx(sb::number_or(row[5], NAN)).epsilon(1e-10));
        CHECK(got.used + 1 == got.n);
        if (row[6].if_array() && name.find("off1e9") == std::string::npos) {
            auto const arch = numbers(row[6]);
            CHECK(got.statistic == Approx(arch[0]).epsilon(2e-6));
            CHECK(got.p == Approx(arch[1]).epsilon(2e-5).margin(1e-9));
            CHECK(got.level_statistic == Approx(arch[2]).epsilon(2e-5));
            CHECK(got.level_p == Approx(arch[3]).margin(0.03)); // another surface
        }
        CHECK(got.critical == dickey_fuller_critical(how.with, static_cast<double>(got.used)));
        ++asked;
    }
    CHECK(asked > 300);
}

TEST_CASE("the chance of the coefficient's Z meets Fuller's table", "[phillips_perron:oracle]") {
    // W. A. Fuller, Introduction to Statistical Time Series (1976), table 8.5.1, n infinite
    CHECK(dickey_fuller_level_p(-13.8, trend::none) == Approx(0.01).margin(0.001));
    CHECK(dickey_fuller_level_p(-8.1, trend::none) == Approx(0.05).margin(0.002));
    CHECK(dickey_fuller_level_p(-5.7, trend::none) == Approx(0.10).margin(0.003));
    CHECK(dickey_fuller_level_p(-20.7, trend::constant) == Approx(0.01).margin(0.001));
    CHECK(dickey_fuller_level_p(-14.1, trend::constant) == Approx(0.05).margin(0.001));
    CHECK(dickey_fuller_level_p(-11.3, trend::constant) == Approx(0.10).margin(0.002));
    CHECK(dickey_fuller_level_p(-29.5, trend::linear) == Approx(0.01).margin(0.001));
    CHECK(dickey_fuller_level_p(-21.8, trend::linear) == Approx(0.05).margin(0.001));
    CHECK(dickey_fuller_level_p(-18.3, trend::linear) == Approx(0.10).margin(0.002));
}

TEST_CASE("neither statistic knows units, and an offset only where there is no constant", "[phillips_perron:property]") {
    for (auto const& [name, values] : all_series())
        for (auto const with : {trend::none, trend::constant, trend::linear}) {
            INFO(name);
            auto const want = phillips_perron(values, {with, long_run_lags::automatic, 0});
            for (int const power : {-500, 7, 480}) {
                auto other = values;
                for (double& x : other) x = std::ldexp(-x, power);
                auto const got = phillips_perron(other, {with, long_run_lags::automatic, 0});
                CHECK(got.why == want.why);
                if (!want) continue;
                CHECK(got.statistic == want.statistic);
                CHECK(got.level_statistic == want.level_statistic);
            }
        }
    for (auto const with : {trend::none, trend::constant, trend::linear}) {
        double last = -1;
        for (double z = -80; z < 10; z += 0.25) { // a chance grows
            auto const p = dickey_fuller_level_p(z, with);
            CHECK((p >= last - 0.001 && p >= 0 && p <= 1));
            last = p;
        }
    }
}

TEST_CASE("of series that wander about one in twenty seems not to, and of those that come back nearly all", "[phillips_perron:property]") {
    normal_values values{31};
    int wandering = 0, by_level = 0, returning = 0;
    for (int round = 0; round < 300; ++round) {
        column walk, back;
        double at = 0, near = 0, before = 0;
        for (int i = 0; i < 150; ++i) {
            double const shock = values.next();
            walk.push_back(at += shock + 0.3 * before);
            back.push_back(near = 0.6 * near + shock);
            before = shock;
        }
        auto const got = phillips_perron(walk);
        wandering += got.p < 0.05, by_level += got.level_p < 0.05;
        returning += phillips_perron(back).p < 0.05;
    }
    INFO(wandering << " " << by_level << " " << returning);
    CHECK((wandering >= 4 && wandering <= 30));
    CHECK((by_level >= 4 && by_level <= 30));
    CHECK(returning > 290);
}

TEST_CASE("short series that wander seem not to as often as is said, and never by the coefficient", "[phillips_perron:property]") {
    normal_values values{41};
    int low = 0, level = 0;
    for (int round = 0; round < 1000; ++round) {
        column walk;
        double at = 0;
        for (int i = 0; i < 20; ++i) walk.push_back(at += values.next());
        auto const got = phillips_perron(walk);
        low += got.p < 0.05, level += got.level_p < 0.05;
    }
    CHECK((low > 55 && low < 105));
    CHECK(level < 30);
}

TEST_CASE("what Phillips and Perron have no answer to gets a reason", "[phillips_perron:degenerate]") {
    column const one{1}, two{1, 2}, three{1, 2, 4}, broken{1, NAN, 3, 4, 5}, endless{1, INFINITY, 2, 3}, wide{-1e308, 1e308, 0, 1, 2, 5};
    CHECK(phillips_perron({}).why == no_answer::too_short);
    CHECK(phillips_perron(one).why == no_answer::constant);
    CHECK(phillips_perron(two).why == no_answer::too_short);
    CHECK(phillips_perron(three).why == no_answer::no_freedom);
    CHECK(phillips_perron(broken).why == no_answer::not_finite);
    CHECK(phillips_perron(endless).why == no_answer::not_finite);
    CHECK(phillips_perron(wide).why == no_answer::not_finite);
    CHECK(std::isnan(phillips_perron(two).p));
    for (auto const with : {trend::none, trend::constant, trend::linear}) {
        auto const why = [&](column const& values) { return phillips_perron(values, {with, long_run_lags::automatic, 0}).why; };
        CHECK(why(column(30, 0.1)) == no_answer::constant);
        column last(30, with == trend::none ? 0.0 : 7.0), alternating, growing;
        last.back() = 8;
        CHECK(why(last) == no_answer::collinear);
        for (int i = 0; i < 40; ++i) alternating.push_back(i % 2 ? 1 : -1), growing.push_back(std::pow(1.1, i));
        CHECK(why(alternating) == no_answer::perfect_fit);
        CHECK(why(growing) == no_answer::perfect_fit);
        for (double const offset : {0.0, 1e9}) {
            column ramp;
            for (int i = 0; i < 60; ++i) ramp.push_back(0.1 * i + offset);
            INFO(offset);
            if (with != trend::none) CHECK(phillips_perron(ramp, {with, long_run_lags::automatic, 0}).why != no_answer::none);
            else if (auto const got = phillips_perron(ramp, {with, long_run_lags::automatic, 0}); got) CHECK(got.p > 0.5);
        }
    }
    auto const nile = all_series().at("Nile");
    CHECK(phillips_perron(nile, {trend::quadratic, long_run_lags::automatic, 0}).why == no_answer::bad_request);
    CHECK(phillips_perron(nile, {trend::constant, long_run_lags::fixed, -1}).why == no_answer::bad_request);
    CHECK(phillips_perron(nile, {trend::constant, long_run_lags::fixed, 99}).why == no_answer::bad_request);
    CHECK(phillips_perron(nile, {trend::constant, long_run_lags::fixed, 98}));
}
