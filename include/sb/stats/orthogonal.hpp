// SPDX-License-Identifier: MIT
// Least squares by Householder's reflections: slower than normal equations, and right where those lose their digits.
#pragma once
#include <sb/stats/dot.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace sb::stats {

/// Turns a matrix (columns one behind the other, `rows` each) into the upper triangle of its decomposition: afterwards row r
/// of column c, for r <= c, is at [c * rows + r]. The number of the first column that the ones before it explain but for
/// rounding; `columns` when there is none.
inline std::size_t triangulate(std::span<double> matrix, std::size_t rows, std::size_t columns, vector_unit const& with = vector_unit::chosen()) noexcept {
    constexpr double rounding = 16 * std::numeric_limits<double>::epsilon();
    std::size_t explained = columns;
    for (std::size_t c = 0; c < columns; ++c) {
        double* const at = matrix.data() + c * rows;
        auto const done = std::min(c, rows); // rows that earlier reflections have settled
        double const below = with.dot(at + done, at + done, rows - done), whole = below + with.dot(at, at, done);
        if (explained == columns && std::sqrt(below) <= rounding * static_cast<double>(rows) * std::sqrt(whole)) explained = c;
        if (done >= rows || below == 0) continue;
        double const length = std::copysign(std::sqrt(below), -at[done]), first = at[done] - length;
        double const half = length * (length - at[done]); // of the reflection's own square, for it is I - vv'/half
        at[done] = first;
        for (std::size_t later = c + 1; later < columns; ++later) {
            double* const to = matrix.data() + later * rows;
            with.add_scaled(to + done, -with.dot(at + done, to + done, rows - done) / half, at + done, rows - done);
        }
        at[done] = length;
    }
    return explained;
}

} // namespace sb::stats
