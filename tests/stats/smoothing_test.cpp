// SPDX-License-Identifier: MIT
// Tests of smoothing.hpp, smoothing_filter.hpp and smoothing_search.hpp.
#include <sb/stats/smoothing.hpp>
#include <sb/stats/smoothing_filter.hpp>
#include <sb/stats/smoothing_search.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {

constexpr auto models = {smoothing_model::level, smoothing_model::trend, smoothing_model::damped_trend};

smoothing_model model_of(std::string const& name) {
    for (auto const each : models)
        if (name == name_of(each)) return each;
    throw name;
}
std::map<std::string, std::vector<double>> series_of(sb::value const& file) {
    std::map<std::string, std::vector<double>> made;
    for (auto const& [name, each] : *member(file, "series")->if_object()) made[std::string{name}] = numbers(each);
    return made;
}
smoothing_request by(smoothing_model model) { return {model, {}, {}, {}}; }

/// A series that one of the models has made, and what comes after it.
std::vector<double> made_by(normal_values& chance, std::size_t n, double alpha, double beta, double phi, double level = 0, double trend = 0) {
    std::vector<double> made;
    for (std::size_t i = 0; i < n; ++i) {
        double const e = chance.next(), foretold = level + phi * trend;
        made.push_back(foretold + e), level = foretold + alpha * e, trend = phi * trend + beta * e;
    }
    return made;
}

} // namespace

TEST_CASE("with given parameters all figures of a fit are those of fifty digits", "[smoothing:oracle][forecast:oracle]") {
    auto const file = oracle("smoothing.json");
    auto const series = series_of(file);
    smoothing_room room;
    for (auto const& c : *member(file, "fixed")->if_array()) {
        auto const& values = series.at(text(c, "series"));
        smoothing_request asked{model_of(text(c, "model")), number(c, "alpha"), {}, {}};
        if (member(c, "beta")) asked.beta = number(c, "beta");
        if (member(c, "phi")) asked.phi = number(c, "phi");
        INFO(text(c, "series") << " " << text(c, "model") << " " << *asked.alpha);
        auto const got = smooth(values, asked, room);
        INFO(name_of(got.why));
        REQUIRE(got);
        double const close = got.sigma * 1e-11 + 1e-15 * std::abs(got.level); // the level itself has no more digits
        CHECK(got.first_level == Approx(number(c, "first_level")).margin(close * 100).epsilon(1e-13));
        CHECK(got.first_trend == Approx(number(c, "first_trend")).margin(close * 100).epsilon(1e-11));
        CHECK(got.level == Approx(number(c, "level")).margin(close).epsilon(1e-15));
        CHECK(got.trend == Approx(number(c, "trend")).margin(close).epsilon(1e-11));
        CHECK(got.sse == Approx(number(c, "sse")).epsilon(1e-11));
        CHECK(got.sigma == Approx(number(c, "sigma")).epsilon(1e-11));
        CHECK(got.log_likelihood == Approx(number(c, "log_likelihood")).epsilon(1e-11));
        CHECK(got.aicc == Approx(number(c, "aicc")).epsilon(1e-11));
        auto const errors = numbers(*member(c, "errors"));
        REQUIRE(room.errors.size() == values.size());
        for (std::size_t i = 0; i < errors.size(); ++i) {
            auto const at = i < 5 ? i : values.size() - errors.size() + i; // of long ones the ends
            CHECK(room.errors[at] == Approx(errors[i]).margin(close));
        }
        auto const mean = numbers(*member(c, "mean")), known = numbers(*member(c, "error_known")), estimated = numbers(*member(c, "error_estimated"));
        std::vector<forecast_point> next(mean.size()), bare(mean.size());
        forecast(got, next), forecast(got, bare, 0.95, parameters_are::known);
        for (std::size_t h = 0; h < mean.size(); ++h) {
            CHECK(next[h].mean == Approx(mean[h]).margin(10 * close).epsilon(1e-15));
            CHECK(bare[h].mean == next[h].mean);
            CHECK(bare[h].error == Approx(known[h]).epsilon(1e-11));
            CHECK(next[h].error == Approx(estimated[h]).epsilon(1e-10));
        }
    }
}

TEST_CASE("the parameters found are where the slope of the squared errors is nothing", "[smoothing:oracle][forecast:oracle]") {
    auto const file = oracle("smoothing.json");
    auto const series = series_of(file);
    for (auto const& c : *member(file, "optimum")->if_array()) {
        INFO(text(c, "series") << " " << text(c, "model"));
        auto const got = smooth(series.at(text(c, "series")), by(model_of(text(c, "model"))));
        REQUIRE(got);
        CHECK(got.sse == Approx(number(c, "sse")).epsilon(1e-11));
        CHECK(got.aicc == Approx(number(c, "aicc")).epsilon(1e-11));
        CHECK(got.alpha == Approx(number(c, "alpha")).margin(2e-6));
        CHECK(got.beta == Approx(number(c, "beta")).margin(2e-6));
        CHECK(got.phi == Approx(number(c, "phi")).margin(2e-6));
        auto const mean = numbers(*member(c, "mean")), known = numbers(*member(c, "error_known")), estimated = numbers(*member(c, "error_estimated"));
        std::vector<forecast_point> next(mean.size()), bare(mean.size());
        forecast(got, next), forecast(got, bare, 0.95, parameters_are::known);
        for (std::size_t h = 0; h < mean.size(); ++h) {
            CHECK(next[h].mean == Approx(mean[h]).margin(1e-4 * got.sigma));
            CHECK(bare[h].error == Approx(known[h]).epsilon(1e-4));
            CHECK(next[h].error == Approx(estimated[h]).epsilon(1e-4));
        }
    }
}

TEST_CASE("no more is left unexplained than by statsmodels", "[smoothing:oracle]") {
    auto const file = oracle("smoothing.json");
    auto const series = series_of(file);
    smoothing_room room;
    int less = 0;
    for (auto const& c : *member(file, "peers")->if_array()) {
        INFO(text(c, "series") << " " << text(c, "model"));
        auto const got = smooth(series.at(text(c, "series")), by(model_of(text(c, "model"))), room);
        REQUIRE(got);
        double best = INFINITY;
        for (auto const* peer : {"ets_model", "holt_winters"})
            if (double const sse = number(c, peer); std::isfinite(sse)) best = std::min(best, sse);
        CHECK(got.sse <= best * (1 + 1e-9));
        less += got.sse < best * (1 - 1e-3);
        CHECK(got.beta <= got.alpha);
        CHECK((got.alpha >= 0 && got.alpha <= 1 && got.beta >= 0 && got.phi >= 0.8 && got.phi <= 1));
    }
    CHECK(less > 10);
}

TEST_CASE("narrow hollows are found", "[smoothing:oracle]") {
    auto const file = oracle("smoothing.json");
    auto const series = series_of(file);
    for (auto const& c : *member(file, "hard")->if_array()) {
        INFO(text(c, "series") << " " << text(c, "model"));
        auto const got = smooth(series.at(text(c, "series")), by(model_of(text(c, "model"))));
        REQUIRE(got);
        CHECK(got.sse <= number(c, "sse") * (1 + 1e-9));
    }
}

TEST_CASE("units and offsets move no parameter", "[smoothing:property]") {
    normal_values chance{31};
    for (int round = 0; round < 6; ++round) {
        auto const values = made_by(chance, 30, 0.4, 0.1, 0.9, 5, 1);
        for (auto const model : models) {
            auto const got = smooth(values, by(model));
            REQUIRE(got);
            for (int const power : {-532, -20, 498}) { // about 1e-160 … 1e150
                auto other = values;
                for (double& x : other) x = std::ldexp(x, power);
                auto const same = smooth(other, by(model));
                REQUIRE(same);
                CHECK(same.alpha == got.alpha);
                CHECK(same.beta == got.beta);
                CHECK(same.phi == got.phi);
                CHECK(std::ldexp(same.sigma, -power) == got.sigma);
                forecast_point a[3], b[3];
                forecast(got, a), forecast(same, b);
                for (int h = 0; h < 3; ++h) CHECK(std::ldexp(b[h].mean, -power) == a[h].mean);
                for (int h = 0; h < 3; ++h) CHECK(std::ldexp(b[h].error, -power) == a[h].error);
            }
            auto far = values;
            for (double& x : far) x += 0x1p30; // 1.07e9
            auto const same = smooth(far, by(model));
            REQUIRE(same);
            CHECK(same.sse == Approx(got.sse).epsilon(1e-7)); // the values have been rounded to 1e-7
            CHECK(same.level - 0x1p30 == Approx(got.level).margin(1e-3));
        }
    }
}

TEST_CASE("intervals hold as many of the next values as they say, of short series too", "[smoothing:property][forecast:property]") {
    normal_values chance{32};
    constexpr int rounds = 1500;
    smoothing_room room;
    for (std::size_t const n : {8u, 15u, 40u}) {
        int held[2]{}, bare[2]{};
        for (int round = 0; round < rounds; ++round) {
            auto const all = made_by(chance, n + 5, 0.5, 0, 1);
            auto const got = smooth(std::span{all}.first(n), {}, room);
            forecast_point next[5], known[5];
            forecast(got, next, 0.9), forecast(got, known, 0.9, parameters_are::known);
            for (std::size_t const i : {0u, 1u}) {
                auto const h = i * 4;
                held[i] += next[h].lo <= all[n + h] && all[n + h] <= next[h].hi;
                bare[i] += known[h].lo <= all[n + h] && all[n + h] <= known[h].hi;
            }
        }
        INFO(n << ": " << held[0] << " " << held[1] << " of " << rounds << ", known " << bare[0] << " " << bare[1]);
        CHECK(held[0] >= 0.87 * rounds);
        CHECK(held[0] <= 0.94 * rounds);
        CHECK(held[1] >= 0.82 * rounds);
        CHECK(held[0] >= bare[0]);
        CHECK(held[1] >= bare[1]);
    }
}

TEST_CASE("of the three models the one that made the series is chosen when it is plain", "[smoothing:property]") {
    normal_values chance{33};
    smoothing_room room;
    int right[3]{};
    for (int round = 0; round < 100; ++round) {
        auto const flat = made_by(chance, 60, 0.3, 0, 1), rising = made_by(chance, 60, 0.3, 0.1, 1, 0, 2), fading = made_by(chance, 60, 0.3, 0.05, 0.85, 0, 20);
        right[0] += smooth_best(flat, room).model == smoothing_model::level;
        right[1] += smooth_best(rising, room).model == smoothing_model::trend;
        right[2] += smooth_best(fading, room).model == smoothing_model::damped_trend;
    }
    INFO(right[0] << " " << right[1] << " " << right[2]);
    CHECK(right[0] >= 60); // AICc takes a trend for granted more often than a test would
    CHECK(right[1] >= 70);
    CHECK(right[2] >= 70);
}

TEST_CASE("the choice is by the least AICc, and the errors lent are the chosen model's", "[smoothing:oracle]") {
    auto const file = oracle("smoothing.json");
    smoothing_room room, own;
    for (auto const& [name, values] : series_of(file)) {
        INFO(name);
        auto const best = smooth_best(values, room);
        REQUIRE(best);
        double least = INFINITY;
        for (auto const model : models) least = std::min(least, smooth(values, by(model)).aicc);
        CHECK(best.aicc == least);
        auto const same = smooth(values, by(best.model), own);
        CHECK(same.sse == best.sse);
        CHECK(own.errors == room.errors);
    }
}

TEST_CASE("what smoothing has no answer to gets a reason", "[smoothing:degenerate][forecast:degenerate]") {
    for (auto const model : models) {
        auto const why = [&](std::vector<double> const& x) { return smooth(x, by(model)).why; };
        CHECK(why({}) == no_answer::too_short);
        CHECK(why({1}) == no_answer::constant);
        CHECK(why({1, 2}) == (model == smoothing_model::level ? no_answer::no_freedom : no_answer::too_short));
        CHECK(why(std::vector<double>(30, 0.1)) == no_answer::constant);
        CHECK(why({1, 2, NAN, 3, 4, 5, 6, 7}) == no_answer::not_finite);
        CHECK(why({1, 2, INFINITY, 3, 4, 5, 6, 7}) == no_answer::not_finite);
        CHECK(why({1e308, -1e308, 1, 3, 4, 5, 6, 7}) == no_answer::not_finite);
        CHECK(std::isnan(smooth(std::vector<double>(30, 0.1), by(model)).sigma));
    }
    CHECK(smooth(std::vector<double>{1, 2, 3, 5}, by(smoothing_model::trend)).why == no_answer::no_freedom);
    CHECK(smooth(std::vector<double>{1, 2, 3, 5, 4}, by(smoothing_model::damped_trend)).why == no_answer::no_freedom);
    for (std::size_t const n : {7u, 30u, 1000u, 5000u})
        for (double const offset : {0.0, 1e9, -1e-3}) {
            std::vector<double> ramp, fading;
            double step = 1, at = offset;
            for (std::size_t i = 0; i < n; ++i) ramp.push_back(offset + 0.1 * static_cast<double>(i)), fading.push_back(at += step *= 0.9);
            INFO(n << " " << offset);
            CHECK(smooth(ramp)); // a level alone lags behind it
            CHECK(smooth(ramp, by(smoothing_model::trend)).why == no_answer::perfect_fit);
            CHECK(smooth(fading, by(smoothing_model::damped_trend)).why == no_answer::perfect_fit);
            CHECK(smooth_best(ramp).why == no_answer::perfect_fit);
            CHECK(smooth_best(fading).why == no_answer::perfect_fit);
        }
    std::vector<double> const some{1, 3, 2, 5, 4, 6, 8, 7, 9};
    auto const bad = [&](smoothing_request const& asked) { return smooth(some, asked).why == no_answer::bad_request; };
    CHECK(bad({smoothing_model::level, 1.1, {}, {}}));
    CHECK(bad({smoothing_model::level, -0.1, {}, {}}));
    CHECK(bad({smoothing_model::level, NAN, {}, {}}));
    CHECK(bad({smoothing_model::level, {}, 0.1, {}}));
    CHECK(bad({smoothing_model::trend, {}, {}, 0.9}));
    CHECK(bad({smoothing_model::trend, 0.2, 0.3, {}}));
    CHECK(bad({smoothing_model::damped_trend, {}, {}, 0.0}));
    CHECK(bad({smoothing_model::damped_trend, {}, {}, 1.1}));
    for (auto const& [alpha, beta] : {std::pair{0.0, 0.0}, {1.0, 1.0}, {0.5, 0.5}, {0.5, 0.0}}) {
        auto const got = smooth(some, {smoothing_model::damped_trend, alpha, beta, {}});
        CHECK(got);
        CHECK(got.alpha == alpha);
        CHECK(got.beta == beta);
    }
    CHECK(smooth(some, {smoothing_model::trend, 0.0, {}, {}}).freedom == 7); // no beta to look for
    CHECK(smooth(some, {smoothing_model::trend, {}, 0.3, {}}).alpha >= 0.3);
    CHECK(smooth_best({}).why == no_answer::too_short);
    CHECK(smooth_best(std::vector<double>{1, 2}).why == no_answer::no_freedom);
    CHECK(smooth_best(std::vector<double>(9, 3)).why == no_answer::constant);
    auto const three = smooth_best(std::vector<double>{1, 2, 4}); // an answer, with an interval that says how little it is worth
    CHECK(three);
    CHECK(three.aicc == INFINITY);
    CHECK(three.freedom == 1);
    forecast_point wide[2], none[2];
    forecast(three, wide);
    CHECK(wide[0].hi - wide[0].lo > 20 * three.sigma);
    forecast({}, {});
    forecast(smooth({}), none);
    CHECK(std::isnan(none[1].mean));
    CHECK(std::isnan(none[1].lo));
    for (double const confidence : {0.0, 1.0, -1.0, static_cast<double>(NAN)}) {
        forecast(three, none, confidence);
        CHECK(std::isnan(none[0].hi));
    }
}
