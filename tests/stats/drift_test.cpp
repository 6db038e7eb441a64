// SPDX-License-Identifier: MIT
// Tests of ks.hpp and psi.hpp.
#include <sb/core/random.hpp>
#include <sb/stats/ks.hpp>
#include <sb/stats/psi.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

TEST_CASE("two samples are compared as R does, and ties are counted", "[ks:oracle]") {
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

TEST_CASE("few values: every order counted by hand", "[ks:oracle][ks:degenerate]") {
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

namespace {

/// By the definition: the chance of each place of the grid, one after the other.
double far_by_definition(std::vector<double> first, std::vector<double> second) {
    std::sort(first.begin(), first.end()), std::sort(second.begin(), second.end());
    auto const m = first.size(), n = second.size();
    std::vector<double> pool = first;
    pool.insert(pool.end(), second.begin(), second.end());
    std::sort(pool.begin(), pool.end());
    auto const apart = [&](std::size_t i, std::size_t j) { return std::abs(static_cast<double>(i * n) - static_cast<double>(j * m)); };
    auto const looks = [&](std::size_t taken) { return taken == m + n || (taken > 0 && pool[taken] != pool[taken - 1]); };
    double farthest = 0;
    for (double const x : pool) {
        auto const upto = [&](std::vector<double> const& of) { return static_cast<std::size_t>(std::upper_bound(of.begin(), of.end(), x) - of.begin()); };
        farthest = std::max(farthest, apart(upto(first), upto(second)));
    }
    std::vector<std::vector<double>> chance(m + 1, std::vector<double>(n + 1, 0));
    double reached = 0;
    for (std::size_t i = 0; i <= m; ++i)
        for (std::size_t j = 0; j <= n; ++j) {
            auto const left = [&](std::size_t a, std::size_t b) { return static_cast<double>(m + n - a - b); };
            double here = i + j == 0;
            if (i > 0) here += chance[i - 1][j] * static_cast<double>(m - i + 1) / left(i - 1, j);
            if (j > 0) here += chance[i][j - 1] * static_cast<double>(n - j + 1) / left(i, j - 1);
            if (looks(i + j) && apart(i, j) >= farthest) reached += here, here = 0;
            chance[i][j] = here;
        }
    return std::min(reached, 1.0);
}

} // namespace

TEST_CASE("the chance of a distance is that of the definition, for all sizes, with ties and without", "[ks:property]") {
    sb::random_stream chance{17};
    ks_room room;
    for (int round = 0; round < 600; ++round) {
        std::vector<double> first(1 + chance.below(40)), second(round % 3 == 0 ? first.size() : 1 + chance.below(60));
        double const apart = round % 5 * 0.3;
        for (double& x : first) x = round % 2 ? chance.unit() : static_cast<double>(chance.below(6));
        for (double& x : second) x = apart + (round % 2 ? chance.unit() : static_cast<double>(chance.below(6)));
        auto const got = ks(first, second, room);
        INFO(first.size() << " and " << second.size() << ", D " << got.statistic);
        CHECK(got.p == Approx(got.statistic == 0 ? 1 : far_by_definition(first, second)).epsilon(1e-11));
    }
}

TEST_CASE("a few values against very many, and samples far apart, keep their digits", "[ks:property]") {
    std::vector<double> many(100'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
    std::vector<double> const one{99'989.5}; // above all but 10: of 100,001 places 11 at each end are as far out
    CHECK(ks(one, many).p == Approx(22.0 / 100'001).epsilon(1e-10));
    CHECK(ks(many, one).p == Approx(22.0 / 100'001).epsilon(1e-10));
    std::vector<double> const few{-3, -2, -1};
    CHECK(ks(few, many).p == Approx(2 * 6 / (100'001.0 * 100'002 * 100'003)).epsilon(1e-9));
    std::vector<double> low(200), high(200);
    for (std::size_t i = 0; i < 200; ++i) low[i] = static_cast<double>(i), high[i] = static_cast<double>(i) + 1000;
    CHECK(ks(low, high).p == Approx(2 / 1.0295250013541444e119).epsilon(1e-9)); // 400 over 200
    high.push_back(5000);
    CHECK(ks(low, high).p == Approx(2 / 2.0539279877761786e119).epsilon(1e-9)); // 401 over 200
}

TEST_CASE("the index of stability, by either rule for what lies outside", "[psi:oracle][psi:degenerate]") {
    auto const file = oracle("drift.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        INFO(text(c, "case"));
        auto const baseline = numbers(*member(c, "baseline")), recent = numbers(*member(c, "recent"));
        CHECK(psi(baseline, recent, {10, psi_ends::dropped, 1e-4, psi_flat::unit_wide}).index == Approx(number(c, "psi_drop")).epsilon(1e-10).margin(1e-15));
        CHECK(psi(baseline, recent, {10, psi_ends::into_end_bins, 1e-4, psi_flat::unit_wide}).index == Approx(number(c, "psi_clip")).epsilon(1e-10).margin(1e-15));
    }
    std::vector<double> const some{1, 2, 3}, broken{1, INFINITY}, wide{-1e308, 1e308};
    CHECK(psi({}, some).why == no_answer::too_short);
    CHECK(psi(some, {}).why == no_answer::too_short);
    CHECK(psi(some, broken).why == no_answer::not_finite);
    CHECK(psi(wide, some).why == no_answer::not_finite);
    CHECK(psi(some, some, {1, psi_ends::dropped, 1e-4}).why == no_answer::bad_request);
    CHECK(psi(some, some).p == 1);
}

TEST_CASE("what leaves a baseline of one value has moved, either way, by how little or how much it may be", "[psi:property][psi:degenerate]") {
    double const gone = 2 * (1 - 1e-4) * std::log(1e4); // all of one bin's are in another
    for (double const value : {0.0, 0.5, 1.0, -3.0, 1e-300, 1e17, 1.7e308})
        for (double const off : {std::max(std::abs(value) * 1e-15, 1e-320), 0.09, 1.0}) {
            if (value + off == value || value - off == value) continue;
            std::vector<double> const baseline(20, value), same(30, value), above(30, value + off), below(30, value - off);
            INFO(value << " " << off);
            for (auto const& moved : {above, below}) {
                auto const got = psi(baseline, moved);
                CHECK(got.index == Approx(gone));
                CHECK(got.p <= 0.001);
                CHECK(got.outside == 30);
            }
            CHECK(psi(baseline, same).index == 0);
            CHECK(psi(baseline, same).p == 1);
        }
    std::vector<double> const baseline(100, 2.0);
    std::vector<double> recent(100, 2.0);
    for (std::size_t i = 0; i < 20; ++i) recent[i] = i < 10 ? 1 : 3;
    auto const got = psi(baseline, recent); // a tenth below, a tenth above
    CHECK(got.index == Approx(2 * (0.1 - 1e-4) * std::log(1e3) + (0.8 - 1) * std::log(0.8)));
    CHECK(got.p == Approx(chi_square_upper(got.index * 50, 2)));
    CHECK(psi(baseline, recent, {2}).index == got.index); // however many bins others have
    CHECK(psi(baseline, recent, {10, psi_ends::dropped}).index == 0);
    for (double const large : {1e15, 1e16, 1e17, 1e300}) { // a range one wide has no ten bins there
        std::vector<double> const far(20, large), near(20, 1.0);
        CHECK(psi(far, near, {10, psi_ends::into_end_bins, 1e-4, psi_flat::unit_wide}).index == Approx(gone));
        CHECK(psi(far, far, {10, psi_ends::into_end_bins, 1e-4, psi_flat::unit_wide}).index == 0);
    }
}

TEST_CASE("when nothing has moved the index is beyond its 5 % in one of twenty samples", "[psi:property]") {
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

TEST_CASE("thin bins raise no alarm: their p is the share of deals that part as clearly", "[psi:property]") {
    normal_values chance{12};
    int beyond = 0;
    constexpr int samples = 400;
    for (int i = 0; i < samples; ++i) beyond += psi(chance.many(20), chance.many(20)).p <= 0.05;
    CHECK(beyond <= samples * 0.05 + 3 * std::sqrt(samples * 0.05 * 0.95)); // chi square would say so of half of them
    CHECK(psi(chance.many(20), chance.many(20, 3)).p == Approx(0.001)); // and what has moved is seen: no deal parts as clearly
    auto many = chance.many(150'000);
    auto const more = chance.many(150'000);
    many.push_back(1e6); // all but two bins are empty
    CHECK(std::isnan(psi(many, more).p)); // too many to deal out
    CHECK(psi(many, more).index == Approx(0).margin(0.01));
}
