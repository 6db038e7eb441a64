// SPDX-License-Identifier: MIT
#include <sb/core/exact_sum.hpp>
#include <sb/core/random.hpp>
#include <sb/stats/ewm.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/rolling.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"

using namespace sb::stats;
using namespace sb::test;

namespace {
/// Digits that agree.
double agreement(double got, double want) { return got == want ? 17 : -std::log10(std::abs(got - want) / (want == 0 ? 1 : std::abs(want))); }
} // namespace

TEST_CASE("mean, spread and autocorrelation agree with NIST's certified values to twelve digits", "[moments:oracle]") {
    auto const file = oracle("nist_strd.json");
    for (auto const& c : *member(file, "univariate")->if_array()) {
        INFO(text(c, "dataset"));
        auto values = member(c, "data") ? numbers(*member(c, "data")) : std::vector<double>{1000000.2};
        while (values.size() < 1001 && !member(c, "data")) values.push_back(values.size() % 2 ? 1000000.1 : 1000000.3); // NumAcc3
        // the decimals of that one are no doubles: the doubles' own spread, exactly, is what can be had
        sb::exact_sum sum;
        for (double const x : values) sum.push(x);
        auto const n = static_cast<double>(values.size());
        auto squares = sb::exact_integer{static_cast<sb::wide_natural>(sum.count()), 0, false} * sum.squares();
        squares -= sum.sum() * sum.sum();
        CHECK(agreement(*moments::of(values).stddev(), std::sqrt(squares.nearest() / n / (n - 1))) > 12);
        double const digits = member(c, "data") ? 12 : 9;
        auto const& exact = *member(c, "exact");
        auto const all = moments::of(values);
        CHECK(agreement(*all.mean(), number(exact, "mean")) > 12);
        CHECK(agreement(*all.stddev(), number(exact, "sd")) > digits);
        CHECK(agreement(*autocorrelation(values), number(exact, "lag1")) > digits);
        for (std::size_t cut = 0; cut <= values.size(); cut += 1 + values.size() / 7) { // and from parts
            auto first = moments::of(std::span{values}.first(cut));
            first.merge(moments::of(std::span{values}.subspan(cut)));
            CHECK(first.count() == all.count());
            CHECK(agreement(*first.mean(), number(exact, "mean")) > 12);
            CHECK(agreement(*first.stddev(), number(exact, "sd")) > digits);
        }
    }
}

TEST_CASE("few values have what they have", "[moments:degenerate]") {
    moments none, one, same;
    one.push(5);
    for (int i = 0; i < 9; ++i) same.push(0.1);
    CHECK_FALSE(none.mean());
    CHECK_FALSE(none.variance());
    CHECK(one.mean() == 5);
    CHECK_FALSE(one.stddev());
    CHECK(same.mean() == 0.1);
    CHECK(same.stddev() == 0);
    none.merge(one);
    CHECK(none.mean() == 5);
    none.merge(moments{});
    CHECK(none.count() == 1);
    CHECK_FALSE(autocorrelation(std::vector<double>(5, 2.0)));
    CHECK_FALSE(autocorrelation(std::vector<double>{1, 2}, 2));
    CHECK_FALSE(joint_moments{}.correlation());
    joint_moments still;
    for (int i = 0; i < 5; ++i) still.push(i, 3);
    CHECK_FALSE(still.correlation());
    CHECK(still.slope() == 0);
}

TEST_CASE("weights that fade agree with forty-digit arithmetic", "[ewm:oracle]") {
    auto const file = oracle("ewm.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const name = text(c, "series");
        INFO(name << " " << number(c, "alpha"));
        ewm recursive{number(c, "alpha")}, normalised{number(c, "alpha"), ewm_start::normalised};
        for (double const x : all_series().at(name)) recursive.push(x), normalised.push(x);
        auto const& exact = *member(c, "exact");
        double const close = name.find("off1e9") != std::string::npos ? 1e-6 : 1e-10;
        CHECK(*recursive.mean() == Approx(number(exact, "mean_recursive")).epsilon(1e-10));
        CHECK(*recursive.spread() == Approx(number(exact, "std_recursive_biased")).epsilon(close));
        CHECK(*recursive.stddev() == Approx(number(exact, "std_recursive_unbiased")).epsilon(close));
        CHECK(*normalised.mean() == Approx(number(exact, "mean_adjust")).epsilon(1e-10));
        CHECK(*normalised.spread() == Approx(number(exact, "std_adjust_biased")).epsilon(close));
        CHECK(*normalised.stddev() == Approx(number(exact, "std_adjust_unbiased")).epsilon(close));
    }
    ewm none{0.5};
    CHECK_FALSE(none.mean());
    none.push(3);
    CHECK(none.mean() == 3);
    CHECK(none.spread() == 0);
    CHECK_FALSE(none.stddev());
}

TEST_CASE("correlation over windows agrees with rational arithmetic, and does not drift", "[rolling:oracle]") {
    auto const file = oracle("rolling_corr.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        INFO(text(c, "x") << " " << text(c, "y"));
        auto const x = member(c, "x_values") ? numbers(*member(c, "x_values")) : all_series().at(text(c, "x"));
        std::vector<double> y;
        if (text(c, "y") == "index") for (std::size_t i = 0; i < x.size(); ++i) y.push_back(static_cast<double>(i));
        else y = all_series().at(text(c, "y"));
        rolling<joint_moments> window{static_cast<std::size_t>(number(c, "window"))};
        auto const& exact = *member(c, "exact")->if_array();
        std::size_t at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            joint_moments one;
            one.push(x[i], y[i]);
            window.push(one);
            if (!window.full()) continue;
            auto const got = window.summary().correlation();
            REQUIRE(at < exact.size());
            auto const want = exact[at++].number_or(NAN);
            INFO("window " << at);
            if (std::isnan(want)) CHECK_FALSE(got);
            else {
                REQUIRE(got);
                CHECK(*got == Approx(want).margin(1e-9).epsilon(0));
            }
        }
        CHECK(at == exact.size());
    }
}

TEST_CASE("a window's summary is that of its values alone, whatever went through it before", "[rolling:property]") {
    sb::random_stream chance{3};
    rolling<moments> window{16};
    std::vector<double> all;
    for (int i = 0; i < 5000; ++i) {
        double const x = (i / 100 % 2 ? 1e12 : 1) * static_cast<double>(chance.below(1000));
        all.push_back(x);
        moments one;
        one.push(x);
        window.push(one);
        if (i % 37 || all.size() < 16) continue;
        auto const want = moments::of(std::span{all}.last(16));
        CHECK(window.summary().count() == 16);
        CHECK(*window.summary().mean() == Approx(*want.mean()).epsilon(1e-13));
        CHECK(*window.summary().stddev() == Approx(*want.stddev()).epsilon(1e-12));
    }
    rolling<moments> closed{0};
    CHECK(closed.size() == 0);
}
