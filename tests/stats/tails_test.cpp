// SPDX-License-Identifier: MIT
// Tests of chi_square.hpp, f_distribution.hpp and student_t.hpp.
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <sb/stats/chi_square.hpp>
#include <sb/stats/f_distribution.hpp>
#include <sb/stats/student_t.hpp>
#include <cmath>
#include <numbers>

using namespace sb::stats;
using sb::test::numbers;
using sb::test::oracle;

namespace {

/// What is asked of the tails of distributions.json: twelve digits, ten of the tiny ones.
bool close(double got, double want) { return std::abs(got - want) <= (want < 1e-100 ? 1e-10 : 1e-12) * want; }

} // namespace

TEST_CASE("tails of F and chi square agree with sixty-digit arithmetic, for few degrees and many", "[f_distribution:oracle][chi_square:oracle]") {
    auto const all = oracle("tails.json");
    int asked = 0;
    for (auto const& row : *all.if_object()->if_contains("F")->if_array()) {
        auto const c = numbers(row);
        INFO("x " << c[0] << " degrees " << c[1] << " " << c[2] << ": " << f_upper(c[0], c[1], c[2]) << " for " << c[3]);
        CHECK(close(f_upper(c[0], c[1], c[2]), c[3]));
        ++asked;
    }
    for (auto const& row : *all.if_object()->if_contains("chi_square")->if_array()) {
        auto const c = numbers(row);
        INFO("x " << c[0] << " degrees " << c[1] << ": " << chi_square_upper(c[0], c[1]) << " for " << c[2]);
        CHECK(close(chi_square_upper(c[0], c[1]), c[2]));
        ++asked;
    }
    CHECK(asked == 374);
}

TEST_CASE("chi square of a million degrees and more is what a sum of Poisson's has, and half at its middle", "[chi_square:oracle]") {
    struct { double x, freedom, upper; } const rows[] = { // even degrees: sums by mpmath, 30 digits
        {992928.0, 1e+06, 0.9999997306983692},
        {1000000.0, 1e+06, 0.4998119368033945},
        {1001414.0, 1e+06, 0.15869168202821743},
        {1011313.0, 1e+06, 7.933629340016689e-16},
        {1042426.0, 1e+06, 1.12697308453665e-192},
        {3999552786.0, 4e+09, 0.9999997136209977},
        {4000000000.0, 4e+09, 0.4999970264598064},
        {4000089442.0, 4e+09, 0.1586571992820662},
        {4000715541.0, 4e+09, 6.245153628229353e-16},
        {4002683281.0, 4e+09, 6.0010887483245366e-198},
    };
    for (auto const& row : rows) {
        INFO(row.x << " " << row.freedom);
        CHECK(close(chi_square_upper(row.x, row.freedom), row.upper));
    }
    for (double const freedom : {1e9, 1e12, 1e13, 1e17, 1e300}) CHECK(chi_square_upper(freedom, freedom) == Approx(0.5 - 1 / (3 * std::sqrt(std::numbers::pi * freedom))).epsilon(1e-14));
    CHECK(chi_square_quantile(0.5, 1e13) == Approx(1e13 - 2.0 / 3).epsilon(1e-15));
    for (double const z : {-30.0, -6.0, -1.0, -0.001, 0.0, 0.3, 2.0, 9.0, 35.0}) { // where one way takes over from the other both say the same
        double const a = 1e5, x = a + z * std::sqrt(a);
        CHECK(sb::stats::detail::gamma_upper_far(a, x) == Approx(sb::stats::detail::gamma_upper(a, x)).epsilon(1e-11).margin(0));
    }
    CHECK(chi_square_upper(1e-300, 1e300) == 1);
    CHECK(chi_square_upper(1e300, 1e6) == 0);
}

TEST_CASE("a tail at its ends, and where nothing is asked", "[f_distribution:degenerate][chi_square:degenerate]") {
    CHECK(f_upper(0, 2, 3) == 1);
    CHECK(f_upper(-1, 2, 3) == 1);
    CHECK(f_upper(INFINITY, 2, 3) == 0);
    CHECK(f_upper(1e308, 4, 1) >= 0);
    CHECK(std::isnan(f_upper(NAN, 2, 3)));
    CHECK(chi_square_upper(0, 3) == 1);
    CHECK(chi_square_upper(-1, 3) == 1);
    CHECK(chi_square_upper(INFINITY, 3) == 0);
    CHECK(std::isnan(chi_square_upper(NAN, 3)));
    CHECK(chi_square_upper(1e6, 2) == 0);
    CHECK(std::isnan(chi_square_upper(1, INFINITY))); // as much freedom as that has no tail
    CHECK(std::isnan(chi_square_quantile(0.5, INFINITY)));
    CHECK(f_upper(1, 1e8, 1e8) == Approx(0.5).epsilon(1e-7));
    CHECK(std::isnan(f_upper(1, 1e15, 1e15)));
    CHECK(std::isnan(f_upper(1, 2, INFINITY)));
    CHECK(std::isnan(f_quantile(0.5, 1e9, 2)));
}

TEST_CASE("tails fall, and meet what they are known to be", "[f_distribution:property][chi_square:property][student_t:property]") {
    for (double const df : {1.0, 2.0, 7.5, 60.0}) {
        double before_f = 1, before_c = 1;
        for (double x = 0.05; x < 40; x *= 1.1) {
            double const f = f_upper(x, df, 9), c = chi_square_upper(x, df);
            CHECK((f <= before_f && c <= before_c));
            before_f = f, before_c = c;
            CHECK(f_upper(x * x, 1, df) == Approx(2 * student_t_upper(x, df)).epsilon(1e-12)); // the square of a t
            CHECK(f_upper(1 / x, 9, df) == Approx(1 - f).epsilon(1e-11).margin(1e-13));
        }
    }
    for (double x = 0.1; x < 300; x *= 1.7) {
        CHECK(chi_square_upper(x, 2) == Approx(std::exp(-x / 2)).epsilon(1e-13));
        CHECK(chi_square_upper(x, 1) == Approx(std::erfc(std::sqrt(x / 2))).epsilon(1e-12));
    }
}
