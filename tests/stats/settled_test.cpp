// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include <sb/stats/settled.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

using namespace sb::stats;
using sb::test::normal_values;
using series = std::vector<double>;

namespace {

settle_request near_zero(double margin) {
    settle_request asked;
    asked.margin = margin, asked.mode = settle_mode::near_zero, asked.least = 3, asked.passes = 1;
    return asked;
}
settle_request stable(double margin) {
    settle_request asked;
    asked.margin = margin;
    return asked;
}
/// How many of so many series have settled.
double share(int rounds, std::function<settle_answer()> const& one) {
    int hits = 0;
    for (int i = 0; i < rounds; ++i) hits += one().settled();
    return hits / static_cast<double>(rounds);
}

} // namespace

TEST_CASE("the rows that the predecessor's tests pin", "[settled:oracle]") {
    for (auto const& x : {series{.005, .005, .005, .005}, series{.002, .002, .002}, series{.001, .001, .001, .001, .001}, series{.001, .002, .0015, .0011, .0009}})
        CHECK(settled(x, near_zero(.01)).settled());
    for (auto const& x : {series{.02, .02, .02}, series{.05, -.05, .05, -.05}, series{-.05, .05, -.05}}) {
        auto const got = settled(x, near_zero(.01));
        CHECK(got);
        CHECK_FALSE(got.settled());
        CHECK(got.lacks == unsettled::level);
    }
}

TEST_CASE("a level that is kept has settled wherever it lies; a change that adds up has not", "[settled:property]") {
    normal_values chance{21};
    auto const flat = chance.many(40, 0.05, 0.001);
    CHECK(settled(flat, stable(0.005)).settled());
    CHECK(settled(flat, near_zero(0.005)).lacks == unsettled::level);
    auto shifted = flat;
    for (std::size_t i = 20; i < 40; ++i) shifted[i] += 0.01;
    CHECK(settled(shifted, stable(0.005)).lacks == unsettled::level);
    auto louder = flat;
    for (std::size_t i = 20; i < 40; ++i) louder[i] = 0.05 + 6 * (louder[i] - 0.05);
    CHECK(settled(louder, stable(0.01)).lacks == unsettled::spread);
}

TEST_CASE("what changes by the margin is called settled as rarely as is said, what does not as often as can be", "[settled:property]") {
    constexpr int rounds = 1000;
    double const most = 0.05 + 3 * std::sqrt(0.05 * 0.95 / rounds);
    normal_values chance{22};
    for (std::size_t const n : {20u, 50u, 200u}) {
        auto const root = std::sqrt(static_cast<double>(n));
        INFO("n " << n);
        auto const one = [&](double margin, double autoregression, double drift, double level, settle_mode mode) {
            auto x = chance.many(n);
            double last = x[0];
            for (std::size_t i = 1; i < n; ++i) last = x[i] = autoregression * last + x[i] * std::sqrt(1 - autoregression * autoregression);
            for (std::size_t i = 0; i < n; ++i) x[i] += level + drift * static_cast<double>(i) / static_cast<double>(n);
            auto asked = stable(margin);
            asked.mode = mode;
            return settled(x, asked);
        };
        double const margin = 10 / root, wide = 20 / root;
        CHECK(share(rounds, [&] { return one(margin, 0, 0, 0, settle_mode::stable); }) >= 0.90);
        CHECK(share(rounds, [&] { return one(margin, 0, 0, 0, settle_mode::near_zero); }) >= 0.90);
        CHECK(share(rounds, [&] { return one(margin, 0, 2 * margin, 0, settle_mode::stable); }) <= most); // n/2 steps of it are the margin
        CHECK(share(rounds, [&] { return one(wide, 0.5, 2 * wide, 0, settle_mode::stable); }) <= most);
        CHECK(share(rounds, [&] { return one(margin, 0, 0, margin, settle_mode::near_zero); }) <= most);
        CHECK(share(rounds, [&] { return one(wide, 0.5, 0, wide, settle_mode::near_zero); }) <= most);
        CHECK(share(rounds / 5, [&] { return one(margin, 0, 4 * margin, 0, settle_mode::stable); }) == 0);
        if (n >= 50) CHECK(share(rounds, [&] { return one(wide, 0.5, 0, 0, settle_mode::stable); }) >= 0.85);
    }
}

TEST_CASE("a walk is not called settled", "[settled:property]") {
    normal_values chance{23};
    int called = 0;
    for (int round = 0; round < 500; ++round) {
        series x(50);
        double at = 0;
        for (double& each : x) each = at += chance.next();
        called += settled(x, stable(2)).settled();
    }
    CHECK(called < 15);
}

TEST_CASE("of many series one false alarm does not hold all back", "[settled:property]") {
    normal_values chance{24};
    int together = 0;
    constexpr int rounds = 100;
    for (int round = 0; round < rounds; ++round) {
        std::vector<series> all;
        for (int i = 0; i < 30; ++i) all.push_back(chance.many(60));
        std::vector<std::span<double const>> views(all.begin(), all.end());
        std::vector<settle_request> const asked(30, stable(2));
        int spread = 0;
        for (auto const& each : settled(views, asked)) spread += each.lacks == unsettled::spread;
        together += spread > 0;
    }
    CHECK(together <= 8); // one in a hundred each time, twice for two windows; without the correction it would be a quarter
}

TEST_CASE("several windows in a row have to pass", "[settled:property]") {
    normal_values chance{25};
    auto x = chance.many(12, 0, 0.01);
    CHECK(settled(x, stable(1)).settled());
    auto asked = stable(1);
    asked.passes = 5; // the fifth would have eight values, the sixth too few
    CHECK(settled(x, asked).settled());
    asked.passes = 6;
    CHECK(settled(x, asked).lacks == unsettled::windows);
    bool seen = false;
    for (double margin = 0.001; margin < 0.1; margin *= 1.01) seen |= settled(x, stable(margin)).lacks == unsettled::passes; // all pass, and without the last not
    CHECK(seen);
    asked.passes = 4;
    CHECK(settled(series(8, 5.0), asked).lacks == unsettled::windows); // eleven would do
    CHECK(settled(series(11, 5.0), asked).settled());
}

TEST_CASE("the unit of the values and of the margin is the caller's", "[settled:property]") {
    normal_values chance{26};
    for (int round = 0; round < 20; ++round) {
        auto const x = chance.many(30);
        auto y = x, z = x;
        for (double& each : y) each *= 1048576;
        for (double& each : z) each += 1024;
        auto const a = settled(x, stable(2)), b = settled(y, stable(2 * 1048576)), c = settled(z, stable(2));
        CHECK(a.lacks == b.lacks);
        CHECK(a.change.mean * 1048576 == b.change.mean);
        CHECK(c.lacks == a.lacks);
        CHECK(c.change.mean == Approx(a.change.mean).margin(1e-10));
        CHECK(c.drift.mean == Approx(a.drift.mean).margin(1e-10));
    }
}

TEST_CASE("what has settled has done so at any size that numbers have", "[settled:property]") {
    series const x{1, 1.1, .95, 1.2, .9, 1.15, 1, 1.05, .97, 1.3};
    for (auto const mode : {settle_mode::stable, settle_mode::near_zero})
        for (double const margin : {0.08, 0.5, 2.0})
            for (double const slope : {0.0, 0.1})
                for (int const power : {-1000, -664, -530, 515, 1000}) {
                    auto asked = stable(margin);
                    asked.mode = mode, asked.slope_margin = slope;
                    auto const want = settled(x, asked);
                    auto other = x;
                    for (double& each : other) each = std::ldexp(each, power);
                    asked.margin = std::ldexp(margin, power), asked.slope_margin = std::ldexp(slope, power);
                    auto const got = settled(other, asked);
                    INFO(margin << " " << slope << " " << power);
                    REQUIRE(got);
                    CHECK(got.lacks == want.lacks);
                    CHECK(got.change.mean == std::ldexp(want.change.mean, power));
                    CHECK(got.drift.error == std::ldexp(want.drift.error, power));
                    CHECK(got.change.equivalence_p(asked.margin) == Approx(want.change.equivalence_p(margin)).epsilon(1e-12));
                }
    CHECK(settled(x, stable(0.08)).lacks == unsettled::level);
    CHECK(settled(x, stable(1e300)).settled()); // and at any margin
    CHECK(settled(x, stable(1e-300)).lacks == unsettled::level);
}

TEST_CASE("what moves beyond the margin says so, however much its values depend on each other", "[settled:property]") {
    series ramp;
    for (int i = 1; i <= 25; ++i) ramp.push_back(i);
    CHECK(settled(ramp, stable(1)).lacks == unsettled::level);
    auto asked = stable(20);
    asked.slope_margin = 0.5;
    CHECK(settled(ramp, asked).lacks == unsettled::slope);
    CHECK(settled(ramp, stable(20)).lacks == unsettled::dependence);
}

TEST_CASE("what cannot be judged is not called settled", "[settled:degenerate]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    auto const why = [](series const& x, settle_request const& asked) { return settled(x, asked).why; };
    series const some{1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
    CHECK(why({}, near_zero(1)) == no_answer::too_short);
    CHECK(why({1}, near_zero(1)) == no_answer::too_short);
    CHECK(why({1, 1}, near_zero(1)) == no_answer::too_short);
    CHECK(why({1, 1, 1, 1, 1, 1, 1}, stable(1)) == no_answer::too_short);
    CHECK(why(some, stable(0)) == no_answer::bad_request);
    CHECK(why(some, stable(-1)) == no_answer::bad_request);
    CHECK(why(some, stable(nan)) == no_answer::bad_request);
    CHECK(why({1, nan, 1, 1, 1, 1, 1, 1, 1}, stable(1)) == no_answer::not_finite);
    CHECK(why({1, INFINITY, 1, 1, 1, 1, 1, 1, 1}, stable(1)) == no_answer::not_finite);
    CHECK(why({1e308, -1e308, 1e308, -1e308, 0, 0, 0, 0, 0}, stable(1)) == no_answer::not_finite);
    auto const nothing = settled({}, stable(1));
    CHECK_FALSE(nothing.change);
    CHECK_FALSE(nothing.drift);
    CHECK((std::isnan(nothing.change.p) && std::isnan(nothing.drift.mean)));
    CHECK(settled(series(10, 7.5), stable(1e-9)).settled()); // nothing moves at all
    CHECK(settled(series(10, 7.5), near_zero(1)).lacks == unsettled::level);
    series ramp;
    for (int i = 0; i < 30; ++i) ramp.push_back(i);
    CHECK_FALSE(settled(ramp, stable(10)).settled());
    CHECK_FALSE(settled(ramp, near_zero(10)).settled());
}
