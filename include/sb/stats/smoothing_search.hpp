// SPDX-License-Identifier: MIT
// The search for the parameters of exponential smoothing that leave the least squared one-step errors.
//
// How it works: there may be several hollows, some narrow and many at an edge. So first a grid and two edges are looked at, then
// each hollow found there is followed down by Levenberg's and Marquardt's steps within bounds, with the first level and trend
// projected out (Kaufman 1975) and the curvature that such steps miss learnt on the way (as in Dennis, Gay and Welsch 1981); at
// last, behind the edges that the best lies on. β is searched as its share of α, so that the bounds are a box.
#pragma once
#include <sb/stats/smoothing_filter.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
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

    /// The best that is found; always the same of the same values.
    parameters run() {
        if (columns_ == 0) return low_;
        gather();
        best_ = grid_[0].at, least_ = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < candidates_; ++i) try_from(grid_[i].at);
        for (std::size_t c = 0; c < columns_ && columns_ > 1; ++c) leave_bound(of_[c]);
        return best_;
    }
    /// The parameters that are not on a bound; one that is counts as known.
    std::span<std::size_t const> inside(parameters const& at) noexcept {
        std::size_t count = 0;
        for (std::size_t c = 0; c < columns_; ++c)
            if (auto const which = of_[c]; at[which] > low_[which] && at[which] < high_[which]) inside_[count++] = which;
        return {inside_.data(), count};
    }

private:
    static constexpr std::size_t lanes = 8, most_candidates = 8;
    static constexpr double hope = 10; // times what a step promises, more is not to be had from there on
    static constexpr std::size_t level_steps = 17, trend_steps = 9, slope_steps = 6, phi_steps = 4, line_steps = 24;
    static constexpr std::size_t most_points = trend_steps * slope_steps * phi_steps + 2 * line_steps;
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
    /// The best hollows of a grid that is finer where little changes much: towards parameters of 0. At an alpha of 0 itself its
    /// share would change nothing, so it begins just above, the nearer the longer the series is.
    void gather() {
        std::array<std::size_t, 3> const size{is_free(alpha) ? (filter_.starts() > 1 ? trend_steps : level_steps) : 1, is_free(slope) ? slope_steps : 1, is_free(phi) ? phi_steps : 1};
        auto const slices = size[0] * size[1], count = slices * size[2];
        auto const at_step = [](std::size_t step, std::size_t steps) { return steps > 1 ? static_cast<double>(step) / static_cast<double>(steps - 1) : 0; };
        auto const within = [&](std::size_t which, double share) { return std::min(high_[which], low_[which] + (high_[which] - low_[which]) * share); };
        double const least = size[0] > 1 ? 0.1 / static_cast<double>(filter_.values().size()) : 0;
        for (std::size_t i = 0; i < count; ++i) {
            double const a = at_step(i % size[0], size[0]), b = at_step(i / size[0] % size[1], size[1]), f = at_step(i / slices, size[2]);
            grid_[i].at = {within(alpha, std::max(a * a, least)), within(slope, b * b * b), within(phi, f)};
        }
        // two of its edges once more, by themselves and finer
        auto const fading = is_free(alpha) ? is_free(phi) ? line_steps : 1 : 0, bending = is_free(alpha) && is_free(slope) ? line_steps : 0, places = count + fading + bending;
        for (std::size_t i = 0; i < fading; ++i) grid_[count + i].at = {low_[alpha], low_[slope], within(phi, at_step(i, fading))};
        for (std::size_t i = 0; i < bending; ++i) {
            double const a = at_step(i + 1, bending + 1);
            grid_[count + fading + i].at = {within(alpha, a * a * a), high_[slope], high_[phi]};
        }
        for (std::size_t i = 0; i < places; i += lanes) look({grid_.data() + i, std::min(lanes, places - i)});
        std::array<bool, most_points> lowest{};
        auto const compare = [&](std::size_t i, std::size_t step, std::size_t steps, std::size_t stride) {
            return (step == 0 || grid_[i].sum < grid_[i - stride].sum) && (step + 1 >= steps || grid_[i].sum <= grid_[i + stride].sum);
        };
        for (std::size_t i = 0; i < count; ++i) lowest[i] = compare(i, i % size[0], size[0], 1) && compare(i, i / size[0] % size[1], size[1], size[0]);
        for (std::size_t i = 0; i < fading; ++i) lowest[count + i] = compare(count + i, i, fading, 1);
        for (std::size_t i = 0; i < bending; ++i) lowest[count + fading + i] = compare(count + fading + i, i, bending, 1);
        candidates_ = 0;
        for (std::size_t i = 0; i < places; ++i)
            if (lowest[i]) grid_[candidates_++] = grid_[i];
        auto const less = [](candidate const& x, candidate const& y) { return std::tie(x.sum, x.at) < std::tie(y.sum, y.at); };
        std::sort(grid_.begin(), grid_.begin() + static_cast<std::ptrdiff_t>(candidates_), less);
        candidates_ = std::min(candidates_, most_candidates);
    }

    void try_from(parameters at) {
        if (double const sum = improve(at); sum < least_) least_ = sum, best_ = at;
    }
    /// Where the best lies on a bound, a lower hollow may lie just inside of it, behind a rim.
    void leave_bound(std::size_t which) {
        double const from = best_[which], to = from <= low_[which] ? high_[which] : low_[which];
        if (from != low_[which] && from != high_[which]) return;
        for (std::size_t i = 0; i < lanes; ++i) {
            double const part = static_cast<double>(i + 1) / lanes;
            grid_[i].at = best_, grid_[i].at[which] = from + (to - from) * (which == phi ? part : part * part * part);
        }
        look({grid_.data(), lanes});
        try_from(std::min_element(grid_.begin(), grid_.begin() + lanes, [](candidate const& x, candidate const& y) { return x.sum < y.sum; })->at);
    }
    /// Goes down from there within the bounds, until no step leads lower or the best is in sight, or out of reach; the sum of squares.
    double improve(parameters& at) {
        double sum = filter_.sum_of_squares(at), damping = 1e-3;
        parameters before{};
        square bent{};
        triple fell{};
        for (int round = 0, small = 0; round < 100 && sum > 0 && small < 2; ++round) {
            auto const [fall, products] = filter_.derive(at, {of_.data(), columns_});
            if (round > 0) learn(bent, products, fall, fell, at, before);
            bool lower = false;
            for (int attempt = 0; attempt < 14 && !lower; ++attempt) {
                auto const next = stepped(at, products, bent, fall, damping);
                if (next == at) break;
                if (attempt == 0) {
                    double const gained = gain(at, next, products, bent, fall);
                    if (gained <= 1e-15 * sum) return sum; // there already
                    if (sum >= least_ && (near_best(at) || (round > 1 && sum - hope * gained > least_))) return sum;
                }
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
    bool near_best(parameters const& at) const noexcept {
        double farthest = 0;
        for (std::size_t which = 0; which < 3; ++which) farthest = std::max(farthest, std::abs(at[which] - best_[which]));
        return farthest < 0.01;
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
    parameters low_, high_, best_{};
    double least_ = 0; // of the best
    std::array<std::size_t, 3> of_{}, inside_{}; // the free parameters, and those of them inside their bounds
    std::size_t columns_ = 0; // how many these are
    std::array<candidate, most_points> grid_{}; // the candidates first
    std::size_t candidates_ = 0;
};

} // namespace sb::stats::detail
