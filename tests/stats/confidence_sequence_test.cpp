// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/stats/confidence_sequence.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/student_t.hpp>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

sb::value const& oracles() {
    static auto const all = oracle("confidence_sequence.json");
    return all;
}
sb::array const& cases(std::string_view name) { return *member(oracles(), name)->if_array(); }
sb::array const& looks(sb::value const& of) { return *member(of, "looks")->if_array(); }

/// Pushes each value and calls `check(sequence, look)` where the oracle looked.
template <class Sequence, class Check>
int follow(sb::value const& c, Sequence sequence, std::string_view values, Check const& check) {
    auto const x = numbers(*member(c, values));
    std::size_t pushed = 0;
    int looked = 0;
    for (auto const& look : looks(c)) {
        auto const n = static_cast<std::size_t>(number(look, "n"));
        for (; pushed < n; ++pushed) {
            if constexpr (std::is_same_v<Sequence, share_sequence>) sequence.push(x[pushed] > 0);
            else sequence.push(x[pushed]);
        }
        INFO("n " << n);
        check(sequence, look);
        ++looked;
        auto const* const log_e = member(look, "log_e");
        if (!log_e->if_array()) continue;
        auto const against = numbers(*member(c, "against")), e = numbers(*log_e);
        for (std::size_t i = 0; i < e.size(); ++i) {
            // what the doubles of a mean far from 0 leave of its digits, times what they count
            double const digits = 1e-11 + 1e-15 * static_cast<double>(n) * (std::abs(against[i]) > 1e8 ? 1e9 : 1);
            CHECK(sequence.log_e(against[i]) == Approx(e[i]).epsilon(1e-11).margin(digits));
        }
    }
    return looked;
}

constexpr int series = 1000, longest = 5000;
double const sampling = 3 * std::sqrt(0.05 * 0.95 / series); // three standard errors of a share of 5 %

/// The share of series whose sequence ever misses the truth.
template <class Make, class Draw>
double missed(double truth, Make const& make, Draw const& draw) {
    int misses = 0;
    for (int round = 0; round < series; ++round) {
        auto sequence = make();
        using Sequence = decltype(sequence);
        bool out = false;
        for (int i = 0; i < longest && !out; ++i) {
            sequence.push(draw());
            if constexpr (std::is_same_v<Sequence, share_sequence>) {
                out = sequence.log_e(truth) >= -std::log(0.05); // the same, and sooner known
            } else {
                auto const look = sequence.now();
                out = look && !(look.within.lo <= truth && truth <= look.within.hi);
            }
        }
        misses += out;
    }
    return misses / static_cast<double>(series);
}

} // namespace

TEST_CASE("the three sequences are the formulas of their papers", "[confidence_sequence:oracle]") {
    int looked = 0;
    for (auto const& c : cases("bounded"))
        looked += follow(c, bounded_sequence{number(c, "lo"), number(c, "hi"), number(c, "alpha")}, "values", [&](bounded_sequence const& s, sb::value const& look) {
            auto const got = s.now();
            REQUIRE(got);
            double const close = 1e-13 * (number(c, "hi") - number(c, "lo")) + 1e-16 * std::abs(number(c, "hi"));
            CHECK(got.within.lo == Approx(number(look, "lo")).epsilon(1e-15).margin(close));
            CHECK(got.within.hi == Approx(number(look, "hi")).epsilon(1e-15).margin(close));
            CHECK(got.estimate == Approx(number(look, "estimate")).epsilon(1e-15).margin(close));
        });
    for (auto const& c : cases("normal"))
        looked += follow(c, normal_sequence{number(c, "alpha"), number(c, "best_at")}, "values", [&](normal_sequence const& s, sb::value const& look) {
            auto const got = s.now();
            CHECK(got.estimate == Approx(number(look, "estimate")).epsilon(1e-13));
            if (!member(look, "lo")->is_number()) {
                CHECK(got.why == no_answer::too_short);
                return;
            }
            REQUIRE(got);
            double const width = number(look, "hi") - number(look, "lo"), close = 1e-12 * width + 4e-16 * std::abs(number(look, "hi"));
            CHECK(got.within.lo == Approx(number(look, "lo")).epsilon(1e-16).margin(close));
            CHECK(got.within.hi == Approx(number(look, "hi")).epsilon(1e-16).margin(close));
        });
    for (auto const& c : cases("share"))
        looked += follow(c, share_sequence{number(c, "alpha")}, "bits", [&](share_sequence const& s, sb::value const& look) {
            auto warm = s; // asked twice: the second time from where the first ended
            for (auto const& got : {s.now(), warm.now(), warm.now()}) {
                REQUIRE(got);
                double const lo = number(look, "lo"), hi = number(look, "hi"), width = hi - lo;
                CHECK(got.within.lo == Approx(lo).epsilon(1e-12).margin(1e-9 * width));
                CHECK(got.within.hi == Approx(hi).epsilon(1e-12).margin(1e-9 * width));
                CHECK((got.within.lo <= lo + 1e-14 && got.within.hi >= hi - 1e-14)); // never too narrow
            }
        });
    CHECK(looked == 64);
}

TEST_CASE("looking after each of 5000 values, no more series ever miss the truth than is said", "[confidence_sequence:property]") {
    sb::random_stream coin{31};
    normal_values chance{32};
    double const most = 0.05 + sampling;
    CHECK(missed(0.5, [] { return bounded_sequence{0, 1}; }, [&] { return coin.unit(); }) <= most);
    CHECK(missed(0.1, [] { return bounded_sequence{0, 1}; }, [&] { return coin.chance(0.1) ? 1.0 : 0.0; }) <= most);
    CHECK(missed(0.3, [] { return share_sequence{}; }, [&] { return coin.chance(0.3); }) <= most);
    CHECK(missed(0.01, [] { return share_sequence{}; }, [&] { return coin.chance(0.01); }) <= most);
    // this one spends most of what it may, so that it is no wider than it need be
    double const of_normal = missed(3, [] { return normal_sequence{}; }, [&] { return 3 + chance.next(); });
    CHECK(of_normal <= most);
    CHECK(of_normal >= 0.01);
}

TEST_CASE("an interval for one look misses far more often when it is looked at each time", "[confidence_sequence:property]") {
    std::vector<double> quantile(longest + 1);
    for (std::size_t n = 3; n <= longest; ++n) quantile[n] = student_t_quantile(0.025, std::min(static_cast<double>(n - 1), 2000.0));
    normal_values chance{33};
    int naive = 0, anytime = 0;
    for (int round = 0; round < 400; ++round) {
        moments all;
        normal_sequence sequence;
        bool out = false, ever = false;
        for (std::size_t n = 1; n <= longest; ++n) {
            double const x = chance.next();
            all.push(x), sequence.push(x);
            if (n >= 3 && !out) out = std::abs(*all.mean()) > quantile[n] * *all.stddev() / std::sqrt(static_cast<double>(n));
            ever = ever || anytime_p(sequence.log_e(0)) <= 0.05;
        }
        naive += out, anytime += ever;
    }
    CHECK(naive > 200); // more than half of them
    CHECK(anytime <= 0.05 * 400 + 3 * std::sqrt(0.05 * 0.95 * 400));
}

TEST_CASE("the intervals narrow at the rates that are said", "[confidence_sequence:property]") {
    sb::random_stream coin{34};
    normal_values chance{35};
    bounded_sequence bounded{0, 1};
    normal_sequence normal;
    share_sequence share;
    double const c = 50 / 8.219;
    for (int n = 1; n <= 1'000'000; ++n) {
        bounded.push(coin.unit()), normal.push(chance.next()), share.push(coin.chance(0.2));
        if (n != 100 && n != 10'000 && n != 1'000'000) continue;
        double const count = n, slack = n < 1000 ? 0.25 : 0.03;
        auto const half = [](sequence_answer const& a) { return (a.within.hi - a.within.lo) / 2; };
        INFO("n " << n);
        CHECK(half(normal.now()) == Approx(std::sqrt((count + c) * std::log((count + c) / c * 400)) / count).epsilon(slack));
        CHECK(half(share.now()) == Approx(std::sqrt(0.16 * std::log(3.14159 * count / 2 * 400) / count)).epsilon(slack));
        double const of_rate = half(bounded.now()) / std::sqrt(std::log(40.0) / 12 * std::log(count) / count);
        CHECK((of_rate >= 0.7 && of_rate <= 1));
    }
}

TEST_CASE("evidence and interval say the same, and looks together say more", "[confidence_sequence:property]") {
    normal_values chance{36};
    sb::random_stream coin{37};
    bounded_sequence bounded{-1, 1};
    normal_sequence normal;
    share_sequence share;
    narrowing left;
    CHECK_FALSE(left.contradicted());
    for (int n = 1; n <= 300; ++n) {
        bounded.push(2 * coin.unit() - 1), normal.push(chance.next()), share.push(coin.chance(0.4));
        auto const of_bounded = bounded.now(), of_normal = normal.now(), of_share = share.now();
        for (double const end : {of_share.within.lo, of_share.within.hi})
            if (end > 0 && end < 1) CHECK(anytime_p(share.log_e(end)) == Approx(0.05).epsilon(1e-7));
        if (of_normal)
            for (double const end : {of_normal.within.lo, of_normal.within.hi}) CHECK(anytime_p(normal.log_e(end)) == Approx(0.05).epsilon(1e-9));
        for (double const end : {of_bounded.within.lo, of_bounded.within.hi}) // one side alone has spent its half there
            if (std::abs(end) < 1) CHECK(anytime_p(bounded.log_e(end)) <= 0.05 * (1 + 1e-9));
        left.push(of_normal);
        if (of_normal) CHECK((left.within().lo >= of_normal.within.lo && left.within().hi <= of_normal.within.hi));
    }
    CHECK_FALSE(left.contradicted());
    CHECK(normal.log_e(0) < 3);
    for (int n = 0; n < 300; ++n) normal.push(5 + chance.next()), left.push(normal.now());
    CHECK(left.contradicted()); // the mean was not the same
}

TEST_CASE("the bounds of a share spend what they may and no more, be they asked now and then or each time", "[confidence_sequence:property]") {
    sb::random_stream coin{40};
    for (double const alpha : {1e-150, 1e-6, 0.05, 0.9})
        for (double const p : {0.001, 0.03, 0.3, 0.5, 0.95})
            for (std::size_t const apart : {1u, 17u}) {
                share_sequence share{alpha};
                double const budget = -std::log(alpha);
                for (std::size_t n = 1; n <= 400; ++n) {
                    share.push(coin.chance(p));
                    if (n % apart != 0) continue;
                    auto const got = share.now();
                    CHECK((0 <= got.within.lo && got.within.lo <= got.estimate && got.estimate <= got.within.hi && got.within.hi <= 1));
                    for (double const end : {got.within.lo, got.within.hi})
                        if (end > 0 && end < 0.999) { // nearer to 1 a double cannot say what is left
                            CHECK(share.log_e(end) >= budget - 1e-9 * (1 + budget));
                            CHECK(share.log_e(end) <= budget + 1e-6 * (1 + budget));
                        }
                }
            }
}

TEST_CASE("neither the place nor the unit of the values matters", "[confidence_sequence:property]") {
    normal_values chance{38};
    std::vector<double> x(80);
    for (double& each : x) each = std::round(chance.next() * 1024) / 1024;
    normal_sequence plain;
    for (double const each : x) plain.push(each);
    auto const a = plain.now();
    REQUIRE(a);
    for (int const power : {-1060, -1000, -530, 498, 1000}) {
        double const unit = std::ldexp(1.0, power);
        normal_sequence scaled;
        for (double const each : x) scaled.push(each * unit);
        INFO("2^" << power);
        REQUIRE(scaled.now());
        if (power > -1060) CHECK(scaled.now().within.lo == a.within.lo * unit);
        else CHECK(scaled.now().within.lo == Approx(a.within.lo * unit).epsilon(1e-3)); // few digits are left of such values
        if (power > -1060) CHECK(scaled.log_e(unit / 4) == plain.log_e(0.25));
    }
    normal_sequence far;
    for (double const each : x) far.push(each + 1073741824.0);
    CHECK(far.now().within.hi - 1073741824.0 == Approx(a.within.hi).margin(2e-7));
    // a first distance that is nothing beside the others
    normal_sequence uneven;
    uneven.push(0), uneven.push(1e-200);
    for (double const each : x) uneven.push(each);
    CHECK(uneven.now().within.hi == Approx(a.within.hi).epsilon(0.1));
}

TEST_CASE("two arms are told apart, or told to be equal, and seldom wrongly", "[confidence_sequence:property]") {
    normal_values chance{39};
    int wrong = 0, better = 0, equal = 0, worse = 0;
    constexpr int rounds = 300;
    for (int round = 0; round < rounds; ++round) {
        auto const first_of = [&](double difference, double margin) {
            normal_sequence sequence;
            for (int n = 0; n < 2000; ++n) {
                double const shared = chance.next(), one = shared + chance.next(), two = shared + chance.next() + difference;
                sequence.push(two - one);
                if (auto const got = decided(sequence, margin); got.is != decision::undecided) return got.is;
            }
            return decision::undecided;
        };
        better += first_of(0.5, 0) == decision::better;
        worse += first_of(-0.5, 0.2) == decision::worse;
        equal += first_of(0, 0.3) == decision::equivalent;
        auto const at_the_margin = first_of(0.3, 0.3); // neither would be true
        wrong += at_the_margin != decision::undecided;
    }
    CHECK(better >= 0.99 * rounds);
    CHECK(worse >= 0.95 * rounds);
    CHECK(equal >= 0.95 * rounds);
    CHECK(wrong <= 0.05 * rounds + 3 * std::sqrt(0.05 * 0.95 * rounds));
}

TEST_CASE("a verdict follows its interval and brings its evidence", "[confidence_sequence:oracle]") {
    share_sequence share; // 59 of 60; the interval from the oracle's formula is checked above
    for (int n = 0; n < 60; ++n) share.push(n != 30);
    auto const within = share.now().within;
    auto const good = decided(share, 0, 0.8), open = decided(share, 0, 0.95), same = decided(share, 0.2, 0.95), bad = decided(share, 0, 1);
    CHECK(good.is == decision::better);
    CHECK(good.within.lo > 0.8);
    CHECK(good.log_e == share.log_e(0.8));
    CHECK(good.p == Approx(std::exp(-good.log_e)));
    CHECK(good.p <= 0.05);
    CHECK(good.n == 60);
    CHECK(open.is == decision::undecided);
    CHECK((open.p > 0.05 && open.p <= 1));
    CHECK(same.is == decision::equivalent);
    CHECK(same.log_e == std::min(share.log_e(0.95 - 0.2), share.log_e(0.95 + 0.2)));
    CHECK(bad.is == decision::worse);
    CHECK(within.hi < 1);
    CHECK(std::string{name_of(decision::equivalent)} == "equivalent");
    // by hand: B(1/2 + 59, 1/2 + 1) / B(1/2, 1/2) / (0.8^59 0.2)
    double const by_hand = std::lgamma(59.5) + std::lgamma(1.5) - std::lgamma(61) - std::log(3.14159265358979323846) - 59 * std::log(0.8) - std::log(0.2);
    CHECK(good.log_e == Approx(by_hand).epsilon(1e-12));
}

TEST_CASE("what cannot be answered says why", "[confidence_sequence:degenerate]") {
    auto const of_bounded = [](std::vector<double> const& x, double lo = 0, double hi = 1, double alpha = 0.05) {
        bounded_sequence s{lo, hi, alpha};
        for (double const each : x) s.push(each);
        return s.now();
    };
    CHECK(of_bounded({}).why == no_answer::too_short);
    CHECK((of_bounded({}).within.lo == 0 && of_bounded({}).within.hi == 1)); // all there is
    CHECK(of_bounded({0.5}));
    CHECK((of_bounded({0.5, 0.5}).within.lo == 0 && of_bounded({0.5, 0.5}).within.hi == 1));
    CHECK(of_bounded(std::vector<double>(500, 1.0)).within.lo > 0.95); // that nothing moves is no fault where the bounds are known
    CHECK(of_bounded(std::vector<double>(500, 1.0)).within.hi == 1);
    CHECK(of_bounded({0.5, no_number, 0.5}).why == no_answer::not_finite);
    CHECK(of_bounded({0.5, infinite}).why == no_answer::not_finite);
    CHECK(of_bounded({0.5, 1.01, no_number}).why == no_answer::bad_request);
    CHECK(of_bounded({0.5}, 1, 1).why == no_answer::bad_request);
    CHECK(of_bounded({0.5}, 1, 0).why == no_answer::bad_request);
    CHECK(of_bounded({0.5}, 0, infinite).why == no_answer::bad_request);
    CHECK(of_bounded({0.5}, -1.7e308, 1.7e308).why == no_answer::bad_request);
    for (double const alpha : {0.0, 1.0, -1.0, no_number}) {
        CHECK(of_bounded({0.5}, 0, 1, alpha).why == no_answer::bad_request);
        CHECK(normal_sequence{alpha}.now().why == no_answer::bad_request);
        CHECK(share_sequence{alpha}.now().why == no_answer::bad_request);
    }
    bounded_sequence const none{0, 1};
    CHECK(none.log_e(0.5) == 0);

    auto const of_normal = [](std::vector<double> const& x) {
        normal_sequence s;
        for (double const each : x) s.push(each);
        CHECK((s.now() || s.now().within.lo == -infinite));
        if (!s.now() && s.now().why != no_answer::too_short) CHECK(s.log_e(17) == 0);
        return s.now().why;
    };
    CHECK(of_normal({}) == no_answer::too_short);
    CHECK(of_normal({1}) == no_answer::too_short);
    CHECK(of_normal({1, 2}) == no_answer::too_short);
    CHECK(of_normal(std::vector<double>(100, 0.1)) == no_answer::constant);
    CHECK(of_normal({1, no_number}) == no_answer::not_finite);
    CHECK(of_normal({-infinite}) == no_answer::not_finite);
    CHECK(of_normal({1e308, -1e308}) == no_answer::not_finite);
    CHECK(normal_sequence{0.05, 0}.now().why == no_answer::bad_request);
    CHECK(normal_sequence{0.05, no_number}.now().why == no_answer::bad_request);
    normal_sequence few;
    for (double const x : {1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0}) few.push(x);
    CHECK(few.log_e(1e300) == Approx(few.log_e(1e200)).epsilon(1e-12)); // beyond all values there is only so much evidence
    CHECK(few.log_e(no_number) == 0);

    share_sequence never;
    CHECK(never.now().why == no_answer::too_short);
    CHECK(never.log_e(0.5) == 0);
    never.push(false);
    CHECK(never.now().within.lo == 0);
    CHECK(never.log_e(0) < 0);
    CHECK(never.log_e(1) == infinite); // it did not hit
    CHECK(anytime_p(infinite) == 0);
    CHECK(never.log_e(1.5) == 0);

    CHECK(decided(none).why == no_answer::too_short);
    CHECK(decided(none).is == decision::undecided);
    CHECK(decided(none).p == 1);
    CHECK(decided(few, -1).why == no_answer::bad_request);
    CHECK(decided(few, no_number).why == no_answer::bad_request);
    CHECK(decided(few, 0).is == decision::better);
    CHECK(decided(normal_sequence{}, 1).why == no_answer::too_short);
}
