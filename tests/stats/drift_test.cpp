// SPDX-License-Identifier: MIT
#include <sb/core/random.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/psi.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("two samples are compared as R does, and ties are counted") {
    auto const file = oracle("drift.json");
    ks_room room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        INFO(text(c, "case"));
        auto const first = numbers(*member(c, "baseline")), second = numbers(*member(c, "recent"));
        auto const got = ks(first, second, room);
        REQUIRE(got);
        CHECK(got.exact);
        auto const& r = *member(*member(c, "R_ks_test"), "exact");
        CHECK(got.statistic == Approx(number(*member(c, "scipy_ks_exact"), "D")).epsilon(1e-15));
        // R takes a p value from one, which leaves it twelve digits or so; where there are no ties, scipy has them all
        CHECK(got.p == Approx(number(r, "p")).epsilon(1e-9).margin(1e-12));
        auto const theirs = number(*member(c, "scipy_ks_exact"), "p");
        if (text(c, "case") != "ties" && text(c, "case") != "constant base") CHECK(got.p == Approx(theirs).epsilon(1e-9));
        auto const limit = ks(first, second, room, 0);
        if (got.statistic > 0) {
            CHECK_FALSE(limit.exact);
            CHECK(limit.p == Approx(number(*member(*member(c, "R_ks_test"), "asymptotic"), "p")).epsilon(1e-5).margin(1e-12)); // below 1 R takes one term of the series
        }
        auto const turned = ks(second, first, room);
        CHECK(turned.p == Approx(got.p).epsilon(1e-12));
    }
}

TEST_CASE("few values: every order counted by hand") {
    // of the six orders of two and two, both samples apart in two, and at least half apart in all
    std::vector<double> const low{1, 2}, high{3, 4}, mixed{1, 3}, other{2, 4};
    CHECK(ks(low, high).p == Approx(1.0 / 3));
    CHECK(ks(mixed, other).p == Approx(1));
    CHECK(ks({}, low).why == no_answer::too_short);
    std::vector<double> const broken{1, NAN};
    CHECK(ks(low, broken).why == no_answer::not_finite);
    CHECK(kolmogorov_upper(0) == 1);
    // both forms of the series, and a table's values (Smirnov 1948)
    for (double const x : {0.5, 0.7, 0.9, 0.999, 1.0, 1.2, 1.6}) {
        double sum = 0;
        for (int k = 1; k < 200; ++k) sum += (k % 2 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
        CHECK(kolmogorov_upper(x) == Approx(sum).epsilon(1e-13));
    }
    CHECK(kolmogorov_upper(0.28) == Approx(1 - 0.000001).epsilon(1e-6));
    CHECK(kolmogorov_upper(1.36) == Approx(1 - 0.950514).epsilon(1e-4));
}

TEST_CASE("the index of stability, by either rule for what lies outside") {
    auto const file = oracle("drift.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        INFO(text(c, "case"));
        auto const baseline = numbers(*member(c, "baseline")), recent = numbers(*member(c, "recent"));
        CHECK(psi(baseline, recent, {10, psi_ends::dropped, 1e-4}).index == Approx(number(c, "psi_drop")).epsilon(1e-10).margin(1e-15));
        CHECK(psi(baseline, recent, {10, psi_ends::into_end_bins, 1e-4}).index == Approx(number(c, "psi_clip")).epsilon(1e-10).margin(1e-15));
    }
    std::vector<double> const some{1, 2, 3}, broken{1, INFINITY}, wide{-1e308, 1e308};
    CHECK(psi({}, some).why == no_answer::too_short);
    CHECK(psi(some, {}).why == no_answer::too_short);
    CHECK(psi(some, broken).why == no_answer::not_finite);
    CHECK(psi(wide, some).why == no_answer::not_finite);
    CHECK(psi(some, some, {1, psi_ends::dropped, 1e-4}).why == no_answer::bad_request);
    CHECK(psi(some, some).p == 1);
}

TEST_CASE("when nothing has moved the index is beyond its 5 % in one of twenty samples") {
    sb::random_stream chance{11};
    int beyond = 0;
    constexpr int samples = 2000;
    for (int i = 0; i < samples; ++i) {
        std::vector<double> baseline(500), recent(400);
        for (auto& x : baseline) x = static_cast<double>(chance.below(1u << 30));
        for (auto& x : recent) x = static_cast<double>(chance.below(1u << 30));
        beyond += psi(baseline, recent).p < 0.05;
    }
    double const share = beyond / double{samples};
    CHECK(share > 0.03);
    CHECK(share < 0.07);
}
