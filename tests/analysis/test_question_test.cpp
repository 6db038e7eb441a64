// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/test_question.hpp>
#include <functional>
#include <limits>
#include <string>

using sb::analysis::test_question;

namespace {

std::string refused(char const* test, std::function<void(test_question&)> const& change = {}) {
    test_question asked;
    asked.test = test;
    if (change) change(asked);
    auto const checked = asked.check();
    return checked.has_error() ? checked.error().what : "";
}

} // namespace

TEST_CASE("what is asked without an option can be answered, but for a margin that nobody else knows") {
    for (auto const* test : {"adf", "kpss", "pp", "levene", "ks", "psi", "compare", "correlation", "trend", "forecast", "changepoint", "ci"}) CHECK(refused(test).empty());
    CHECK(refused("converged").starts_with("--margin is missing"));
}

TEST_CASE("the ends of each range are taken, and what lies beyond is refused by its option's name") {
    struct bound {
        char const* flag;
        std::function<void(test_question&, double)> set;
        double least, most, step; ///< step: from an end to the first that is refused
    };
    auto const whole = [](auto member) { return [member](test_question& q, double x) { q.*member = static_cast<std::int64_t>(x); }; };
    for (auto const& range : {
             bound{"--shuffles", whole(&test_question::shuffles), 19, 1e6, 1}, bound{"--passes", whole(&test_question::passes), 1, 1000, 1},
             bound{"--bins", whole(&test_question::bins), 2, 1e4, 1}, bound{"--maxlag", whole(&test_question::maxlag), 0, 1e6, 1},
             bound{"--steps", whole(&test_question::steps), 1, 1e4, 1}, bound{"--least", whole(&test_question::least), 1, 1e6, 1},
             bound{"--trim", [](test_question& q, double x) { q.trim = x; }, 0, 0.4999, 0.0001},
             bound{"--confidence", [](test_question& q, double x) { q.confidence = x; }, 0.0001, 0.9999, 0.0001},
             bound{"--alpha", [](test_question& q, double x) { q.alpha = x; }, 0.0001, 0.4999, 0.0001}}) {
        INFO(range.flag);
        for (double const good : {range.least, range.most}) CHECK(refused("adf", [&](auto& q) { range.set(q, good); }).empty());
        for (double const bad : {range.least - range.step, range.most + range.step}) CHECK(refused("adf", [&](auto& q) { range.set(q, bad); }).starts_with(range.flag));
    }
    CHECK(refused("converged", [](auto& q) { q.margin = 1, q.least = 2; }) == "--least: must be from 3 to 1000000");
    CHECK(refused("adf", [](auto& q) { q.margin = 0; }) == "--margin: must be above 0");
    CHECK_FALSE(refused("adf", [](auto& q) { q.confidence = std::numeric_limits<double>::quiet_NaN(); }).empty());
}

TEST_CASE("options that do not go together are refused") {
    CHECK(refused("pp", [](auto& q) { q.regression = "ctt"; }) == "--regression ctt: pp takes n, c or ct");
    CHECK(refused("kpss", [](auto& q) { q.regression = "n"; }) == "--regression n: kpss takes c or ct");
    CHECK(refused("adf", [](auto& q) { q.autolag = "none"; }).starts_with("--autolag none needs --maxlag"));
    CHECK(refused("changepoint", [](auto& q) { q.alpha = 0.01, q.shuffles = 98; }).ends_with(": 98 --shuffles are too few to show it; give more"));
    CHECK(refused("changepoint", [](auto& q) { q.alpha = 0.01, q.shuffles = 99; }).empty()); // one of a hundred orders
    CHECK_FALSE(refused("ci", [](auto& q) { q.method = "bootstrap", q.confidence = 0.99995; }).empty());
}

TEST_CASE("lags are a rule's name or a whole number") {
    for (auto const* good : {"auto", "legacy", "0", "12"}) CHECK(refused("kpss", [&](auto& q) { q.lags = good; }).empty());
    for (auto const* bad : {"", "-1", "1.5", "12x", "many", "99999999999"}) CHECK_FALSE(refused("kpss", [&](auto& q) { q.lags = bad; }).empty());
    test_question asked;
    asked.lags = "12";
    CHECK(asked.fixed_lags() == 12);
}
