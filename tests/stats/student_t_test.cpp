// SPDX-License-Identifier: MIT
// Tests of interval.hpp and student_t.hpp.
#include <sb/core/exact_sum.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/student_t.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <limits>
#include <numbers>

using namespace sb::test;

TEST_CASE("the upper tail of Student's t agrees with fifty-digit arithmetic", "[student_t:oracle]") {
    auto const all = oracle("distributions.json");
    for (auto const& c : *all.if_object()->if_contains("sf")->if_array()) {
        auto const want = number(c, "sf");
        INFO("x " << number(c, "x") << " df " << number(c, "df"));
        CHECK(sb::stats::student_t_upper(number(c, "x"), number(c, "df")) == Approx(want).epsilon(want < 1e-100 ? 1e-10 : 1e-12).margin(0));
    }
}

TEST_CASE("the quantile of Student's t agrees with fifty-digit arithmetic", "[student_t:oracle]") {
    auto const all = oracle("distributions.json");
    for (auto const& c : *all.if_object()->if_contains("isf")->if_array()) {
        INFO("p " << number(c, "p") << " df " << number(c, "df"));
        CHECK(sb::stats::student_t_quantile(number(c, "p"), number(c, "df")) == Approx(number(c, "t")).epsilon(1e-12).margin(0));
    }
}

TEST_CASE("with many degrees of freedom the quantile keeps its digits", "[student_t:oracle]") {
    // forty-digit arithmetic: the incomplete beta function, inverted
    CHECK(sb::stats::student_t_quantile(0.025, 1e4) == Approx(1.9602012398906262578).epsilon(1e-13));
    CHECK(sb::stats::student_t_quantile(0.025, 1e6) == Approx(1.9599663568141070353).epsilon(1e-13));
    CHECK(sb::stats::student_t_quantile(0.025, 1e9) == Approx(1.9599639869123254686).epsilon(1e-13));
}

TEST_CASE("with one or two degrees of freedom tail and quantile are what their formulas say, as far as numbers go", "[student_t:oracle]") {
    using namespace sb::stats;
    for (double const p : {0.4, 0.1, 1e-3, 1e-9, 1e-80, 1e-154, 1e-160, 1e-200, 1e-300}) {
        double const cauchy = 1 / std::tan(std::numbers::pi * p), two = (1 - 2 * p) / std::sqrt(2 * p * (1 - p));
        INFO(p);
        CHECK(student_t_quantile(p, 1) == Approx(cauchy).epsilon(1e-12).margin(0));
        CHECK(student_t_quantile(p, 2) == Approx(two).epsilon(1e-12).margin(0));
        CHECK(student_t_upper(cauchy, 1) == Approx(p).epsilon(1e-12).margin(0));
        CHECK(student_t_upper(two, 2) == Approx(p).epsilon(1e-12).margin(0));
    }
}

TEST_CASE("with very many degrees of freedom the tail is nearly the normal one, and with infinitely many it is that", "[student_t:oracle][student_t:property]") {
    using namespace sb::stats;
    struct { double t, df, upper; } const rows[] = { // mpmath, 40 digits
        {0.5, 200000, 0.3085378137768107},
        {2, 200000, 0.02275080683686345},
        {6, 200000, 9.882749439674029e-10},
        {20, 200000, 3.365745264502125e-89},
        {36, 200000, 3.394226686253761e-283},
        {0.5, 1e+07, 0.3085375442270075},
        {2, 1e+07, 0.022750145445921476},
        {6, 1e+07, 9.866213666838918e-10},
        {20, 1e+07, 2.764715603476963e-89},
        {36, 1e+07, 4.362260384568516e-284},
        {0.5, 1e+16, 0.3085375387259869},
        {2, 1e+16, 0.02275013194817922},
        {6, 1e+16, 9.865876450377318e-10},
        {20, 1e+16, 2.753624118615423e-89},
        {36, 1e+16, 4.182624065970358e-284},
    };
    for (auto const& row : rows) {
        INFO(row.t << " " << row.df);
        CHECK(student_t_upper(row.t, row.df) == Approx(row.upper).epsilon(row.upper < 1e-50 ? 3e-12 : 1e-13).margin(0));
    }
    double const inf = std::numeric_limits<double>::infinity();
    for (double const t : {-3.0, -0.5, 1e-9, 2.0, 30.0, 38.0}) {
        CHECK(student_t_upper(t, inf) == normal_upper(t));
        if (t > 0) CHECK(student_t_upper(t, 1e4) == Approx(normal_upper(sb::stats::detail::normal_of_t(t, 1e4))).epsilon(3e-12).margin(0)); // where it takes over
    }
    CHECK(student_t_upper(1e300, 1e6) == 0);
    CHECK(student_t_upper(inf, inf) == 0);
    CHECK(student_t_quantile(0.025, inf) == normal_quantile(0.025));
    CHECK(student_t_density(1, inf) == Approx(std::exp(-0.5) / std::sqrt(2 * std::numbers::pi)));
}

TEST_CASE("where the quantile's series takes over from the search, both say the same", "[student_t:property]") {
    using namespace sb::stats;
    for (double const p : {0.49, 0.4, 0.3, 0.25, 0.1, 0.05, 0.025, 0.005, 1e-4, 1e-6, 1e-9, 1e-15, 1e-30, 1e-80, 1e-150, 1e-300}) {
        double const z = normal_quantile(p), seam = 60 + 4 * z * z;
        INFO(p << " at " << seam);
        CHECK(student_t_quantile(p, seam * (1 + 1e-15)) == Approx(student_t_quantile(p, seam * (1 - 1e-15))).epsilon(1e-13).margin(0));
        double before = student_t_quantile(p, seam / 2);
        for (double df = seam / 2; (df *= 1.01) < 2 * seam;) {
            double const t = student_t_quantile(p, df);
            CHECK(t < before);
            CHECK(student_t_upper(t, df) == Approx(p).epsilon(p < 1e-100 ? 1e-10 : 1e-12).margin(0));
            before = t;
        }
    }
}

TEST_CASE("the interval of a mean agrees with rational arithmetic", "[interval:oracle]") {
    auto const all = oracle("mean_ci.json");
    auto const series = oracle("series.json");
    for (auto const& c : *all.if_object()->if_contains("cases")->if_array()) {
        auto const name = sb::string_or(*c.if_object()->if_contains("series"), "");
        auto const* s = series.if_object()->if_contains(name);
        REQUIRE(s != nullptr);
        auto const* values = s->if_array() ? s : s->if_object()->if_contains("values");
        REQUIRE(values != nullptr);
        sb::exact_sum sum;
        for (auto const& v : *values->if_array()) sum.push(sb::number_or(v, NAN));
        INFO(name << " at " << number(c, "confidence"));
        CHECK(sum.count() == static_cast<std::int64_t>(number(c, "n")));
        auto const n = static_cast<double>(sum.count());
        auto const mean = sum.sum().nearest() / n, sd = number(c, "sd");
        CHECK(mean == Approx(number(c, "mean")).epsilon(1e-15));
        auto const got = sb::stats::mean_interval(mean, sd * sd, sum.count(), number(c, "confidence"));
        CHECK(got.lo == Approx(number(c, "lower")).epsilon(1e-11));
        CHECK(got.hi == Approx(number(c, "upper")).epsilon(1e-11));
        // the exact sum of squares gives the deviation too
        auto squares = sb::exact_integer{static_cast<sb::wide_natural>(sum.count()), 0, false} * sum.squares();
        squares -= sum.sum() * sum.sum();
        CHECK(std::sqrt(squares.nearest() / n / (n - 1)) == Approx(sd).epsilon(1e-14));
    }
}

TEST_CASE("a tail without freedom, and the quantile of no chance, are no numbers", "[student_t:degenerate]") {
    using namespace sb::stats;
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    for (double const df : {0.0, -1.0, nan}) {
        CHECK(std::isnan(student_t_upper(1, df)));
        CHECK(std::isnan(student_t_quantile(0.1, df)));
    }
    CHECK(std::isnan(student_t_upper(nan, 5)));
    CHECK(student_t_upper(inf, 5) == 0);
    CHECK(student_t_upper(-inf, 5) == 1);
    for (double const p : {-0.1, 1.1, nan}) {
        CHECK(std::isnan(student_t_quantile(p, 5)));
        CHECK(std::isnan(normal_quantile(p)));
    }
    CHECK(student_t_quantile(0, 5) == inf);
    CHECK(student_t_quantile(1, 5) == -inf);
    CHECK(normal_quantile(0) == inf);
    CHECK(normal_quantile(1) == -inf);
    CHECK(student_t_quantile(0.5, 5) == 0);
    CHECK(student_t_quantile(0.9, 5) == Approx(-student_t_quantile(0.1, 5)));
    CHECK(normal_quantile(0.975) == Approx(-normal_quantile(0.025)));
}

TEST_CASE("an interval lies around its mean, is wider the surer it is, and moves with units and origin", "[interval:property]") {
    using sb::stats::mean_interval;
    for (std::int64_t const n : {2, 3, 20, 100000}) {
        double last = 0;
        for (double const confidence : {0.5, 0.9, 0.95, 0.99, 0.999999}) {
            auto const [lo, hi] = mean_interval(3, 4, n, confidence);
            CHECK((lo + hi) / 2 == Approx(3));
            CHECK(hi - lo > last);
            last = hi - lo;
            auto const other = mean_interval(3e-150 + 7e-150, 4e-300, n, confidence);
            CHECK(other.lo == Approx(lo * 1e-150 + 7e-150).epsilon(1e-12).margin(0));
        }
    }
    CHECK((mean_interval(1, 1, 10).overlaps(mean_interval(1.5, 1, 10))));
    CHECK_FALSE((mean_interval(1, 1, 100).overlaps(mean_interval(2, 1, 100))));
}

TEST_CASE("the mean of fewer than two values may lie anywhere, that of equal ones where they lie", "[interval:degenerate]") {
    for (std::int64_t const n : {-1, 0, 1}) {
        auto const [lo, hi] = sb::stats::mean_interval(3, 0, n);
        CHECK(lo == -std::numeric_limits<double>::infinity());
        CHECK(hi == std::numeric_limits<double>::infinity());
    }
    auto const same = sb::stats::mean_interval(3, 0, 5);
    CHECK(same.lo == 3);
    CHECK(same.hi == 3);
    CHECK(std::isnan(sb::stats::mean_interval(3, 1, 5, 1.5).lo));
    CHECK(std::isnan(sb::stats::mean_interval(NAN, 1, 5).lo));
}
