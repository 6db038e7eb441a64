// SPDX-License-Identifier: MIT
// Tests of arima.hpp and forecast.hpp.
#include "support/arima.hpp"
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/stats/arima.hpp>
#include <sb/stats/forecast.hpp>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("forecasts are those of the tool that came nearest to the best", "[arima:oracle][forecast:oracle]") {
    int compared = 0;
    each_oracle_model([&](sb::value const& c, arima_answer const& got) {
        auto const& exact = *member(c, "exact_llf_at_each_tools_estimate");
        double const sm = number(exact, "sm"), r = number(exact, "R");
        bool const take_r = std::isnan(sm) || r > sm;
        if (std::abs(got.llf - (take_r ? r : sm)) > 1e-4) return; // theirs is another hill
        auto const& tool = *member(c, take_r ? "R" : "statsmodels");
        auto const means = numbers(*member(tool, "forecast")), errors = numbers(*member(tool, "se"));
        std::vector<forecast_point> steps(means.size());
        REQUIRE(forecast(got, steps) == no_answer::none);
        for (std::size_t h = 0; h < steps.size(); ++h) {
            CHECK(std::abs(steps[h].mean - means[h]) < 1e-2 * errors[h]);
            CHECK(steps[h].error == Approx(errors[h]).epsilon(1e-2));
            CHECK(steps[h].hi - steps[h].mean == Approx(1.959963984540054 * steps[h].error));
            CHECK(steps[h].mean - steps[h].lo == Approx(1.959963984540054 * steps[h].error));
        }
        ++compared;
    });
    CHECK(compared > 80);
}

TEST_CASE("forecasts are those of the whole matrix, the growth by integration in it", "[forecast:property][arima:property]") {
    constexpr std::size_t steps = 6;
    for (auto const& [name, whole] : all_series()) {
        if (whole.size() > 60) continue;
        auto const n = whole.size();
        std::vector<series> columns(1);
        for (std::size_t t = 0; t < n + steps; ++t) columns[0].push_back(std::sin(0.7 * static_cast<double>(t)));
        for (auto const& order : {arima_order{1, 0, 0}, {0, 1, 1}, {2, 1, 2}, {2, 0, 1}, {1, 2, 1}, {0, 0, 3}, {3, 1, 0}})
            for (bool const more : {false, true}) {
                INFO(name << " " << order.p << order.d << order.q << " " << more);
                auto asked = plain(order.p, order.d, order.q);
                auto const known = views(columns, 0, n), coming = views(columns, n);
                if (more) asked.regressors = known, asked.constant = arima_constant::with;
                auto const got = arima(whole, asked);
                if (!got && order.d == 2 && name.starts_with("dev_rw_off1e9")) continue;
                REQUIRE(got);
                std::vector<forecast_point> told(steps);
                REQUIRE(forecast(got, told, 0.9, more ? coming : std::vector<std::span<double const>>{}) == no_answer::none);
                auto const used = more ? columns : std::vector<series>{};
                std::vector<series> past;
                for (auto const& each : used) past.emplace_back(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(n));
                auto const left = remainder(got, whole, past);
                auto const m = left.size();
                dense const matrix{got, m + steps};
                auto const e = matrix.whitened(left);
                // what is to come of the differenced series: its mean, and its share of each innovation
                std::vector<long double> mean(steps, 0);
                for (std::size_t h = 0; h < steps; ++h) {
                    for (std::size_t k = 0; k < m; ++k) mean[h] += matrix.lower[(m + h) * matrix.n + k] * e[k];
                    mean[h] += got.constant;
                    if (more) {
                        auto const column = differenced(columns[0], order.d);
                        mean[h] += got.coefficients[0] * column[m + h];
                    }
                }
                std::vector<std::vector<long double>> share(steps, std::vector<long double>(steps, 0));
                for (std::size_t h = 0; h < steps; ++h)
                    for (std::size_t k = 0; k <= h; ++k) share[h][k] = matrix.lower[(m + h) * matrix.n + m + k];
                for (std::size_t d = order.d; d > 0; --d) {
                    auto const before = differenced(whole, d - 1);
                    for (std::size_t h = 0; h < steps; ++h) {
                        mean[h] += h == 0 ? static_cast<long double>(before.back()) : mean[h - 1];
                        for (std::size_t k = 0; k < steps && h > 0; ++k) share[h][k] += share[h - 1][k];
                    }
                }
                for (std::size_t h = 0; h < steps; ++h) {
                    long double squares = 0;
                    for (auto const each : share[h]) squares += each * each;
                    double const error = static_cast<double>(std::sqrt(squares)) * got.deviation;
                    CHECK(told[h].error == Approx(error).epsilon(1e-5));
                    CHECK(std::abs(told[h].mean - static_cast<double>(mean[h])) < 1e-5 * error + 1e-12 * std::abs(told[h].mean));
                    CHECK(told[h].hi - told[h].mean == Approx(1.6448536269514722 * error).epsilon(1e-5));
                }
            }
    }
}

TEST_CASE("an interval of a forecast holds what it says, where values are many", "[forecast:property]") {
    normal_values chance{41};
    arima_room room;
    int within = 0, far_within = 0;
    constexpr int rounds = 400;
    for (int round = 0; round < rounds; ++round) {
        auto x = chance.many(205);
        for (std::size_t t = 1; t < x.size(); ++t) x[t] += 0.6 * x[t - 1];
        auto asked = plain(1, 0, 0);
        asked.effort = {4, 0, 2, 5, 1};
        auto const got = arima(std::span<double const>{x}.first(200), asked, room);
        std::array<forecast_point, 5> steps{};
        REQUIRE(forecast(got, steps, 0.9) == no_answer::none);
        within += x[200] >= steps[0].lo && x[200] <= steps[0].hi;
        far_within += x[204] >= steps[4].lo && x[204] <= steps[4].hi;
    }
    CHECK(std::abs(within - 0.9 * rounds) < 3 * std::sqrt(0.09 * rounds));
    CHECK(std::abs(far_within - 0.9 * rounds) < 3 * std::sqrt(0.09 * rounds));
}
