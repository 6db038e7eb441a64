// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/cpu.hpp>
#include <sb/stats/orthogonal.hpp>
#include <cmath>
#include <vector>

using namespace sb::stats;

TEST_CASE("a triangle has the lengths and angles of the columns", "[orthogonal:oracle]") {
    // (3, 4) has length 5; of (1, 2) 11/5 lie along it and 2/5 across; of (5, 10) five times as much
    for (auto const set : {sb::instruction_set::plain, sb::instruction_set::avx2, sb::instruction_set::avx512}) {
        if (set > sb::best_instruction_set()) continue;
        std::vector<double> matrix{3, 4, 1, 2, 5, 10};
        CHECK(triangulate(matrix, 2, 3, vector_unit{set}) == 2); // two columns explain the third in two rows
        double const turned = std::copysign(1, matrix[0]);
        CHECK(std::abs(matrix[0]) == Approx(5).epsilon(1e-15));
        CHECK(matrix[2] * turned == Approx(2.2).epsilon(1e-15));
        CHECK(matrix[4] * turned == Approx(11).epsilon(1e-15));
        CHECK(std::abs(matrix[3]) == Approx(0.4).epsilon(1e-14));
        CHECK(matrix[5] / matrix[3] == Approx(5).epsilon(1e-14));
    }
}

TEST_CASE("products of columns stay what they were", "[orthogonal:property]") {
    constexpr std::size_t rows = 9, columns = 4;
    std::vector<double> matrix;
    for (std::size_t i = 0; i < rows * columns; ++i) matrix.push_back(std::sin(static_cast<double>(i * i)));
    auto const before = matrix;
    CHECK(triangulate(matrix, rows, columns) == columns);
    for (std::size_t a = 0; a < columns; ++a)
        for (std::size_t b = a; b < columns; ++b) {
            double was = 0, is = 0;
            for (std::size_t r = 0; r < rows; ++r) was += before[a * rows + r] * before[b * rows + r];
            for (std::size_t r = 0; r <= a; ++r) is += matrix[a * rows + r] * matrix[b * rows + r];
            CHECK(is == Approx(was).margin(1e-13));
        }
}

TEST_CASE("the first column that others explain is named", "[orthogonal:degenerate]") {
    std::vector<double> twice{1, 2, 3, 2, 4, 6}, zero{0, 0, 0, 1, 2, 3};
    CHECK(triangulate(twice, 3, 2) == 1);
    CHECK(triangulate(zero, 3, 2) == 0);
}
