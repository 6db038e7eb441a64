// SPDX-License-Identifier: MIT
// What the predecessor's own tests pin of its five rules for "nothing changes any more", asked of the one rule here: all of it but
// a margin that is derived from the very values it judges, and windows of two values, which show nothing.
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include <sb/stats/settled.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace sb::stats;
using sb::test::normal_values;
using series = std::vector<double>;

namespace {

settle_answer look(series const& x, double margin, settle_mode mode = settle_mode::near_zero, std::size_t least = 3, int passes = 1) {
    settle_request asked;
    asked.margin = margin, asked.mode = mode, asked.least = least, asked.passes = passes;
    return settled(x, asked);
}
struct row {
    char const* rule;
    series values;
    double margin;
    bool flagged;
};

} // namespace

TEST_CASE("all that the predecessor's tests call settled is, and what they do not is not", "[settled:oracle]") {
    for (auto const& [rule, values, margin, flagged] : {
             row{"diminishing modules: small and steady", {.005, .005, .005, .005}, .01, true},
             {"diminishing modules: smaller", {.002, .002, .002}, .01, true},
             {"diminishing modules: steady, but not small", {.02, .02, .02}, .01, false},
             {"diminishing modules: to and fro", {.05, -.05, .05, -.05}, .01, false},
             {"diminishing modules: entropy that falls off", {.005, .004, .003}, .01, true},
             {"diminishing modules: entropy that fell just now", {.02, .004, .003}, .01, false},
             {"synergy: five alike", {.001, .001, .001, .001, .001}, .01, true},
             {"adaptive synergy: small and noisy", {.001, .002, .0015, .0011, .0009}, .01, true},
             {"adaptive synergy: to and fro", {.05, -.05, .05, -.05}, .01, false},
             {"meta log: gains of roi 0, .05, .10 at the third", {0, .05, .05}, .1, true},
             {"meta log, ceiling: gains of roi 0, .1, .15, .2", {0, .1, .05, .05}, .3, true},
             {"meta log, ceiling: gains of roi 0, 1, 2, 3", {0, 1, 1, 1}, 1, false},
             {"entropy plateau: the third joins", {.005, .004, .003}, .01, true},
             {"entropy plateau: a later one breaks the streak", {.004, .003, .02}, .01, false},
             {"entropy plateau: and it still stands in the next", {.003, .02, .003}, .01, false},
         }) {
        INFO(rule);
        auto const got = look(values, margin);
        CHECK(got);
        CHECK(got.settled() == flagged);
        if (flagged) CHECK(1 - got.change.equivalence_p(margin) >= 0.95); // the confidence that those tests ask for
        else CHECK(got.lacks == unsettled::level);
    }
}

TEST_CASE("two values are too few, whatever the predecessor made of them", "[settled:oracle][settled:degenerate]") {
    // "entropy .004, .003 below .005 for two": flagged there
    for (auto const& x : {series{.004, .003}, series{.005, .004}, series{.05, .05}}) CHECK(look(x, .1).why == no_answer::too_short);
    // and its margin made of the values: no margin up to their own mean calls these settled
    for (double const margin : {.005, .01, .0116}) CHECK_FALSE(look({.02, .01, .005}, margin).settled());
}

TEST_CASE("louder values leave more doubt, they do not widen the margin", "[settled:oracle]") {
    // the predecessor's margin of ±.1 is smaller than that of ±.5; here it is the error of the mean that is, five times
    auto const quiet = look({.1, -.1, .1, -.1}, .3), loud = look({.5, -.5, .5, -.5}, .3);
    CHECK(loud.change.error == Approx(5 * quiet.change.error).epsilon(1e-12));
    CHECK(quiet.change.error == Approx(.2 / std::sqrt(3.0) / 2).epsilon(1e-12)); // by hand: s = .2 / √3, n = 4
    CHECK(quiet.settled());
    CHECK_FALSE(loud.settled());
    // by hand: mean .0013, s² = .00000082 / 4, t of 4 degrees; the correlation of neighbours is negative
    CHECK(look({.001, .002, .0015, .0011, .0009}, .01).change.error == Approx(std::sqrt(.00000082 / 4 / 5)).epsilon(1e-9));
    CHECK(look({.005, .004, .003}, .01).change.equivalence_p(.01) == Approx(student_t_upper(6 * std::sqrt(3.0), 2)).epsilon(1e-9));
}

TEST_CASE("steady growth has settled as a level of growth, not as nothing", "[settled:oracle]") {
    series const steady(10, .05); // the predecessor could never call this settled
    CHECK(look(steady, .01, settle_mode::stable, 8, 2).settled());
    CHECK(look(steady, .01, settle_mode::near_zero, 8, 2).lacks == unsettled::level);
}

TEST_CASE("each test begins with as many values as it needs", "[settled:property]") {
    normal_values chance{51};
    for (std::size_t n = 0; n <= 24; ++n) {
        auto const got = look(chance.many(n), 50, settle_mode::stable);
        INFO("n " << n);
        CHECK(got.n == n);
        CHECK((got.why == no_answer::none) == (n >= 3));
        CHECK(std::isnan(got.spread_p) == (n < 16));
        CHECK(std::isnan(got.adf_p) == (n < 20));
        CHECK(look(chance.many(n), 50, settle_mode::stable, 8).why == (n < 8 ? no_answer::too_short : no_answer::none));
    }
}

TEST_CASE("of few independent values no more pass at the margin than is said", "[settled:property]") {
    normal_values chance{52};
    constexpr int rounds = 1000;
    for (auto const mode : {settle_mode::near_zero, settle_mode::stable})
        for (std::size_t const n : {3u, 4u, 5u, 7u}) {
            int wrongly = 0, rightly = 0;
            for (int round = 0; round < rounds; ++round) {
                auto x = chance.many(n);
                rightly += look(x, 40, mode).settled();
                for (std::size_t i = mode == settle_mode::stable ? n / 2 : 0; i < n; ++i) x[i] += 10;
                wrongly += look(x, 10, mode).settled();
            }
            INFO("n " << n);
            CHECK(wrongly <= rounds * 0.05 + 3 * std::sqrt(rounds * 0.05 * 0.95));
            CHECK(rightly >= 0.95 * rounds);
        }
}

TEST_CASE("a line without noise is judged by its slope, wherever it lies", "[settled:property][settled:degenerate]") {
    for (std::size_t const n : {4u, 7u, 8u, 12u})
        for (double const at : {0.0, 1.0, 1e9}) {
            series x;
            for (std::size_t i = 0; i < n; ++i) x.push_back(at + 0.001953125 * static_cast<double>(i));
            INFO(n << " values from " << at);
            auto const far = look(x, 1, settle_mode::stable), near = look(x, 0.0001, settle_mode::stable);
            CHECK(far.drift.mean == Approx(0.001953125 * static_cast<double>(n) / 2).epsilon(1e-6));
            CHECK_FALSE(near.settled());
            if (n <= 8) CHECK(far.settled());
            settle_request asked;
            asked.margin = 1, asked.least = 3, asked.passes = 1;
            asked.slope_margin = 0.0015;
            CHECK_FALSE(settled(x, asked).settled());
            asked.slope_margin = 0.0025;
            CHECK(settled(x, asked).settled() == far.settled());
            asked.slope_margin = -1;
            CHECK(settled(x, asked).why == no_answer::bad_request);
            asked.slope_margin = std::numeric_limits<double>::quiet_NaN();
            CHECK(settled(x, asked).why == no_answer::bad_request);
        }
}

TEST_CASE("a slope of its own margin is held to it", "[settled:property]") {
    normal_values chance{53};
    int loose = 0, tight = 0;
    constexpr int rounds = 300, n = 40;
    for (int round = 0; round < rounds; ++round) {
        auto x = chance.many(n);
        for (std::size_t i = 0; i < n; ++i) x[i] += 0.0125 * static_cast<double>(i); // adds up to a quarter over half a window
        settle_request asked;
        asked.margin = 4, asked.passes = 1;
        loose += settled(x, asked).settled();
        asked.slope_margin = 0.0125;
        tight += settled(x, asked).settled();
    }
    CHECK(loose >= 0.85 * rounds);
    CHECK(tight <= 0.05 * rounds + 3 * std::sqrt(rounds * 0.05 * 0.95));
}
