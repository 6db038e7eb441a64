// SPDX-License-Identifier: MIT
// The exact Gaussian likelihood of an ARMA series with regressors, and its gradient, in time linear in its length.
//
// How it works: the series is θ(B)u, where u is a plain autoregression, φ(B)u = e. The q values of u before the first
// observation are not known; given those, u follows by a filter, and all of u has the density of an autoregression, of which
// each value is whitened by a few before it (the first ones by the steps of Durbin and Levinson). What is not known enters
// linearly, as regressors do, and is found by least squares with them; the determinant is that of its normal equations, times
// the autoregression's. No steady state is waited for, so a moving average with a root on the unit circle is as exact as any. A
// backward filter of what is left gives the gradient at the price of two more passes.
//
// Both polynomials are given by partial autocorrelations, and these by 2x / (1 + x²): every x is stationary and invertible, the
// boundary of the moving average is a point like any other (x = ±1), and no function of the mathematical library is in the way.
#pragma once
#include <sb/stats/dot.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sb::stats {

/// The most autoregressive terms, and the most of the moving average.
inline constexpr std::size_t arma_most_terms = 8;

/// Memory that a caller lends, so that calls after the first allocate nothing.
struct arma_room {
    std::vector<double> data, filtered, whitened, series, residuals, back, triangle, inverse;
};

namespace detail {

/// Coefficients of all orders up to the last from partial autocorrelations (Durbin, Levinson), and a gradient's way back.
class levinson {
public:
    using steps = std::array<std::array<double, arma_most_terms + 1>, arma_most_terms + 1>;

    /// Partial autocorrelations 2x / (1 + x²), all of them less by a factor: 1 - `short_of`.
    void set(std::span<double const> x, double short_of = 0) noexcept {
        order_ = x.size();
        for (std::size_t k = 1; k <= order_; ++k) {
            double const at = x[k - 1], size = 1 + at * at, whole = 2 * at / size, root = (1 - at) * (1 + at) / size;
            double const partial = (1 - short_of) * whole;
            partial_[k] = partial, slope_[k] = (1 - short_of) * 2 * root / size;
            root_[k] = std::sqrt(root * root + short_of * (2 - short_of) * whole * whole);
            for (std::size_t j = 1; j < k; ++j) step_[k][j] = step_[k - 1][j] - partial * step_[k - 1][k - j];
            step_[k][k] = partial;
        }
    }
    std::size_t order() const noexcept { return order_; }
    /// A value is expected to be the sum of these, from 1 on, times the `k` before it.
    double const* step(std::size_t k) const noexcept { return step_[k].data(); }
    double const* last() const noexcept { return step(order_); }
    /// √(1 - π²), of the k-th from 1 on.
    double root(std::size_t k) const noexcept { return root_[k]; }
    /// The derivative of log(1 - π²) by x.
    double log_slope(std::size_t k) const noexcept { return -2 * partial_[k] * slope_[k] / (root_[k] * root_[k]); }
    /// From derivatives by the coefficients of each step, which are used up, adds those by x to `to`.
    void back(steps& of, std::span<double> to) const noexcept {
        for (std::size_t k = order_; k > 0; --k) {
            double sum = of[k][k];
            for (std::size_t j = 1; j < k; ++j) {
                sum -= of[k][j] * step_[k - 1][k - j];
                of[k - 1][j] += of[k][j] - partial_[k] * of[k][k - j];
            }
            to[k - 1] += sum * slope_[k];
        }
    }

private:
    std::size_t order_ = 0;
    std::array<double, arma_most_terms + 1> partial_{}, slope_{}, root_{};
    steps step_{};
};

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

/// The products of all columns, of the lower triangle at least.
template <std::size_t Width>
void multiply(double const* at, std::size_t rows, std::size_t columns, double* triangle) noexcept {
    row_part<Width> sums[Width]{};
    for (std::size_t i = 0; i < rows; ++i, at += Width) {
        row_part<Width> const row{at};
        each<Width>([&](auto a) { sums[a].add(at[a], row); });
    }
    for (std::size_t a = 0; a < columns; ++a) std::memcpy(triangle + a * columns, sums[a].at, (a + 1) * sizeof(double));
}

} // namespace detail

/// Of `n` rows, each of `regressors` values and then the series' own, with so many terms. Rows are the caller's to fill; best is a
/// series not far from 1 in size, and regressors that are no more collinear than need be.
class arma_likelihood {
public:
    /// The most that an autoregression's partial autocorrelations may be is less than 1 by this: nearer, the rounding of the
    /// coefficients would speak.
    static constexpr double apart = 1e-10;

    arma_likelihood(std::size_t n, std::size_t regressors, std::size_t p, std::size_t q, arma_room& room)
        : n_{n}, p_{p}, q_{q}, regressors_{regressors}, columns_{q + regressors + 1}, width_{padded(columns_)}, rows_{n + q}, room_{room} {
        series_width_ = padded(q_ + 1);
        room_.data.assign(rows_ * width_, 0);
        for (std::size_t i = 0; i < q_; ++i) room_.data[i * width_ + i] = 1;
        room_.filtered.resize(rows_ * width_), room_.whitened.resize(rows_ * width_);
        room_.triangle.resize(columns_ * columns_), room_.inverse.resize(columns_ * series_width_);
    }
    /// Where regressors and value of a time go.
    double* row(std::size_t t) noexcept { return room_.data.data() + (t + q_) * width_ + q_; }
    std::size_t size() const noexcept { return p_ + q_; }

    /// -2 log L, the innovations' variance and the regressors' coefficients at their best, less n (1 + log 2π - log n); infinite
    /// where there is none. First the coordinates of the autoregression, then those of the moving average.
    double value(std::span<double const> x) noexcept {
        ma_.set(x.subspan(p_));
        std::copy(x.begin(), x.end(), x_.begin());
        for (std::size_t j = 1; j <= q_; ++j) theta_[j] = -ma_.last()[j];
        return value(x.first(p_), {theta_.data() + 1, q_});
    }
    /// The same with the moving average's coefficients given; there is no gradient of this.
    double value(std::span<double const> x, std::span<double const> theta) noexcept {
        ar_.set(x, apart);
        std::copy(theta.begin(), theta.end(), theta_.begin() + 1);
        for (std::size_t i = p_; i-- > 0;) lead_[i] = (i + 1 == p_ ? 1 : lead_[i + 1]) * ar_.root(i + 1);
        filter();
        whiten(filtered(), room_.whitened.data(), width_);
        return decompose() ? value_ : infinite;
    }
    /// Of what value() last told, which was finite.
    void gradient(std::span<double> to) noexcept {
        combine(true);
        std::fill(to.begin(), to.end(), 0.0);
        slopes(to);
    }

    /// Of what gradient() last told, an inverse of the second derivatives, nearly: of the squares as if innovations were linear in the
    /// coefficients (Gauss, Newton), with a little of what white noise would have.
    void guess(std::span<double> to) noexcept {
        auto const d = size(), w = series_width_;
        room_.back.resize(std::max(room_.back.size(), 2 * (rows_ + q_)));
        double* const u = room_.back.data(); // u, and the filter of what is left: the derivatives are these, some places back
        double* const v = u + rows_;
        for (std::size_t i = 0; i < rows_; ++i) {
            u[i] = room_.series[i * w + q_];
            double sum = room_.residuals[i * w + q_];
            for (std::size_t j = 1; j <= std::min(i, q_); ++j) sum -= theta_[j] * v[i - j];
            v[i] = sum;
        }
        std::array<double, 4 * arma_most_terms * arma_most_terms> products, chain, half, whole;
        auto const lagged = [&](double const* a, double const* b, std::size_t by) { return with_.dot(a + by, b, rows_ - by); };
        std::array<double, arma_most_terms> uu{}, vv{}, uv{}, vu{};
        for (std::size_t k = 0; k < p_; ++k) uu[k] = lagged(u, u, k);
        for (std::size_t k = 0; k < q_; ++k) vv[k] = lagged(v, v, k);
        if (p_ > 0 && q_ > 0)
            for (std::size_t k = 0; k < std::max(p_, q_); ++k) uv[k] = lagged(u, v, k), vu[k] = lagged(v, u, k);
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b) {
                auto const i = a < p_ ? a : a - p_, j = b < p_ ? b : b - p_, gap = i > j ? i - j : j - i;
                // of φ by what is so many places back, of θ alike: both with a minus, θ counted with the other sign
                if (a < p_ && b < p_) products[a * d + b] = uu[gap];
                else if (a >= p_ && b >= p_) products[a * d + b] = vv[gap];
                else if (a < p_) products[a * d + b] = -(j >= i ? uv[gap] : vu[gap]); // Σ u(t-i) v(t-j)
                else products[a * d + b] = -(i >= j ? uv[gap] : vu[gap]);
            }
        // by x: each coefficient's derivatives, then the products with them on both sides
        for (std::size_t a = 0; a < d; ++a) {
            auto const& of = a < p_ ? ar_ : ma_;
            auto const order = of.order(), skip = a < p_ ? 0 : p_;
            for (std::size_t k = 1; k <= order; ++k)
                for (std::size_t j = 1; j <= k; ++j) slopes_[k][j] = 0;
            slopes_[order][a - skip + 1] = 1;
            std::fill_n(chain.begin() + static_cast<std::ptrdiff_t>(a * d), d, 0.0);
            of.back(slopes_, {chain.data() + a * d + skip, order});
        }
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b) {
                double sum = 0;
                for (std::size_t k = 0; k < d; ++k) sum += products[a * d + k] * chain[k * d + b];
                half[a * d + b] = sum;
            }
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b) {
                double sum = 0;
                for (std::size_t k = 0; k < d; ++k) sum += chain[k * d + a] * half[k * d + b];
                whole[a * d + b] = 2 * sum;
            }
        for (std::size_t a = 0; a < d; ++a) whole[a * d + a] += floor_ * 2 * static_cast<double>(n_) * 4 / ((1 + x_[a] * x_[a]) * (1 + x_[a] * x_[a]));
        invert(whole.data(), d, to);
    }
    double floor_ = 0.05;
    static void invert(double* m, std::size_t d, std::span<double> to) noexcept {
        // Cholesky's factor, its inverse, and their product
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                double sum = m[a * d + b];
                for (std::size_t k = 0; k < b; ++k) sum -= m[a * d + k] * m[b * d + k];
                m[a * d + b] = a == b ? std::sqrt(std::max(sum, std::numeric_limits<double>::min())) : sum / m[b * d + b];
            }
        for (std::size_t c = 0; c < d; ++c) {
            for (std::size_t a = 0; a < d; ++a) {
                double sum = a == c ? 1 : 0;
                for (std::size_t k = 0; k < a; ++k) sum -= m[a * d + k] * to[c * d + k];
                to[c * d + a] = sum / m[a * d + a];
            }
            for (std::size_t a = d; a-- > 0;) {
                double sum = to[c * d + a];
                for (std::size_t k = a + 1; k < d; ++k) sum -= m[k * d + a] * to[c * d + k];
                to[c * d + a] = sum / m[a * d + a];
            }
        }
    }

    // ---- of what value() last told

    /// What is left unexplained, squared and added up.
    double squares() noexcept {
        combine(false);
        double sum = 0;
        for (std::size_t i = 0; i < rows_; ++i) sum += room_.residuals[i * series_width_ + q_] * room_.residuals[i * series_width_ + q_];
        return sum;
    }
    /// log of the determinant of the series' covariance, in units of the innovations' variance.
    double log_determinant() const noexcept { return log_determinant_; }
    double coefficient(std::size_t regressor) const noexcept { return -room_.inverse[(q_ + regressor) * series_width_ + q_]; }
    /// θ(B) = 1 + θ₁B + …, φ(B) = 1 - φ₁B - …; from 1 on.
    double theta(std::size_t j) const noexcept { return theta_[j]; }
    double phi(std::size_t j) const noexcept { return ar_.last()[j]; }
    /// After squares(): u at `back` places from the end, as is expected with all that is known (s = q), and the independent
    /// directions, in units of the innovations' deviation, in which it is not known (s < q).
    double last(std::size_t back, std::size_t s) const noexcept { return room_.series[(rows_ - 1 - back) * series_width_ + s]; }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    static std::size_t padded(std::size_t columns) noexcept { return columns <= 2 ? 2 : columns <= 4 ? 4 : (columns + 7) / 8 * 8; }

    /// Calls `part` for so many columns at once as the processor likes, with the first of them.
    template <class Part>
    static void by_columns(std::size_t width, Part part) noexcept {
        if (width == 2) part(std::integral_constant<std::size_t, 2>{}, 0);
        else if (width == 4) part(std::integral_constant<std::size_t, 4>{}, 0);
        else
            for (std::size_t first = 0; first < width; first += 8) part(std::integral_constant<std::size_t, 8>{}, first);
    }

    /// u from the series, the unknown and regressors alike.
    void filter() noexcept {
        if (q_ == 0) return;
        std::copy_n(room_.data.data(), q_ * width_, room_.filtered.data());
        by_columns(width_, [&](auto columns, std::size_t first) {
            auto const skip = q_ * width_ + first;
            detail::filter_rows<true, columns>(room_.data.data() + skip, room_.filtered.data() + skip, static_cast<std::ptrdiff_t>(width_), n_, theta_.data(), q_);
        });
    }
    double const* filtered() const noexcept { return q_ > 0 ? room_.filtered.data() : room_.data.data(); }
    /// Innovations of an autoregression, all of one variance.
    void whiten(double const* from, double* to, std::size_t width) const noexcept {
        by_columns(width, [&](auto columns, std::size_t first) {
            auto const few = std::min(p_, rows_);
            for (std::size_t i = 0; i < few; ++i) {
                row_part<columns> now{from + i * width + first};
                for (std::size_t j = 1; j <= i; ++j) now.add(-ar_.step(i)[j], from + (i - j) * width + first);
                now.scale(lead_[i]);
                now.store(to + i * width + first);
            }
            auto const skip = few * width + first;
            if (few < rows_) detail::filter_rows<false, columns>(from + skip, to + skip, static_cast<std::ptrdiff_t>(width), rows_ - few, ar_.last(), p_);
        });
    }
    /// The triangle of the whitened columns' products: first what is not known, then regressors, then the series.
    bool decompose() noexcept {
        auto const c = columns_;
        double const* const from = room_.whitened.data();
        if (width_ == 2) detail::multiply<2>(from, rows_, c, room_.triangle.data());
        else if (width_ == 4) detail::multiply<4>(from, rows_, c, room_.triangle.data());
        else {
            std::fill_n(room_.triangle.begin(), c * c, 0.0);
            for (std::size_t i = 0; i < rows_; ++i)
                for (std::size_t a = 0; a < c; ++a)
                    for (std::size_t b = 0; b <= a; ++b) at(a, b) += from[i * width_ + a] * from[i * width_ + b];
        }
        double determinant = 1;
        for (std::size_t a = 0; a < c; ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                double sum = at(a, b);
                for (std::size_t i = 0; i < b; ++i) sum -= at(a, i) * at(b, i);
                if (a != b) {
                    at(a, b) = sum / at(b, b);
                    continue;
                }
                if (!(sum > 0)) return false;
                if (a < q_) determinant *= sum;
                at(a, a) = a + 1 == c ? sum : std::sqrt(sum);
            }
        for (std::size_t i = 0; i < std::min(p_, rows_); ++i) determinant /= lead_[i] * lead_[i];
        log_determinant_ = std::log(determinant);
        value_ = static_cast<double>(n_) * std::log(at(c - 1, c - 1)) + log_determinant_;
        return std::isfinite(value_);
    }
    double& at(std::size_t a, std::size_t b) noexcept { return room_.triangle[a * columns_ + b]; }

    /// The directions in which u is not known, each of unit variance, and u as is expected; with what they leave. `scaled`: such
    /// that the squares of all count alike in the gradient.
    void combine(bool scaled) noexcept {
        auto const c = columns_, w = series_width_;
        auto const weight = [&](std::size_t column, std::size_t s) -> double& { return room_.inverse[column * w + s]; };
        std::fill_n(room_.inverse.begin(), c * w, 0.0);
        for (std::size_t s = 0; s < q_; ++s) {
            weight(s, s) = 1 / at(s, s);
            for (std::size_t a = s; a-- > 0;) {
                double sum = 0;
                for (std::size_t b = a + 1; b <= s; ++b) sum -= at(b, a) * weight(b, s);
                weight(a, s) = sum / at(a, a);
            }
        }
        weight(c - 1, q_) = 1;
        for (std::size_t a = c - 1; a-- > 0;) {
            double sum = 0;
            for (std::size_t b = a + 1; b < c; ++b) sum -= at(b, a) * weight(b, q_);
            weight(a, q_) = sum / at(a, a);
        }
        if (scaled) {
            double const factor = std::sqrt(static_cast<double>(n_) / at(c - 1, c - 1));
            for (std::size_t a = 0; a < c; ++a) weight(a, q_) *= factor;
        }
        room_.series.resize(rows_ * w), room_.residuals.resize((rows_ + p_) * w);
        by_columns(w, [&](auto columns, std::size_t first) {
            for (std::size_t i = 0; i < rows_; ++i) {
                double const* const from = filtered() + i * width_;
                row_part<columns> now{};
                for (std::size_t a = 0; a < c; ++a) now.add(from[a], room_.inverse.data() + a * w + first);
                now.store(room_.series.data() + i * w + first);
            }
        });
        whiten(room_.series.data(), room_.residuals.data(), w);
        std::fill_n(room_.residuals.begin() + static_cast<std::ptrdiff_t>(rows_ * w), p_ * w, 0.0);
    }
    /// What of the gradient the squares make, and the determinant.
    void slopes(std::span<double> to) noexcept {
        auto const w = series_width_;
        double const* const left = room_.residuals.data();
        double const* const u = room_.series.data();
        auto& by = slopes_;
        for (std::size_t k = 0; k <= p_; ++k)
            for (std::size_t j = 0; j <= k; ++j) by[k][j] = 0;
        for (std::size_t i = 0; i < p_; ++i)
            for (std::size_t j = 1; j <= i; ++j) by[i][j] -= 2 * lead_[i] * with_.dot(left + i * w, u + (i - j) * w, w);
        for (std::size_t j = 1; j <= p_; ++j) by[p_][j] -= 2 * with_.dot(left + p_ * w, u + (p_ - j) * w, (rows_ - p_) * w);
        for (std::size_t i = 0; i < p_; ++i) {
            double const squares = with_.dot(left + i * w, left + i * w, w) - 1; // the determinant's share is less
            for (std::size_t k = i + 1; k <= p_; ++k) to[k - 1] += squares * ar_.log_slope(k);
        }
        ar_.back(by, to.first(p_));
        if (q_ == 0) return;
        // the whitening transposed, then the filter from the end
        room_.back.resize((rows_ + q_) * w);
        double* const back = room_.back.data();
        std::fill_n(back + rows_ * w, q_ * w, 0.0);
        by_columns(w, [&](auto columns, std::size_t first) {
            auto const early = std::max(p_, q_), last = (rows_ - 1) * w + first;
            detail::filter_rows<false, columns>(left + last, back + last, -static_cast<std::ptrdiff_t>(w), rows_ - early, ar_.last(), p_);
            for (std::size_t i = q_; i < p_; ++i) {
                row_part<columns> now{left + i * w + first};
                now.scale(lead_[i]);
                for (std::size_t later = i + 1; later < p_; ++later) now.add(-lead_[later] * ar_.step(later)[later - i], left + later * w + first);
                for (std::size_t j = p_ - i; j <= p_; ++j) now.add(-phi(j), left + (i + j) * w + first);
                now.store(back + i * w + first);
            }
            double* const end = back + (rows_ - 1) * w + first;
            detail::filter_rows<true, columns>(end, end, -static_cast<std::ptrdiff_t>(w), n_, theta_.data(), q_);
        });
        for (std::size_t k = 0; k <= q_; ++k)
            for (std::size_t j = 0; j <= k; ++j) by[k][j] = 0;
        for (std::size_t j = 1; j <= q_; ++j) by[q_][j] = 2 * with_.dot(back + q_ * w, u + (q_ - j) * w, n_ * w); // -2, and θ has the other sign
        ma_.back(by, to.subspan(p_));
    }

    template <std::size_t Width>
    using row_part = detail::row_part<Width>;
    using levinson = detail::levinson;
    std::size_t n_, p_, q_, regressors_, columns_, width_, series_width_ = 0, rows_;
    arma_room& room_;
    vector_unit const& with_ = vector_unit::chosen();
    levinson ar_, ma_;
    levinson::steps slopes_; // on the way back
    std::array<double, arma_most_terms + 1> theta_{}, lead_{};
    std::array<double, 2 * arma_most_terms> x_{};
    double value_ = 0, log_determinant_ = 0;
};

} // namespace sb::stats
