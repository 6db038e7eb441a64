// SPDX-License-Identifier: MIT
// Filters down the columns of a matrix that lies row by row: a few columns at once, what came before in registers.
//
// How it works: all is pairs of doubles, which every x86-64 adds and multiplies at once, each with its own rounding: the bytes are
// those of one column after the other.
#pragma once
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace sb::stats {

/// Calls `part` with each number below `Many`, without a loop that would keep values out of registers.
template <std::size_t Many, class Part>
__attribute__((always_inline)) inline void each(Part part) noexcept {
    [&]<std::size_t... At>(std::index_sequence<At...>) __attribute__((always_inline)) { (part(std::integral_constant<std::size_t, At>{}), ...); }
    (std::make_index_sequence<Many>{});
}

/// A few columns of one row, two by two, which is what every x86-64 adds at once.
template <std::size_t Width>
struct row_part {
    typedef double pair __attribute__((vector_size(16)));
    pair at[Width / 2];

    row_part() noexcept = default;
    explicit row_part(double const* from) noexcept {
        each<Width / 2>([&](auto i) { std::memcpy(&at[i], from + 2 * i, sizeof at[i]); });
    }
    void add(double factor, row_part const& from) noexcept {
        each<Width / 2>([&](auto i) { at[i] += factor * from.at[i]; });
    }
    void add(double factor, double const* from) noexcept { add(factor, row_part{from}); }
    void scale(double factor) noexcept {
        each<Width / 2>([&](auto i) { at[i] *= factor; });
    }
    void store(double* to) const noexcept {
        each<Width / 2>([&](auto i) { std::memcpy(to + 2 * i, &at[i], sizeof at[i]); });
    }
};

/// to[i] = from[i] - Σ factor_j (feedback ? to : from)[i - j], rows `stride` apart; the rows before the first are there. What came
/// before is kept in registers where it is little.
template <bool Feedback, std::size_t Width, std::size_t Order>
void filter_rows(double const* from, double* to, std::ptrdiff_t stride, std::size_t rows, double const* factors) noexcept {
    row_part<Width> before[Order];
    double factor[Order];
    each<Order>([&](auto j) {
        before[j] = row_part<Width>{(Feedback ? to : from) - static_cast<std::ptrdiff_t>(j + 1) * stride};
        factor[j] = -factors[j + 1];
    });
    for (std::size_t i = 0; i < rows; ++i, from += stride, to += stride) {
        row_part<Width> const read{from};
        auto now = read;
        each<Order>([&](auto back) { now.add(factor[Order - 1 - back], before[Order - 1 - back]); }); // the newest last: all wait for it
        now.store(to);
        each<Order - 1>([&](auto back) { before[Order - 1 - back] = before[Order - 2 - back]; });
        before[0] = Feedback ? now : read;
    }
}
template <bool Feedback, std::size_t Width>
void filter_rows(double const* from, double* to, std::ptrdiff_t stride, std::size_t rows, double const* factors, std::size_t order) noexcept {
    if (order == 1) return filter_rows<Feedback, Width, 1>(from, to, stride, rows, factors);
    if (order == 2) return filter_rows<Feedback, Width, 2>(from, to, stride, rows, factors);
    if (order == 3) return filter_rows<Feedback, Width, 3>(from, to, stride, rows, factors);
    for (std::size_t i = 0; i < rows; ++i, from += stride, to += stride) {
        row_part<Width> now{from};
        for (std::size_t j = order; j > 0; --j) now.add(-factors[j], (Feedback ? to : from) - static_cast<std::ptrdiff_t>(j) * stride);
        now.store(to);
    }
}

/// The products of all columns with those before them and themselves, to a lower triangle of so many rows.
template <std::size_t Width>
void multiply_columns(double const* at, std::size_t rows, std::size_t columns, double* triangle) noexcept {
    typename row_part<Width>::pair sums[Width][Width / 2]{};
    for (std::size_t i = 0; i < rows; ++i, at += Width) {
        row_part<Width> const row{at};
        each<Width>([&](auto a) {
            each<a / 2 + 1>([&](auto b) { sums[a][b] += at[a] * row.at[b]; });
        });
    }
    for (std::size_t a = 0; a < columns; ++a) std::memcpy(triangle + a * columns, sums[a], (a + 1) * sizeof(double));
}

} // namespace sb::stats
