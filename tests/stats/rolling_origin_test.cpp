// SPDX-License-Identifier: MIT
#include <sb/stats/conformal.hpp>
#include <sb/stats/rolling_origin.hpp>
#include <sb/stats/smoothing.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {

using forecaster = std::function<bool(std::span<double const>, std::span<double>)>;
std::map<std::string, forecaster> const plain{{"naive", forecast_naive}, {"drift", forecast_drift}, {"mean", forecast_mean}};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

} // namespace

TEST_CASE("scores of plain forecasters are those of sixty digits", "[rolling_origin:oracle]") {
    auto const file = oracle("rolling_origin.json");
    auto const& series = *member(file, "series");
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const values = numbers(*member(series, text(c, "series")));
        auto const of = [&](char const* key) { return static_cast<std::size_t>(number(c, key)); };
        INFO(text(c, "series") << " " << text(c, "forecaster") << " " << of("horizon"));
        auto const got = rolling_origin(values, {of("horizon"), of("first"), of("step"), of("window")}, plain.at(text(c, "forecaster")));
        REQUIRE(got);
        auto const& scores = *member(c, "scores")->if_array();
        REQUIRE(got.horizons.size() == scores.size());
        for (std::size_t h = 0; h < scores.size(); ++h) {
            auto const& score = got.horizons[h];
            double const rounding = 1e-16 * std::abs(values[0]); // of a forecast near the values
            CHECK(score.n == static_cast<std::size_t>(number(scores[h], "n")));
            CHECK(score.missing == 0);
            CHECK(score.mae == Approx(number(scores[h], "mae")).epsilon(1e-12).margin(rounding));
            CHECK(score.rmse == Approx(number(scores[h], "rmse")).epsilon(1e-12).margin(rounding));
            CHECK(score.bias == Approx(number(scores[h], "bias")).epsilon(1e-12).margin(rounding + 1e-14 * score.mae));
            CHECK(score.naive_mae == Approx(number(scores[h], "naive_mae")).epsilon(1e-12));
            CHECK(score.skill == Approx(number(scores[h], "skill")).margin(rounding + 1e-12));
            CHECK(score.mase == Approx(number(scores[h], "mase")).epsilon(1e-12).margin(rounding));
            CHECK(got.errors_at(h + 1).size() == score.n);
        }
    }
}

TEST_CASE("a forecaster sees the past alone: another future changes no forecast", "[rolling_origin:property]") {
    normal_values chance{61};
    auto const values = chance.many(40);
    for (std::size_t const window : {0u, 7u})
        for (std::size_t const step : {1u, 3u}) {
            std::vector<std::vector<double>> shown;
            std::vector<std::vector<double>> told;
            auto const watch = [&](std::span<double const> past, std::span<double> next) {
                shown.emplace_back(past.begin(), past.end());
                double sum = 0;
                for (std::size_t i = 0; i < past.size(); ++i) sum += past[i] * static_cast<double>(i + 1);
                for (std::size_t h = 0; h < next.size(); ++h) {
                    CHECK(std::isnan(next[h])); // nor does the room hold what was or will be
                    next[h] = sum + static_cast<double>(h);
                }
                told.emplace_back(next.begin(), next.end());
                return true;
            };
            origin_request const asked{3, 5, step, window};
            auto const all = rolling_origin(values, asked, watch);
            REQUIRE(shown.size() == all.origins);
            auto const first = told;
            for (std::size_t origin = 0; origin < all.origins; ++origin) {
                auto const now = 5 + origin * step;
                auto const& past = shown[origin];
                REQUIRE(past.size() == (window ? std::min(window, now) : now));
                for (std::size_t i = 0; i < past.size(); ++i) CHECK(past[i] == values[now - past.size() + i]);
                for (std::size_t h = 0; h < 3; ++h) { // an error is of what came so many steps after it
                    double const want = now + h < values.size() ? values[now + h] - first[origin][h] : NAN;
                    CHECK(same(all.errors[origin * 3 + h], want));
                }
            }
            for (std::size_t const cut : {10u, 20u, 35u}) { // the future is another from there on
                auto other = values;
                for (std::size_t i = cut; i < other.size(); ++i) other[i] = 1000 + chance.next();
                shown.clear(), told.clear();
                (void)rolling_origin(other, asked, watch);
                for (std::size_t origin = 0; origin < first.size(); ++origin)
                    CHECK((told[origin] == first[origin]) == (5 + origin * step <= cut));
            }
        }
}

TEST_CASE("a walk cannot be foretold better than by its last value, a ramp can", "[rolling_origin:property]") {
    normal_values chance{62};
    std::vector<double> walk(400), ramp(400), noise = chance.many(400, 7);
    double at = 0;
    for (std::size_t i = 0; i < walk.size(); ++i) walk[i] = at += chance.next(), ramp[i] = 3 * static_cast<double>(i) + chance.next();
    origin_request const asked{3, 20, 1, 0};
    auto const skill = [&](std::vector<double> const& values, forecaster const& by, std::size_t h) { return rolling_origin(values, asked, by).horizons[h].skill; };
    for (std::size_t h = 0; h < 3; ++h) {
        CHECK(skill(walk, forecast_naive, h) == 0);
        CHECK(skill(walk, forecast_mean, h) == 0);
        CHECK(skill(walk, forecast_drift, h) < 0.05);
        CHECK(skill(ramp, forecast_drift, h) > 0.5);
        CHECK(skill(ramp, forecast_mean, h) == 0);
        CHECK(skill(noise, forecast_mean, h) == Approx(1 - 1 / std::sqrt(2)).margin(0.05));
    }
    auto const naive = rolling_origin(walk, asked, forecast_naive).horizons[0];
    CHECK(naive.mase == Approx(1).margin(0.15));
    CHECK(naive.mae == naive.naive_mae);
    CHECK(rolling_origin(ramp, asked, forecast_naive).horizons[2].bias == Approx(9).margin(0.3));
}

TEST_CASE("units move no skill", "[rolling_origin:property]") {
    normal_values chance{63};
    auto const values = chance.many(60, 3);
    for (auto const& [name, by] : plain) {
        auto const want = rolling_origin(values, {2, 10, 1, 0}, by);
        for (int const power : {-532, 498}) {
            auto other = values;
            for (double& x : other) x = std::ldexp(x, power);
            auto const got = rolling_origin(other, {2, 10, 1, 0}, by);
            for (std::size_t h = 0; h < 2; ++h) {
                INFO(name << " " << power << " " << h);
                CHECK(got.horizons[h].skill == want.horizons[h].skill);
                CHECK(got.horizons[h].mase == want.horizons[h].mase);
                CHECK(std::ldexp(got.horizons[h].rmse, -power) == want.horizons[h].rmse);
                CHECK(std::ldexp(got.horizons[h].bias, -power) == want.horizons[h].bias);
            }
        }
    }
}

TEST_CASE("errors of earlier forecasts make intervals that hold the next values", "[rolling_origin:property][conformal:property]") {
    normal_values chance{64};
    smoothing_room room;
    int held = 0, asked_for = 0;
    for (int round = 0; round < 40; ++round) {
        std::vector<double> values;
        double level = 0;
        for (int i = 0; i < 60; ++i) {
            double const e = std::exp(chance.next()) - 1.6; // skewed
            values.push_back(level + e), level += 0.4 * e;
        }
        auto const smoothed = [&](std::span<double const> past, std::span<double> next) {
            auto const fit = smooth(past, {}, room);
            std::fill(next.begin(), next.end(), fit.level);
            return static_cast<bool>(fit);
        };
        auto const past = std::span{values}.first(50);
        auto const errors = rolling_origin(past, {1, 10, 1, 0}, smoothed).errors_at(1);
        REQUIRE(errors.size() == 40);
        auto const around = conformal(errors, 0.9);
        REQUIRE(around);
        auto const next = rolling_origin(values, {1, 50, 1, 0}, smoothed).errors_at(1);
        for (double const e : next) held += around.covers(e), ++asked_for;
    }
    INFO(held << " of " << asked_for);
    CHECK(held >= 0.87 * asked_for);
}

TEST_CASE("what cannot be scored says why", "[rolling_origin:degenerate]") {
    using series = std::vector<double>;
    auto const why = [](series const& x, origin_request const& asked) { return rolling_origin(x, asked, forecast_naive).why; };
    CHECK(why({}, {}) == no_answer::too_short);
    CHECK(why({1}, {}) == no_answer::too_short);
    CHECK(why({1, 2}, {}) == no_answer::too_short);
    CHECK(why({1, 2, 3}, {0, 2, 1, 0}) == no_answer::bad_request);
    CHECK(why({1, 2, 3}, {1, 1, 1, 0}) == no_answer::bad_request);
    CHECK(why({1, 2, 3}, {1, 2, 0, 0}) == no_answer::bad_request);
    CHECK(why({1, NAN, 3}, {}) == no_answer::not_finite);
    CHECK(why({1, INFINITY, 3}, {}) == no_answer::not_finite);
    CHECK(why({1e308, -1e308, 3}, {}) == no_answer::not_finite);
    // nothing moves: no error to measure by
    auto const flat = rolling_origin(series(9, 4), {}, forecast_mean);
    REQUIRE(flat);
    CHECK(flat.horizons[0].n == 7);
    CHECK(flat.horizons[0].mae == 0);
    CHECK(flat.horizons[0].skill_why == no_answer::constant);
    CHECK(std::isnan(flat.horizons[0].skill));
    CHECK(flat.horizons[0].mase_why == no_answer::constant);
    CHECK(std::isnan(flat.horizons[0].mase));
    // at first nothing moves: errors have no scale then, but skill has one
    auto const late = rolling_origin(series{4, 4, 4, 4, 5, 6, 5}, {}, forecast_naive);
    CHECK(late.horizons[0].mase_why == no_answer::constant);
    CHECK(late.horizons[0].skill_why == no_answer::none);
    CHECK(late.horizons[0].skill == 0);
    // further ahead than there are values
    auto const far = rolling_origin(series{1, 2, 4, 3}, {5, 2, 1, 0}, forecast_naive);
    CHECK(far.horizons[1].n == 1);
    CHECK(far.horizons[2].n == 0);
    CHECK(far.horizons[2].skill_why == no_answer::too_short);
    CHECK(std::isnan(far.horizons[2].mae));
    CHECK(far.errors_at(0).empty());
    CHECK(far.errors_at(6).empty());
    // who has nothing to say, or nothing finite, is told of, and scored by the rest
    auto const silent = rolling_origin(series{1, 2, 4, 3, 5, 7}, {1, 2, 1, 0}, [](std::span<double const> past, std::span<double> next) {
        next[0] = past.size() == 3 ? INFINITY : past.back();
        return past.size() != 2;
    });
    CHECK(silent.horizons[0].n == 2);
    CHECK(silent.horizons[0].missing == 2);
    CHECK(silent.horizons[0].naive_mae == 2);
    auto const mute = rolling_origin(series{1, 2, 4}, {}, [](std::span<double const>, std::span<double>) { return false; });
    CHECK(mute.horizons[0].missing == 1);
    CHECK(mute.horizons[0].skill_why == no_answer::too_short);
    double next[2]{};
    CHECK_FALSE(forecast_naive({}, next));
    CHECK_FALSE(forecast_mean({}, next));
    CHECK_FALSE(forecast_drift({}, next));
    CHECK_FALSE(forecast_drift(series{1}, next));
    CHECK(forecast_naive(series{3}, next));
    CHECK(next[1] == 3);
    CHECK(forecast_mean(series{3, 5}, next));
    CHECK(next[1] == 4);
    CHECK(forecast_drift(series{3, 4, 5}, next));
    CHECK(next[1] == 7);
    CHECK(forecast_drift(series{5, 5}, {}));
}
