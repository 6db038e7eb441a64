// SPDX-License-Identifier: MIT
#include <sb/stats/conformal.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {
constexpr auto same = conformal_sides::same, each = conformal_sides::each;
constexpr double endless = std::numeric_limits<double>::infinity();
} // namespace

TEST_CASE("conformal bounds are those of rational ranks", "[conformal:oracle]") {
    auto const file = oracle("conformal.json");
    std::vector<double> errors, room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        if (member(c, "errors")) errors = numbers(*member(c, "errors"));
        double const level = number(c, "level"), want = number(c, "same"), lo = number(c, "lo"), hi = number(c, "hi");
        INFO(errors.size() << " at " << level);
        auto const got = conformal(errors, level, same, room), two = conformal(errors, level, each, room);
        CHECK(got.n == errors.size());
        if (std::isnan(want)) {
            CHECK(got.why == no_answer::too_short);
            CHECK(got.hi == endless);
            CHECK(got.lo == -endless);
        } else {
            CHECK(got);
            CHECK(got.hi == want);
            CHECK(got.lo == -want);
            CHECK(got.holds >= level * (1 - 1e-15));
        }
        CHECK((two.why == no_answer::too_short) == std::isnan(hi));
        if (two) {
            CHECK(two.lo == lo);
            CHECK(two.hi == hi);
            CHECK(two.holds >= level * (1 - 1e-15));
        }
        // and as they come, with others before them that have gone
        for (auto const sides : {same, each}) {
            rolling_conformal window{errors.size(), sides};
            for (int i = 0; i < 7; ++i) window.push(1e6 * (i - 3));
            for (double const e : errors) window.push(e);
            auto const whole = conformal(errors, level, sides), rolled = window.interval(level);
            CHECK(rolled.why == whole.why);
            CHECK(rolled.lo == whole.lo);
            CHECK(rolled.hi == whole.hi);
            CHECK(rolled.holds == whole.holds);
        }
    }
    for (auto const& c : *member(file, "fewest")->if_array()) {
        double const level = number(c, "level");
        INFO(level);
        CHECK(fewest_for_conformal(level) == static_cast<std::size_t>(number(c, "same")));
        CHECK(fewest_for_conformal(level, each) == static_cast<std::size_t>(number(c, "each")));
    }
}

TEST_CASE("the adaptive level moves as in rational arithmetic", "[conformal:oracle]") {
    auto const file = oracle("conformal.json");
    for (auto const& c : *member(file, "adaptive")->if_array()) {
        adaptive_conformal of{number(c, "level"), number(c, "gamma"), static_cast<std::size_t>(number(c, "window"))};
        auto const errors = numbers(*member(c, "errors")), radius = numbers(*member(c, "radius"));
        for (std::size_t i = 0; i < errors.size(); ++i) {
            INFO(i);
            auto const got = of.interval();
            if (std::isnan(radius[i])) CHECK(got.hi == endless);
            else if (radius[i] < 0) CHECK(got.hi < got.lo);
            else CHECK(got.hi == radius[i]);
            CHECK(of.push(errors[i]));
        }
        CHECK(of.level() == Approx(number(c, "final")).epsilon(1e-12));
        CHECK(of.count() == errors.size());
    }
}

TEST_CASE("of exchangeable errors as many are held as is said, whatever their distribution", "[conformal:property]") {
    normal_values chance{41};
    constexpr int rounds = 4000;
    for (auto const sides : {same, each})
        for (std::size_t const n : {19u, 40u, 99u})
            for (double const level : {0.5, 0.9}) {
                int held = 0;
                double holds = 0;
                for (int round = 0; round < rounds; ++round) {
                    auto errors = chance.many(n + 1);
                    for (double& e : errors) e = std::exp(e) - 1; // skewed, with a bias
                    double const last = errors.back();
                    errors.pop_back();
                    auto const got = conformal_in_place(errors, level, sides);
                    held += got.covers(last), holds = got.holds;
                }
                INFO(n << " at " << level << ": " << held << " of " << rounds);
                double const noise = 3.5 * std::sqrt(holds * (1 - holds) / rounds);
                CHECK(holds >= level * (1 - 1e-15));
                CHECK(holds <= level + 2 / static_cast<double>(n + 1) + 1e-12);
                CHECK(std::abs(held / double{rounds} - holds) <= noise); // nothing ties, so neither more nor less
            }
}

TEST_CASE("in the long run as many errors are held as were to be, however they drift", "[conformal:property]") {
    normal_values chance{42};
    constexpr int steps = 6000;
    for (double const gamma : {0.01, 0.05}) {
        adaptive_conformal adaptive{0.9, gamma, 200};
        rolling_conformal still{100000};
        int still_misses = 0, misses = 0;
        double scale = 1;
        for (int i = 0; i < steps; ++i) {
            scale *= 1.0008; // each error a little larger than the last: what the past knows is always too little
            double const e = scale * chance.next();
            bool const hit = adaptive.interval().covers(e);
            misses += !hit;
            still_misses += !still.interval(0.9).covers(e);
            adaptive.push(e), still.push(e);
        }
        INFO(gamma << ": " << misses << ", without " << still_misses);
        CHECK(static_cast<std::size_t>(misses) == adaptive.misses());
        CHECK(std::abs(misses / double{steps} - 0.1) <= (1 + gamma) / (gamma * steps));
        CHECK(still_misses > 1.5 * 0.1 * steps);
    }
    // by no means only for errors that mean well: these are always just beyond
    for (double const level : {0.5, 0.8, 0.95}) {
        adaptive_conformal adaptive{level, 0.02, 50};
        for (int i = 0; i < 3000; ++i) {
            auto const told = adaptive.interval();
            adaptive.push(told.hi < endless && told.hi > 0 ? told.hi * 1.0001 : 1.0);
            CHECK((adaptive.level() > -0.02 && adaptive.level() < 1.02));
        }
        CHECK(std::abs(static_cast<double>(adaptive.misses()) / 3000 - (1 - level)) <= 1.02 / (0.02 * 3000));
    }
}

TEST_CASE("units move no bound but their own, and an interval with more is no shorter", "[conformal:property]") {
    normal_values chance{43};
    auto const errors = chance.many(60, 0.3);
    for (auto const sides : {same, each}) {
        double width = 0;
        for (int percent = 1; percent < 95; ++percent) {
            auto const got = conformal(errors, percent / 100.0, sides);
            REQUIRE(got);
            CHECK(got.hi - got.lo >= width);
            width = got.hi - got.lo;
            for (int const power : {-532, 498}) {
                auto other = errors;
                for (double& e : other) e = std::ldexp(e, power);
                CHECK(conformal(other, percent / 100.0, sides).hi == std::ldexp(got.hi, power));
                CHECK(conformal(other, percent / 100.0, sides).lo == std::ldexp(got.lo, power));
            }
        }
    }
    for (int percent = 1; percent < 100; ++percent)
        for (auto const sides : {same, each}) { // the fewest are enough, and one less is not
            auto const n = fewest_for_conformal(percent / 100.0, sides);
            INFO(percent << " " << n);
            CHECK(conformal(std::vector<double>(n, 1), percent / 100.0, sides));
            CHECK((n == 1 || conformal(std::vector<double>(n - 1, 1), percent / 100.0, sides).why == no_answer::too_short));
        }
}

TEST_CASE("too few errors give no interval, not one of no width", "[conformal:degenerate]") {
    std::vector<double> const none, one{2}, two{2, -3}, broken{1, NAN}, wide{1, INFINITY};
    CHECK(conformal(none, 0.9).why == no_answer::too_short);
    CHECK(conformal(one, 0.9).why == no_answer::too_short);
    CHECK(conformal(two, 0.95).hi == endless);
    CHECK(conformal(one, 0.5).hi == 2);
    CHECK(conformal(one, 0.5, each).why == no_answer::too_short);
    CHECK(conformal(broken, 0.5).why == no_answer::not_finite);
    CHECK(conformal(wide, 0.5).why == no_answer::not_finite);
    CHECK(conformal(std::vector<double>(30, 0.0), 0.9).hi == 0); // forecasts that were never wrong
    for (double const level : {0.0, 1.0, -1.0, 2.0, static_cast<double>(NAN)}) {
        CHECK(conformal(std::vector<double>(30, 1.0), level).why == no_answer::bad_request);
        CHECK(fewest_for_conformal(level) == std::numeric_limits<std::size_t>::max());
        adaptive_conformal of{level};
        CHECK(of.interval().why == no_answer::bad_request);
        CHECK_FALSE(of.push(1));
    }
    rolling_conformal window{0}; // as one of 1
    CHECK(window.interval(0.5).why == no_answer::too_short);
    CHECK_FALSE(window.push(NAN));
    CHECK_FALSE(window.push(INFINITY));
    CHECK(window.size() == 0);
    for (double const e : {5.0, -7.0}) CHECK(window.push(e));
    CHECK(window.size() == 1);
    CHECK(window.interval(0.5).hi == 7);
    CHECK(window.interval(1.0).why == no_answer::bad_request);
    adaptive_conformal of{0.9};
    CHECK(of.interval().why == no_answer::too_short);
    CHECK(of.interval().covers(1e300));
    CHECK_FALSE(of.push(NAN));
    CHECK(of.count() == 0);
    for (double const gamma : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) CHECK(adaptive_conformal{0.9, gamma}.interval().why == no_answer::bad_request);
}
