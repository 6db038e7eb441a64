// SPDX-License-Identifier: MIT
// Tests of adf.hpp and mackinnon.hpp.
#include <sb/core/random.hpp>
#include <sb/stats/adf.hpp>
#include <sb/stats/mackinnon.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <limits>
#include <string>

using namespace sb::stats;
using namespace sb::test;

namespace {
trend trend_of(std::string_view word) { return word == "n" ? trend::none : word == "c" ? trend::constant : word == "ct" ? trend::linear : trend::quadratic; }
lag_choice choice_of(std::string_view word) { return word == "AIC" ? lag_choice::aic : word == "BIC" ? lag_choice::bic : word == "t-stat" ? lag_choice::t_stat : lag_choice::fixed; }
} // namespace

TEST_CASE("the Dickey-Fuller test agrees with exact arithmetic", "[adf:oracle]") {
    auto const& series = all_series();
    auto const file = oracle("adf.json");
    adf_room room;
    double worst = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const name = text(c, "series");
        auto const& exact = *member(c, "exact");
        adf_request const asked{trend_of(text(c, "regression")), choice_of(text(c, "autolag")), static_cast<int>(number(c, "maxlag"))};
        INFO(name << " " << text(c, "regression") << " " << text(c, "autolag") << " " << asked.most_lags);
        auto const got = adf(series.at(name), asked, room);
        INFO(name_of(got.why));
        REQUIRE(got);
        CHECK(got.lag == static_cast<int>(number(exact, "lag")));
        CHECK(got.used == static_cast<std::size_t>(number(exact, "nobs")));
        auto const want = number(exact, "stat");
        worst = std::max(worst, std::abs(got.statistic - want) / std::max(1.0, std::abs(want)));
        CHECK(got.statistic == Approx(want).epsilon(1e-8).margin(1e-8));
        CHECK(got.p == Approx(number(exact, "p")).epsilon(1e-8).margin(1e-12));
        if (auto const ic = number(exact, "ic"); !std::isnan(ic)) CHECK(got.criterion == Approx(ic).epsilon(1e-8).margin(1e-8));
    }
    CAPTURE(worst);
    CHECK(worst < 1e-10);
}

TEST_CASE("R's urca agrees at fixed lags", "[adf:oracle]") {
    auto const& series = all_series();
    auto const file = oracle("adf.json");
    int seen = 0;
    for (auto const& c : *member(file, "R_cross_check")->if_array()) {
        auto const type = text(c, "type");
        if (type != "none" && type != "drift" && type != "trend") continue;
        // lm drops the level's column there, and ur.df reads another coefficient for it
        if (type != "none" && text(c, "series").starts_with("dev_rw_off1e9")) continue;
        auto const with = type == "none" ? trend::none : type == "drift" ? trend::constant : trend::linear;
        INFO(text(c, "series") << " " << type << " " << number(c, "lags"));
        auto const got = adf(series.at(text(c, "series")), {with, lag_choice::fixed, static_cast<int>(number(c, "lags"))});
        REQUIRE(got);
        CHECK(got.statistic == Approx(number(c, "stat")).epsilon(1e-9));
        ++seen;
    }
    CHECK(seen > 10);
}

TEST_CASE("what has no answer gets a reason and never a small p", "[adf:degenerate]") {
    auto const file = oracle("traps.json");
    int seen = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        if (text(c, "test") != "adf") continue;
        ++seen;
        auto const name = text(c, "case");
        auto const with = trend_of(text(c, "regression"));
        INFO(name << " " << text(c, "regression"));
        auto const got = adf(numbers(*member(c, "x")), {with, lag_choice::aic, -1});
        INFO(name_of(got.why));
        auto const why = text(c, "degenerate");
        if (name == "pure sine") { // regular only in the rounding of its decimals: two differences before explain each
            CHECK(got.why == no_answer::collinear);
        } else if (why.empty()) {
            auto const& theirs = *member(c, "statsmodels_0_13_5");
            REQUIRE(got);
            CHECK(got.lag == static_cast<int>(number(theirs, "lag")));
            CHECK(got.statistic == Approx(number(theirs, "stat")).epsilon(1e-8).margin(1e-8));
            CHECK(got.p == Approx(number(theirs, "p")).epsilon(1e-8).margin(1e-8));
        } else {
            CHECK_FALSE(got);
            CHECK(std::isnan(got.p));
            if (why == "constant") CHECK(got.why == no_answer::constant);
            else if (why == "too short") CHECK(got.why == no_answer::too_short);
            else if (why == "not finite") CHECK(got.why == no_answer::not_finite);
            else CHECK((got.why == no_answer::collinear || got.why == no_answer::perfect_fit || got.why == no_answer::no_freedom));
        }
    }
    CHECK(seen == 69);
    CHECK(adf({}).why == no_answer::too_short);
    auto const& values = all_series().at("Nile");
    CHECK(adf(values, {trend::constant, lag_choice::aic, 49}).why == no_answer::bad_request);
    CHECK(adf(values, {trend::constant, lag_choice::aic, 48}));
    CHECK(adf(values, {trend::none, lag_choice::fixed, 49}).why == no_answer::no_freedom);
    std::vector<double> const wide{-1e308, 1e308, 1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(adf(wide).why == no_answer::not_finite);
}

TEST_CASE("units, offsets and the time's direction of measuring do not move the statistic", "[adf:property]") {
    for (auto const& [name, values] : all_series()) {
        if (name.starts_with("dev_rw_off")) continue;
        for (auto const with : {trend::none, trend::constant, trend::linear, trend::quadratic}) {
            INFO(name << " " << terms_of(with));
            auto const got = adf(values, {with, lag_choice::aic, -1});
            if (got.why == no_answer::no_freedom && values.size() == 20 && with == trend::none) continue; // as many lags as Schwert's rule allows
            REQUIRE(got);
            for (int const power : {-500, -33, 33, 500}) { // exact in binary
                auto scaled = values;
                for (auto& x : scaled) x = std::ldexp(x, power);
                auto const other = adf(scaled, {with, lag_choice::aic, -1});
                CHECK(other.statistic == got.statistic);
                CHECK(other.lag == got.lag);
            }
            auto turned = values;
            for (auto& x : turned) x = -x;
            CHECK(adf(turned, {with, lag_choice::aic, -1}).statistic == Approx(got.statistic).epsilon(1e-12));
        }
    }
    // a whole number added to whole numbers is exact
    auto const walk = [] {
        sb::random_stream chance{7};
        std::vector<double> all{0};
        for (int i = 1; i < 300; ++i) all.push_back(all.back() + static_cast<double>(chance.below(2001)) - 1000);
        return all;
    }();
    auto moved = walk;
    for (auto& x : moved) x += 1e12;
    for (auto const with : {trend::constant, trend::linear, trend::quadratic}) CHECK(adf(moved, {with, lag_choice::bic, -1}).statistic == Approx(adf(walk, {with, lag_choice::bic, -1}).statistic).epsilon(1e-11));
}

TEST_CASE("every instruction set gives the same bytes", "[adf:property]") {
    auto const best = sb::best_instruction_set();
    adf_room room;
    for (auto const& [name, values] : all_series())
        for (auto const with : {trend::none, trend::constant, trend::linear, trend::quadratic})
            for (auto const choice : {lag_choice::aic, lag_choice::t_stat}) {
                INFO(name << " " << terms_of(with));
                vector_unit const plain{sb::instruction_set::plain};
                auto const want = detail::adf_test{values, {with, choice, -1}, room, plain}.run();
                for (auto const set : {sb::instruction_set::avx2, sb::instruction_set::avx512}) {
                    if (set > best) continue;
                    vector_unit const unit{set};
                    auto const got = detail::adf_test{values, {with, choice, -1}, room, unit}.run();
                    CHECK(got.why == want.why);
                    CHECK((std::isnan(want.statistic) ? std::isnan(got.statistic) : got.statistic == want.statistic));
                    CHECK((std::isnan(want.criterion) ? std::isnan(got.criterion) : got.criterion == want.criterion));
                    CHECK(got.lag == want.lag);
                }
            }
}

TEST_CASE("MacKinnon's surfaces", "[mackinnon:oracle]") {
    auto const file = oracle("mackinnon.json");
    for (auto const& c : *member(file, "p_values")->if_array()) {
        INFO(text(c, "regression") << " " << number(c, "tau"));
        CHECK(dickey_fuller_p(number(c, "tau"), trend_of(text(c, "regression"))) == Approx(number(c, "p")).epsilon(1e-12).margin(0));
    }
    for (auto const& c : *member(file, "critical")->if_array()) {
        auto const many = sb::number_or(*member(c, "nobs"), INFINITY); // it says so in words
        auto const got = dickey_fuller_critical(trend_of(text(c, "regression")), many);
        INFO(text(c, "regression") << " " << many);
        CHECK(got[0] == Approx(number(c, "1%")).epsilon(1e-12));
        CHECK(got[1] == Approx(number(c, "5%")).epsilon(1e-12));
        CHECK(got[2] == Approx(number(c, "10%")).epsilon(1e-12));
    }
}

TEST_CASE("MacKinnon's p rises with the statistic but for the joint, and the critical values are where p says", "[mackinnon:property]") {
    for (auto const with : {trend::none, trend::constant, trend::linear, trend::quadratic}) {
        double last = 0;
        for (double tau = -25; tau < 5; tau += 0.01) {
            double const p = dickey_fuller_p(tau, with);
            CHECK(p >= last - 0.004);
            CHECK((p >= 0 && p <= 1));
            last = p;
        }
        auto const critical = dickey_fuller_critical(with, 1e9);
        CHECK(dickey_fuller_p(critical[0], with) == Approx(0.01).margin(0.001));
        CHECK(dickey_fuller_p(critical[1], with) == Approx(0.05).margin(0.002));
        CHECK(dickey_fuller_p(critical[2], with) == Approx(0.10).margin(0.004));
    }
}

TEST_CASE("MacKinnon's surfaces end, and have nothing for no observations", "[mackinnon:degenerate]") {
    double const inf = std::numeric_limits<double>::infinity();
    for (auto const with : {trend::none, trend::constant, trend::linear, trend::quadratic}) {
        CHECK(dickey_fuller_p(-inf, with) == 0);
        CHECK(dickey_fuller_p(100, with) == 1);
        CHECK(std::isnan(dickey_fuller_p(std::numeric_limits<double>::quiet_NaN(), with)));
        for (double const none : {0.0, -1.0, double{NAN}})
            for (double const c : dickey_fuller_critical(with, none)) CHECK(std::isnan(c));
    }
}
