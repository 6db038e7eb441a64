// SPDX-License-Identifier: MIT
// The search for the parameters of exponential smoothing that leave the least squared one-step errors.
//
// How it works: on a grid first, and from each of its best hollows by Levenberg's and Marquardt's steps within bounds, with the
// first level and trend projected out (Kaufman 1975) and the curvature that such steps miss learnt on the way (as in Dennis, Gay
// and Welsch 1981). β is searched as its share of α, so that the bounds are a box.
#pragma once
#include <sb/stats/smoothing_filter.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>

namespace sb::stats::detail {

class smoothing_search {
public:
    using parameters = smoothing_filter::parameters;
    static constexpr auto alpha = smoothing_filter::alpha, slope = smoothing_filter::slope, phi = smoothing_filter::phi;

    /// What has low == high is given.
    smoothing_search(smoothing_filter& filter, parameters const& low, parameters const& high) noexcept : filter_{filter}, low_{low}, high_{high} {
        for (std::size_t which = 0; which < 3; ++which)
            if (is_free(which)) of_[columns_++] = which;
    }

    parameters run() {
        if (columns_ == 0) return low_;
        gather();
        parameters best = low_;
        double least = filter_.sum_of_squares(best);
        for (std::size_t i = 0; i < candidates_; ++i) {
            auto at = grid_[i].at;
            if (double const sum = improve(at); sum < least) least = sum, best = at;
        }
        return best;
    }
    /// The parameters that are not on a bound; one that is counts as known.
    std::span<std::size_t const> inside(parameters const& at) noexcept {
        std::size_t count = 0;
        for (std::size_t c = 0; c < columns_; ++c)
            if (auto const which = of_[c]; at[which] > low_[which] && at[which] < high_[which]) inside_[count++] = which;
        return {inside_.data(), count};
    }

private:
    static constexpr std::size_t lanes = 8, most_candidates = 5, most_points = 9 * 6 * 4;
    using triple = std::array<double, 3>;
    using square = std::array<triple, 3>;
    struct candidate {
        parameters at{};
        double sum = 0;
    };

    /// Sums of squares of eight at once, by normal equations: near enough to choose where to begin.
    void look(std::span<candidate> some) const noexcept {
        auto const values = filter_.values();
        auto const n = values.size();
        double keeps[lanes]{}, b[lanes]{}, f[lanes]{}, l0[lanes]{}, t0[lanes]{}, l1[lanes], t1[lanes]{}, l2[lanes]{}, t2[lanes];
        double s00[lanes]{}, s01[lanes]{}, s02[lanes]{}, s11[lanes]{}, s12[lanes]{}, s22[lanes]{};
        for (std::size_t k = 0; k < lanes; ++k) {
            auto const& at = some[std::min(k, some.size() - 1)].at;
            keeps[k] = 1 - at[alpha], b[k] = filter_.beta(at), f[k] = at[phi], l1[k] = t2[k] = 1;
        }
        for (std::size_t i = 0; i < n;) {
            for (auto const until = std::min(n, i + smoothing_filter::stretch); i < until; ++i) {
                double const x = values[i];
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
                if (std::abs(l1[k]) + std::abs(t1[k]) < smoothing_filter::nothing) l1[k] = t1[k] = 0;
                if (std::abs(l2[k]) + std::abs(t2[k]) < smoothing_filter::nothing) l2[k] = t2[k] = 0;
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
        std::array<std::size_t, 3> const size{is_free(alpha) ? (filter_.starts() > 1 ? 9u : 17u) : 1u, is_free(slope) ? 6u : 1u, is_free(phi) ? 4u : 1u};
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
        double sum = filter_.sum_of_squares(at), damping = 1e-3;
        parameters before{};
        square bent{};
        triple fell{};
        for (int round = 0, small = 0; round < 100 && sum > 0 && small < 2; ++round) {
            (void)filter_.run(at, {of_.data(), columns_});
            auto const starts = filter_.starts(), all = starts + columns_;
            square products{};
            triple fall{};
            for (std::size_t a = 0; a < columns_; ++a) {
                for (std::size_t r = starts; r <= starts + a; ++r) fall[a] -= filter_.upper(r, starts + a) * filter_.upper(r, all);
                for (std::size_t b = 0; b <= a; ++b) {
                    for (std::size_t r = starts; r <= starts + b; ++r) products[a][b] += filter_.upper(r, starts + a) * filter_.upper(r, starts + b);
                    products[b][a] = products[a][b];
                }
            }
            if (round > 0) learn(bent, products, fall, fell, at, before);
            bool lower = false;
            for (int attempt = 0; attempt < 14 && !lower; ++attempt) {
                auto const next = stepped(at, products, bent, fall, damping);
                if (next == at) break;
                if (attempt == 0 && gain(at, next, products, bent, fall) <= 1e-15 * sum) return sum; // there already
                if (double const there = filter_.sum_of_squares(next); there < sum) {
                    small = sum - there <= 1e-13 * sum ? small + 1 : 0;
                    before = at, fell = fall;
                    at = next, sum = there, lower = true, damping = std::max(damping / 10, 1e-12);
                } else damping = std::max(damping * 8, 1e-6);
            }
            if (!lower) break;
        }
        return sum;
    }
    /// What a step is to take off the squared errors, by slope and curvature.
    double gain(parameters const& at, parameters const& next, square const& products, square const& bent, triple const& fall) const noexcept {
        double sum = 0;
        for (std::size_t a = 0; a < columns_; ++a) {
            double const step = next[of_[a]] - at[of_[a]];
            sum += 2 * fall[a] * step;
            for (std::size_t b = 0; b < columns_; ++b) sum -= step * (products[a][b] + bent[a][b]) * (next[of_[b]] - at[of_[b]]);
        }
        return std::abs(sum);
    }
    /// What the products of the derivatives miss of the curvature, from how the slope has changed (the symmetric update of rank
    /// one): where large errors stay, steps without it get shorter only by and by.
    void learn(square& bent, square const& products, triple const& fall, triple const& fell, parameters const& at, parameters const& before) const noexcept {
        triple step{}, off{};
        double along = 0, sizes = 0, steps = 0;
        for (std::size_t c = 0; c < columns_; ++c) step[c] = at[of_[c]] - before[of_[c]];
        for (std::size_t a = 0; a < columns_; ++a) {
            off[a] = fell[a] - fall[a];
            for (std::size_t b = 0; b < columns_; ++b) off[a] -= (products[a][b] + bent[a][b]) * step[b];
            along += off[a] * step[a], sizes += off[a] * off[a], steps += step[a] * step[a];
        }
        if (!(std::abs(along) > 1e-8 * std::sqrt(sizes * steps))) return;
        for (std::size_t a = 0; a < columns_; ++a)
            for (std::size_t b = 0; b < columns_; ++b) bent[a][b] += off[a] * off[b] / along;
    }
    /// The damped step within the bounds; what a bound stops stays there while the others go on.
    parameters stepped(parameters const& at, square const& products, square const& bent, triple const& fall, double damping) const noexcept {
        bool held[3]{};
        parameters next = at;
        for (std::size_t c = 0; c < columns_; ++c) held[c] = !(products[c][c] > 0) || (fall[c] <= 0 ? at[of_[c]] <= low_[of_[c]] : at[of_[c]] >= high_[of_[c]]);
        for (;;) {
            square lower{};
            triple x{};
            for (std::size_t a = 0; a < columns_; ++a) { // by Cholesky
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
            for (std::size_t a = columns_; a-- > 0;) {
                if (held[a]) continue;
                for (std::size_t b = a + 1; b < columns_; ++b) x[a] -= lower[b][a] * x[b];
                x[a] /= lower[a][a];
            }
            next = at;
            bool stopped = false;
            for (std::size_t c = 0; c < columns_; ++c) {
                auto const which = of_[c];
                next[which] = std::clamp(at[which] + x[c], low_[which], high_[which]);
                if (!held[c] && at[which] == next[which] && x[c] != 0) held[c] = stopped = true; // it would go out
            }
            if (!stopped) return next;
        }
    }

    bool is_free(std::size_t which) const noexcept { return low_[which] < high_[which]; }

    smoothing_filter& filter_;
    parameters low_, high_;
    std::array<std::size_t, 3> of_{}, inside_{}; // the free parameters, and those of them inside their bounds
    std::size_t columns_ = 0; // how many these are
    std::array<candidate, most_points> grid_{}; // the candidates first
    std::size_t candidates_ = 0;
};

} // namespace sb::stats::detail
