// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/analysis/test_answer.hpp>
#include <cmath>
#include <string>

using namespace sb::analysis;

namespace {

struct answer {
    sb::stats::no_answer why;
    double p;
    explicit operator bool() const { return why == sb::stats::no_answer::none; }
};

} // namespace

TEST_CASE("a record has statistic and p, or a reason and neither") {
    auto good = begun("adf", 7), none = good;
    CHECK(good.test == "adf");
    CHECK(good.n == 7);
    settle(good, answer{sb::stats::no_answer::none, 0.25}, -3);
    CHECK((good.statistic == -3 && good.p == 0.25 && !good.reason));
    settle(none, answer{sb::stats::no_answer::constant, std::nan("")}, std::nan(""));
    CHECK((!none.statistic && !none.p && none.reason == "constant"));
}

TEST_CASE("what is not finite is null") {
    CHECK(finite_or_null(std::nan("")).is_null());
    CHECK(finite_or_null(-HUGE_VAL).is_null());
    CHECK(sb::number_or(finite_or_null(0.5), 0) == 0.5);
}
