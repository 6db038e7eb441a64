// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/cpu.hpp>
#include <sb/core/random.hpp>
#include <sb/stats/dot.hpp>
#include <vector>

using namespace sb::stats;

namespace {

std::vector<vector_unit> units() {
    std::vector<vector_unit> each;
    for (auto const set : {sb::instruction_set::plain, sb::instruction_set::avx2, sb::instruction_set::avx512})
        if (set <= sb::best_instruction_set()) each.emplace_back(set);
    return each;
}

} // namespace

TEST_CASE("products of whole numbers are added up exactly, however many there are", "[dot:oracle][dot:degenerate]") {
    std::vector<double> values;
    for (int i = 1; i <= 100; ++i) values.push_back(i);
    for (auto const& unit : units())
        for (std::size_t n = 0; n <= values.size(); ++n) {
            auto const count = static_cast<double>(n);
            REQUIRE(unit.dot(values.data(), values.data(), n) == count * (count + 1) * (2 * count + 1) / 6);
        }
}

TEST_CASE("products with earlier values are those of each shift", "[dot:oracle]") {
    // the sum of i (i - b) for i from 11 to 10 + n is that of i squared less b times that of i
    std::vector<double> values;
    for (int i = 1; i <= 80; ++i) values.push_back(i);
    for (auto const& unit : units())
        for (std::size_t n = 0; n <= 70; ++n)
            for (std::size_t count = 0; count <= 9; ++count) {
                std::vector<double> to(count + 1, -1);
                unit.dots_back(values.data() + 10, values.data() + 10, n, to.data(), count);
                double squares = 0, sum = 0;
                for (std::size_t i = 0; i < n; ++i) squares += values[10 + i] * values[10 + i], sum += values[10 + i];
                for (std::size_t back = 0; back < count; ++back) REQUIRE(to[back] == squares - static_cast<double>(back) * sum);
                REQUIRE(to[count] == -1); // and no more than were asked for
            }
}

TEST_CASE("a multiple is added to each value and to none behind the last", "[dot:oracle]") {
    for (auto const& unit : units())
        for (std::size_t n = 0; n <= 40; ++n) {
            std::vector<double> to(n + 1, 5), from(n + 1, 0);
            for (std::size_t i = 0; i <= n; ++i) from[i] = static_cast<double>(i);
            unit.add_scaled(to.data(), -3, from.data(), n);
            for (std::size_t i = 0; i < n; ++i) REQUIRE(to[i] == 5 - 3 * static_cast<double>(i));
            REQUIRE(to[n] == 5);
        }
}

TEST_CASE("every instruction set adds up products to the same bytes", "[dot:property]") {
    sb::random_stream chance{5};
    auto const all_units = units();
    for (std::size_t n = 0; n <= 130; ++n) {
        std::vector<double> a(n + 8), b(n + 8);
        for (double& x : a) x = chance.unit() * 1e9 - 5e8;
        for (double& x : b) x = chance.unit();
        double const expected = all_units.front().dot(a.data(), b.data(), n);
        for (auto const& unit : all_units) REQUIRE(unit.dot(a.data(), b.data(), n) == expected);
    }
}
