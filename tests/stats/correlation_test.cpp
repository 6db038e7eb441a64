// SPDX-License-Identifier: MIT
// Tests of correlation.hpp and rank_correlation.hpp.
#include <sb/stats/correlation.hpp>
#include <sb/stats/rank_correlation.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {

struct pairs {
    column x, y;
};
pairs related(std::uint64_t seed, std::size_t n, double share) {
    normal_values values{seed};
    pairs made;
    for (std::size_t i = 0; i < n; ++i) {
        made.x.push_back(values.next());
        made.y.push_back(share * made.x.back() + values.next());
    }
    return made;
}
column times(column values, double factor, double more = 0) {
    for (double& x : values) x = x * factor + more;
    return values;
}

/// What an oracle's cases have in common; `more` checks the rest.
template <class Correlate, class More>
void each_ranked(char const* cases, char const* coefficient, double close, Correlate correlate, More more) {
    auto const file = oracle("correlation.json");
    rank_room room;
    for (auto const& c : *member(file, cases)->if_array()) {
        auto const got = correlate(numbers(*member(c, "x")), numbers(*member(c, "y")), room);
        INFO(got.n << " pairs " << name_of(got.why));
        REQUIRE(got);
        CHECK(got.r == Approx(number(c, coefficient)).epsilon(1e-14));
        CHECK(got.exact == *member(c, "exact")->if_bool());
        CHECK(got.p == Approx(number(c, "p")).epsilon(got.exact ? 1e-13 : close));
        more(c, got);
    }
}

} // namespace

TEST_CASE("Pearson's correlation agrees with sixty digits, far from nothing and in any unit", "[correlation:oracle]") {
    auto const file = oracle("correlation.json");
    correlation_room room;
    for (auto const& c : *member(file, "pearson")->if_array()) {
        auto const got = correlation(numbers(*member(c, "x")), numbers(*member(c, "y")), number(c, "confidence"), room);
        auto const& exact = *member(c, "exact");
        INFO(got.n << " pairs, r " << number(exact, "r") << " " << name_of(got.why));
        REQUIRE(got);
        CHECK(got.r == Approx(number(exact, "r")).margin(1e-14).epsilon(0));
        CHECK(got.statistic == Approx(number(exact, "t")).epsilon(1e-11).margin(1e-13));
        CHECK(got.p == Approx(number(exact, "p")).epsilon(1e-10));
        CHECK(got.bounds.lo == Approx(number(exact, "lo")).epsilon(1e-12));
        CHECK(got.bounds.hi == Approx(number(exact, "hi")).epsilon(1e-12));
    }
}

TEST_CASE("Pearson's correlation knows no units, and changes its sign with one side's", "[correlation:property]") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        auto const [x, y] = related(seed, 5 + 3 * seed, 0.5);
        auto const want = correlation(x, y), turned = correlation(y, x), mirrored = correlation(x, times(y, -4));
        auto const small = correlation(times(x, 0x1p-500), times(y, 0x1p+490)), swapped = correlation(times(x, 3, 7), times(y, 0.1, -2));
        REQUIRE((want && turned && mirrored && small && swapped));
        CHECK(turned.r == want.r);
        CHECK(mirrored.r == -want.r);
        CHECK(mirrored.p == want.p);
        CHECK(small.r == want.r);
        CHECK(small.bounds.lo == want.bounds.lo);
        CHECK(swapped.r == Approx(want.r).epsilon(1e-12));
        CHECK((want.bounds.lo < want.r && want.r < want.bounds.hi));
    }
    int covered = 0; // of independent pairs
    for (std::uint64_t seed = 100; seed < 500; ++seed) {
        auto const [x, y] = related(seed, 12, 0);
        auto const got = correlation(x, y);
        covered += got.bounds.lo <= 0 && got.bounds.hi >= 0;
    }
    CHECK(covered >= 370); // 380 of 400 expected
    CHECK(covered <= 390);
}

TEST_CASE("what has no correlation gets a reason", "[correlation:degenerate][rank_correlation:degenerate]") {
    column const none, one{1}, two{1, 2}, up{1, 2, 3, 4}, same{7, 7, 7, 7}, tenths{0.1, 0.1, 0.1, 0.1}, broken{1, NAN, 3, 4}, endless{1, INFINITY, 2, 3}, wide{-1e308, 1e308, 0, 1}, y{1, 3, 2, 5};
    CHECK(correlation(none, none).why == no_answer::too_short);
    CHECK(correlation(one, one).why == no_answer::too_short);
    CHECK(correlation(two, two).why == no_answer::no_freedom);
    CHECK(correlation(two, up).why == no_answer::bad_request);
    CHECK(correlation(up, y, 1).why == no_answer::bad_request);
    CHECK(correlation(up, y, NAN).why == no_answer::bad_request);
    CHECK(correlation(same, up).why == no_answer::constant);
    CHECK(correlation(up, tenths).why == no_answer::constant);
    CHECK(correlation(broken, up).why == no_answer::not_finite);
    CHECK(correlation(up, endless).why == no_answer::not_finite);
    CHECK(correlation(wide, y).why == no_answer::not_finite);
    CHECK(std::isnan(correlation(same, up).p));
    for (auto const test : {+[](column const& a, column const& b) { return spearman(a, b); }, +[](column const& a, column const& b) { return kendall(a, b); }}) {
        CHECK(test(none, none).why == no_answer::too_short);
        CHECK(test(one, one).why == no_answer::too_short);
        CHECK(test(two, up).why == no_answer::bad_request);
        CHECK(test(same, up).why == no_answer::constant);
        CHECK(test(up, tenths).why == no_answer::constant);
        CHECK(test(broken, up).why == no_answer::not_finite);
        CHECK(test(up, endless).why == no_answer::not_finite);
        CHECK(std::isnan(test(same, up).r));
        auto const first = test(two, two);
        CHECK((first && first.r == 1 && first.p == 1)); // of two orders one is as good as the other
        CHECK(test(wide, y));
    }
}

TEST_CASE("a straight line is a perfect fit, not a small p", "[correlation:degenerate]") {
    for (double const offset : {0.0, 1e9})
        for (double const step : {0.1, -0.3, 1e-160, 1e150}) {
            column x, y;
            for (int i = 0; i < 50; ++i) x.push_back(i), y.push_back(step * i + (std::abs(step) < 1 && std::abs(step) > 0.01 ? offset : 0));
            auto const got = correlation(x, y);
            INFO(step << " " << offset);
            CHECK(got.why == no_answer::perfect_fit);
            CHECK(got.r == (step > 0 ? 1 : -1));
            CHECK(std::isnan(got.p));
        }
    column x, y; // one of a million off the line is none
    for (int i = 0; i < 50; ++i) x.push_back(i), y.push_back(i + (i == 20 ? 1e-6 : 0));
    CHECK(correlation(x, y));
    CHECK(correlation(x, y).r <= 1);
}

TEST_CASE("correlation over windows agrees with rational arithmetic window by window", "[correlation:oracle]") {
    each_rolling_correlation([](column const& x, column const& y, std::size_t window, column const& exact) {
        column got(exact.size());
        REQUIRE(rolling_correlation(x, y, window, got) == no_answer::none);
        for (std::size_t i = 0; i < got.size(); ++i) {
            INFO("window " << i << " of " << window << " values");
            if (std::isnan(exact[i])) CHECK(std::isnan(got[i]));
            else CHECK(got[i] == Approx(exact[i]).margin(1e-12).epsilon(0));
        }
    });
}

TEST_CASE("a window's correlation is that of its values alone, whatever lies elsewhere", "[correlation:property]") {
    normal_values values{5};
    column x, y;
    for (int i = 0; i < 600; ++i) {
        double const unit = i < 200 ? 1 : i < 300 ? 1e-170 : i < 450 ? 1e150 : 1e-10, offset = i < 100 ? 1e9 : 0;
        x.push_back(offset + unit * values.next());
        y.push_back(i > 500 && i < 530 ? 4 : values.next() * unit);
    }
    x[40] = NAN, y[480] = INFINITY;
    for (std::size_t const window : {2u, 3u, 10u, 50u}) {
        column got(x.size() - window + 1);
        REQUIRE(rolling_correlation(x, y, window, got) == no_answer::none);
        for (std::size_t i = 0; i < got.size(); ++i) {
            auto const want = correlation(std::span{x}.subspan(i, window), std::span{y}.subspan(i, window));
            INFO("window " << window << " at " << i);
            if (want || want.why == no_answer::perfect_fit) CHECK(got[i] == Approx(want.r).margin(window == 2 ? 0 : 1e-7));
            else if (want.why == no_answer::no_freedom) CHECK(std::abs(got[i]) == Approx(1));
            else CHECK(std::isnan(got[i]));
            CHECK_FALSE(std::abs(got[i]) > 1);
        }
    }
}

TEST_CASE("windows that cannot be are refused", "[correlation:degenerate]") {
    column const x{1, 2, 3}, y{3, 1, 2};
    column out(2), other(1);
    CHECK(rolling_correlation(x, y, 2, out) == no_answer::none);
    CHECK(rolling_correlation(x, y, 2, other) == no_answer::bad_request);
    CHECK(rolling_correlation(x, y, 1, out) == no_answer::bad_request);
    CHECK(rolling_correlation(x, y, 0, out) == no_answer::bad_request);
    CHECK(rolling_correlation(x, y, 4, out) == no_answer::too_short);
    CHECK(rolling_correlation({}, {}, 2, out) == no_answer::too_short);
    CHECK(rolling_correlation(x, std::span{y}.first(2), 2, out) == no_answer::bad_request);
}

TEST_CASE("Spearman's rho agrees with whole ranks and with all orders counted", "[rank_correlation:oracle]") {
    each_ranked("spearman", "rho", 1e-9, [](auto const& x, auto const& y, rank_room& room) { return spearman(x, y, room); }, [](sb::value const& c, rank_correlation_answer const& got) {
        if (member(c, "counted")) CHECK(got.p == Approx(number(c, "counted")).margin(0.002).epsilon(0));
        CHECK(got.r == Approx(number(*member(c, "scipy"), "r")).epsilon(1e-13).margin(1e-15));
    });
}

TEST_CASE("Kendall's tau-b agrees with whole scores and with all orders counted", "[rank_correlation:oracle]") {
    each_ranked("kendall", "tau", 1e-10, [](auto const& x, auto const& y, rank_room& room) { return kendall(x, y, room); }, [](auto const&...) {});
}

TEST_CASE("ranks see order alone, and all of what is in order is as rare as orders allow", "[rank_correlation:property]") {
    for (std::uint64_t seed = 1; seed < 15; ++seed) {
        auto const [x, y] = related(seed, 3 + 5 * seed, 0.7);
        column bent = y;
        for (double& v : bent) v = std::exp(v) * 1e-200;
        auto const rho = spearman(x, y), other = spearman(x, bent), mirrored = spearman(times(x, -1), y);
        auto const tau = kendall(x, y), bent_tau = kendall(x, bent), mirrored_tau = kendall(y, times(x, -1));
        CHECK((other.r == rho.r && other.p == rho.p));
        CHECK((mirrored.r == -rho.r && mirrored.p == rho.p));
        CHECK((bent_tau.r == tau.r && bent_tau.p == tau.p));
        CHECK((mirrored_tau.r == -tau.r && mirrored_tau.p == tau.p));
    }
    double orders = 2;
    for (std::size_t n = 3; n <= 20; ++n) {
        orders *= static_cast<double>(n);
        column up, down;
        for (std::size_t i = 0; i < n; ++i) up.push_back(static_cast<double>(i)), down.push_back(-std::pow(2.0, static_cast<double>(i)));
        CHECK(kendall(up, down).r == -1);
        CHECK(kendall(up, down).p == Approx(2 / orders).epsilon(1e-12));
        CHECK(spearman(up, down).r == -1);
        if (n <= 10) CHECK(spearman(up, down).p == Approx(2 / orders).epsilon(1e-12));
        else CHECK(spearman(up, down).p >= 2 / orders * (1 - 1e-12));
    }
    int rho = 0, tau = 0; // of independent pairs with ties, how many seem to depend
    for (std::uint64_t seed = 1000; seed < 1400; ++seed) {
        auto [x, y] = related(seed, 15, 0);
        for (auto* const each : {&x, &y})
            for (double& v : *each) v = std::floor(2 * v);
        rho += spearman(x, y).p <= 0.05, tau += kendall(x, y).p <= 0.05;
    }
    CHECK((rho >= 8 && rho <= 33)); // 20 of 400 expected
    CHECK((tau >= 8 && tau <= 33));
}
