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
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
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

    /// Partial autocorrelations 2x / (1 + x²).
    void set(std::span<double const> x) noexcept {
        order_ = x.size();
        for (std::size_t k = 1; k <= order_; ++k) {
            double const at = x[k - 1], size = 1 + at * at, partial = 2 * at / size;
            x_[k] = at, partial_[k] = partial, root_[k] = (1 - at) * (1 + at) / size;
            for (std::size_t j = 1; j < k; ++j) step_[k][j] = step_[k - 1][j] - partial * step_[k - 1][k - j];
            step_[k][k] = partial;
        }
    }
    std::size_t order() const noexcept { return order_; }
    /// A value is expected to be the sum of these, from 1 on, times the `k` before it.
    double const* step(std::size_t k) const noexcept { return step_[k].data(); }
    double const* last() const noexcept { return step(order_); }
    /// √(1 - π²) with a sign, of the k-th from 1 on.
    double root(std::size_t k) const noexcept { return root_[k]; }
    /// The derivative of log(1 - π²) by x.
    double log_slope(std::size_t k) const noexcept { return -8 * x_[k] / ((1 - x_[k]) * (1 + x_[k]) * (1 + x_[k] * x_[k])); }
    /// From derivatives by the coefficients of each step, which are used up, adds those by x to `to`.
    void back(steps& of, std::span<double> to) const noexcept {
        for (std::size_t k = order_; k > 0; --k) {
            double sum = of[k][k];
            for (std::size_t j = 1; j < k; ++j) {
                sum -= of[k][j] * step_[k - 1][k - j];
                of[k - 1][j] += of[k][j] - partial_[k] * of[k][k - j];
            }
            to[k - 1] += sum * 2 * root_[k] / (1 + x_[k] * x_[k]);
        }
    }

private:
    std::size_t order_ = 0;
    std::array<double, arma_most_terms + 1> x_{}, partial_{}, root_{};
    steps step_{};
};

/// A few columns of one row.
template <std::size_t Width>
struct row_part {
    double at[Width];
    explicit row_part(double const* from) noexcept {
        for (std::size_t c = 0; c < Width; ++c) at[c] = from[c];
    }
    void add(double factor, double const* from) noexcept {
        for (std::size_t c = 0; c < Width; ++c) at[c] += factor * from[c];
    }
    void scale(double factor) noexcept {
        for (std::size_t c = 0; c < Width; ++c) at[c] *= factor;
    }
    void store(double* to) const noexcept {
        for (std::size_t c = 0; c < Width; ++c) to[c] = at[c];
    }
};

} // namespace detail

/// Of `n` rows, each of `regressors` values and then the series' own, with so many terms. Rows are the caller's to fill; best is a
/// series not far from 1 in size, and regressors that are no more collinear than need be.
class arma_likelihood {
public:
    arma_likelihood(std::size_t n, std::size_t regressors, std::size_t p, std::size_t q, arma_room& room)
        : n_{n}, p_{p}, q_{q}, regressors_{regressors}, columns_{q + regressors + 1}, width_{padded(columns_)}, rows_{n + q}, room_{room} {
        series_width_ = padded(q_ + 1);
        room_.data.assign(rows_ * width_, 0);
        for (std::size_t i = 0; i < q_; ++i) room_.data[i * width_ + i] = 1;
        room_.filtered.resize(rows_ * width_), room_.whitened.resize(rows_ * width_);
        room_.triangle.resize(columns_ * columns_), room_.inverse.resize(columns_ * (q_ + 1));
    }
    /// Where regressors and value of a time go.
    double* row(std::size_t t) noexcept { return room_.data.data() + (t + q_) * width_ + q_; }
    std::size_t size() const noexcept { return p_ + q_; }

    /// -2 log L, the innovations' variance and the regressors' coefficients at their best, less n (1 + log 2π - log n); infinite
    /// where there is none. First the coordinates of the autoregression, then those of the moving average.
    double value(std::span<double const> x) noexcept {
        ar_.set(x.first(p_)), ma_.set(x.subspan(p_));
        for (std::size_t j = 1; j <= q_; ++j) theta_[j] = -ma_.last()[j];
        for (std::size_t i = p_; i-- > 0;) lead_[i] = (i + 1 == p_ ? 1 : lead_[i + 1]) * ar_.root(i + 1);
        for (std::size_t i = 0; i < p_; ++i)
            if (lead_[i] == 0) return infinite;
        filter();
        whiten(room_.filtered.data(), room_.whitened.data(), width_);
        return decompose() ? value_ : infinite;
    }
    /// Of what value() last told, which was finite.
    void gradient(std::span<double> to) noexcept {
        combine(true);
        std::fill(to.begin(), to.end(), 0.0);
        slopes(to);
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
    double coefficient(std::size_t regressor) const noexcept { return -room_.inverse[(q_ + regressor) * (q_ + 1) + q_]; }
    /// θ(B) = 1 + θ₁B + …, φ(B) = 1 - φ₁B - …; from 1 on.
    double theta(std::size_t j) const noexcept { return theta_[j]; }
    double phi(std::size_t j) const noexcept { return ar_.last()[j]; }
    /// After squares(): u at `back` places from the end, as is expected with all that is known (s = q), and the independent
    /// directions, in units of the innovations' deviation, in which it is not known (s < q).
    double last(std::size_t back, std::size_t s) const noexcept { return room_.series[(rows_ - 1 - back) * series_width_ + s]; }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    static std::size_t padded(std::size_t columns) noexcept { return columns <= 2 ? columns : columns <= 4 ? 4 : (columns + 7) / 8 * 8; }

    /// Calls `part` for so many columns at once as the processor likes, with the first of them.
    template <class Part>
    static void by_columns(std::size_t width, Part part) noexcept {
        if (width == 1) part(std::integral_constant<std::size_t, 1>{}, 0);
        else if (width == 2) part(std::integral_constant<std::size_t, 2>{}, 0);
        else if (width == 4) part(std::integral_constant<std::size_t, 4>{}, 0);
        else
            for (std::size_t first = 0; first < width; first += 8) part(std::integral_constant<std::size_t, 8>{}, first);
    }

    /// u from the series, the unknown and regressors alike.
    void filter() noexcept {
        std::copy_n(room_.data.data(), q_ * width_, room_.filtered.data());
        by_columns(width_, [&](auto columns, std::size_t first) {
            for (std::size_t i = q_; i < rows_; ++i) {
                row_part<columns> now{room_.data.data() + i * width_ + first};
                double* const to = room_.filtered.data() + i * width_ + first;
                for (std::size_t j = 1; j <= q_; ++j) now.add(-theta_[j], to - j * width_);
                now.store(to);
            }
        });
    }
    /// Innovations of an autoregression, all of one variance.
    void whiten(double const* from, double* to, std::size_t width) const noexcept {
        by_columns(width, [&](auto columns, std::size_t first) {
            for (std::size_t i = 0; i < rows_; ++i) {
                auto const order = std::min(i, p_);
                double const* const phi = ar_.step(order);
                row_part<columns> now{from + i * width + first};
                for (std::size_t j = 1; j <= order; ++j) now.add(-phi[j], from + (i - j) * width + first);
                if (i < p_) now.scale(lead_[i]);
                now.store(to + i * width + first);
            }
        });
    }
    /// The triangle of the whitened columns' products: first what is not known, then regressors, then the series.
    bool decompose() noexcept {
        auto const c = columns_;
        std::fill_n(room_.triangle.begin(), c * c, 0.0);
        for (std::size_t i = 0; i < rows_; ++i) {
            double const* const row = room_.whitened.data() + i * width_;
            for (std::size_t a = 0; a < c; ++a)
                for (std::size_t b = 0; b <= a; ++b) room_.triangle[a * c + b] += row[a] * row[b];
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
        for (std::size_t i = 0; i < p_; ++i) determinant /= lead_[i] * lead_[i];
        log_determinant_ = std::log(determinant);
        value_ = static_cast<double>(n_) * std::log(at(c - 1, c - 1)) + log_determinant_;
        return std::isfinite(value_);
    }
    double& at(std::size_t a, std::size_t b) noexcept { return room_.triangle[a * columns_ + b]; }

    /// The directions in which u is not known, each of unit variance, and u as is expected; with what they leave. `scaled`: such
    /// that the squares of all count alike in the gradient.
    void combine(bool scaled) noexcept {
        auto const c = columns_, many = q_ + 1;
        auto const weight = [&](std::size_t column, std::size_t s) -> double& { return room_.inverse[column * many + s]; };
        std::fill_n(room_.inverse.begin(), c * many, 0.0);
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
        auto const w = series_width_;
        room_.series.resize(rows_ * w), room_.residuals.resize((rows_ + p_) * w);
        for (std::size_t i = 0; i < rows_; ++i) {
            double const* const from = room_.filtered.data() + i * width_;
            double* const to = room_.series.data() + i * w;
            for (std::size_t s = 0; s < w; ++s) to[s] = 0;
            for (std::size_t a = 0; a < c; ++a)
                for (std::size_t s = 0; s < many; ++s) to[s] += from[a] * weight(a, s);
        }
        whiten(room_.series.data(), room_.residuals.data(), w);
        std::fill_n(room_.residuals.begin() + static_cast<std::ptrdiff_t>(rows_ * w), p_ * w, 0.0);
    }
    /// What of the gradient the squares make, and the determinant.
    void slopes(std::span<double> to) noexcept {
        auto const w = series_width_;
        double const* const left = room_.residuals.data();
        double const* const u = room_.series.data();
        levinson::steps by_phi{}, by_theta{};
        for (std::size_t i = 0; i < rows_; ++i) {
            auto const order = std::min(i, p_);
            double const factor = i < p_ ? -2 * lead_[i] : -2;
            for (std::size_t j = 1; j <= order; ++j) by_phi[order][j] += factor * product(left + i * w, u + (i - j) * w);
        }
        for (std::size_t i = 0; i < p_; ++i) {
            double const squares = product(left + i * w, left + i * w) - 1; // the determinant's share is less
            for (std::size_t k = i + 1; k <= p_; ++k) to[k - 1] += squares * ar_.log_slope(k);
        }
        ar_.back(by_phi, to.first(p_));
        if (q_ == 0) return;
        // the transposed whitening and filter, from the end
        room_.back.assign((rows_ + q_) * w, 0);
        double* const back = room_.back.data();
        by_columns(w, [&](auto columns, std::size_t first) {
            for (std::size_t i = rows_; i-- > q_;) {
                row_part<columns> now{left + i * w + first};
                if (i < p_) now.scale(lead_[i]);
                for (std::size_t later = i + 1; later < p_; ++later) now.add(-lead_[later] * ar_.step(later)[later - i], left + later * w + first);
                for (std::size_t j = i < p_ ? p_ - i : 1; j <= p_; ++j) now.add(-phi(j), left + (i + j) * w + first);
                for (std::size_t j = 1; j <= q_; ++j) now.add(-theta_[j], back + (i + j) * w + first);
                now.store(back + i * w + first);
            }
        });
        for (std::size_t i = q_; i < rows_; ++i)
            for (std::size_t j = 1; j <= q_; ++j) by_theta[q_][j] += 2 * product(back + i * w, u + (i - j) * w); // -2, and θ is the last step with the other sign
        ma_.back(by_theta, to.subspan(p_));
    }
    double product(double const* a, double const* b) const noexcept {
        double sum = 0;
        for (std::size_t s = 0; s < series_width_; ++s) sum += a[s] * b[s];
        return sum;
    }

    template <std::size_t Width>
    using row_part = detail::row_part<Width>;
    using levinson = detail::levinson;
    std::size_t n_, p_, q_, regressors_, columns_, width_, series_width_ = 0, rows_;
    arma_room& room_;
    levinson ar_, ma_;
    std::array<double, arma_most_terms + 1> theta_{}, lead_{};
    double value_ = 0, log_determinant_ = 0;
};

} // namespace sb::stats
