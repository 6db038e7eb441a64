// SPDX-License-Identifier: MIT
// The filter of exponential smoothing, and the search for the parameters that leave the least squared one-step errors.
//
// How it works: a level l and a trend b foretell l + φb; the error e of that moves them, l by αe and b by βe. Given α, β and φ
// the errors are linear in the first level and trend, which reflections find exactly. The parameters themselves are looked for
// on a grid, and from each of its best hollows by Levenberg's and Marquardt's steps, with the first level and trend projected
// out (Kaufman 1975) and within bounds. β is searched as its share of α, so that the bounds are a box. Where e does not grow,
// and there it cannot (0 <= β <= α <= 1), no step can leave the numbers that a double holds.
#pragma once
#include <sb/stats/orthogonal.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

namespace sb::stats {

/// Memory that a caller lends, so that calls after the first allocate nothing.
struct smoothing_room {
    std::vector<double> errors; ///< after a fit: of each value from its forecast one step before, in the unit of the values
    std::vector<double> values, matrix, best_errors;
};

namespace detail {

/// Of values of a size around 1, their middle around 0.
class smoothing_fit {
public:
    /// α; β, or its share of α; φ. Without a trend the last two are 0.
    using parameters = std::array<double, 3>;
    static constexpr std::size_t alpha = 0, slope = 1, phi = 2;

    /// `starts`: 1 for a level, 2 for a level and a trend. What has low == high is given.
    smoothing_fit(smoothing_room& room, std::size_t starts, parameters const& low, parameters const& high, bool slope_is_beta) noexcept
        : room_{room}, n_{room.values.size()}, starts_{starts}, low_{low}, high_{high}, slope_is_beta_{slope_is_beta} {}

    bool is_free(std::size_t which) const noexcept { return low_[which] < high_[which]; }
    double beta(parameters const& at) const noexcept { return slope_is_beta_ ? at[slope] : at[alpha] * at[slope]; }

    /// The best parameters; run() has them tried.
    parameters search() {
        gather();
        parameters best = low_;
        double least = sum_of_squares(best);
        for (std::size_t i = 0; i < candidates_; ++i) {
            auto at = grid_[i].at;
            if (double const sum = improve(at); sum < least) least = sum, best = at;
        }
        return best;
    }
    /// Filters with the best first level and trend: errors, and what they come to.
    double run(parameters const& at) {
        (void)sum_of_squares(at);
        return filter(at);
    }

    double first_level() const noexcept { return start_[0]; }
    double first_trend() const noexcept { return starts_ > 1 ? start_[1] : 0; }
    double level() const noexcept { return level_; }
    double trend() const noexcept { return trend_; }

    /// What estimation leaves unsure of the last level, the last trend, and φ times the last trend: their covariance in units of
    /// the errors' variance, row by row (parameters on a bound count as known). After run() with the same.
    std::array<double, 9> unsure(parameters const& at) {
        auto const columns = lay_derivatives(at);
        auto const all = columns + starts_;
        (void)triangulate({room_.matrix.data(), n_ * (all + 1)}, n_, all);
        std::array<std::array<double, most_columns>, 3> solved{};
        for (std::size_t row = 0; row < 3; ++row)
            for (std::size_t c = 0; c < all; ++c) {
                double sum = row < 2 ? end_[c][row] : c >= starts_ && of_[c - starts_] == phi ? trend_ : 0;
                for (std::size_t r = 0; r < c; ++r) sum -= upper(r, c) * solved[row][r];
                solved[row][c] = upper(c, c) == 0 ? 0 : sum / upper(c, c);
            }
        std::array<double, 9> made{};
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b)
                for (std::size_t c = 0; c < all; ++c) made[3 * a + b] += solved[a][c] * solved[b][c];
        return made;
    }

private:
    static constexpr std::size_t most_columns = 5, lanes = 8, most_candidates = 5, most_points = 9 * 6 * 4;
    static constexpr double nothing = 1e-80; // what fades to less is left out: it would only slow the processor down

    double upper(std::size_t row, std::size_t column) const noexcept { return room_.matrix[column * n_ + row]; }

    // ---- the filter

    /// Of the best first level and trend, which are kept.
    double sum_of_squares(parameters const& at) {
        room_.matrix.resize((most_columns + 1) * n_);
        double const keeps = 1 - at[alpha], b = beta(at), f = at[phi];
        double *const of_level = room_.matrix.data(), *const of_trend = of_level + n_, *const rest = of_level + starts_ * n_;
        double level = 0, trend = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            double const x = room_.values[i], e = x - (level + f * trend);
            rest[i] = e, level = x - keeps * e, trend = f * trend + b * e;
        }
        double l1 = 1, b1 = 0, l2 = 0, b2 = 1;
        std::size_t i = 0;
        for (; i < n_ && std::abs(l1) + std::abs(b1) + std::abs(l2) + std::abs(b2) > nothing; ++i) {
            double const by_level = l1 + f * b1, by_trend = l2 + f * b2;
            of_level[i] = by_level, l1 = keeps * by_level, b1 = f * b1 - b * by_level;
            l2 = keeps * by_trend, b2 = f * b2 - b * by_trend;
            if (starts_ > 1) of_trend[i] = by_trend;
        }
        std::fill(of_level + i, of_level + n_, 0.0);
        if (starts_ > 1) std::fill(of_trend + i, of_trend + n_, 0.0);
        (void)triangulate({of_level, n_ * (starts_ + 1)}, n_, starts_ + 1);
        for (std::size_t r = starts_; r-- > 0;) {
            start_[r] = upper(r, starts_);
            for (std::size_t c = r + 1; c < starts_; ++c) start_[r] -= upper(r, c) * start_[c];
            start_[r] = upper(r, r) == 0 ? 0 : start_[r] / upper(r, r);
        }
        double const left = upper(starts_, starts_);
        return left * left;
    }
    double filter(parameters const& at) {
        room_.errors.resize(n_);
        double const keeps = 1 - at[alpha], b = beta(at), f = at[phi];
        double level = first_level(), trend = first_trend(), sum = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            double const x = room_.values[i], e = x - (level + f * trend);
            room_.errors[i] = e, sum += e * e;
            level = x - keeps * e, trend = f * trend + b * e;
        }
        level_ = level, trend_ = trend;
        return sum;
    }
    /// Columns of what each start and each free parameter inside its bounds changes in the errors, the errors themselves last;
    /// how many parameters these are.
    std::size_t lay_derivatives(parameters const& at) {
        std::size_t columns = 0;
        for (std::size_t which = 0; which < 3; ++which)
            if (is_free(which) && at[which] > low_[which] && at[which] < high_[which]) of_[columns++] = which;
        lay_derivatives(at, columns);
        return columns;
    }
    void lay_derivatives(parameters const& at, std::size_t columns) {
        double const keeps = 1 - at[alpha], b = beta(at), f = at[phi];
        for (std::size_t c = 0; c < starts_ + columns; ++c) {
            bool const is_start = c < starts_;
            auto const which = is_start ? 3 : of_[c - starts_];
            double const moves_level = which == alpha ? 1 : 0, moves_phi = which == phi ? 1 : 0;
            double const moves_trend = which == slope ? (slope_is_beta_ ? 1 : at[alpha]) : which == alpha && !slope_is_beta_ ? at[slope] : 0;
            double level = is_start && c == 0 ? 1 : 0, trend = is_start && c == 1 ? 1 : 0, from = first_trend();
            double* const to = room_.matrix.data() + c * n_;
            for (std::size_t i = 0; i < n_; ++i) {
                double const e = room_.errors[i], faded = f * trend + moves_phi * from, foretold = level + faded;
                to[i] = -foretold;
                level = keeps * foretold + moves_level * e, trend = faded - b * foretold + moves_trend * e;
                from = f * from + b * e;
                if (is_start && std::abs(level) + std::abs(trend) < nothing) level = trend = 0;
            }
            end_[c] = {level, trend};
        }
        std::copy_n(room_.errors.data(), n_, room_.matrix.data() + (starts_ + columns) * n_);
    }

    // ---- the search

    using triple = std::array<double, 3>;
    using square = std::array<triple, 3>;
    struct candidate {
        parameters at{};
        double sum = 0;
    };

    /// Sums of squares of eight at once, by normal equations: near enough to choose where to begin.
    void look(std::span<candidate> some) const noexcept {
        double keeps[lanes]{}, b[lanes]{}, f[lanes]{}, l0[lanes]{}, t0[lanes]{}, l1[lanes], t1[lanes]{}, l2[lanes]{}, t2[lanes];
        double s00[lanes]{}, s01[lanes]{}, s02[lanes]{}, s11[lanes]{}, s12[lanes]{}, s22[lanes]{};
        for (std::size_t k = 0; k < lanes; ++k) {
            auto const& at = some[std::min(k, some.size() - 1)].at;
            keeps[k] = 1 - at[alpha], b[k] = beta(at), f[k] = at[phi], l1[k] = t2[k] = 1;
        }
        for (std::size_t i = 0; i < n_;) {
            for (auto const until = std::min(n_, i + 32); i < until; ++i) {
                double const x = room_.values[i];
                for (std::size_t k = 0; k < lanes; ++k) {
                    double const e = x - (l0[k] + f[k] * t0[k]), by_level = l1[k] + f[k] * t1[k], by_trend = l2[k] + f[k] * t2[k];
                    l0[k] = x - keeps[k] * e, t0[k] = f[k] * t0[k] + b[k] * e;
                    l1[k] = keeps[k] * by_level, t1[k] = f[k] * t1[k] - b[k] * by_level;
                    l2[k] = keeps[k] * by_trend, t2[k] = f[k] * t2[k] - b[k] * by_trend;
                    s00[k] += e * e, s01[k] += e * by_level, s02[k] += e * by_trend;
                    s11[k] += by_level * by_level, s12[k] += by_level * by_trend, s22[k] += by_trend * by_trend;
                }
            }
            for (std::size_t k = 0; k < lanes; ++k) {
                if (std::abs(l1[k]) + std::abs(t1[k]) < nothing) l1[k] = t1[k] = 0;
                if (std::abs(l2[k]) + std::abs(t2[k]) < nothing) l2[k] = t2[k] = 0;
            }
        }
        for (std::size_t k = 0; k < some.size(); ++k) {
            double const share = s12[k] / s11[k], own = s22[k] - share * s12[k], with_rest = s02[k] - share * s01[k];
            some[k].sum = s00[k] - s01[k] * s01[k] / s11[k];
            if (own > 1e-14 * s22[k]) some[k].sum -= with_rest * with_rest / own;
        }
    }
    /// The best hollows of the grid; finer towards no smoothing parameter at all, where long series have theirs.
    void gather() {
        std::array<std::size_t, 3> const size{is_free(alpha) ? (starts_ > 1 ? 9u : 17u) : 1u, is_free(slope) ? 6u : 1u, is_free(phi) ? 4u : 1u};
        std::size_t const count = size[0] * size[1] * size[2];
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const step[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
            for (std::size_t which = 0; which < 3; ++which) {
                double const part = size[which] > 1 ? static_cast<double>(step[which]) / static_cast<double>(size[which] - 1) : 0;
                grid_[i].at[which] = low_[which] + (high_[which] - low_[which]) * (which == phi ? part : part * part);
            }
        }
        for (std::size_t i = 0; i < count; i += lanes) look({grid_.data() + i, std::min(lanes, count - i)});
        std::array<bool, most_points> lowest{};
        for (std::size_t i = 0; i < count; ++i) {
            lowest[i] = true;
            for (std::size_t which = 0, stride = 1; which < 3; stride *= size[which++]) {
                auto const step = i / stride % size[which];
                if (step > 0 && grid_[i - stride].sum < grid_[i].sum) lowest[i] = false;
                if (step + 1 < size[which] && grid_[i + stride].sum < grid_[i].sum) lowest[i] = false;
            }
        }
        candidates_ = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (lowest[i]) grid_[candidates_++] = grid_[i];
        auto const less = [](candidate const& a, candidate const& b) { return std::tie(a.sum, a.at) < std::tie(b.sum, b.at); };
        std::sort(grid_.begin(), grid_.begin() + static_cast<std::ptrdiff_t>(candidates_), less);
        candidates_ = std::min(candidates_, most_candidates);
    }

    /// Goes down from there within the bounds; the sum of squares where no step leads lower.
    double improve(parameters& at) {
        double sum = sum_of_squares(at), damping = 1e-3;
        parameters before{};
        square bent{};
        triple fell{};
        for (int round = 0, small = 0; round < 100 && sum > 0 && small < 2; ++round) {
            filter(at);
            std::size_t columns = 0;
            for (std::size_t which = 0; which < 3; ++which)
                if (is_free(which)) of_[columns++] = which;
            lay_derivatives(at, columns);
            auto const all = starts_ + columns;
            (void)triangulate({room_.matrix.data(), n_ * (all + 1)}, n_, all + 1);
            square products{};
            triple fall{};
            for (std::size_t a = 0; a < columns; ++a) {
                for (std::size_t r = starts_; r <= starts_ + a; ++r) fall[a] -= upper(r, starts_ + a) * upper(r, all);
                for (std::size_t b = 0; b <= a; ++b) {
                    for (std::size_t r = starts_; r <= starts_ + b; ++r) products[a][b] += upper(r, starts_ + a) * upper(r, starts_ + b);
                    products[b][a] = products[a][b];
                }
            }
            if (round > 0) learn(bent, products, fall, fell, at, before, columns);
            bool lower = false;
            for (int attempt = 0; attempt < 14 && !lower; ++attempt) {
                auto const next = stepped(at, columns, products, bent, fall, damping);
                if (next == at) break;
                if (double const there = sum_of_squares(next); there < sum) {
                    small = sum - there <= 1e-13 * sum ? small + 1 : 0;
                    before = at, fell = fall;
                    at = next, sum = there, lower = true, damping = std::max(damping / 10, 1e-12);
                } else damping = std::max(damping * 8, 1e-6);
            }
            if (!lower) break;
        }
        return sum;
    }
    /// What the products of the derivatives miss of the curvature, from how the slope has changed (the symmetric update of rank
    /// one): where large errors stay, steps without it get shorter only by and by.
    void learn(square& bent, square const& products, triple const& fall, triple const& fell, parameters const& at, parameters const& before, std::size_t columns) const noexcept {
        triple step{}, off{};
        double along = 0, sizes = 0, steps = 0;
        for (std::size_t c = 0; c < columns; ++c) step[c] = at[of_[c]] - before[of_[c]];
        for (std::size_t a = 0; a < columns; ++a) {
            off[a] = fell[a] - fall[a];
            for (std::size_t b = 0; b < columns; ++b) off[a] -= (products[a][b] + bent[a][b]) * step[b];
            along += off[a] * step[a], sizes += off[a] * off[a], steps += step[a] * step[a];
        }
        if (!(std::abs(along) > 1e-8 * std::sqrt(sizes * steps))) return;
        for (std::size_t a = 0; a < columns; ++a)
            for (std::size_t b = 0; b < columns; ++b) bent[a][b] += off[a] * off[b] / along;
    }
    /// The damped step within the bounds; what a bound stops stays there while the others go on.
    parameters stepped(parameters const& at, std::size_t columns, square const& products, square const& bent, triple const& fall, double damping) const noexcept {
        bool held[3]{};
        parameters next = at;
        for (std::size_t c = 0; c < columns; ++c) held[c] = !(products[c][c] > 0) || (fall[c] <= 0 ? at[of_[c]] <= low_[of_[c]] : at[of_[c]] >= high_[of_[c]]);
        for (;;) {
            square lower{};
            triple x{};
            for (std::size_t a = 0; a < columns; ++a) { // by Cholesky
                if (held[a]) continue;
                x[a] = fall[a];
                double pivot = products[a][a] * (1 + damping) + bent[a][a];
                for (std::size_t b = 0; b < a; ++b) {
                    if (held[b]) continue;
                    double sum = products[a][b] + bent[a][b];
                    for (std::size_t c = 0; c < b; ++c) sum -= lower[a][c] * lower[b][c];
                    lower[a][b] = sum / lower[b][b];
                    pivot -= lower[a][b] * lower[a][b], x[a] -= lower[a][b] * x[b];
                }
                lower[a][a] = std::sqrt(std::max(pivot, 1e-12 * products[a][a])), x[a] /= lower[a][a];
            }
            for (std::size_t a = columns; a-- > 0;) {
                if (held[a]) continue;
                for (std::size_t b = a + 1; b < columns; ++b) x[a] -= lower[b][a] * x[b];
                x[a] /= lower[a][a];
            }
            next = at;
            bool stopped = false;
            for (std::size_t c = 0; c < columns; ++c) {
                auto const which = of_[c];
                next[which] = std::clamp(at[which] + x[c], low_[which], high_[which]);
                if (!held[c] && at[which] == next[which] && x[c] != 0) held[c] = stopped = true; // it would go out
            }
            if (!stopped) return next;
        }
    }

    smoothing_room& room_;
    std::size_t n_, starts_;
    parameters low_, high_;
    bool slope_is_beta_;
    std::array<double, 2> start_{};
    double level_ = 0, trend_ = 0;
    std::array<std::size_t, 3> of_{}; // the parameters of the columns
    std::array<std::array<double, 2>, most_columns> end_{}; // what each column changes in the last level and trend
    std::array<candidate, most_points> grid_{}; // the candidates first
    std::size_t candidates_ = 0;
};

} // namespace detail

} // namespace sb::stats
