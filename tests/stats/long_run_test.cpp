// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stats/long_run.hpp>
#include <cmath>
#include <vector>

using namespace sb::stats;

// products of {1, -2, 3, -1} with themselves and with 1, 2 and 3 earlier ones: 15, -11, 5, -1
static std::vector<double> const residuals{1, -2, 3, -1};

TEST_CASE("the long-run sum is what Bartlett's weights give by hand", "[long_run:oracle]") {
    CHECK(long_run_sum(residuals, 15, 0) == 15);
    CHECK(long_run_sum(residuals, 15, 1) == Approx(15 - 11)); // weight 1/2, twice
    CHECK(long_run_sum(residuals, 15, 2) == Approx(15 - 44.0 / 3 + 10.0 / 3));
    CHECK(long_run_sum(residuals, 15, 3) == Approx(15 - 16.5 + 5 - 0.5));
}

TEST_CASE("the lags that the data ask for are those of Newey and West by hand", "[long_run:oracle]") {
    CHECK(newey_west_lags(residuals, 15, 0) == 0);
    // ratio 22/7: 1.1447 (22/7)^(2/3) 4^(1/3) = 3.899
    CHECK(newey_west_lags(residuals, 15, 1) == 3);
    // sum -7 + 10, weighted -22 + 20: 1.1447 (2/3)^(2/3) 4^(1/3) = 1.387
    CHECK(newey_west_lags(residuals, 15, 2) == 1);
}

TEST_CASE("the unit of residuals does not move their lags", "[long_run:property]") {
    for (double const unit : {0x1p-40, 3.0, 0x1p40}) {
        std::vector<double> other;
        for (double const x : residuals) other.push_back(x * unit);
        CHECK(newey_west_lags(other, 15 * unit * unit, 1) == 3);
        CHECK(long_run_sum(other, 15 * unit * unit, 2) == Approx(11.0 / 3 * unit * unit));
    }
}

TEST_CASE("products that undo each other ask for no number of lags", "[long_run:degenerate]") {
    std::vector<double> const opposed{1, -1};
    CHECK_FALSE(std::isfinite(newey_west_lags(opposed, 2, 1)));
    std::vector<double> const one{3};
    CHECK(newey_west_lags(one, 9, 5) == 0); // no product reaches beyond the values
}

TEST_CASE("Schwert's rule is twelve fourth roots of hundreds", "[long_run:oracle]") {
    CHECK(schwert_lags(100) == 12);
    CHECK(schwert_lags(1600) == 24);
    CHECK(schwert_lags(16) == 8); // 7.59
    CHECK(schwert_lags(0) == 0);
}
