// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/least_squares.hpp>
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {

/// A matrix given by rows, as columns.
std::vector<column> columns_of(sb::value const& rows) {
    std::vector<column> all;
    for (auto const& row : *rows.if_array()) {
        auto const x = numbers(row);
        all.resize(x.size());
        for (std::size_t c = 0; c < x.size(); ++c) all[c].push_back(x[c]);
    }
    return all;
}
regression_answer fit(std::vector<column> const& columns, column const& y, regression_request const& asked = {}) {
    std::vector<std::span<double const>> views(columns.begin(), columns.end());
    return least_squares(views, y, asked);
}
/// Digits that agree; 16 for equal ones.
double digits(double got, double want) {
    if (got == want) return 16;
    return -std::log10(std::abs(got - want) / (want == 0 ? 1 : std::abs(want)));
}
column powers(column const& x, int power) {
    column all;
    for (double const each : x) all.push_back(std::pow(each, power));
    return all;
}

} // namespace

TEST_CASE("linear regression has NIST's certified digits", "[least_squares:oracle]") {
    auto const all = oracle("nist_strd.json");
    int asked = 0;
    for (auto const& c : *member(all, "linear_regression")->if_array()) {
        auto const name = text(c, "dataset");
        std::vector<column> columns;
        if (member(c, "X")) columns = columns_of(*member(c, "X"));
        else
            for (int power = 1; power <= (name == "Norris" ? 1 : 5); ++power) columns.push_back(powers(numbers(*member(c, "x")), power));
        auto const got = fit(columns, numbers(*member(c, "y")));
        auto const& exact = *member(c, "exact");
        auto const coefficients = numbers(*member(exact, "coef")), errors = numbers(*member(exact, "se"));
        INFO(name << " " << name_of(got.why));
        REQUIRE(got);
        REQUIRE(got.coefficients.size() + 1 == coefficients.size());
        for (std::size_t i = 0; i < coefficients.size(); ++i) {
            INFO("coefficient " << i);
            CHECK(digits(i == 0 ? got.intercept : got.coefficients[i - 1], coefficients[i]) >= 10);
            CHECK(digits(i == 0 ? got.intercept_error : got.errors[i - 1], errors[i]) >= 9);
        }
        CHECK(digits(got.residual_sd, number(exact, "residual_sd")) >= 9);
        CHECK(digits(got.r2, number(exact, "r2")) >= 12);
        if (name == "Wampler1") CHECK(got.residual_sd == 0);
        ++asked;
    }
    CHECK(asked == 4);
}

TEST_CASE("regression with and without neighbours that depend on each other agrees with statsmodels", "[least_squares:oracle]") {
    auto const all = oracle("regression.json");
    int asked = 0;
    for (auto const& c : *member(all, "cases")->if_array()) {
        regression_request how;
        if (!member(c, "lags")->is_null()) how.neighbours = static_cast<int>(number(c, "lags"));
        auto const got = fit(columns_of(*member(c, "X")), numbers(*member(c, "y")), how);
        REQUIRE(got);
        auto const coefficients = numbers(*member(c, "coef")), errors = numbers(*member(c, "se"));
        for (std::size_t i = 0; i < coefficients.size(); ++i) {
            INFO("case " << asked << " coefficient " << i);
            CHECK((i == 0 ? got.intercept : got.coefficients[i - 1]) == Approx(coefficients[i]).epsilon(1e-9));
            CHECK((i == 0 ? got.intercept_error : got.errors[i - 1]) == Approx(errors[i]).epsilon(1e-8));
        }
        CHECK(got.r2 == Approx(number(c, "r2")).epsilon(1e-10));
        CHECK(got.residual_sd == Approx(number(c, "resid_sd")).epsilon(1e-10));
        if (auto const* const leverage = member(c, "leverage"); leverage && leverage->if_array()) {
            auto const want = numbers(*leverage);
            for (std::size_t i = 0; i < want.size(); ++i) CHECK(got.leverage[i] == Approx(want[i]).epsilon(1e-9));
        }
        ++asked;
    }
    CHECK(asked == 12);
}

TEST_CASE("ridge regression agrees with rational arithmetic", "[least_squares:oracle]") {
    auto const all = oracle("ridge.json");
    int asked = 0;
    for (auto const& c : *member(all, "cases")->if_array()) {
        regression_request how;
        how.ridge = number(c, "alpha");
        how.intercept = member(c, "fit_intercept")->if_bool() && *member(c, "fit_intercept")->if_bool();
        auto const got = fit(columns_of(*member(c, "X")), numbers(*member(c, "y")), how);
        INFO(text(c, "kind") << " " << how.ridge << " " << how.intercept << " " << name_of(got.why));
        REQUIRE(got);
        auto const& exact = *member(c, "exact");
        auto const want = numbers(*member(exact, "coef"));
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(got.coefficients[i] == Approx(want[i]).epsilon(1e-9).margin(1e-300));
        if (how.intercept) CHECK(got.intercept == Approx(number(exact, "intercept")).epsilon(1e-9).margin(1e-12));
        CHECK(got.errors.empty());
        ++asked;
    }
    CHECK(asked == 30);
}

TEST_CASE("residuals stand upright on what explains, and leverage adds up to the terms", "[least_squares:property]") {
    sb::random_stream chance{11};
    for (int round = 0; round < 20; ++round) {
        std::vector<column> columns(3);
        column y;
        for (int i = 0; i < 25; ++i) {
            for (auto& each : columns) each.push_back(chance.unit() * 10 + 1e4);
            y.push_back(chance.unit());
        }
        auto const got = fit(columns, y);
        REQUIRE(got);
        double sum = 0, leverage = 0;
        for (double const x : got.residuals) sum += x;
        for (double const x : got.leverage) leverage += x;
        CHECK(std::abs(sum) < 1e-12);
        CHECK(leverage == Approx(4).epsilon(1e-10));
        for (auto const& each : columns) {
            double product = 0;
            for (std::size_t i = 0; i < y.size(); ++i) product += (each[i] - 1e4) * got.residuals[i];
            CHECK(std::abs(product) < 1e-11);
        }
        auto scaled = columns; // the unit of a column is its coefficient's alone
        for (double& x : scaled[1]) x *= 1024;
        auto const again = fit(scaled, y);
        CHECK(again.coefficients[1] == got.coefficients[1] / 1024);
        CHECK(again.coefficients[0] == got.coefficients[0]);
        CHECK(again.errors[1] == Approx(got.errors[1] / 1024).epsilon(1e-12));
    }
}

TEST_CASE("a line through values in order", "[least_squares:oracle]") {
    auto const got = line_of(column{1, 3, 2, 5, 4});
    REQUIRE(got);
    CHECK(got.coefficients[0] == Approx(0.8));
    CHECK(got.intercept == Approx(1.4));
    auto const [lo, hi] = got.interval_of(0);
    CHECK(lo == Approx(0.8 - 3.182446305284263 * got.errors[0]).epsilon(1e-12));
    CHECK(hi == Approx(0.8 + 3.182446305284263 * got.errors[0]).epsilon(1e-12));
}

TEST_CASE("what a regression cannot tell it does not", "[least_squares:degenerate]") {
    column const one{1, 2, 3, 4, 5}, two{2, 4, 6, 8, 10}, flat{7, 7, 7, 7, 7}, y{1, 3, 2, 5, 4}, tenths{0.1, 0.1, 0.1, 0.1, 0.1};
    auto const why = [](regression_answer const& got) { return got.why; };
    CHECK(why(fit({one, two}, y)) == no_answer::collinear);
    CHECK(why(fit({flat}, y)) == no_answer::constant);
    CHECK(why(fit({tenths}, y)) == no_answer::constant);
    CHECK(why(fit({one, flat}, y)) == no_answer::collinear); // beside the intercept
    CHECK(why(fit({one}, {1, 2, NAN, 4, 5})) == no_answer::not_finite);
    CHECK(why(fit({{1, 2, INFINITY, 4, 5}}, y)) == no_answer::not_finite);
    CHECK(why(fit({{1, 2}}, {1, 2})) == no_answer::no_freedom);
    CHECK(why(fit({{1}}, {1})) == no_answer::too_short);
    CHECK(why(fit({{}}, {})) == no_answer::too_short);
    CHECK(why(fit({{1, 2, 3}}, y)) == no_answer::bad_request);
    CHECK(why(fit({}, y)) == no_answer::bad_request);
    CHECK(why(fit({one}, y, {true, -1})) == no_answer::bad_request);
    CHECK(why(fit({one, two}, y, {true, 0.5})) == no_answer::none); // a ridge tells them apart
    auto const level = fit({one}, flat);
    REQUIRE(level);
    CHECK((level.coefficients[0] == 0 && level.intercept == 7 && level.residual_sd == 0 && std::isnan(level.r2)));
}
