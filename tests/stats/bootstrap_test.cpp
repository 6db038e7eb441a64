// SPDX-License-Identifier: MIT
#include <sb/stats/bootstrap.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/robust.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <span>
#include <string>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {

double mean(std::span<double const> values) { return moments::of(values).mean().value_or(NAN); }
double spread(std::span<double const> values) { return moments::of(values).stddev().value_or(NAN); }
double middle(std::span<double const> values) { return median_of(values); }

bootstrap_answer asked_of(sb::value const& c, std::size_t draws, std::uint64_t seed) {
    auto const values = numbers(*member(c, "values"));
    auto const name = text(c, "statistic");
    return bootstrap(values, name == "mean" ? &mean : name == "sd" ? &spread : &middle, {number(c, "confidence"), draws, seed});
}

} // namespace

TEST_CASE("draws end where all draws that there may be end", "[bootstrap:oracle]") {
    auto const file = oracle("bootstrap.json");
    for (auto const& c : *member(file, "all")->if_array()) {
        auto const got = asked_of(c, 100'000, 3);
        INFO(text(c, "statistic") << " of " << got.n << " " << name_of(got.why));
        REQUIRE(got);
        CHECK(got.kind == bootstrap_kind::bca);
        CHECK(got.estimate == Approx(number(c, "estimate")).epsilon(1e-13));
        CHECK(got.acceleration == Approx(number(c, "a")).margin(number(c, "estimate") > 1e6 ? 1e-7 : 1e-12));
        CHECK(got.bias == Approx(number(c, "z0")).margin(0.016));
        CHECK(got.error == Approx(number(c, "error")).epsilon(0.015));
        auto const lo = numbers(*member(c, "lo_range")), hi = numbers(*member(c, "hi_range"));
        double const rounding = 1e-12 * std::abs(number(c, "estimate"));
        CHECK((got.bounds.lo >= lo[0] - rounding && got.bounds.lo <= lo[1] + rounding));
        CHECK((got.bounds.hi >= hi[0] - rounding && got.bounds.hi <= hi[1] + rounding));
        auto const values = numbers(*member(c, "values"));
        auto const name = text(c, "statistic");
        auto const wide = bootstrap(values, name == "mean" ? &mean : name == "sd" ? &spread : &middle, {number(c, "confidence"), 100'000, 3, true});
        auto const wide_lo = numbers(*member(c, "widened_lo")), wide_hi = numbers(*member(c, "widened_hi"));
        CHECK((wide.bounds.lo >= wide_lo[0] - rounding && wide.bounds.lo <= wide_lo[1] + rounding));
        CHECK((wide.bounds.hi >= wide_hi[0] - rounding && wide.bounds.hi <= wide_hi[1] + rounding));
        if (name != "mean") continue;
        auto const fast = bootstrap_mean(numbers(*member(c, "values")), {number(c, "confidence"), 100'000, 3});
        CHECK(fast.acceleration == Approx(number(c, "a")).epsilon(1e-9));
        CHECK((fast.bounds.lo >= lo[0] - rounding && fast.bounds.lo <= lo[1] + rounding));
        CHECK((fast.bounds.hi >= hi[0] - rounding && fast.bounds.hi <= hi[1] + rounding));
    }
}

TEST_CASE("bootstrap intervals agree with scipy's but for chance", "[bootstrap:oracle]") {
    auto const file = oracle("bootstrap.json");
    for (auto const& c : *member(file, "scipy")->if_array()) {
        auto const got = asked_of(c, 20'000, 8);
        INFO(text(c, "statistic") << " of " << got.n << " " << name_of(got.why));
        REQUIRE(got);
        double const width = number(c, "hi") - number(c, "lo");
        CHECK(got.bounds.lo == Approx(number(c, "lo")).margin(0.025 * width));
        CHECK(got.bounds.hi == Approx(number(c, "hi")).margin(0.025 * width));
        CHECK(got.error == Approx(number(c, "error")).epsilon(0.03));
        CHECK(got.acceleration == Approx(number(c, "a")).margin(1e-12));
    }
}

TEST_CASE("rows are drawn as a whole, as scipy draws pairs", "[bootstrap:oracle]") {
    auto const file = oracle("bootstrap.json");
    for (auto const& c : *member(file, "rows")->if_array()) {
        auto const x = numbers(*member(c, "x")), y = numbers(*member(c, "y"));
        bool const ratio = text(c, "statistic") == "ratio";
        auto const got = bootstrap_rows(x.size(), [&](std::span<std::size_t const> rows) {
            joint_moments both;
            double above = 0, below = 0;
            for (auto const row : rows) both.push(x[row], y[row]), above += y[row], below += x[row];
            return ratio ? above / below : both.correlation().value_or(NAN);
        }, {0.95, 20'000, 2});
        INFO(text(c, "statistic") << " " << name_of(got.why));
        REQUIRE(got);
        double const width = number(c, "hi") - number(c, "lo");
        CHECK(got.bounds.lo == Approx(number(c, "lo")).margin(0.025 * width));
        CHECK(got.bounds.hi == Approx(number(c, "hi")).margin(0.025 * width));
        CHECK(got.error == Approx(number(c, "error")).epsilon(0.03));
    }
}

TEST_CASE("the same seed draws the same interval, and the mean's own way is the general one", "[bootstrap:property]") {
    normal_values values{4};
    bootstrap_room room;
    for (double const offset : {0.0, 1e9})
        for (std::size_t const n : {5u, 6u, 10u, 57u}) {
            auto const sample = values.many(n, offset);
            bootstrap_request const how{0.9, 500, n};
            auto const first = bootstrap(sample, &mean, how, room), again = bootstrap(sample, &mean, how), fast = bootstrap_mean(sample, how, room);
            REQUIRE((first && again && fast));
            CHECK((first.bounds.lo == again.bounds.lo && first.bounds.hi == again.bounds.hi && first.bias == again.bias));
            CHECK(fast.kind == first.kind);
            CHECK(fast.bounds.lo - offset == Approx(first.bounds.lo - offset).margin(offset > 0 ? 1e-5 : 1e-12));
            CHECK(fast.bounds.hi - offset == Approx(first.bounds.hi - offset).margin(offset > 0 ? 1e-5 : 1e-12));
            CHECK((first.bounds.lo < first.estimate && first.estimate < first.bounds.hi));
            auto const rows = bootstrap_rows(n, [&](std::span<std::size_t const> drawn) {
                std::vector<double> some;
                for (auto const row : drawn) some.push_back(sample[row]);
                return mean(some);
            }, how, room);
            CHECK((rows.bounds.lo == first.bounds.lo && rows.bounds.hi == first.bounds.hi && rows.acceleration == first.acceleration));
            auto const other = bootstrap_mean(sample, {0.9, 500, n + 1}, room);
            if (n > 6) CHECK(other.bounds.lo != fast.bounds.lo);
            auto shrunk = sample; // no unit
            for (double& x : shrunk) x = std::ldexp(x, -500);
            auto const small = bootstrap_mean(shrunk, how);
            CHECK(small.bounds.lo == std::ldexp(fast.bounds.lo, -500));
            CHECK(small.acceleration == fast.acceleration);
            CHECK(bootstrap(shrunk, &mean, how).bounds.hi == std::ldexp(first.bounds.hi, -500));
        }
}

TEST_CASE("an interval holds the true mean of a skewed distribution about as often as it says", "[bootstrap:property]") {
    sb::random_stream chance{77};
    bootstrap_room room;
    int covered = 0, plain = 0, above = 0, widened = 0;
    constexpr int rounds = 400;
    for (int round = 0; round < rounds; ++round) {
        column sample(25);
        for (double& x : sample) x = -std::log(1 - chance.unit()); // mean 1
        auto const got = bootstrap_mean(sample, {0.9, 600, static_cast<std::uint64_t>(round)}, room);
        covered += got.bounds.lo <= 1 && 1 <= got.bounds.hi, above += got.bounds.hi < 1;
        auto const wide = bootstrap_mean(sample, {0.9, 600, static_cast<std::uint64_t>(round), true}, room);
        widened += wide.bounds.lo <= 1 && 1 <= wide.bounds.hi;
        CHECK((wide.bounds.lo <= got.bounds.lo && wide.bounds.hi >= got.bounds.hi));
        auto const mid = mean(sample), half = 1.7108820799094275 * spread(sample) / 5; // by Student's t
        plain += mid - half <= 1 && 1 <= mid + half;
    }
    INFO(covered << " of " << rounds << ", " << above << " too low; Student's t " << plain);
    CHECK(covered >= rounds * 84 / 100);
    CHECK(covered <= rounds * 94 / 100);
    CHECK(above <= rounds * 12 / 100);
    CHECK(widened >= covered);
    CHECK(widened <= rounds * 94 / 100);
}

TEST_CASE("what cannot be drawn from gets a reason", "[bootstrap:degenerate]") {
    column const none, one{1}, two{1, 2}, same(20, 0.1), broken{1, NAN, 3}, endless{1, INFINITY, 3}, wide{-1.7e308, 1.7e308, 0};
    CHECK(bootstrap_mean(none).why == no_answer::too_short);
    CHECK(bootstrap_mean(one).why == no_answer::too_short);
    CHECK(bootstrap_mean(two).why == no_answer::too_short);
    CHECK(bootstrap_mean(column{1, 2, 3, 4}).why == no_answer::too_short);
    CHECK(bootstrap_mean(column{1, 2, 3, 4, 5}));
    CHECK(bootstrap_mean(one).estimate == 1); // what is known is told
    CHECK(bootstrap_mean(two).estimate == 1.5);
    CHECK(bootstrap_mean(column{5, 5, 5}).why == no_answer::constant);
    CHECK(bootstrap_mean(column{5, 5, 5}).estimate == 5);
    CHECK(bootstrap_mean(same).estimate == 0.1);
    CHECK(bootstrap(one, &mean).estimate == 1);
    CHECK(bootstrap(same, &mean).estimate == Approx(0.1));
    for (auto const& each : {none, broken, endless, wide}) CHECK(std::isnan(bootstrap_mean(each).estimate));
    CHECK(bootstrap_mean(same).why == no_answer::constant);
    CHECK(bootstrap_mean(broken).why == no_answer::not_finite);
    CHECK(bootstrap_mean(endless).why == no_answer::not_finite);
    CHECK(bootstrap_mean(wide).why == no_answer::not_finite);
    CHECK(std::isnan(bootstrap_mean(same).bounds.lo));
    CHECK(bootstrap(none, &mean).why == no_answer::too_short);
    CHECK(bootstrap(same, &mean).why == no_answer::constant);
    CHECK(bootstrap(broken, &mean).why == no_answer::not_finite);
    column const few{1, 2, 3, 4, 5, 9};
    CHECK(bootstrap_mean(few, {1, 1000, 1}).why == no_answer::bad_request);
    CHECK(bootstrap_mean(few, {0, 1000, 1}).why == no_answer::bad_request);
    CHECK(bootstrap_mean(few, {NAN, 1000, 1}).why == no_answer::bad_request);
    CHECK(bootstrap_mean(few, {0.95, 39, 1}).why == no_answer::bad_request);
    CHECK(bootstrap_mean(few, {0.95, 40, 1}));
    CHECK(bootstrap_mean(few, {0.95, 0, 1}).why == no_answer::bad_request);
    auto const still = bootstrap(few, [](auto) { return 7.0; });
    CHECK(still.why == no_answer::perfect_fit);
    CHECK((still.estimate == 7 && std::isnan(still.bounds.hi)));
    auto const count_of = [](std::span<std::size_t const> rows) { return static_cast<double>(rows.size()); };
    CHECK(bootstrap_rows(0, count_of).why == no_answer::too_short);
    CHECK(bootstrap_rows(1, count_of).why == no_answer::too_short);
    CHECK(bootstrap_rows(1, count_of).estimate == 1);
    CHECK(bootstrap_rows(9, count_of).why == no_answer::perfect_fit);
    CHECK(bootstrap_rows(9, count_of, {2, 1000, 1}).why == no_answer::bad_request);
    CHECK(bootstrap_rows(9, [](auto) { return NAN; }).why == no_answer::not_finite);
    CHECK(bootstrap(few, [](auto) { return NAN; }).why == no_answer::not_finite);
    CHECK(bootstrap(few, [](std::span<double const> v) { return v[0] == 9 ? INFINITY : mean(v); }).why == no_answer::not_finite);
}

TEST_CASE("where a correction cannot be the interval says so", "[bootstrap:degenerate]") {
    column const values{1, 2, 3, 4, 5, 6, 7, 8, 9, 30};
    // as if leaving out one never changed it
    auto const spacing = bootstrap(values, [](std::span<double const> v) { return v.size() < 10 ? 1.0 : mean(v); });
    REQUIRE(spacing);
    CHECK(spacing.kind == bootstrap_kind::percentile);
    CHECK((std::isnan(spacing.bias) && std::isnan(spacing.acceleration)));
    CHECK((spacing.bounds.lo > 2 && spacing.bounds.lo < 5 && spacing.bounds.hi > 9 && spacing.bounds.hi < 16));
    auto const distinct = bootstrap(values, [](std::span<double const> v) { // a sample drawn has fewer different values
        std::vector<double> all(v.begin(), v.end());
        std::sort(all.begin(), all.end());
        return static_cast<double>(std::unique(all.begin(), all.end()) - all.begin());
    }, {0.9, 200, 5});
    REQUIRE(distinct);
    CHECK(distinct.estimate == 10);
    CHECK(distinct.kind == bootstrap_kind::percentile);
}
