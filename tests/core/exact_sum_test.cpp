// SPDX-License-Identifier: MIT
#include <sb/core/exact_sum.hpp>
#include <sb/core/random.hpp>
#include <cmath>
#include <numeric>
#include <vector>
#include "support/catch.hpp"

namespace {
double total(std::vector<double> const& all) {
    sb::exact_sum s;
    for (auto const x : all) s.push(x);
    return s.sum().nearest();
}
} // namespace

TEST_CASE("an exact sum rounds once") {
    CHECK(total({}) == 0);
    CHECK(total({0.1, 0.2}) == 0.1 + 0.2);
    CHECK(total({1e100, 1, -1e100}) == 1);
    CHECK(total({1e308, 1e308, -1e308}) == 1e308);
    CHECK(std::isinf(total({1e308, 1e308})));
    CHECK(total({5e-324, 5e-324}) == 1e-323);
    CHECK(total({1, 0x1p-53}) == 1); // half way, to even
    CHECK(total({1, 0x1p-53, 0x1p-300}) == 1 + 0x1p-52);
    CHECK(total({1 + 0x1p-52, 0x1p-53}) == 1 + 0x1p-51); // half way, to even, upwards
    CHECK(total({-0.0, 0.0}) == 0);
    // ten times the double nearest to 0.1: the error of each is too small to show once
    CHECK(total(std::vector<double>(10, 0.1)) == 1.0);
    CHECK(total({0x1.fffffffffffffp1023, 0x1p969}) == 0x1.fffffffffffffp1023);
    CHECK(std::isinf(total({0x1.fffffffffffffp1023, 0x1p970}))); // half an ulp above the largest rounds away
    CHECK(total({0x1p-1022, -5e-324}) == 0x0.fffffffffffffp-1022);
}

TEST_CASE("what lies below the least double rounds to nothing or to it") {
    auto const of = [](std::uint64_t m, int e) { return sb::exact_integer{m, e, false}.nearest(); };
    CHECK(of(1, -1074) == 5e-324);
    CHECK(of(1, -1075) == 0); // half, to even
    CHECK(of(3, -1076) == 5e-324);
    CHECK(of(3, -1075) == 1e-323); // one and a half, to even
    CHECK(of(1, -1076) == 0);
    CHECK(of(1, -2100) == 0);
    CHECK(of(1, 0) == 1);
    CHECK(of(~std::uint64_t{0}, 0) == 18446744073709551616.0);
}

TEST_CASE("order, shards and folding leave an exact sum as it is") {
    sb::random_stream chance{7};
    std::vector<double> all;
    for (int i = 0; i < 20000; ++i) all.push_back(std::ldexp(chance.unit() - 0.5, static_cast<int>(chance.below(600)) - 300));
    auto const forward = total(all);
    sb::exact_sum backward, left, right;
    for (auto i = all.size(); i-- > 0;) backward.push(all[i]);
    for (std::size_t i = 0; i < all.size(); ++i) (i % 3 == 0 ? left : right).push(all[i]);
    left.merge(right);
    CHECK(backward.sum().nearest() == forward);
    CHECK(left.sum().nearest() == forward);
    CHECK(left.squares().nearest() == backward.squares().nearest());
    // long double carries enough here to see that the exact one is near the truth
    auto const rough = std::accumulate(all.begin(), all.end(), 0.0L);
    CHECK(static_cast<double>(rough) == Approx(forward).epsilon(1e-12));
}

TEST_CASE("a sum of more values than a bin can square stays exact") {
    sb::exact_sum s;
    constexpr int n = (1 << 21) + 1000;
    auto const x = 0x1.fffffffffffffp0; // the largest significand
    for (int i = 0; i < n; ++i) s.push(x);
    CHECK(s.count() == n);
    auto const m = static_cast<sb::wide_natural>((std::uint64_t{1} << 53) - 1);
    auto want = sb::exact_integer{m * m, -104, false} * sb::exact_integer{static_cast<sb::wide_natural>(n), 0, false};
    want -= s.squares();
    CHECK(want.is_zero());
}

TEST_CASE("the terms of a sum are short, give it back and are the same for equal values") {
    sb::exact_sum s;
    for (auto const x : {1e200, 3.14, -2.5e-180, 7.0, 5e-324}) s.push(x);
    sb::exact_integer back;
    for (auto const& t : s.sum().terms()) {
        CHECK(std::abs(t.significand) < (std::int64_t{1} << 53));
        auto const negative = t.significand < 0;
        back += sb::exact_integer{static_cast<sb::wide_natural>(negative ? -t.significand : t.significand), t.exponent, negative};
    }
    back -= s.sum();
    CHECK(back.is_zero());
    sb::exact_sum a, b;
    a.push(0.5), a.push(0.25), b.push(0.75);
    REQUIRE(a.sum().terms().size() == 1);
    CHECK(a.sum().terms()[0].significand == 3);
    CHECK(a.sum().terms()[0].exponent == -2);
    CHECK(b.sum().terms()[0].significand == 3);
}

TEST_CASE("a count beyond any count stays one") {
    sb::exact_sum s, other;
    for (int i = 0; i < 5; ++i) s.merge(std::int64_t{1} << 62, {}, {}), other.merge(s);
    s.push(1);
    CHECK(s.count() > std::int64_t{1} << 60);
    CHECK(other.count() > std::int64_t{1} << 60);
}
