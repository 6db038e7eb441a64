// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/betting_sequence.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("the capital is that of the paper, value by value", "[betting_sequence:oracle]") {
    auto const file = oracle("betting_sequence.json");
    int looked = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        betting_sequence<> sequence{number(c, "lo"), number(c, "hi"), number(c, "alpha")};
        auto const values = numbers(*member(c, "values")), against = numbers(*member(c, "against"));
        std::size_t pushed = 0;
        for (auto const& look : *member(c, "looks")->if_array()) {
            for (auto const n = static_cast<std::size_t>(number(look, "n")); pushed < n; ++pushed) sequence.push(values[pushed]);
            auto const got = sequence.now();
            INFO("n " << got.n);
            REQUIRE(got);
            CHECK(got.within.lo == number(look, "lo"));
            CHECK(got.within.hi == number(look, "hi"));
            auto const e = numbers(*member(look, "log_e"));
            for (std::size_t i = 0; i < e.size(); ++i) CHECK(sequence.log_e(against[i]) == Approx(e[i]).epsilon(1e-11).margin(1e-12));
            ++looked;
        }
    }
    CHECK(looked == 13);
}

TEST_CASE("it holds at every look, and is narrower than the closed form while values are few", "[betting_sequence:property]") {
    constexpr int rounds = 500;
    sb::random_stream chance{61};
    for (double const truth : {0.5, 0.1}) {
        int missed = 0, narrower = 0;
        for (int round = 0; round < rounds; ++round) {
            betting_sequence<64> betting{0, 1};
            bounded_sequence closed{0, 1};
            bool out = false;
            for (int n = 1; n <= 400; ++n) {
                double const x = truth == 0.5 ? chance.unit() : static_cast<double>(chance.chance(truth));
                betting.push(x), closed.push(x);
                auto const a = betting.now().within;
                out = out || !(a.lo <= truth && truth <= a.hi);
                if (n == 20) {
                    auto const b = closed.now().within;
                    narrower += a.hi - a.lo < b.hi - b.lo;
                    CHECK(anytime_p(betting.log_e(a.lo)) <= 1);
                }
            }
            missed += out;
        }
        CHECK(missed <= rounds * 0.05 + 3 * std::sqrt(rounds * 0.05 * 0.95));
        CHECK(narrower >= 0.95 * rounds);
    }
}

TEST_CASE("evidence and interval say the same, to the next of the row, whatever the unit", "[betting_sequence:property]") {
    sb::random_stream chance{62};
    betting_sequence<> plain{0, 1}, far{1e9, 1e9 + 1024}, small{0, 0x1p-1000};
    for (int n = 0; n < 200; ++n) {
        double const x = std::floor(chance.unit() * 1024) / 1024;
        plain.push(x), far.push(1e9 + 1024 * x), small.push(0x1p-1000 * x);
    }
    auto const a = plain.now().within;
    CHECK(plain.log_e(a.lo) >= std::log(20.0));
    CHECK(plain.log_e(a.hi) >= std::log(20.0));
    CHECK(plain.log_e(a.lo + 1 / 256.0) < std::log(40.0));
    for (double m = 0.0; m < 1; m += 0.0101) // no more evidence than both neighbours have
        CHECK(plain.log_e(m) <= std::max(plain.log_e(std::floor(m * 256) / 256), plain.log_e(std::ceil(m * 256) / 256)));
    CHECK(far.now().within.lo == 1e9 + 1024 * a.lo);
    CHECK(small.now().within.hi == 0x1p-1000 * a.hi);
    CHECK(decided(plain, 0, 0.2).is == decision::better);
    CHECK(decided(plain, 0.2, 0.5).is == decision::equivalent);
    CHECK(decided(plain, 0, 0.5).p > 0.05);
}

TEST_CASE("what cannot be bet on says why", "[betting_sequence:degenerate]") {
    constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
    auto const of = [](std::vector<double> const& x, double lo = 0, double hi = 1, double alpha = 0.05) {
        betting_sequence<16> s{lo, hi, alpha};
        for (double const each : x) s.push(each);
        return s.now();
    };
    CHECK(of({}).why == no_answer::too_short);
    CHECK((of({}).within.lo == 0 && of({}).within.hi == 1));
    CHECK(of({0.5}));
    CHECK((of({0.5, 0.5}).within.lo == 0 && of({0.5, 0.5}).within.hi == 1));
    CHECK(of({0.5, no_number}).why == no_answer::not_finite);
    CHECK(of({-INFINITY}).why == no_answer::not_finite);
    CHECK(of({0.5, 2}).why == no_answer::bad_request);
    CHECK(of({}, 1, 1).why == no_answer::bad_request);
    CHECK(of({}, 0, INFINITY).why == no_answer::bad_request);
    CHECK(of({}, -1.7e308, 1.7e308).why == no_answer::bad_request);
    CHECK(of({}, 0, 1, 0).why == no_answer::bad_request);
    CHECK(of({}, 0, 1, no_number).why == no_answer::bad_request);
    auto const ones = of(std::vector<double>(20'000, 1.0)); // capital beyond all doubles
    CHECK(ones.within.lo == 15 / 16.0);
    CHECK(ones.within.hi == 1);
    betting_sequence<16> none{0, 1};
    CHECK(none.log_e(0.5) == 0);
    for (int n = 0; n < 20'000; ++n) none.push(1);
    CHECK(none.log_e(0) > 600);
    CHECK(none.log_e(1) <= 0);
    CHECK(none.log_e(no_number) == 0);
}
