// SPDX-License-Identifier: MIT
#include "support/arima.hpp"
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/arima.hpp>
#include <sb/stats/arma_likelihood.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("the likelihood at given coefficients is that of fifty digits", "[arma_likelihood:oracle][arima:oracle]") {
    auto const file = oracle("arma_llf.json");
    double worst = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto x = all_series().at(text(c, "series"));
        for (double& each : x) each -= number(c, "minus");
        x = differenced(x, static_cast<std::size_t>(number(c, "d")));
        auto const ar = numbers(*member(c, "ar")), ma = numbers(*member(c, "ma"));
        INFO(text(c, "series") << " " << ar.size() << " " << ma.size() << " " << text(c, "what"));
        auto const got = arma_log_likelihood(x, ar, ma, number(c, "deviation"));
        REQUIRE(got);
        double const want = number(c, "llf"), off = std::abs(*got - want) / std::abs(want);
        CHECK(off < 1e-9);
        worst = std::max(worst, off);
    }
    CAPTURE(worst);
    CHECK(worst < 1e-9);
}

TEST_CASE("the gradient is what a small step shows", "[arma_likelihood:property]") {
    normal_values chance{31};
    sb::random_stream places{32};
    auto const y = chance.many(60);
    for (auto const& [p, q, k] : {std::array<std::size_t, 3>{1, 0, 0}, {0, 1, 0}, {1, 1, 1}, {2, 2, 0}, {3, 1, 1}, {1, 4, 2}, {5, 0, 0}, {0, 5, 1}, {8, 8, 3}}) {
        arma_room room;
        arma_likelihood likelihood{y.size(), k, p, q, room};
        for (std::size_t t = 0; t < y.size(); ++t) {
            for (std::size_t c = 0; c < k; ++c) likelihood.row(t)[c] = c == 0 ? 1 : std::cos(static_cast<double>(c * t));
            likelihood.row(t)[k] = y[t];
        }
        for (int round = 0; round < 5; ++round) {
            std::vector<double> x(p + q), slope(p + q);
            for (double& each : x) each = (p < 8 ? 1.6 : 0.6) * (places.unit() - 0.5);
            REQUIRE(std::isfinite(likelihood.value(x)));
            likelihood.gradient(slope);
            for (std::size_t i = 0; i < x.size(); ++i) {
                INFO(p << " " << q << " " << k << " " << i);
                auto const at = x[i];
                x[i] = at + 1e-5;
                double const more = likelihood.value(x);
                x[i] = at - 1e-5;
                double const less = likelihood.value(x);
                x[i] = at;
                CHECK(slope[i] == Approx((more - less) / 2e-5).epsilon(1e-5).margin(1e-4));
            }
        }
    }
}

TEST_CASE("a series read backwards is as likely", "[arima:property][arma_likelihood:property]") {
    arima_room room;
    for (auto const* name : {"Nile", "lh", "nhtemp", "dev_ar2_50", "dev_trend_50"}) {
        auto const& values = all_series().at(name);
        series const turned(values.rbegin(), values.rend());
        for (auto const& order : {arima_order{1, 0, 0}, {1, 0, 1}, {0, 1, 1}, {2, 1, 2}}) {
            INFO(name << " " << order.p << order.d << order.q);
            CHECK(arima(turned, plain(order.p, order.d, order.q), room).llf == Approx(arima(values, plain(order.p, order.d, order.q), room).llf).epsilon(0).margin(1e-3));
        }
    }
    double const ar[]{0.7, -0.4}, ma[]{0.3, 0.5};
    auto const x = normal_values{5}.many(80);
    series const turned(x.rbegin(), x.rend());
    CHECK(*arma_log_likelihood(x, ar, ma, 1.5) == Approx(*arma_log_likelihood(turned, ar, ma, 1.5)).epsilon(1e-12));
}

TEST_CASE("a likelihood is told of what has one", "[arma_likelihood:degenerate]") {
    series const x{1, -1, 0.5, 2}, none, zero(4, 0.0), broken{1, NAN};
    double const one[]{1.0}, over[]{1.5}, half[]{0.5}, unknown[]{NAN};
    CHECK_FALSE(arma_log_likelihood(x, one, {}, 1));
    CHECK_FALSE(arma_log_likelihood(x, over, {}, 1));
    CHECK_FALSE(arma_log_likelihood(x, {}, over, 1));
    CHECK(arma_log_likelihood(x, {}, one, 1));
    CHECK_FALSE(arma_log_likelihood(x, unknown, {}, 1));
    CHECK_FALSE(arma_log_likelihood(broken, half, {}, 1));
    CHECK_FALSE(arma_log_likelihood(x, half, {}, 0));
    CHECK_FALSE(arma_log_likelihood(x, half, {}, INFINITY));
    CHECK_FALSE(arma_log_likelihood(x, std::vector<double>(9, 0.0), {}, 1));
    CHECK(*arma_log_likelihood(none, half, half, 1) == 0);
    CHECK(*arma_log_likelihood(zero, {}, {}, 2) == Approx(-4 * (std::log(2.0) + 0.5 * std::log(2 * std::numbers::pi))));
    CHECK(arma_log_likelihood(series{1}, half, half, 1));
    double const many[]{0.5, 0.2, -0.1, 0.1}; // fewer values than terms
    arima_answer model;
    model.order.p = 4;
    std::copy(std::begin(many), std::end(many), model.ar.begin());
    auto const variance = static_cast<double>(dense::covariances(model, 1)[0]);
    CHECK(*arma_log_likelihood(series{1}, many, {}, 1) == Approx(-0.5 * (std::log(2 * std::numbers::pi) + 1 / variance + std::log(variance))));
    CHECK(*arma_log_likelihood(series{1}, half, {}, 1) == Approx(-0.5 * (std::log(2 * std::numbers::pi) + 0.75 - std::log(0.75))));
}
