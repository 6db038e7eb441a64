// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/exact_integer.hpp>
#include <limits>

using sb::exact_integer;

namespace {

exact_integer of(std::uint64_t magnitude, int exponent = 0, bool negative = false) { return {magnitude, exponent, negative}; }

} // namespace

TEST_CASE("what cancels leaves exactly what is left") {
    auto sum = of(1, 2000);
    sum += of(1, -1000);
    sum -= of(1, 2000);
    CHECK(sum.nearest() == 0x1p-1000);
    sum -= of(3, -1000);
    CHECK(sum.negative());
    CHECK(sum.nearest() == -0x1p-999);
    sum += of(1, -999);
    CHECK(sum.is_zero());
    CHECK(sum.nearest() == 0);
}

TEST_CASE("it rounds once, to the nearest, of two to the even one") {
    auto const rounded = [](std::uint64_t more) {
        auto sum = of(1, 53);
        sum += of(more);
        return sum.nearest();
    };
    CHECK(rounded(1) == 0x1p53); // halfway, and even
    CHECK(rounded(2) == 0x1p53 + 2);
    CHECK(rounded(3) == 0x1p53 + 4); // halfway, and the other is even
    auto above = of(1, 53);
    above += of(1), above += of(1, -300); // a little more than halfway
    CHECK(above.nearest() == 0x1p53 + 2);
}

TEST_CASE("products carry through all of their words") {
    // (2^64 - 1)^2 = 2^128 - 2^65 + 1
    auto const most = std::numeric_limits<std::uint64_t>::max();
    auto square = of(most) * of(most, 0, true);
    CHECK(square.negative());
    square += of(1, 128);
    square -= of(1, 65);
    CHECK(square.nearest() == -1);
    CHECK((of(most) * exact_integer{}).is_zero());
}

TEST_CASE("what no double holds is infinite, or nothing") {
    CHECK(of(1, 1024).nearest() == std::numeric_limits<double>::infinity());
    CHECK(of(1, 1024, true).nearest() == -std::numeric_limits<double>::infinity());
    CHECK(of(1, -1074).nearest() == std::numeric_limits<double>::denorm_min());
    CHECK(of(1, -1075).nearest() == 0); // halfway to nothing, which is even
    CHECK(of(3, -1076).nearest() == std::numeric_limits<double>::denorm_min());
}
