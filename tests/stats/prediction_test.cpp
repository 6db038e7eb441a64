// SPDX-License-Identifier: MIT
#include <sb/stats/prediction.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <span>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {

regression_answer fit(std::vector<column> const& columns, column const& y, regression_request const& asked = {}) {
    std::vector<std::span<double const>> views(columns.begin(), columns.end());
    return least_squares(views, y, asked);
}

} // namespace

TEST_CASE("where one more value will lie agrees with exact arithmetic", "[prediction:oracle]") {
    auto const file = oracle("prediction.json");
    for (auto const& c : *member(file, "means")->if_array()) {
        auto const got = predict(numbers(*member(c, "values")));
        INFO(got.n << " values " << name_of(got.why));
        REQUIRE(got);
        CHECK(got.value == Approx(number(c, "value")).epsilon(1e-14));
        CHECK(got.error == Approx(number(c, "error")).epsilon(1e-13));
        CHECK(got.mean_error == Approx(number(c, "mean_error")).epsilon(1e-13));
        auto const [lo, hi] = got.bounds(number(c, "confidence"));
        CHECK(lo == Approx(number(c, "lo")).epsilon(1e-12));
        CHECK(hi == Approx(number(c, "hi")).epsilon(1e-12));
    }
}

TEST_CASE("a new row's observation agrees with exact arithmetic, and with statsmodels", "[prediction:oracle]") {
    auto const file = oracle("prediction.json");
    for (auto const& c : *member(file, "rows")->if_array()) {
        std::vector<column> columns;
        for (auto const& row : *member(c, "X")->if_array()) {
            auto const x = numbers(row);
            columns.resize(x.size());
            for (std::size_t i = 0; i < x.size(); ++i) columns[i].push_back(x[i]);
        }
        regression_request how;
        how.intercept = *member(c, "intercept")->if_bool();
        auto const made = fit(columns, numbers(*member(c, "y")), how);
        REQUIRE(made);
        auto const x = numbers(*member(c, "x"));
        auto const got = predict(made, x);
        INFO(got.n << " rows of " << columns.size() << " columns " << name_of(got.why));
        REQUIRE(got);
        auto const& exact = *member(c, "exact");
        CHECK(leverage_at(made, x) == Approx(number(exact, "leverage")).epsilon(1e-10));
        CHECK(got.value == Approx(number(exact, "value")).epsilon(1e-13));
        CHECK(got.error == Approx(number(exact, "error")).epsilon(1e-11));
        CHECK(got.mean_error == Approx(number(exact, "mean_error")).epsilon(1e-11));
        auto const [lo, hi] = got.bounds(number(c, "confidence"));
        CHECK(lo == Approx(number(exact, "lo")).epsilon(1e-11));
        CHECK(hi == Approx(number(exact, "hi")).epsilon(1e-11));
        auto const mean = got.mean_bounds(number(c, "confidence"));
        CHECK(mean.lo == Approx(number(exact, "mean_lo")).epsilon(1e-11));
        CHECK(mean.hi == Approx(number(exact, "mean_hi")).epsilon(1e-11));
        if (!member(c, "statsmodels")) continue;
        auto const other = numbers(*member(c, "statsmodels"));
        CHECK(got.value == Approx(other[0]).epsilon(1e-9));
        CHECK(got.mean_error == Approx(other[1]).epsilon(1e-9));
        CHECK(lo == Approx(other[2]).epsilon(1e-9));
        CHECK(hi == Approx(other[3]).epsilon(1e-9));
    }
}

TEST_CASE("a row of the regression itself has the leverage and the residual that the regression says", "[prediction:property]") {
    normal_values values{8};
    for (bool const intercept : {true, false})
        for (double const offset : {0.0, 1e9}) {
            std::vector<column> const columns{values.many(30, offset), values.many(30)};
            column y(30);
            for (std::size_t i = 0; i < y.size(); ++i) y[i] = 3 * columns[0][i] - columns[1][i] + values.next();
            regression_request how;
            how.intercept = intercept;
            auto const made = fit(columns, y, how);
            REQUIRE(made);
            for (std::size_t i = 0; i < y.size(); ++i) {
                double const x[] = {columns[0][i], columns[1][i]};
                auto const got = predict(made, x);
                CHECK(leverage_at(made, x) == Approx(made.leverage[i]).epsilon(1e-9));
                CHECK(y[i] - got.value == Approx(made.residuals[i]).margin(offset > 0 ? 2e-6 : 1e-12));
                CHECK(got.error > made.residual_sd);
                CHECK(got.error > got.mean_error);
            }
        }
}

TEST_CASE("the next observation lies where it was said as often as was said", "[prediction:property]") {
    normal_values values{55};
    int after = 0, ahead = 0;
    constexpr int rounds = 1000;
    for (int round = 0; round < rounds; ++round) {
        auto sample = values.many(8, 3, 2);
        auto const got = predict(std::span<double const>{sample}.first(7)).bounds(0.9);
        after += got.lo <= sample[7] && sample[7] <= got.hi;
        for (std::size_t i = 0; i < sample.size(); ++i) sample[i] += 0.7 * static_cast<double>(i);
        double const next[] = {7};
        auto const line = predict(line_of(std::span<double const>{sample}.first(7)), next).bounds(0.9);
        ahead += line.lo <= sample[7] && sample[7] <= line.hi;
    }
    INFO(after << " " << ahead);
    CHECK((after > 870 && after < 930));
    CHECK((ahead > 870 && ahead < 930));
    auto const some = values.many(9, 1);
    column scaled = some;
    for (double& x : scaled) x = std::ldexp(-x, 500);
    CHECK(predict(scaled).error == std::ldexp(predict(some).error, 500));
}

TEST_CASE("what cannot be foretold gets a reason", "[prediction:degenerate]") {
    column const none, one{1}, same(5, 0.1), broken{1, NAN}, endless{1, INFINITY}, wide{-1e308, 1e308}, x{1, 2, 3, 4, 5}, y{1, 3, 2, 5, 4};
    CHECK(predict(none).why == no_answer::too_short);
    CHECK(predict(one).why == no_answer::too_short);
    CHECK(predict(same).why == no_answer::constant);
    CHECK(predict(broken).why == no_answer::not_finite);
    CHECK(predict(endless).why == no_answer::not_finite);
    CHECK(predict(wide).why == no_answer::not_finite);
    CHECK(std::isnan(predict(same).error));
    CHECK(predict(column{1, 2}).bounds().hi == Approx(1.5 + 12.706204736174705 * std::sqrt(0.75)).epsilon(1e-12));
    double const at[] = {6}, two[] = {6, 7}, odd[] = {NAN};
    CHECK(predict(fit({x}, y), at));
    CHECK(predict(fit({x}, y), two).why == no_answer::bad_request);
    CHECK(predict(fit({x}, y), none).why == no_answer::bad_request);
    CHECK(predict(fit({x}, y), odd).why == no_answer::not_finite);
    CHECK(predict(fit({same}, y), at).why == no_answer::constant);
    CHECK(predict(fit({{1, 2}}, {1, 2}), at).why == no_answer::no_freedom);
    CHECK(predict(fit({x}, y, {true, 0.5}), at).why == no_answer::bad_request);
    CHECK(predict(fit({x}, y, {true, 0, 2}), at).why == no_answer::bad_request);
    CHECK(std::isnan(leverage_at(fit({x}, y, {true, 0.5}), at)));
    CHECK(std::isnan(leverage_at(fit({x}, y), two)));
    auto const ramp = predict(fit({x}, x), at);
    CHECK(ramp.why == no_answer::perfect_fit);
    CHECK(ramp.value == Approx(6));
    CHECK(std::isnan(ramp.error));
    CHECK(predict(fit({x}, same), at).why == no_answer::perfect_fit);
}
