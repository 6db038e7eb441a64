// SPDX-License-Identifier: MIT
// Tests of adf_lags.hpp and trend.hpp.
#include "support/catch.hpp"
#include <sb/stats/adf_lags.hpp>
#include <sb/stats/trend.hpp>
#include <cmath>
#include <vector>

using namespace sb::stats;

TEST_CASE("a trend brings a coefficient for each power of time", "[trend:oracle]") {
    CHECK(terms_of(trend::none) == 0);
    CHECK(terms_of(trend::constant) == 1);
    CHECK(terms_of(trend::linear) == 2);
    CHECK(terms_of(trend::quadratic) == 3);
}

TEST_CASE("how many lags: by rule, by information, by the last one's t", "[adf_lags:oracle][adf_lags:property][adf_lags:degenerate]") {
    CHECK(detail::lags_of(100, {}).lags == 12);
    CHECK(detail::lags_of(50, {}).lags == 11); // 12 / 2^(1/4) = 10.09
    CHECK(detail::lags_of(20, {}).lags == 8); // what 20 values allow beside a constant
    CHECK(detail::lags_of(20, {trend::constant, lag_choice::fixed, 3}).lags == 3);
    CHECK(detail::lags_of(20, {trend::constant, lag_choice::fixed, 9}).why == no_answer::bad_request);
    CHECK(detail::lags_of(3, {}).why == no_answer::too_short);
    CHECK(detail::lags_of(0, {trend::none}).why == no_answer::too_short);

    // 40 rows: the second difference explains 10 of 50, the third next to nothing
    double const explained[] = {9, 1, 10, 0.001};
    auto const by_aic = detail::lag_judge{lag_choice::aic, 1, 40}(explained, 3, 40, 0);
    CHECK(by_aic.lag == 2);
    CHECK(by_aic.sure);
    // 40 (ln(2 pi 40.001 / 40) + 1) + 2 (1 + 1 + 2)
    CHECK(by_aic.criterion == Approx(40 * (std::log(2 * 3.141592653589793 * 40.001 / 40) + 1) + 8).epsilon(1e-14));
    auto const by_bic = detail::lag_judge{lag_choice::bic, 1, 40}(explained, 3, 40, 0);
    CHECK(by_bic.lag == 2);
    CHECK(by_bic.criterion == Approx(40 * (std::log(2 * 3.141592653589793 * 40.001 / 40) + 1) + 4 * std::log(40.0)).epsilon(1e-14));
    auto const by_t = detail::lag_judge{lag_choice::t_stat, 1, 40}(explained, 3, 40, 0);
    CHECK(by_t.lag == 2);
    CHECK(by_t.criterion == Approx(std::sqrt(10 / (40.001 / 36))).epsilon(1e-14));
    // squares of another unit: the same choice, the criterion moved by 2 n ln of it
    double scaled[4];
    for (int i = 0; i < 4; ++i) scaled[i] = explained[i] / 64;
    auto const other = detail::lag_judge{lag_choice::aic, 1, 40}(scaled, 3, 40.0 / 64, 3);
    CHECK(other.lag == 2);
    CHECK(other.criterion == Approx(by_aic.criterion).epsilon(1e-13));
    // with exactly nothing explained the fewer are taken; a tie is no sure choice
    double const none[] = {1, 0, 0, 0};
    CHECK(detail::lag_judge{lag_choice::aic, 1, 40}(none, 3, 40, 0).lag == 0);
    double const tied[] = {1, 40 * std::expm1(2.0 / 40)};
    CHECK_FALSE(detail::lag_judge{lag_choice::aic, 1, 40}(tied, 1, 40, 0).sure);
}
