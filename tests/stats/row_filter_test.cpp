// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include <sb/stats/row_filter.hpp>
#include <array>
#include <cstddef>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using series = std::vector<double>;

namespace {
template <bool Feedback, std::size_t Width>
void check_filter(std::size_t order, std::size_t rows) {
    INFO(Feedback << " " << Width << " " << order << " " << rows);
    auto const x = normal_values{71}.many((rows + 8) * Width);
    std::array<double, 9> const factors{0, 0.5, -0.3, 0.2, 0.1, -0.1, 0.05, 0.02, 0.01};
    auto got = x, want = x;
    filter_rows<Feedback, Width>(x.data() + 8 * Width, got.data() + 8 * Width, static_cast<std::ptrdiff_t>(Width), rows, factors.data(), order);
    for (std::size_t i = 8; i < rows + 8; ++i)
        for (std::size_t c = 0; c < Width; ++c)
            for (std::size_t j = order; j > 0; --j) want[i * Width + c] += -factors[j] * (Feedback ? want : x)[(i - j) * Width + c];
    CHECK(got == want);
    // from the end it is the same of the rows the other way round
    series turned(x.size()), there(x.size()), back(x.size());
    auto const turn = [](series const& from, series& to) {
        for (std::size_t i = 0; i < from.size(); ++i) to[from.size() - Width - i / Width * Width + i % Width] = from[i];
    };
    turn(x, turned), there = turned;
    auto const last = (rows - 1) * Width;
    if (rows > 0) filter_rows<Feedback, Width>(turned.data() + last, there.data() + last, -static_cast<std::ptrdiff_t>(Width), rows, factors.data(), order);
    turn(there, back);
    CHECK(back == want);
}
} // namespace

TEST_CASE("a filter of rows is the filter of each column, to the last bit", "[row_filter:oracle][row_filter:property][row_filter:degenerate]") {
    for (std::size_t const order : {0u, 1u, 2u, 3u, 4u, 8u})
        for (std::size_t const rows : {0u, 1u, 2u, 17u}) {
            check_filter<true, 2>(order, rows), check_filter<false, 2>(order, rows);
            check_filter<true, 4>(order, rows), check_filter<false, 4>(order, rows);
            check_filter<true, 8>(order, rows), check_filter<false, 8>(order, rows);
        }
    auto const x = normal_values{72}.many(40);
    std::array<double, 16> products{};
    multiply_columns<4>(x.data(), 10, 4, products.data());
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = 0;
            for (std::size_t i = 0; i < 10; ++i) sum += x[i * 4 + a] * x[i * 4 + b];
            CHECK(products[a * 4 + b] == sum);
        }
    multiply_columns<4>(x.data(), 0, 4, products.data());
    CHECK(products[0] == 0);
}
