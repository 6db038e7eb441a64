// SPDX-License-Identifier: MIT
// Tests of mann_whitney.hpp, means.hpp, multiple_testing.hpp and proportion_interval.hpp.
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/means.hpp>
#include <sb/stats/multiple_testing.hpp>
#include <sb/stats/proportion_interval.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using sample = std::vector<double>;

namespace {

sb::value const& oracles() {
    static auto const all = oracle("compare.json");
    return all;
}
sb::array const& cases(std::string_view name) { return *member(oracles(), name)->if_array(); }

} // namespace

TEST_CASE("differences of means agree with scipy", "[means:oracle]") {
    for (auto const& c : cases("welch")) {
        auto const got = difference_of_means(numbers(*member(c, "first")), numbers(*member(c, "second")));
        REQUIRE(got);
        CHECK(got.statistic == Approx(number(c, "t")).epsilon(1e-11));
        CHECK(got.p == Approx(number(c, "p")).epsilon(1e-10));
        CHECK(got.freedom == Approx(number(c, "df")).epsilon(1e-11));
        CHECK(got.interval().lo == Approx(number(c, "lo")).epsilon(1e-9).margin(1e-12));
        CHECK(got.interval().hi == Approx(number(c, "hi")).epsilon(1e-9).margin(1e-12));
    }
    for (auto const& c : cases("paired")) {
        auto const got = paired_difference(numbers(*member(c, "first")), numbers(*member(c, "second")));
        REQUIRE(got);
        CHECK(got.statistic == Approx(number(c, "t")).epsilon(1e-11));
        CHECK(got.p == Approx(number(c, "p")).epsilon(1e-10));
    }
}

TEST_CASE("Mann and Whitney's test agrees with scipy, and with all permutations where values are equal", "[mann_whitney:oracle]") {
    int exact = 0;
    for (auto const& c : cases("mann_whitney")) {
        auto const first = numbers(*member(c, "first")), second = numbers(*member(c, "second"));
        auto const got = mann_whitney(first, second);
        REQUIRE(got);
        INFO(first.size() << " and " << second.size());
        CHECK(got.statistic == number(c, "u"));
        CHECK(got.shift == Approx(number(c, "shift")).epsilon(1e-14).margin(1e-14));
        if (member(c, "p_exact")) {
            CHECK(got.exact);
            CHECK(got.p == Approx(number(c, "p_exact")).epsilon(1e-12));
            ++exact;
        }
        auto const rough = mann_whitney(first, second, 0.95, 0);
        CHECK_FALSE(rough.exact);
        CHECK(rough.p == Approx(number(c, "p_normal")).epsilon(1e-12));
        CHECK(rough.statistic == got.statistic);
    }
    CHECK(exact == 4);
}

TEST_CASE("the shift and its interval are differences of the samples, and move with them", "[mann_whitney:property]") {
    normal_values chance{3};
    for (std::size_t const m : {2u, 5u, 13u})
        for (std::size_t const n : {3u, 8u, 21u}) {
            auto const a = chance.many(m), b = chance.many(n, 0.5);
            auto const got = mann_whitney(a, b);
            REQUIRE(got);
            sample all;
            for (double const x : a)
                for (double const y : b) all.push_back(y - x);
            std::sort(all.begin(), all.end());
            auto const k = all.size();
            CHECK(got.shift == Approx((all[(k - 1) / 2] + all[k / 2]) / 2).epsilon(1e-14));
            auto const [lo, hi] = got.shift_interval;
            CHECK((lo <= got.shift && got.shift <= hi));
            if (std::isfinite(lo)) {
                auto const at = static_cast<std::size_t>(std::find(all.begin(), all.end(), lo) - all.begin());
                REQUIRE(at < k);
                CHECK(all[k - 1 - at] == hi);
            } else CHECK(m == 2);
            auto const back = mann_whitney(b, a);
            CHECK(back.p == Approx(got.p).epsilon(1e-12));
            CHECK(back.shift == Approx(-got.shift).epsilon(1e-14));
            CHECK(back.effect == Approx(1 - got.effect).epsilon(1e-14));
            CHECK((got.p < 0.05) == (lo > 0 || hi < 0)); // the interval is the test's own
        }
}

TEST_CASE("p values of several tests agree with statsmodels", "[multiple_testing:oracle][multiple_testing:property][multiple_testing:degenerate]") {
    for (auto const& c : cases("multiple")) {
        auto const p = numbers(*member(c, "p")), by_holm = numbers(*member(c, "holm")), by_share = numbers(*member(c, "bh"));
        auto const one = holm(p), other = benjamini_hochberg(p);
        for (std::size_t i = 0; i < p.size(); ++i) {
            CHECK(one[i] == Approx(by_holm[i]).epsilon(1e-13));
            CHECK(other[i] == Approx(by_share[i]).epsilon(1e-13));
            CHECK((one[i] >= p[i] && other[i] >= p[i] && one[i] >= other[i]));
        }
    }
    CHECK(holm({}).empty());
    sample const some{0.01, NAN, 0.04};
    CHECK(holm(some)[0] == 0.02); // what was not tested does not count
    CHECK(std::isnan(holm(some)[1]));
    CHECK(benjamini_hochberg(some)[2] == 0.04);
}

TEST_CASE("the interval of a share agrees with statsmodels", "[proportion_interval:oracle]") {
    for (auto const& row : cases("wilson")) {
        auto const c = numbers(row);
        auto const [lo, hi] = share_interval(static_cast<std::int64_t>(c[0]), static_cast<std::int64_t>(c[1]), c[2]);
        CHECK(lo == Approx(c[3]).epsilon(1e-12).margin(1e-15));
        CHECK(hi == Approx(c[4]).epsilon(1e-12));
    }
}

TEST_CASE("no tries leave every share possible; none and all of few do not mean never and always", "[proportion_interval:degenerate]") {
    CHECK(share_interval(0, 0).lo == 0);
    CHECK(share_interval(0, 0).hi == 1);
    CHECK(share_interval(0, -3).hi == 1);
    CHECK(share_interval(0, 9).lo == 0);
    CHECK(share_interval(0, 9).hi > 0.2);
    CHECK(share_interval(9, 9).hi == 1);
    CHECK(share_interval(9, 9).lo < 0.8);
    CHECK(share_interval(0, 1).hi < 1);
    CHECK(std::isnan(share_interval(1, 2, 2).lo));
}

TEST_CASE("a share's interval holds it, mirrors that of the rest, narrows with tries, and covers as said on average", "[proportion_interval:property]") {
    for (int n = 1; n <= 60; ++n) {
        double covered = 0; // averaged over true shares, by summing binomial chances
        int asked = 0;
        for (int hits = 0; hits <= n; ++hits) {
            auto const got = share_interval(hits, n), rest = share_interval(n - hits, n), more = share_interval(4 * hits, 4 * n);
            double const share = hits / double(n);
            CHECK((got.lo <= share && share <= got.hi));
            CHECK(got.lo == Approx(1 - rest.hi).margin(1e-14));
            CHECK(more.hi - more.lo < got.hi - got.lo);
        }
        for (double p = 0.005; p < 1; p += 0.01, ++asked)
            for (int hits = 0; hits <= n; ++hits) {
                auto const [lo, hi] = share_interval(hits, n);
                if (lo <= p && p <= hi) covered += std::exp(std::lgamma(n + 1) - std::lgamma(hits + 1) - std::lgamma(n - hits + 1) + hits * std::log(p) + (n - hits) * std::log1p(-p));
            }
        CHECK(covered / asked > 0.94);
        CHECK(covered / asked < 0.975);
    }
}

TEST_CASE("equivalence is shown by an interval inside the margin, and by nothing else", "[means:property]") {
    normal_values chance{4};
    for (int round = 0; round < 200; ++round) {
        auto const got = mean_of(chance.many(12, 0.1, 0.3));
        REQUIRE(got);
        double const margin = 0.25;
        auto const [lo, hi] = got.interval(0.90);
        CHECK((got.equivalence_p(margin) <= 0.05) == (lo >= -margin && hi <= margin));
        CHECK(got.equivalence_p(0) == 1);
        CHECK(got.equivalence_p(1e9) < 1e-12);
    }
}

TEST_CASE("the chance of a false equivalence at the margin is the stated one, and that of a false difference too", "[means:property][mann_whitney:property][rates]") {
    normal_values chance{5};
    constexpr int rounds = 4000;
    double const error = 3 * std::sqrt(0.05 * 0.95 / rounds); // of the simulation
    for (std::size_t const n : {20u, 50u, 200u}) {
        int equal = 0, different = 0, larger = 0, inside = 0;
        double const margin = 10 / std::sqrt(static_cast<double>(n)); // far beyond the error of the mean
        for (int round = 0; round < rounds; ++round) {
            auto const a = chance.many(n), b = chance.many(n, margin, 1.5);
            equal += mean_of(b).equivalence_p(margin) <= 0.05;
            auto const none = difference_of_means(a, chance.many(n / 2, 0, 2));
            different += none.p <= 0.05;
            auto const [lo, hi] = none.interval();
            inside += lo <= 0 && 0 <= hi;
            if (n == 20) larger += mann_whitney(a, chance.many(n)).p <= 0.05;
        }
        INFO("n " << n);
        CHECK(equal / double{rounds} == Approx(0.05).margin(error));
        CHECK(different / double{rounds} == Approx(0.05).margin(error));
        CHECK(inside / double{rounds} == Approx(0.95).margin(error));
        if (n == 20) CHECK(larger / double{rounds} == Approx(0.05).margin(error));
    }
}

TEST_CASE("a mean of values that depend on their neighbours claims less", "[means:property]") {
    normal_values chance{6};
    constexpr int rounds = 3000;
    constexpr std::size_t n = 200;
    int plain = 0, careful = 0;
    for (int round = 0; round < rounds; ++round) {
        sample x(n);
        double last = chance.next() / std::sqrt(1 - 0.36);
        for (double& each : x) each = last = 0.6 * last + chance.next();
        plain += mean_of(x).p <= 0.05;
        careful += mean_of(x, true).p <= 0.05;
    }
    CHECK(plain > 0.2 * rounds); // what no allowance makes of it
    CHECK(careful / double{rounds} == Approx(0.05).margin(0.03));
    CHECK(effective_n(100, 0) == 100);
    CHECK(effective_n(100, -0.5) == 100);
    CHECK(effective_n(100, 0.5) == Approx(100 / 3.0));
    CHECK(effective_n(100, 1) == 1);
}

TEST_CASE("what cannot be compared is not", "[means:degenerate][mann_whitney:degenerate]") {
    sample const one{1}, two{1, 2}, flat{3, 3, 3}, other{4, 4}, odd{1, NAN}, none{}, huge{1e308, 1.1e308}, low{-1e308, -1.2e308};
    CHECK(mean_of(one).why == no_answer::too_short);
    CHECK(mean_of(none).why == no_answer::too_short);
    CHECK(mean_of(flat).why == no_answer::constant);
    CHECK(mean_of(odd).why == no_answer::not_finite);
    CHECK(mean_of(huge).mean == Approx(1.05e308)); // whatever the magnitude
    CHECK(mean_of(sample{1e-160, 3e-160, 2e-160}).error == Approx(1e-160 / std::sqrt(3.0)).epsilon(1e-12).margin(0));
    CHECK(mean_of(sample{-1e308, 1e308}).why == no_answer::not_finite);
    CHECK(mean_of(flat).mean == 3); // known, without a doubt to judge by
    CHECK(difference_of_means(flat, other).mean == 1);
    CHECK(difference_of_means(sample{0.3, 0.3, 0.3}, sample{0.1 + 0.2, 0.3, 0.1 + 0.2}).why != no_answer::none); // nothing but rounding
    CHECK(mean_of(sample{1, 2, 3}).equivalence_p(1e150) == Approx(1 / (2 * 3e300)).epsilon(1e-12).margin(0));
    CHECK(mean_of(sample{1, 2, 3}).equivalence_p(1e170) == 0);
    CHECK(std::isnan(mean_of(flat).p));
    mean_answer const nothing;
    CHECK((nothing.why == no_answer::too_short && std::isnan(nothing.p) && std::isnan(nothing.mean)));
    for (double const confidence : {95.0, 1.0, 0.0, -0.5, static_cast<double>(NAN)}) CHECK((std::isnan(mean_of(two).interval(confidence).lo) && std::isnan(mean_of(two).interval(confidence).hi)));
    CHECK(mean_of(sample{1, 3, 2, 5, 1, 2, 4, 3}, true).why == no_answer::none);
    CHECK(mean_of(sample{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, true).why == no_answer::too_short); // a ramp tells of no mean
    CHECK(mean_of(sample{0, 0, 0, 0, 1, 1, 1, 1}, true).why == no_answer::too_short); // one value's worth and a half
    CHECK(difference_of_means(one, two).why == no_answer::too_short);
    CHECK(difference_of_means(flat, flat).why == no_answer::constant);
    CHECK(difference_of_means(flat, other).why == no_answer::perfect_fit);
    CHECK(difference_of_means(flat, two).why == no_answer::none);
    CHECK(difference_of_means(two, odd).why == no_answer::not_finite);
    CHECK(paired_difference(two, flat).why == no_answer::bad_request);
    CHECK(paired_difference(one, one).why == no_answer::too_short);
    CHECK(paired_difference(two, two).why == no_answer::constant);
    CHECK(paired_difference(two, sample{2, 3}).why == no_answer::perfect_fit);
    CHECK(paired_difference(two, odd).why == no_answer::not_finite);
    CHECK(mann_whitney(none, two).why == no_answer::too_short);
    CHECK(mann_whitney(two, odd).why == no_answer::not_finite);
    CHECK(mann_whitney(flat, flat).why == no_answer::constant);
    CHECK(mann_whitney(low, huge).why == no_answer::not_finite);
    CHECK(mann_whitney(flat, other).p == Approx(0.1)); // 1 of the 10 choices lies as far out, and none on the other side: ranks 2 2 2 4.5 4.5
    CHECK(mann_whitney(one, sample{2}).p == 1);
}
