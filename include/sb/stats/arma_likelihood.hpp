// SPDX-License-Identifier: MIT
// The exact Gaussian likelihood of an ARMA series with regressors, and its gradient, in time linear in its length.
//
// How it works: the series is θ(B)u, where u is a plain autoregression, φ(B)u = e. The q values of u before the first
// observation are not known; given those, u follows by a filter, and all of u has the density of an autoregression, of which
// each value is whitened by a few before it (the first ones by the steps of Durbin and Levinson). What is not known enters
// linearly, as regressors do, and is found by least squares with them; the determinant is that of its normal equations, times
// the autoregression's. No steady state is waited for, so a moving average with a root on the unit circle is as exact as any. A
// backward filter of what is left gives the gradient at the price of two more passes.
// Both polynomials are given by coordinates of which all are stationary and invertible (lag_polynomial.hpp).
#pragma once
#include <sb/stats/dot.hpp>
#include <sb/stats/lag_polynomial.hpp>
#include <sb/stats/minimise.hpp>
#include <sb/stats/row_filter.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace sb::stats {

/// Memory that a caller lends, so that calls after the first allocate nothing.
struct arma_room {
    std::vector<double> data, filtered, whitened, series, residuals, back, triangle, inverse;
};

/// Of `n` rows, each of `regressors` values and then the series' own, with so many terms. Rows are the caller's to fill; best is a
/// series not far from 1 in size, and regressors that are no more collinear than need be.
class arma_likelihood {
public:
    /// The most that an autoregression's partial autocorrelations may be is less than 1 by this: nearer, the rounding of the
    /// coefficients would speak.
    static constexpr double apart = 1e-10;

    arma_likelihood(std::size_t n, std::size_t regressors, std::size_t p, std::size_t q, arma_room& room)
        : n_{n}, p_{p}, q_{q}, columns_{q + regressors + 1}, width_{padded(columns_)}, rows_{n + q}, room_{room} {
        series_width_ = padded(q_ + 1);
        room_.data.assign(rows_ * width_, 0);
        for (std::size_t i = 0; i < q_; ++i) room_.data[i * width_ + i] = 1;
        room_.filtered.resize(rows_ * width_), room_.whitened.resize(rows_ * width_);
        room_.triangle.resize(columns_ * columns_), room_.inverse.resize(columns_ * series_width_);
    }
    /// The row of one time: regressors, then the value.
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
    /// The gradient at the place of the last call of value(), which must have been finite.
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
        double const one = q_ > 0 ? theta_[1] : 0, two = q_ > 1 ? theta_[2] : 0;
        double before = 0, earlier = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            u[i] = room_.series[i * w + q_];
            double sum = room_.residuals[i * w + q_];
            for (std::size_t j = std::min(i, q_); j > 2; --j) sum -= theta_[j] * v[i - j];
            v[i] = (sum - two * earlier) - one * before;
            earlier = before, before = v[i];
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
        constexpr double little = 0.05;
        for (std::size_t a = 0; a < d; ++a) {
            double const slope = 2 / (1 + x_[a] * x_[a]);
            whole[a * d + a] += little * 2 * static_cast<double>(n_) * slope * slope;
        }
        invert_positive({whole.data(), d * d}, d, to);
    }

    // ---- of what value() last told

    /// The sum of the squared innovations.
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
            filter_rows<true, columns>(room_.data.data() + skip, room_.filtered.data() + skip, static_cast<std::ptrdiff_t>(width_), n_, theta_.data(), q_);
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
            if (few < rows_) filter_rows<false, columns>(from + skip, to + skip, static_cast<std::ptrdiff_t>(width), rows_ - few, ar_.last(), p_);
        });
    }
    /// The triangle of the whitened columns' products: first what is not known, then regressors, then the series.
    bool decompose() noexcept {
        auto const c = columns_;
        double const* const from = room_.whitened.data();
        if (width_ == 2) multiply_columns<2>(from, rows_, c, room_.triangle.data());
        else if (width_ == 4) multiply_columns<4>(from, rows_, c, room_.triangle.data());
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
        log_determinant_ = logarithm(determinant);
        value_ = static_cast<double>(n_) * logarithm(at(c - 1, c - 1)) + log_determinant_;
        return std::isfinite(value_);
    }
    /// By the series of the inverse hyperbolic tangent, within 3 of the last place: the library's differs between processors, and
    /// where a search goes would with it.
    static double logarithm(double x) noexcept {
        if (!(x > 0) || !std::isfinite(x)) return infinite;
        int power = 0;
        double m = std::frexp(x, &power);
        if (m < 0.7071067811865476) m *= 2, --power;
        double const s = (m - 1) / (m + 1), square = s * s; // |s| < 0.172
        // every other term, so that one half need not wait for the other
        constexpr double third[]{1.0 / 3, 1.0 / 7, 1.0 / 11, 1.0 / 15, 1.0 / 19, 1.0 / 23}, fifth[]{1.0 / 5, 1.0 / 9, 1.0 / 13, 1.0 / 17, 1.0 / 21};
        double const fourth = square * square;
        double odd = third[5], even = 0;
        for (std::size_t k = 5; k-- > 0;) odd = odd * fourth + third[k], even = even * fourth + fifth[k];
        double const sum = (odd + even * square) * square;
        return power * 0x1.62e42fefa38p-1 + (power * 0x1.ef35793c7673p-45 + 2 * s * sum) + 2 * s; // log 2 in two parts
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
            filter_rows<false, columns>(left + last, back + last, -static_cast<std::ptrdiff_t>(w), rows_ - early, ar_.last(), p_);
            for (std::size_t i = q_; i < p_; ++i) {
                row_part<columns> now{left + i * w + first};
                now.scale(lead_[i]);
                for (std::size_t later = i + 1; later < p_; ++later) now.add(-lead_[later] * ar_.step(later)[later - i], left + later * w + first);
                for (std::size_t j = p_ - i; j <= p_; ++j) now.add(-phi(j), left + (i + j) * w + first);
                now.store(back + i * w + first);
            }
            double* const end = back + (rows_ - 1) * w + first;
            filter_rows<true, columns>(end, end, -static_cast<std::ptrdiff_t>(w), n_, theta_.data(), q_);
        });
        for (std::size_t k = 0; k <= q_; ++k)
            for (std::size_t j = 0; j <= k; ++j) by[k][j] = 0;
        for (std::size_t j = 1; j <= q_; ++j) by[q_][j] = 2 * with_.dot(back + q_ * w, u + (q_ - j) * w, n_ * w); // -2, and θ has the other sign
        ma_.back(by, to.subspan(p_));
    }

    std::size_t n_, p_, q_, columns_, width_, series_width_ = 0, rows_;
    arma_room& room_;
    vector_unit const& with_ = vector_unit::chosen();
    levinson ar_, ma_;
    levinson::steps slopes_; // on the way back
    std::array<double, arma_most_terms + 1> theta_{}, lead_{};
    std::array<double, 2 * arma_most_terms> x_{};
    double value_ = 0, log_determinant_ = 0;
};

} // namespace sb::stats
