// SPDX-License-Identifier: MIT
#include <sb/stats/moments.hpp>
#include <sb/stats/robust.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

TEST_CASE("median distance and distance of quartiles agree with fractions, and with scipy's", "[robust:oracle]") {
    auto const file = oracle("robust.json");
    column room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const values = numbers(*member(c, "values")), scipy = numbers(*member(c, "scipy"));
        INFO(values.size() << " values");
        double const close = std::abs(values[0]) > 1e8 ? 1e-7 : 1e-13; // a quartile far off is a rounded one
        auto const off = mad(values, room), wide = iqr(values, quantile_rule::linear, room), other = iqr(values, quantile_rule::median_unbiased, room);
        REQUIRE((off && wide && other));
        CHECK(off.raw == Approx(number(c, "mad")).epsilon(close));
        CHECK(off.normal == Approx(number(c, "mad_normal")).epsilon(close));
        CHECK(wide.raw == Approx(number(c, "iqr")).epsilon(close));
        CHECK(wide.normal == Approx(number(c, "iqr_normal")).epsilon(close));
        CHECK(other.raw == Approx(number(c, "iqr8")).epsilon(close));
        CHECK(off.raw == Approx(scipy[0]).epsilon(close));
        CHECK(off.normal == Approx(scipy[1]).epsilon(close));
        CHECK(wide.raw == Approx(scipy[2]).epsilon(close));
        CHECK(wide.normal == Approx(scipy[3]).epsilon(close));
    }
}

TEST_CASE("robust spreads know no place, move with the unit, and stand wild values", "[robust:property]") {
    normal_values values{17};
    auto const sample = values.many(2001, 0, 3);
    CHECK(mad(sample).normal == Approx(3).epsilon(0.06));
    CHECK(iqr(sample).normal == Approx(3).epsilon(0.06));
    CHECK(mad(sample).normal == Approx(*moments::of(sample).stddev()).epsilon(0.06));
    column scaled = sample, wild = sample, moved = sample;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        scaled[i] = std::ldexp(-sample[i], -600), moved[i] = sample[i] + 1024;
        if (i % 5 == 0) wild[i] = 1e300;
    }
    CHECK(mad(scaled).raw == std::ldexp(mad(sample).raw, -600));
    CHECK(iqr(scaled).raw == Approx(std::ldexp(iqr(sample).raw, -600)).epsilon(1e-14));
    CHECK(mad(moved).raw == Approx(mad(sample).raw).epsilon(1e-11));
    CHECK(mad(wild).normal < 5);
    CHECK(iqr(wild).normal < 6);
}

TEST_CASE("values without a spread have a reason instead of one", "[robust:degenerate]") {
    column const none, one{1}, same(9, 0.1), mostly{2, 2, 2, 2, 2, 3, 4}, broken{1, NAN, 2}, endless{1, INFINITY, 2}, wide{-1.7e308, -1.7e308, 1.7e308, 1.7e308};
    for (auto const scale : {+[](column const& v) { return mad(v); }, +[](column const& v) { return iqr(v); }}) {
        CHECK(scale(none).why == no_answer::too_short);
        CHECK(scale(one).why == no_answer::too_short);
        CHECK(scale(same).why == no_answer::constant);
        CHECK(scale(broken).why == no_answer::not_finite);
        CHECK(scale(endless).why == no_answer::not_finite);
        CHECK(scale(column{1, 2}));
        CHECK(std::isnan(scale(none).raw));
        CHECK(std::isnan(scale(same).normal));
    }
    CHECK(mad(mostly).why == no_answer::perfect_fit); // more than half are equal
    CHECK(mad(mostly).raw == 0);
    CHECK(iqr(mostly));
    CHECK(iqr(column{2, 2, 2, 2, 2, 2, 2, 9}).why == no_answer::perfect_fit);
    CHECK(iqr(wide).why == no_answer::not_finite);
    CHECK(mad(wide).raw == 1.7e308);
}
