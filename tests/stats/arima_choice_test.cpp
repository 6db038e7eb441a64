// SPDX-License-Identifier: MIT
#include "support/arima.hpp"
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/stats/arima_choice.hpp>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("differences are taken where both tests ask for them", "[arima_choice:oracle]") {
    auto const levels = oracle("kpss.json"), roots = oracle("adf.json");
    std::map<std::string, double> stays, returns;
    for (auto const& c : *member(levels, "cases")->if_array())
        if (text(c, "regression") == "c" && text(c, "nlags") == "auto") stays[text(c, "series")] = number(*member(c, "exact"), "p");
    for (auto const& c : *member(roots, "cases")->if_array())
        if (text(c, "regression") == "c" && text(c, "autolag") == "AIC") returns[text(c, "series")] = number(*member(c, "exact"), "p");
    arima_choice_room room;
    int some = 0, none = 0;
    for (auto const& [name, p] : stays) {
        if (!returns.contains(name)) continue;
        INFO(name << " " << p << " " << returns[name]);
        bool const wanted = p <= 0.05 && returns[name] > 0.05;
        CHECK((differences_needed(all_series().at(name), 0.05, room) > 0) == wanted);
        ++(wanted ? some : none);
    }
    CHECK(some > 5);
    CHECK(none > 5);
}

TEST_CASE("the order chosen has the least corrected criterion of one number of differences", "[arima_choice:oracle]") {
    auto const file = oracle("arima.json");
    arima_choice_room room;
    std::map<std::string, std::vector<sb::value const*>> by_series;
    for (auto const& c : *member(file, "cases")->if_array()) by_series[text(c, "series")].push_back(&c);
    for (auto const& [name, all] : by_series)
        for (int const d : {0, 1}) {
            std::vector<arma_terms> candidates;
            std::vector<std::pair<double, std::size_t>> criteria;
            for (auto const* c : all) {
                auto const order = order_of(*c);
                if (order.d != static_cast<std::size_t>(d)) continue;
                auto const& best = *member(*c, "best_known");
                double const k = number(best, "k_params"), n = number(best, "nobs_effective");
                criteria.emplace_back(number(best, "aic") + 2 * k * (k + 1) / (n - k - 1), candidates.size());
                candidates.push_back({order.p, order.q});
            }
            std::sort(criteria.begin(), criteria.end());
            if (criteria[1].first - criteria[0].first < 0.01) continue;
            INFO(name << " " << d);
            arima_choice_request asked;
            asked.candidates = candidates, asked.d = d;
            auto const got = choose_arima(all_series().at(name), asked, room);
            REQUIRE(got);
            CHECK(got.tried == candidates.size());
            CHECK(got.answered == candidates.size());
            auto const& want = candidates[criteria[0].second];
            CHECK((got.best.order.p == want.p && got.best.order.q == want.q));
            CHECK(got.best.aicc == Approx(criteria[0].first).epsilon(0).margin(0.01));
        }
}

TEST_CASE("the forecast of a series with a slope goes on with it", "[arima_choice:property]") {
    normal_values chance{53};
    arima_choice_room room;
    double off = 0;
    for (int round = 0; round < 10; ++round) {
        auto x = chance.many(60);
        for (std::size_t t = 0; t < x.size(); ++t) x[t] += 100 + 0.5 * static_cast<double>(t);
        std::vector<forecast_point> next(20);
        REQUIRE(forecast(choose_arima(x, {}, room).best, next) == no_answer::none);
        off += std::abs(next.back().mean - (100 + 0.5 * 79)) / 10;
    }
    CHECK(off < 1); // 0.93 without a slope to choose, of series half as long 2.4
}

TEST_CASE("the interval of a choice is that of a model with as much freedom as the largest that was compared", "[arima_choice:property]") {
    auto const x = normal_values{54}.many(30);
    arma_terms const few[]{{1, 0}, {2, 1}};
    arima_choice_request asked;
    asked.candidates = few, asked.d = 1;
    auto const got = choose_arima(x, asked);
    REQUIRE(got);
    CHECK(got.most_coefficients == 3); // with one difference there is no constant
    forecast_point own[4], wider[4];
    REQUIRE(forecast(got.best, own, 0.9) == no_answer::none);
    REQUIRE(forecast(got, wider, 0.9) == no_answer::none);
    for (int h = 0; h < 4; ++h) {
        CHECK(wider[h].mean == own[h].mean);
        CHECK(wider[h].error == Approx(own[h].error * std::sqrt(32.0 / 26)));
        CHECK(wider[h].hi - wider[h].mean == Approx(1.7056179197592727 * wider[h].error)); // of t with 26
        CHECK(wider[h].mean - wider[h].lo == Approx(1.7056179197592727 * wider[h].error));
    }
    CHECK(forecast(got, wider, 1) == no_answer::bad_request);
    CHECK(forecast(choose_arima(series{1, 2}), wider) == no_answer::too_short);
    CHECK(choose_arima(std::span{x}.first(8)).most_coefficients <= 2); // of so few values no larger model is one to choose
}

TEST_CASE("what made a series is mostly what is chosen", "[arima_choice:property]") {
    normal_values chance{51};
    arima_choice_room room;
    arima_choice_request asked;
    asked.effort = {4, 1, 4, 5, 2};
    int walks = 0, regressions = 0, averages = 0;
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
        auto walk = chance.many(120), regression = chance.many(120), average = chance.many(121);
        for (std::size_t t = 1; t < 120; ++t) walk[t] += walk[t - 1], regression[t] += 0.6 * regression[t - 1];
        for (std::size_t t = 0; t < 120; ++t) average[t] = average[t + 1] + 0.8 * average[t];
        average.pop_back();
        auto const a = choose_arima(walk, asked, room), b = choose_arima(regression, asked, room), c = choose_arima(average, asked, room);
        walks += a.d == 1, regressions += b.d == 0 && b.best.order.p >= 1, averages += c.d == 0 && c.best.order.q >= 1;
        CHECK(a.tried == (a.d == 1 ? 18 : 9)); // with a slope, and without
    }
    CHECK(walks >= 15);
    CHECK(regressions >= 15);
    CHECK(averages >= 15);
}

TEST_CASE("where nothing can be chosen there is a reason", "[arima_choice:degenerate]") {
    auto const why = [](series const& x) { return choose_arima(x).best.why; };
    CHECK(why({}) == no_answer::too_short);
    CHECK(why({1}) == no_answer::too_short);
    CHECK(why({1, 2}) == no_answer::too_short);
    CHECK(why(series(40, 3.0)) == no_answer::constant);
    CHECK(why({1, 2, NAN, 1, 2, 3, 4, 5}) == no_answer::not_finite);
    series ramp;
    for (int i = 0; i < 40; ++i) ramp.push_back(0.1 * i);
    CHECK(why(ramp) == no_answer::perfect_fit);
    CHECK(choose_arima(ramp).d == 1);
    arima_choice_request asked;
    asked.d = 3;
    CHECK(choose_arima(ramp, asked).best.why == no_answer::bad_request);
    asked.d = -1, asked.level = 0;
    CHECK(choose_arima(ramp, asked).best.why == no_answer::bad_request);
    // short, but long enough for some of the candidates
    auto const got = choose_arima(series{1, 3, 2, 4, 1});
    CHECK(got);
    CHECK(got.answered < got.tried);
}
