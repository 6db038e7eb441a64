// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stats/saddle_point.hpp>
#include <cmath>

using namespace sb::stats::detail;

TEST_CASE("the rest of Stirling's formula is that of forty digits", "[saddle_point:oracle]") {
    struct row {
        double z, rest;
    };
    for (auto const& [z, rest] : {row{0.5, 0.1534264097200273452913839392709117}, row{1, 0.08106146679532725821967026359438236}, row{2.5, 0.03316287351993628748511050974106214},
                                  row{15.5, 0.00537559903292683449364171977040491}, row{16, 0.005207655919609640440717996857901898}, row{100, 0.0008333305556349146833812416928146601},
                                  row{1e6, 8.333333333333055555555555644952e-8}})
        CHECK(stirling_rest(z) == Approx(rest).epsilon(2e-13));
}

TEST_CASE("a deviance keeps its digits where both are nearly the same", "[saddle_point:oracle][saddle_point:degenerate]") {
    CHECK(deviance(3, 2) == Approx(0.216395324324493145934039346393047).epsilon(1e-14));
    double const off = 0x1p-26; // off^2/2 - off^3/6 + ...
    CHECK(deviance(1 + off, 1) == Approx(off * off / 2 * (1 - off / 3)).epsilon(1e-14));
    CHECK(deviance(7, 7) == 0);
}

TEST_CASE("densities are those of whole numbers by hand", "[saddle_point:oracle]") {
    CHECK(beta_part(2, 3, 0.4, 0.6) == Approx(0.4 * 0.4 * 0.6 * 0.6 * 0.6 * 12).epsilon(1e-13)); // 1/B(2, 3) is 12
    CHECK(gamma_part(3, 2) == Approx(8 * std::exp(-2) / 2).epsilon(1e-13)); // gamma of 3 is 2
    CHECK(gamma_part(1, 30) == Approx(30 * std::exp(-30)).epsilon(1e-13));
}

TEST_CASE("both sides of a beta density are one", "[saddle_point:property]") {
    for (double const x : {0.01, 0.3, 0.5}) CHECK(beta_part(4, 90, x, 1 - x) == Approx(beta_part(90, 4, 1 - x, x)).epsilon(1e-13));
}
