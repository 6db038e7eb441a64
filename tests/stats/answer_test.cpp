// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/stats/answer.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

using namespace sb::stats;

TEST_CASE("each reason has words of its own, and an answer has none", "[answer:oracle]") {
    CHECK(std::string{name_of(no_answer::none)}.empty());
    std::set<std::string> words;
    for (auto why = static_cast<int>(no_answer::too_short); why <= static_cast<int>(no_answer::bad_request); ++why) words.insert(name_of(static_cast<no_answer>(why)));
    CHECK(words == std::set<std::string>{"too short", "not finite", "constant", "collinear", "perfect fit", "zero degrees of freedom", "too few values for what was asked"});
}

TEST_CASE("a NaN or an infinity anywhere is found", "[answer:property][answer:degenerate]") {
    CHECK(all_finite({}));
    for (double const bad : {std::nan(""), HUGE_VAL, -HUGE_VAL})
        for (std::size_t at = 0; at < 9; ++at) {
            std::vector<double> values(9, 1e308);
            CHECK(all_finite(values));
            values[at] = bad;
            CHECK_FALSE(all_finite(values));
        }
}
