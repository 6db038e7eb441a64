// SPDX-License-Identifier: MIT
// The filter of exponential smoothing: the one-step errors of a series for given parameters, with the best first level and trend.
//
// How it works: a level l and a trend b forecast l + φb; the error e of that moves l by αe and b by βe. Given α, β and φ
// the errors are linear in the first level and trend, which reflections find exactly. Where 0 <= β <= α <= 1 the influence of
// the start does not grow, so no step can leave the numbers that a double holds.
#pragma once
#include <sb/stats/dot.hpp>
#include <sb/stats/orthogonal.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace sb::stats {

/// Memory that a caller lends, so that calls after the first allocate nothing.
struct smoothing_room {
    std::vector<double> errors; ///< after a fit: of each value from its forecast one step before, in the unit of the values
    std::vector<double> values, matrix, best_errors;
};

namespace detail {

/// Works on the values of a room, which are scaled to a size around 1 and centred near 0.
class smoothing_filter {
public:
    /// α; β, or its share of α; φ. Without a trend the last two are 0.
    using parameters = std::array<double, 3>;
    static constexpr std::size_t alpha = 0, slope = 1, phi = 2;
    static constexpr std::size_t stretch = 32; // values from one look at what has faded to the next
    static constexpr double nothing = 1e-80; // what fades to less is left out: it would only slow the processor down

    /// `starts`: 1 for a level, 2 for a level and a trend.
    smoothing_filter(smoothing_room& room, std::size_t starts, bool slope_is_beta) noexcept
        : room_{room}, n_{room.values.size()}, starts_{starts}, slope_is_beta_{slope_is_beta} {}

    std::span<double const> values() const noexcept { return room_.values; }
    std::size_t starts() const noexcept { return starts_; }
    double beta(parameters const& at) const noexcept { return slope_is_beta_ ? at[slope] : at[alpha] * at[slope]; }
    double first_level() const noexcept { return start_[0]; }
    double first_trend() const noexcept { return starts_ > 1 ? start_[1] : 0; }
    double level() const noexcept { return level_; }
    double trend() const noexcept { return trend_; }

    /// The sum of squared errors with the best first level and trend, which it keeps.
    double sum_of_squares(parameters const& at) {
        room_.matrix.resize((most_columns + 1) * n_);
        double const keeps = 1 - at[alpha], b = beta(at), f = at[phi], a = at[alpha], level_by_trend = keeps * f, trend_by_trend = f - b * f;
        double *const of_level = room_.matrix.data(), *const rest = of_level + starts_ * n_;
        double level = 0, trend = 0, l1 = 1, b1 = 0, l2 = 0, b2 = 1;
        for (std::size_t i = 0; i < n_;) {
            for (auto const until = std::min(n_, i + stretch); i < until; ++i) {
                double const x = room_.values[i], e = x - (level + f * trend), by_level = l1 + f * b1, by_trend = l2 + f * b2;
                of_level[i] = by_level;
                if (starts_ > 1) of_level[n_ + i] = by_trend;
                rest[i] = e;
                // as level + φ trend + αe and φ trend + βe, but sooner known
                double const next = keeps * level + (level_by_trend * trend + a * x), next1 = keeps * l1 + level_by_trend * b1, next2 = keeps * l2 + level_by_trend * b2;
                trend = (b * x - b * level) + trend_by_trend * trend, b1 = trend_by_trend * b1 - b * l1, b2 = trend_by_trend * b2 - b * l2;
                level = next, l1 = next1, l2 = next2;
            }
            if (std::abs(l1) + std::abs(b1) < nothing) l1 = b1 = 0;
            if (std::abs(l2) + std::abs(b2) < nothing) l2 = b2 = 0;
        }
        (void)triangulate({of_level, n_ * (starts_ + 1)}, n_, starts_ + 1);
        for (std::size_t r = starts_; r-- > 0;) {
            start_[r] = upper(r, starts_);
            for (std::size_t c = r + 1; c < starts_; ++c) start_[r] -= upper(r, c) * start_[c];
            start_[r] = upper(r, r) == 0 ? 0 : start_[r] / upper(r, r);
        }
        double const left = upper(starts_, starts_);
        return left * left;
    }
    /// Errors from the start that is kept, their squares, and the last level and trend; and what unsure() needs of these parameters.
    double run(parameters const& at, std::span<std::size_t const> of) {
        auto const columns = starts_ + of.size() + 1;
        room_.errors.resize(n_);
        walk(at, of, n_, [](std::size_t) {});
        double* const to = room_.matrix.data();
        std::copy_n(to + (columns - 1) * n_, n_, room_.errors.begin());
        double sum = 0;
        for (double const e : room_.errors) sum += e * e;
        (void)triangulate({to, n_ * columns}, n_, columns);
        return sum;
    }
    /// How the squared errors change with each of these parameters while the start follows: half the fall, and products of
    /// derivatives, which are half the curvature but for what the errors themselves bend.
    struct slopes {
        std::array<double, 3> fall{};
        std::array<std::array<double, 3>, 3> products{};
    };
    slopes derive(parameters const& at, std::span<std::size_t const> of) {
        auto const columns = starts_ + of.size();
        auto const& unit = vector_unit::chosen();
        double sums[most_columns + 1][most_columns + 1]{};
        walk(at, of, block, [&](std::size_t count) { // while they are in the nearest cache
            double const* const column = room_.matrix.data();
            for (std::size_t row = 0; row <= columns; ++row)
                for (std::size_t c = 0; c <= row && c < columns; ++c) sums[row][c] += unit.dot(column + row * block, column + c * block, count);
        });
        for (std::size_t c = 0; c < starts_; ++c) // what the start takes over
            for (std::size_t row = columns; row > c; --row)
                for (std::size_t other = c + 1; other <= row && other < columns; ++other)
                    if (sums[c][c] > 0) sums[row][other] -= sums[row][c] / sums[c][c] * sums[other][c];
        slopes found;
        for (std::size_t row = 0; row < of.size(); ++row) {
            found.fall[row] = -sums[columns][starts_ + row];
            for (std::size_t c = 0; c <= row; ++c) found.products[row][c] = found.products[c][row] = sums[starts_ + row][starts_ + c];
        }
        return found;
    }
    /// What estimation of the start and of these parameters leaves unsure of the last level, the last trend, and φ times the last
    /// trend: their covariance in units of the errors' variance, row by row. After run() with these.
    std::array<double, 9> unsure(std::span<std::size_t const> of) const noexcept {
        auto const columns = starts_ + of.size();
        std::array<std::array<double, most_columns>, 3> solved{};
        for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t c = 0; c < columns; ++c) {
                double sum = row < 2 ? end_[c][row] : c >= starts_ && of[c - starts_] == phi ? trend_ : 0;
                for (std::size_t r = 0; r < c; ++r) sum -= upper(r, c) * solved[row][r];
                solved[row][c] = upper(c, c) == 0 ? 0 : sum / upper(c, c);
            }
        std::array<double, 9> product{};
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b)
                for (std::size_t c = 0; c < columns; ++c) product[3 * a + b] += solved[a][c] * solved[b][c];
        return product;
    }

private:
    static constexpr std::size_t most_columns = 5, lanes = 6, block = 256;

    double upper(std::size_t row, std::size_t column) const noexcept { return room_.matrix[column * n_ + row]; }

    /// From the start that is kept through all values: columns of what each start and each of these parameters changes in the
    /// errors, and of the errors, `length` values at a time.
    template <class Full>
    void walk(parameters const& at, std::span<std::size_t const> of, std::size_t length, Full const& full) {
        auto const columns = starts_ + of.size();
        room_.matrix.resize(std::max((most_columns + 1) * n_, (most_columns + 1) * length));
        double const keeps = 1 - at[alpha], b = beta(at), f = at[phi], a = at[alpha], level_by_trend = keeps * f, trend_by_trend = f - b * f;
        double levels[lanes]{}, trends[lanes]{}, changes[lanes]{}, moves_level[lanes]{}, moves_trend[lanes]{}, moves_phi[lanes]{};
        levels[0] = 1;
        if (starts_ > 1) trends[1] = 1;
        for (std::size_t c = 0; c < of.size(); ++c) {
            auto const to = starts_ + c;
            if (of[c] == alpha) moves_level[to] = 1, moves_trend[to] = slope_is_beta_ ? 0 : at[slope];
            else if (of[c] == slope) moves_trend[to] = slope_is_beta_ ? 1 : at[alpha];
            else moves_phi[to] = 1;
        }
        double level = first_level(), trend = first_trend();
        double* const to = room_.matrix.data();
        for (std::size_t begin = 0; begin < n_; begin += length) {
            auto const count = std::min(length, n_ - begin);
            for (std::size_t i = 0; i < count; ++i) {
                double const x = room_.values[begin + i], e = x - (level + f * trend);
                for (std::size_t c = 0; c < lanes; ++c) {
                    double const more = moves_phi[c] * trend;
                    changes[c] = -(levels[c] + f * trends[c] + more);
                    double const next = keeps * levels[c] + (level_by_trend * trends[c] + (keeps * more + moves_level[c] * e));
                    trends[c] = trend_by_trend * trends[c] + ((1 - b) * more + moves_trend[c] * e) - b * levels[c];
                    levels[c] = next;
                }
                for (std::size_t c = 0; c < columns; ++c) to[c * length + i] = changes[c];
                to[columns * length + i] = e;
                double const next = keeps * level + (level_by_trend * trend + a * x);
                trend = (b * x - b * level) + trend_by_trend * trend, level = next;
                if (i % stretch != 0) continue;
                for (std::size_t c = 0; c < starts_; ++c)
                    if (std::abs(levels[c]) + std::abs(trends[c]) < nothing) levels[c] = trends[c] = 0;
            }
            full(count);
        }
        level_ = level, trend_ = trend;
        for (std::size_t c = 0; c < columns; ++c) end_[c] = {levels[c], trends[c]};
    }

    smoothing_room& room_;
    std::size_t n_, starts_;
    bool slope_is_beta_;
    std::array<double, 2> start_{};
    double level_ = 0, trend_ = 0;
    std::array<std::array<double, 2>, most_columns> end_{}; // what each column changes in the last level and trend
};

} // namespace detail

} // namespace sb::stats
