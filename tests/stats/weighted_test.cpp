// SPDX-License-Identifier: MIT
#include <sb/stats/moments.hpp>
#include <sb/stats/weighted.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {
constexpr auto frequency = weight_kind::frequency, reliability = weight_kind::reliability;
weighted_moments of(std::vector<double> const& values, std::vector<double> const& weights) {
    weighted_moments all;
    for (std::size_t i = 0; i < values.size(); ++i) all.push(values[i], weights[i]);
    return all;
}
} // namespace

TEST_CASE("weighted mean and spread agree with rational arithmetic, from parts too", "[weighted:oracle]") {
    auto const file = oracle("weighted.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const values = numbers(*member(c, "values")), weights = numbers(*member(c, "weights"));
        auto const kind = text(c, "kind") == "frequency" ? frequency : reliability;
        auto const got = weighted_mean(values, weights, kind);
        INFO(values.size() << " of " << text(c, "kind") << " near " << values[0]);
        REQUIRE(got);
        CHECK(got.mean == Approx(number(c, "mean")).epsilon(1e-15).margin(1e-15 * got.sd));
        CHECK(got.sd == Approx(number(c, "sd")).epsilon(1e-14));
        CHECK(got.error == Approx(number(c, "error")).epsilon(1e-14));
        CHECK(got.effective == Approx(number(c, "effective")).epsilon(1e-14));
        CHECK(*of(values, weights).spread() == Approx(number(c, "spread")).epsilon(1e-14));
        if (member(c, "statsmodels_mean")) CHECK(got.mean == Approx(number(c, "statsmodels_mean")).epsilon(1e-12));
        if (member(c, "statsmodels_std")) CHECK(got.sd == Approx(number(c, "statsmodels_std")).epsilon(1e-12));
        if (member(c, "statsmodels_std_mean")) CHECK(got.error == Approx(number(c, "statsmodels_std_mean")).epsilon(1e-12));
        for (std::size_t cut = 0; cut <= values.size(); cut += 1 + values.size() / 5) {
            weighted_moments first, last;
            for (std::size_t i = 0; i < values.size(); ++i) (i < cut ? first : last).push(values[i], weights[i]);
            first.merge(last);
            CHECK(first.count() == static_cast<std::int64_t>(values.size()));
            CHECK(*first.mean() == Approx(number(c, "mean")).epsilon(1e-15).margin(1e-15 * got.sd));
            CHECK(*first.stddev(kind) == Approx(number(c, "sd")).epsilon(1e-14));
            CHECK(*first.error(kind) == Approx(number(c, "error")).epsilon(1e-14));
        }
    }
}

TEST_CASE("a weight of three is the value three times; of trust only proportions matter", "[weighted:property]") {
    normal_values chance{51};
    sb::random_stream pick{52};
    for (int round = 0; round < 50; ++round) {
        auto const values = chance.many(20, 1e6, 3);
        std::vector<double> weights, scaled;
        moments plain;
        for (double const x : values) {
            auto const times = pick.below(5);
            weights.push_back(static_cast<double>(times)), scaled.push_back(std::ldexp(weights.back(), -700));
            for (std::uint64_t i = 0; i < times; ++i) plain.push(x);
        }
        auto const all = of(values, weights), small = of(values, scaled);
        REQUIRE(plain.count() > 1);
        CHECK(all.weight() == static_cast<double>(plain.count()));
        CHECK(*all.mean() == Approx(*plain.mean()).epsilon(1e-14));
        CHECK(*all.stddev(frequency) == Approx(*plain.stddev()).epsilon(1e-12));
        CHECK(*all.variance(frequency) == Approx(*plain.variance()).epsilon(1e-12));
        CHECK(*small.mean() == *all.mean());
        CHECK(*small.stddev(reliability) == *all.stddev(reliability));
        CHECK(*small.error(reliability) == *all.error(reliability));
        CHECK(small.effective() == all.effective());
        CHECK(all.effective() <= static_cast<double>(all.count()));
        auto tall = values;
        for (double& x : tall) x = std::ldexp(x, 498);
        CHECK(*of(tall, weights).stddev(reliability) == std::ldexp(*all.stddev(reliability), 498));
    }
}

TEST_CASE("the unbiased spread is so: squares of it average to the variance", "[weighted:property]") {
    normal_values chance{53};
    std::vector<double> const weights{1, 2, 5, 0.5, 9, 3};
    constexpr int rounds = 20000;
    double sum = 0, errors = 0, means = 0;
    for (int round = 0; round < rounds; ++round) {
        auto const got = weighted_mean(chance.many(weights.size(), 10, 2), weights);
        sum += got.sd * got.sd, errors += got.error * got.error, means += (got.mean - 10) * (got.mean - 10);
    }
    CHECK(sum / rounds == Approx(4).epsilon(0.03));
    CHECK(errors / rounds == Approx(means / rounds).epsilon(0.05));
}

TEST_CASE("a million values lose no digits, in one go or from parts", "[weighted:property]") {
    weighted_moments all, parts, part;
    constexpr int n = 1000000;
    for (int i = 0; i < n; ++i) {
        double const x = 1e9 + (i % 2 ? 0.25 : -0.25) + (i == 0 ? 0.25 : 0); // the first is elsewhere
        double const weight = 0.1 * (1 + i % 3);
        all.push(x, weight), part.push(x, weight);
        if (i % 1000 == 999) parts.merge(part), part = {};
    }
    // over six values each weight meets each side once; one value more to the right by 0.25
    double const mean = 0.25 * 0.1 / (0.1 * (2.0 * n - 1)); // weights of 1, 2, 3 tenths, the million ends with the first of them
    for (auto const* each : {&all, &parts}) {
        CHECK(each->count() == n);
        CHECK(each->weight() == Approx(0.1 * (2.0 * n - 1)).epsilon(1e-15));
        CHECK(*each->mean() - 1e9 == Approx(mean).margin(0.25e-6));
        CHECK(*each->spread() == Approx(0.25).epsilon(1e-6));
    }
    CHECK(*all.spread() == Approx(*parts.spread()).epsilon(1e-15));
}

TEST_CASE("what has no weighted mean says why", "[weighted:degenerate]") {
    using series = std::vector<double>;
    auto const why = [](series const& x, series const& w) { return weighted_mean(x, w).why; };
    CHECK(why({}, {}) == no_answer::too_short);
    CHECK(why({1, 2}, {0, 0}) == no_answer::too_short);
    CHECK(why({1, 2}, {1}) == no_answer::bad_request);
    CHECK(why({1, 2, 3}, {1, -1, 3}) == no_answer::bad_request);
    CHECK(why({1, 2, 3}, {1, NAN, 3}) == no_answer::not_finite);
    CHECK(why({1, 2, 3}, {1, INFINITY, 3}) == no_answer::not_finite);
    CHECK(why({1, NAN, 3}, {1, 1, 3}) == no_answer::not_finite);
    CHECK(why({1, INFINITY, 3}, {1, 0, 3}) == no_answer::not_finite);
    CHECK(why({1e308, -1e308}, {1, 1}) == no_answer::not_finite);
    CHECK(why({1, 2}, {1e-300, 1e300}) == no_answer::not_finite);
    auto const one = weighted_mean(series{5, 7}, series{3, 0});
    CHECK(one);
    CHECK(one.mean == 5);
    CHECK(std::isnan(one.sd));
    CHECK(one.effective == 1);
    CHECK(one.n == 1);
    CHECK(weighted_mean(series{5}, series{3}, frequency).sd == 0); // three times the same
    CHECK(std::isnan(weighted_mean(series{5}, series{1}, frequency).sd));
    CHECK(std::isnan(weighted_mean(series{5, 6}, series{.25, .5}, frequency).sd)); // less than one value
    auto const same = weighted_mean(series(9, 0.1), series{1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(same.mean == 0.1);
    CHECK(same.sd == 0);
    weighted_moments none, some = of({1, 2, 3}, {1, 1, 2}), bad;
    CHECK_FALSE(none.mean());
    CHECK_FALSE(none.spread());
    CHECK_FALSE(none.error(reliability));
    CHECK(none.effective() == 0);
    none.merge(some);
    CHECK(none.mean() == 2.25);
    none.merge({});
    CHECK(none.count() == 3);
    bad.push(1, -1);
    none.merge(bad);
    CHECK(none.why() == no_answer::bad_request);
    CHECK_FALSE(none.mean());
    weighted_moments low, high;
    low.push(-1e308, 1), high.push(1e308, 1);
    low.merge(high);
    CHECK(low.why() == no_answer::not_finite);
    weighted_moments still, other;
    still.push(2, 1), other.push(3, 1e-30); // neither moves by itself
    still.merge(other);
    CHECK(*still.mean() == Approx(2));
    CHECK(*still.stddev(reliability) > 0);
}
