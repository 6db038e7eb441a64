// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/sample_tests.hpp>
#include <cmath>

using namespace sb::analysis;

namespace {

double number(sb::test_record const& r, char const* name) {
    auto const* const found = r.besides.if_contains(name);
    return found ? sb::number_or(*found, NAN) : NAN;
}
columns two(std::vector<double> first, std::vector<double> second) { return {{"a", std::move(first)}, {"b", std::move(second)}}; }

} // namespace

TEST_CASE("samples that lie apart are so in one of ten choices") {
    auto const ks = ks_of(two({1, 2, 3}, {4, 5, 6}), {}); // two of the twenty choices of three lie so far apart
    CHECK(ks.statistic == 1);
    CHECK(*ks.p == Approx(0.1).epsilon(1e-14));
    CHECK(ks.n == 6);
    CHECK(*ks.besides.if_contains("exact")->if_bool());
}

TEST_CASE("Levene's statistic is that of distances from the centre, by hand") {
    // from the medians: 1 0 1 and 2 0 2; between 2/3, within 10/3 with four degrees
    auto const levene = levene_of(two({1, 2, 3}, {2, 4, 6}), {});
    CHECK(*levene.statistic == Approx(0.8).epsilon(1e-14));
    CHECK(number(levene, "groups") == 2);
}

TEST_CASE("a sample has not moved from itself, and values beyond the first are counted") {
    CHECK(*psi_of(two({1, 2, 3, 4}, {1, 2, 3, 4}), {}).statistic == Approx(0).margin(1e-14));
    CHECK(number(psi_of(two({1, 2, 3, 4}, {0, 2, 3, 9}), {}), "outside") == 2);
}

TEST_CASE("two means three apart") {
    test_question asked;
    asked.margin = 10;
    auto const r = compare(two({1, 2, 3}, {4, 5, 6}), asked);
    CHECK(number(r, "difference") == Approx(3));
    CHECK(*r.statistic == Approx(3 / std::sqrt(2.0 / 3)).epsilon(1e-13));
    CHECK(number(r, "shift") == Approx(3));
    CHECK(number(r, "effect") == 1);
    CHECK(number(r, "rank_p") == Approx(0.1).epsilon(1e-14));
    CHECK((number(r, "equivalence_p") > 0 && number(r, "equivalence_p") < 0.01));
    asked.paired = true;
    auto const paired = compare(two({1, 2, 3}, {4, 5, 6}), asked);
    CHECK(paired.reason == "perfect fit"); // each is three more: nothing is left to judge by
    CHECK(number(paired, "difference") == 3);
    CHECK(paired.besides.if_contains("rank_p") == nullptr);
}

TEST_CASE("lines, ranks and pairs of five that go together") {
    auto const r = correlation_of(two({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}), {});
    CHECK(*r.statistic == Approx(0.8).epsilon(1e-14));
    CHECK(number(r, "spearman") == Approx(0.8).epsilon(1e-14));
    CHECK(number(r, "kendall") == Approx(0.6).epsilon(1e-14)); // two of ten pairs are turned
    auto const line = correlation_of(two({1, 2, 3}, {2, 4, 6}), {});
    CHECK(line.reason == "perfect fit");
    CHECK(*line.statistic == Approx(1));
}
