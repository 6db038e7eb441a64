// SPDX-License-Identifier: MIT
#include "support/arima.hpp"
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/arima.hpp>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("no likelihood is below the best that is known, nor below what statsmodels and R find", "[arima:oracle][arma_search:oracle]") {
    each_oracle_model([&](sb::value const& c, arima_answer const& got) {
        auto const& best = *member(c, "best_known");
        CHECK(got.llf >= number(best, "llf") - 1e-3);
        for (auto const* tool : {"sm", "R"})
            if (double const theirs = number(*member(c, "exact_llf_at_each_tools_estimate"), tool); !std::isnan(theirs)) CHECK(got.llf >= theirs - 1e-5);
        CHECK(got.parameters == static_cast<std::size_t>(number(best, "k_params")));
        CHECK(got.used == static_cast<std::size_t>(number(best, "nobs_effective")));
        CHECK(got.has_constant == (text(c, "trend") == "c"));
        // what is told is what the coefficients have
        auto const left = remainder(got, all_series().at(text(c, "series")), {});
        dense const whole{got, left.size()};
        CHECK(got.llf == Approx(whole.llf(left, got.deviation)).epsilon(1e-7));
        CHECK(got.aic == Approx(2.0 * static_cast<double>(got.parameters) - 2 * got.llf));
        if (std::abs(got.llf - number(best, "llf")) > 1e-6) return; // another hill, or a better place
        CHECK(got.aic == Approx(number(best, "aic")).epsilon(1e-7));
        CHECK(got.bic == Approx(number(best, "bic")).epsilon(1e-7));
        CHECK(got.deviation * got.deviation == Approx(number(best, "sigma2")).epsilon(1e-2));
    });
}

TEST_CASE("with regressors and a constant the best is that of the whole matrix", "[arima:oracle]") {
    auto const file = oracle("arima_regressors.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const& values = all_series().at(text(c, "series"));
        auto const columns = regressors_of(c);
        auto const seen = views(columns);
        auto asked = plain(static_cast<std::size_t>(number(c, "p")), static_cast<std::size_t>(number(c, "d")), static_cast<std::size_t>(number(c, "q")));
        asked.constant = *member(c, "constant")->if_bool() ? arima_constant::with : arima_constant::without;
        asked.regressors = seen;
        INFO(text(c, "series") << " " << asked.order.p << asked.order.d << asked.order.q);
        auto const got = arima(values, asked);
        REQUIRE(got);
        CHECK(got.llf >= number(c, "llf") - 1e-4);
        if (std::abs(got.llf - number(c, "llf")) > 2e-6) continue; // another hill, as high, or a better place
        std::vector<double> all;
        if (got.has_constant) all.push_back(got.constant);
        all.insert(all.end(), got.coefficients.begin(), got.coefficients.end());
        if (!all.empty()) {
            auto const want = numbers(*member(c, "coefficients"));
            REQUIRE(all.size() == want.size());
            for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == Approx(want[i]).epsilon(2e-3).margin(1e-4));
        }
        CHECK(got.deviation == Approx(number(c, "deviation")).epsilon(1e-3));
    }
}

TEST_CASE("units do not move an estimate, and an offset hardly", "[arima:property]") {
    arima_room room;
    for (auto const* name : {"Nile", "lh", "log10lynx", "dev_rw_50", "dev_ma1_20"})
        for (auto const& order : {arima_order{1, 0, 1}, {0, 1, 1}, {2, 1, 2}}) {
            INFO(name << " " << order.p << order.d << order.q);
            auto const& values = all_series().at(name);
            auto asked = plain(order.p, order.d, order.q);
            auto const want = arima(values, asked, room);
            for (int const power : {-530, -20, 20, 500}) {
                auto other = values;
                for (double& x : other) x = std::ldexp(-x, power);
                auto const got = arima(other, asked, room);
                CHECK(got.ar == want.ar);
                CHECK(got.ma == want.ma);
                CHECK(got.deviation == std::ldexp(want.deviation, power));
                CHECK(got.llf == Approx(want.llf - static_cast<double>(want.used) * power * std::numbers::ln2).epsilon(1e-12));
            }
        }
    // whole numbers keep their digits far away
    sb::random_stream chance{7};
    series walk{0};
    for (int i = 1; i < 120; ++i) walk.push_back(walk.back() * 0.5 + static_cast<double>(chance.below(2001)) - 1000);
    for (double& x : walk) x = std::round(x);
    auto moved = walk;
    for (double& x : moved) x += 1e9;
    for (auto const& order : {arima_order{1, 0, 1}, {2, 0, 0}, {1, 1, 1}}) {
        auto const want = arima(walk, plain(order.p, order.d, order.q), room), got = arima(moved, plain(order.p, order.d, order.q), room);
        CHECK(got.llf == Approx(want.llf).epsilon(1e-9));
        CHECK(got.constant - (order.d == 0 ? 1e9 : 0) == Approx(want.constant).epsilon(1e-4).margin(1e-3));
        std::array<forecast_point, 3> there{}, here{};
        REQUIRE(forecast(got, there) == no_answer::none);
        REQUIRE(forecast(want, here) == no_answer::none);
        for (std::size_t h = 0; h < 3; ++h) CHECK(std::abs(there[h].mean - 1e9 - here[h].mean) < 1e-4 * here[h].error);
    }
}

TEST_CASE("what has no model gets a reason", "[arima:degenerate][forecast:degenerate]") {
    auto const why = [](series const& x, std::size_t p, std::size_t d, std::size_t q) { return arima(x, plain(p, d, q)).why; };
    CHECK(why({}, 1, 0, 0) == no_answer::too_short);
    CHECK(why({1}, 0, 0, 0) == no_answer::too_short);
    CHECK(why({1, 2}, 0, 1, 0) == no_answer::too_short);
    CHECK(why({1, 2, 4}, 2, 1, 2) == no_answer::too_short);
    CHECK(why({1, 2, 4, 3, 5, 2, 1}, 2, 1, 2) == no_answer::too_short);
    CHECK(why({1, 2, 4, 3, 5, 2, 1, 2}, 2, 1, 2) == no_answer::none);
    CHECK(why(series(30, 0.1), 1, 0, 0) == no_answer::constant);
    CHECK(why(series(30, 0.1), 1, 1, 1) == no_answer::constant);
    series ramp, bent, broken{1, 2, NAN, 4, 5, 6, 7, 8}, endless{1, 2, INFINITY, 4, 5, 6, 7, 8}, wide;
    for (int i = 0; i < 30; ++i) ramp.push_back(0.1 * i), bent.push_back(0.25 * i * i), wide.push_back(i % 2 == 0 ? 1e308 : -1e308);
    for (std::size_t p : {0u, 1u})
        for (std::size_t q : {0u, 1u}) {
            CHECK(why(ramp, p, 1, q) == no_answer::perfect_fit);
            CHECK(why(bent, p, 2, q) == no_answer::perfect_fit);
            CHECK(why(ramp, p, 2, q) == no_answer::perfect_fit);
            CHECK(why(broken, p, 1, q) == no_answer::not_finite);
            CHECK(why(endless, p, 0, q) == no_answer::not_finite);
            CHECK(why(wide, p, 1, q) == no_answer::not_finite);
        }
    CHECK(why(ramp, 9, 0, 0) == no_answer::bad_request);
    CHECK(why(ramp, 0, 3, 0) == no_answer::bad_request);
    CHECK(why(ramp, 0, 0, 9) == no_answer::bad_request);

    auto const values = normal_values{3}.many(30);
    series const flat(30, 2.0), half = normal_values{4}.many(15);
    auto twice = ramp;
    for (double& x : twice) x = 3 * x - 7;
    auto const with = [&](std::vector<series> const& columns, arima_constant constant) {
        auto const seen = views(columns);
        auto asked = plain(1, 0, 0);
        asked.regressors = seen, asked.constant = constant;
        return arima(values, asked);
    };
    CHECK(with({ramp, twice}, arima_constant::with).why == no_answer::collinear);
    CHECK(with({ramp, twice, flat}, arima_constant::without).why == no_answer::collinear);
    CHECK(with({flat}, arima_constant::with).why == no_answer::collinear);
    CHECK(with({flat}, arima_constant::without));
    CHECK(with({series(30, 0.0)}, arima_constant::without).why == no_answer::collinear);
    CHECK(with({broken}, arima_constant::with).why == no_answer::bad_request);
    CHECK(with({half}, arima_constant::with).why == no_answer::bad_request);
    CHECK(with({series(30, NAN)}, arima_constant::with).why == no_answer::not_finite);
    CHECK(with({values}, arima_constant::with).why == no_answer::perfect_fit);

    std::array<forecast_point, 2> to{};
    CHECK(forecast(arima(ramp, plain(0, 1, 1)), to) == no_answer::perfect_fit);
    auto const model = arima(values, plain(1, 0, 1));
    CHECK(forecast(model, {}) == no_answer::none);
    CHECK(forecast(model, to, 0) == no_answer::bad_request);
    CHECK(forecast(model, to, 1) == no_answer::bad_request);
    CHECK(forecast(model, to, NAN) == no_answer::bad_request);
    auto const explained = with({ramp}, arima_constant::with);
    REQUIRE(explained);
    series const next{3.0, NAN}, one{3.0};
    std::span<double const> const bad[]{next}, few[]{one};
    CHECK(forecast(explained, to) == no_answer::bad_request);
    CHECK(forecast(explained, to, 0.95, few) == no_answer::bad_request);
    CHECK(forecast(explained, to, 0.95, bad) == no_answer::not_finite);
    CHECK(forecast(explained, std::span{to}.first(1), 0.95, few) == no_answer::none);
}
