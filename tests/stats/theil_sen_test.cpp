// SPDX-License-Identifier: MIT
#include <sb/stats/theil_sen.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {

/// Slopes of all pairs, in order: the definition.
column all_slopes(column const& x, column const& y) {
    column all;
    for (std::size_t j = 1; j < x.size(); ++j)
        for (std::size_t i = 0; i < j; ++i)
            if (x[i] != x[j]) all.push_back((y[j] - y[i]) / (x[j] - x[i]));
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

TEST_CASE("Theil and Sen's slope and interval agree with fractions, and with scipy's but for its ranks", "[theil_sen:oracle]") {
    auto const file = oracle("theil_sen.json");
    theil_sen_room room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const x = numbers(*member(c, "x")), y = numbers(*member(c, "y"));
        auto const got = theil_sen(x, y, number(c, "confidence"), room);
        INFO(got.n << " values " << name_of(got.why));
        REQUIRE(got);
        double const close = std::abs(y[0]) > 1e8 ? 1e-12 : 1e-14;
        CHECK(got.slope == Approx(number(c, "slope")).epsilon(close));
        CHECK(got.intercept == Approx(number(c, "intercept")).epsilon(1e-13));
        CHECK(static_cast<double>(got.pairs) == number(c, "pairs"));
        CHECK(got.exact == *member(c, "exact")->if_bool());
        auto const scipy = numbers(*member(c, "scipy"));
        CHECK(got.slope == Approx(scipy[0]).epsilon(1e-12));
        CHECK(got.intercept == Approx(scipy[1]).epsilon(1e-12));
        if (number(c, "rank") > 0) {
            CHECK(got.bounds.lo == Approx(number(c, "lo")).epsilon(close));
            CHECK(got.bounds.hi == Approx(number(c, "hi")).epsilon(close));
        } else CHECK((got.bounds.lo == -INFINITY && got.bounds.hi == INFINITY));
        if (!got.exact) { // one rank nearer at most
            CHECK((got.bounds.lo <= scipy[2] + 1e-12 && scipy[2] <= number(c, "next_lo") + 1e-12));
            CHECK((got.bounds.hi >= scipy[3] - 1e-12 && scipy[3] >= number(c, "next_hi") - 1e-12));
        }
    }
}

TEST_CASE("of many pairs the same slopes are found without laying them out", "[theil_sen:oracle][theil_sen:property]") {
    normal_values values{9};
    theil_sen_room room;
    for (int kind = 0; kind < 6; ++kind) {
        std::size_t const n = 600;
        column x, y;
        for (std::size_t i = 0; i < n; ++i) {
            auto const at = static_cast<double>(i);
            x.push_back(kind == 1 ? values.next() : kind == 2 ? std::floor(at / 7) : at);
            y.push_back(0.25 * x.back() + 30 * values.next());
            if (kind == 2) y.back() = std::floor(y.back() / 10); // ties everywhere
            if (kind == 3) y.back() = std::floor(values.next() * 0.3); // mostly equal: the slope is none
            if (kind == 4) y.back() = 1e9 + std::exp(values.next() * 5);
            if (kind == 5) y.back() = i % 20 == 0 ? 1e100 * values.next() : y.back() * 1e-100;
        }
        auto const got = theil_sen(x, y, 0.95, room);
        INFO("kind " << kind << ", " << name_of(got.why));
        if (kind == 3) {
            CHECK((got.why == no_answer::perfect_fit && got.slope == 0 && std::isnan(got.bounds.lo)));
            continue;
        }
        REQUIRE(got);
        CHECK(room.slopes.size() < 10'000);
        auto const slopes = all_slopes(x, y);
        REQUIRE(slopes.size() == got.pairs);
        auto const middle = slopes.size() / 2;
        double const want = slopes.size() % 2 ? slopes[middle] : (slopes[middle - 1] + slopes[middle]) / 2;
        double const close = 1e-13 * (slopes[slopes.size() * 3 / 4] - slopes[slopes.size() / 4]);
        CHECK(got.slope == Approx(want).epsilon(1e-12).margin(close));
        auto const rank_of = [&](double slope) { return std::lower_bound(slopes.begin(), slopes.end(), slope - close) - slopes.begin(); };
        auto const last_of = [&](double slope) { return slopes.end() - std::upper_bound(slopes.begin(), slopes.end(), slope + close); };
        if (kind != 2) CHECK(std::abs(rank_of(got.bounds.lo) - last_of(got.bounds.hi)) <= 1); // as many below as above
        CHECK(std::binary_search(slopes.begin(), slopes.end(), got.bounds.lo));
        CHECK(std::binary_search(slopes.begin(), slopes.end(), got.bounds.hi));
    }
}

TEST_CASE("a slope moves with the units and with what is added, and hardly with wild values", "[theil_sen:property]") {
    normal_values values{21};
    column x, y;
    for (int i = 0; i < 60; ++i) x.push_back(i * 0.5), y.push_back(2 * x.back() + values.next());
    auto const want = theil_sen(x, y);
    REQUIRE(want);
    CHECK((want.bounds.lo < 2 && 2 < want.bounds.hi));
    column scaled = y, tilted = y, wild = y, far = y;
    for (std::size_t i = 0; i < y.size(); ++i) scaled[i] = std::ldexp(-y[i], 400), tilted[i] = y[i] + 5 * x[i], far[i] = y[i] + 1e9;
    for (std::size_t i = 0; i < 12; ++i) wild[i * 5] = 1e12;
    auto const other = theil_sen(x, scaled);
    CHECK(other.slope == std::ldexp(-want.slope, 400));
    CHECK(other.bounds.lo == std::ldexp(-want.bounds.hi, 400));
    CHECK(theil_sen(x, tilted).slope == Approx(want.slope + 5).epsilon(1e-12));
    CHECK(theil_sen(x, tilted).bounds.hi == Approx(want.bounds.hi + 5).epsilon(1e-12));
    CHECK(theil_sen(x, wild).slope == Approx(2).margin(0.5));
    CHECK(theil_sen(x, far).slope == Approx(want.slope).epsilon(1e-6));
    CHECK(theil_sen(x, far).intercept == Approx(want.intercept + 1e9).epsilon(1e-14));
    std::reverse(x.begin(), x.end()), std::reverse(y.begin(), y.end());
    CHECK(theil_sen(x, y).slope == want.slope);
    column const line{3, 1, 4, 1, 5, 9, 2, 6};
    CHECK(theil_sen(line).slope == theil_sen(column{0, 1, 2, 3, 4, 5, 6, 7}, line).slope);
    int covered = 0;
    theil_sen_room room;
    column places(10), noise(10);
    for (std::size_t i = 0; i < 10; ++i) places[i] = static_cast<double>(i);
    for (int round = 0; round < 500; ++round) {
        for (double& v : noise) v = std::pow(values.next(), 3);
        auto const got = theil_sen(places, noise, 0.9, room);
        covered += got.bounds.lo <= 0 && 0 <= got.bounds.hi;
    }
    CHECK(covered >= 450 - 20); // its ranks promise 0.9 or more
    CHECK(covered <= 490);
}

TEST_CASE("slopes at the ends of what a double holds end in an answer or a reason", "[theil_sen:degenerate]") {
    normal_values values{3};
    theil_sen_room room;
    for (std::size_t const n : {12u, 700u})
        for (double const unit_x : {1e-300, 1e-10, 1.0, 1e150, 1e300})
            for (double const unit_y : {1e-323, 1e-300, 1e-160, 1e150, 1e300}) {
                auto const x = values.many(n, 0, unit_x), y = values.many(n, 0, unit_y);
                INFO(n << " " << unit_x << " " << unit_y);
                auto const got = theil_sen(x, y, 0.95, room);
                if (got) CHECK((got.bounds.lo < got.bounds.hi && got.bounds.lo <= got.slope && got.slope <= got.bounds.hi && std::isfinite(got.intercept)));
                else CHECK((got.why == no_answer::not_finite || got.why == no_answer::perfect_fit || got.why == no_answer::constant));
                if (unit_y > 1e-310 && unit_y / unit_x > 1e-290 && unit_y / unit_x < 1e290) CHECK(got);
            }
}

TEST_CASE("what has no slope gets a reason", "[theil_sen:degenerate]") {
    column const none, one{1}, two{1, 2}, up{1, 2, 3, 4}, same{7, 7, 7, 7}, broken{1, NAN, 3, 4}, endless{1, INFINITY, 2, 3}, wide{-1e308, 1e308, 0, 1}, y{1, 3, 2, 5};
    CHECK(theil_sen(none).why == no_answer::too_short);
    CHECK(theil_sen(one).why == no_answer::too_short);
    CHECK(theil_sen(two).why == no_answer::no_freedom);
    CHECK(theil_sen(same).why == no_answer::constant);
    CHECK(theil_sen(same, y).why == no_answer::constant);
    CHECK(theil_sen(broken).why == no_answer::not_finite);
    CHECK(theil_sen(endless, up).why == no_answer::not_finite);
    CHECK(theil_sen(wide).why == no_answer::not_finite);
    CHECK(theil_sen(up, two).why == no_answer::bad_request);
    CHECK(theil_sen(up, y, 1).why == no_answer::bad_request);
    CHECK(std::isnan(theil_sen(same).slope));
    CHECK(theil_sen(column{1, 3, 2}).bounds.hi == INFINITY); // of six orders of three values none is rare
    column mostly(30, 2.0); // nearly all pairs are level: no error to measure a slope by
    mostly[29] = 5, mostly[11] = 1;
    CHECK(theil_sen(mostly).why == no_answer::perfect_fit);
    CHECK(theil_sen(mostly).slope == 0);
    CHECK(theil_sen(mostly).intercept == 2);
    for (double const offset : {0.0, 1e9}) {
        column ramp;
        for (int i = 0; i < 2000; ++i) ramp.push_back(0.1 * i + offset);
        for (auto const values : {std::span{ramp}, std::span{ramp}.first(30)}) {
            auto const got = theil_sen(values);
            CHECK(got.why == no_answer::perfect_fit);
            CHECK(got.slope == Approx(0.1).epsilon(offset > 0 ? 1e-7 : 1e-12));
            CHECK(std::isnan(got.bounds.lo));
        }
    }
}
