// SPDX-License-Identifier: MIT
// Tests of chi_square.hpp, f_distribution.hpp, kolmogorov.hpp, normal.hpp and student_t.hpp.
#include <sb/stats/chi_square.hpp>
#include <sb/stats/f_distribution.hpp>
#include <sb/stats/kolmogorov.hpp>
#include <sb/stats/normal.hpp>
#include <sb/stats/student_t.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <cmath>
#include <limits>

using namespace sb::stats;
using namespace sb::test;

namespace {
auto rows(char const* of) {
    std::vector<std::vector<double>> all;
    auto const file = oracle("quantiles.json");
    for (auto const& row : *member(file, of)->if_array()) all.push_back(numbers(row));
    return all;
}
/// The last number of each row is what comes of those before it.
template <class Function>
void agrees(char const* of, Function function) {
    for (auto const& c : rows(of)) {
        double const got = function(c), want = c.back();
        INFO(of << " of " << c[0] << ": " << got << " for " << want);
        CHECK(std::abs(got - want) <= 1e-12 * want);
    }
}
double const inf = std::numeric_limits<double>::infinity();
} // namespace

TEST_CASE("the inverses of upper tails agree with forty-digit arithmetic", "[chi_square:oracle][f_distribution:oracle][kolmogorov:oracle][normal:oracle]") {
    agrees("chi_square", [](auto const& c) { return chi_square_quantile(c[0], c[1]); });
    agrees("F", [](auto const& c) { return f_quantile(c[0], c[1], c[2]); });
    agrees("kolmogorov", [](auto const& c) { return kolmogorov_quantile(c[0]); });
    agrees("normal", [](auto const& c) { return normal_quantile(c[0]); });
}

TEST_CASE("the upper tails of the normal and of Kolmogorov's distribution agree with forty-digit arithmetic", "[kolmogorov:oracle][normal:oracle]") {
    agrees("kolmogorov_upper", [](auto const& c) { return kolmogorov_upper(c[0]); });
    agrees("normal_upper", [](auto const& c) { return normal_upper(c[0]); });
}

TEST_CASE("a quantile's tail is what was asked for, and quantiles fall as the tail rises", "[chi_square:property][f_distribution:property][kolmogorov:property][normal:property]") {
    for (double const freedom : {0.5, 1.0, 7.0, 300.0}) {
        double before_c = inf, before_f = inf;
        for (double p = 1e-9; p < 1; p *= 1.7) {
            double const c = chi_square_quantile(p, freedom), f = f_quantile(p, freedom, 9);
            CHECK(chi_square_upper(c, freedom) == Approx(p).epsilon(1e-11));
            CHECK(f_upper(f, freedom, 9) == Approx(p).epsilon(1e-11));
            CHECK((c < before_c && f < before_f));
            before_c = c, before_f = f;
        }
    }
    double before = inf;
    for (double p = 1e-200; p < 1; p *= 37) {
        CHECK(kolmogorov_upper(kolmogorov_quantile(p)) == Approx(p).epsilon(1e-10));
        CHECK(normal_upper(normal_quantile(p)) == Approx(p).epsilon(1e-12).margin(0));
        CHECK(normal_quantile(p) < before);
        before = normal_quantile(p);
    }
    for (double const z : {0.0, 0.3, 1.0, 4.0}) CHECK(normal_upper(z) + normal_upper(-z) == Approx(1));
}

TEST_CASE("the ends of tails and quantiles, and what is no chance", "[chi_square:degenerate][f_distribution:degenerate][kolmogorov:degenerate][normal:degenerate]") {
    CHECK(chi_square_quantile(0, 3) == inf);
    CHECK(chi_square_quantile(1, 3) == 0);
    CHECK(f_quantile(0, 3, 4) == inf);
    CHECK(f_quantile(1, 3, 4) == 0);
    CHECK(kolmogorov_quantile(0) == inf);
    CHECK(kolmogorov_quantile(1) == 0);
    for (double const p : {-0.1, 1.1, double{NAN}}) {
        CHECK(std::isnan(chi_square_quantile(p, 3)));
        CHECK(std::isnan(f_quantile(p, 3, 4)));
        CHECK(std::isnan(kolmogorov_quantile(p)));
        CHECK(std::isnan(normal_quantile(p)));
    }
    for (double const freedom : {0.0, -1.0, double{NAN}}) {
        CHECK(std::isnan(chi_square_upper(1, freedom)));
        CHECK(std::isnan(chi_square_quantile(0.1, freedom)));
        CHECK(std::isnan(f_upper(1, freedom, 3)));
        CHECK(std::isnan(f_upper(1, 3, freedom)));
        CHECK(std::isnan(f_quantile(0.1, 3, freedom)));
    }
    CHECK(kolmogorov_upper(0) == 1);
    CHECK(kolmogorov_upper(inf) == 0);
    CHECK(std::isnan(kolmogorov_upper(NAN)));
    CHECK(normal_upper(inf) == 0);
    CHECK(normal_upper(-inf) == 1);
    CHECK(std::isnan(normal_upper(NAN)));
    CHECK(normal_quantile(0) == inf);
    CHECK(normal_quantile(1) == -inf);
    CHECK(normal_quantile(0.5) == 0);
    CHECK(chi_square_quantile(0.9999, 0.01) == 0); // below what a double can hold
}
