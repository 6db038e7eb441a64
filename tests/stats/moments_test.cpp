// SPDX-License-Identifier: MIT
// Tests of ewm.hpp, moments.hpp and rolling_summary.hpp.
#include <sb/core/exact_sum.hpp>
#include <sb/core/random.hpp>
#include <sb/stats/ewm.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/rolling_summary.hpp>
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
}

TEST_CASE("fading weights: units and origin move with the values, and hardly fading ones are like none", "[ewm:property]") {
    sb::random_stream chance{5};
    for (auto const start : {ewm_start::recursive, ewm_start::normalised}) {
        ewm plain{0.2, start}, moved{0.2, start}, scaled{0.2, start};
        for (int i = 0; i < 200; ++i) {
            double const x = static_cast<double>(chance.below(1000));
            plain.push(x), moved.push(x + 1e9), scaled.push(x * 0x1p-500);
            CHECK(*moved.mean() - 1e9 == Approx(*plain.mean()).epsilon(1e-6));
            CHECK(*moved.spread() == Approx(*plain.spread()).epsilon(1e-12));
            CHECK(*scaled.mean() == *plain.mean() * 0x1p-500);
            CHECK(*scaled.spread() == Approx(*plain.spread() * 0x1p-500).epsilon(1e-12).margin(0));
        }
    }
    ewm lasting{1e-12, ewm_start::normalised};
    moments all;
    for (int i = 0; i < 500; ++i) {
        double const x = static_cast<double>(chance.below(1000));
        lasting.push(x), all.push(x);
    }
    CHECK(*lasting.mean() == Approx(*all.mean()).epsilon(1e-9));
    CHECK(*lasting.stddev() == Approx(*all.stddev()).epsilon(1e-9));
    ewm last{1}; // remembers nothing
    last.push(4), last.push(9);
    CHECK(last.mean() == 9);
    CHECK(last.spread() == 0);
}

TEST_CASE("fading weights of no value, of one and of equal ones", "[ewm:degenerate]") {
    for (double const alpha : {2.0, 0.0, -0.5, 1.0000001, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        ewm bad{alpha};
        bad.push(3), bad.push(4);
        CHECK(bad.why() == no_answer::bad_request);
        CHECK_FALSE((bad.mean() || bad.spread() || bad.stddev()));
    }
    ewm none{0.5};
    CHECK(none.why() == no_answer::too_short);
    CHECK_FALSE(none.mean());
    CHECK_FALSE(none.spread());
    CHECK_FALSE(none.stddev());
    none.push(3);
    CHECK(none.mean() == 3);
    CHECK(none.spread() == 0);
    CHECK_FALSE(none.stddev());
    for (int i = 0; i < 100; ++i) none.push(3);
    CHECK(none.mean() == 3);
    CHECK(none.spread() == 0);
    CHECK(none.stddev() == 0);
    none.push(NAN);
    CHECK(std::isnan(*none.mean()));
}

TEST_CASE("correlation over windows agrees with rational arithmetic, and does not drift", "[rolling_summary:oracle]") {
    each_rolling_correlation([](std::vector<double> const& x, std::vector<double> const& y, std::size_t size, std::vector<double> const& exact) {
        rolling_summary<joint_moments> window{size};
        std::size_t at = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            joint_moments one;
            one.push(x[i], y[i]);
            window.push(one);
            if (!window.full()) continue;
            auto const got = window.summary().correlation();
            REQUIRE(at < exact.size());
            auto const want = exact[at++];
            INFO("window " << at << " of " << size << " values");
            if (std::isnan(want)) CHECK_FALSE(got);
            else {
                REQUIRE(got);
                CHECK(*got == Approx(want).margin(1e-9).epsilon(0));
            }
        }
        CHECK(at == exact.size());
    });
}

TEST_CASE("a window's summary is that of its values alone, whatever went through it before", "[rolling_summary:property]") {
    sb::random_stream chance{3};
    rolling_summary<moments> window{16};
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
}

TEST_CASE("windows of no value and of one", "[rolling_summary:degenerate]") {
    moments five;
    five.push(5);
    rolling_summary<moments> closed{0}, narrow{1}, empty{3};
    CHECK(closed.size() == 0);
    closed.push(five);
    CHECK(closed.size() == 0);
    CHECK_FALSE(closed.summary().mean());
    CHECK_FALSE(empty.full());
    CHECK_FALSE(empty.summary().mean());
    for (double const x : {1.0, double{NAN}, 2.0}) {
        moments one;
        one.push(x);
        narrow.push(one);
        CHECK(narrow.full());
    }
    CHECK(narrow.summary().mean() == 2); // what was no number has left
    CHECK_FALSE(narrow.summary().stddev());
}

TEST_CASE("moments are the same however a stream is cut, and move with units and origin", "[moments:property]") {
    sb::random_stream chance{6};
    for (int round = 0; round < 50; ++round) {
        moments whole, parts, moved, scaled;
        joint_moments both, both_parts;
        for (int part = 0; part < 5; ++part) {
            moments some;
            joint_moments some_both;
            for (auto left = chance.below(40); left > 0; --left) {
                double const x = static_cast<double>(chance.below(1000)), y = static_cast<double>(chance.below(1000));
                whole.push(x), some.push(x), moved.push(x + 1e9), scaled.push(x * 0x1p-500);
                both.push(x, y), some_both.push(x, y);
            }
            parts.merge(some), both_parts.merge(some_both);
        }
        REQUIRE(parts.count() == whole.count());
        if (whole.count() < 3) continue;
        CHECK(*parts.mean() == Approx(*whole.mean()).epsilon(1e-13));
        CHECK(*parts.stddev() == Approx(*whole.stddev()).epsilon(1e-12));
        CHECK(*moved.stddev() == Approx(*whole.stddev()).epsilon(1e-12));
        CHECK(*moved.mean() == Approx(*whole.mean() + 1e9).epsilon(1e-15));
        CHECK(*scaled.mean() == *whole.mean() * 0x1p-500);
        CHECK(*both_parts.correlation() == Approx(*both.correlation()).margin(1e-12));
        CHECK(*both_parts.slope() == Approx(*both.slope()).margin(1e-12));
    }
}
