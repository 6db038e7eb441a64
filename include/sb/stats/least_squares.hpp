// SPDX-License-Identifier: MIT
// Linear regression: coefficients, their errors (the usual ones, or HAC errors for residuals that depend on their neighbours),
// leverage; and ridge regression.
//
// How it works: with an intercept all columns are centred, and powers of two bring them to one size. Householder's reflections give
// the triangle. The coefficients are then corrected by the residuals, which are summed with more digits than a double has
// (corrected semi-normal equations; Björck 1987). A ridge is a few more rows of the matrix.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/orthogonal.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

struct regression_request {
    bool intercept = true;
    double ridge = 0; ///< what each squared coefficient costs, the intercept none
    int neighbours = -1; ///< residuals so many places apart may depend on each other (Newey and West, Bartlett's weights); -1: none do, and all spread alike
};

/// What a prediction for a new row needs (prediction.hpp): the mean of all rows, or zeros without an intercept, and the triangle of
/// the columns in their units. It is there only without HAC errors and without a ridge.
struct regression_shape {
    std::vector<long double> middle;
    long double height = 0; ///< of y in that middle
    std::vector<int> units; ///< powers of two
    std::vector<double> triangle; ///< row by row
};

/// Coefficients in the order of the columns; errors are of what a sample of this size can show, none with a ridge.
struct regression_answer {
    no_answer why = no_answer::none;
    std::vector<double> coefficients, errors;
    double intercept = 0, intercept_error = 0;
    double residual_sd = 0, r2 = 0;
    std::size_t n = 0;
    double freedom = 0; ///< of the residuals
    std::vector<double> residuals, leverage; ///< of each row
    regression_shape shape = {};
    explicit operator bool() const noexcept { return why == no_answer::none; }

    /// Of a coefficient, by Student's t.
    interval interval_of(std::size_t column, double confidence = 0.95) const noexcept {
        double const half = student_t_quantile((1 - confidence) / 2, freedom) * errors[column];
        return {coefficients[column] - half, coefficients[column] + half};
    }
};

namespace detail {

class regression {
public:
    regression(std::span<std::span<double const> const> columns, std::span<double const> y, regression_request const& asked)
        : columns_{columns}, y_{y}, asked_{asked}, n_{y.size()}, k_{columns.size()}, rows_{n_ + (asked.ridge > 0 ? k_ : 0)} {}

    regression_answer run() {
        regression_answer found;
        found.n = n_;
        found.why = answer(found);
        return found;
    }

private:
    using precise = long double; // where there is none that is longer, a step more of the correction would be needed
    static constexpr double eps = std::numeric_limits<double>::epsilon();

    no_answer answer(regression_answer& found) {
        for (auto const& each : columns_)
            if (each.size() != n_) return no_answer::bad_request;
        if (!(asked_.ridge >= 0) || k_ == 0) return no_answer::bad_request;
        for (auto const& each : columns_)
            if (!all_finite(each)) return no_answer::not_finite;
        if (!all_finite(y_)) return no_answer::not_finite;
        auto const terms = k_ + (asked_.intercept ? 1 : 0);
        if (n_ == 0 || (asked_.ridge == 0 && n_ < terms)) return no_answer::too_short;
        take_means();
        lay_matrix();
        triangle_ = matrix_;
        auto const explained = triangulate(triangle_, rows_, k_);
        if (explained < k_) return is_constant(explained) && k_ == 1 ? no_answer::constant : no_answer::collinear;
        solve();
        found.freedom = static_cast<double>(n_) - static_cast<double>(terms);
        tell(found);
        if (asked_.ridge > 0) return no_answer::none;
        if (n_ == terms) return no_answer::no_freedom;
        tell_errors(found);
        if (asked_.neighbours < 0) tell_shape(found.shape);
        return no_answer::none;
    }

    void take_means() {
        means_.assign(k_ + 1, 0);
        if (!asked_.intercept) return;
        auto const mean = [&](std::span<double const> values) {
            precise sum = 0;
            for (double const x : values) sum += x;
            return sum / static_cast<precise>(n_);
        };
        for (std::size_t c = 0; c < k_; ++c) means_[c] = mean(columns_[c]);
        means_[k_] = mean(y_);
    }
    bool is_constant(std::size_t column) const {
        return std::all_of(columns_[column].begin(), columns_[column].end(), [&](double x) { return x == columns_[column][0]; });
    }
    double value(std::size_t row, std::size_t column) const noexcept { return static_cast<double>(static_cast<precise>(columns_[column][row]) - means_[column]); }

    void lay_matrix() {
        matrix_.assign(rows_ * k_, 0);
        scales_.assign(k_, 0);
        for (std::size_t c = 0; c < k_; ++c) {
            double largest = 0;
            for (std::size_t r = 0; r < n_; ++r) largest = std::max(largest, std::abs(matrix_[c * rows_ + r] = value(r, c)));
            if (is_constant(c) && asked_.intercept) std::fill_n(matrix_.begin() + static_cast<std::ptrdiff_t>(c * rows_), n_, 0.0); // its mean may be rounded
            if (asked_.ridge > 0) largest = std::max(largest, std::sqrt(asked_.ridge)), matrix_[c * rows_ + n_ + c] = std::sqrt(asked_.ridge);
            if (largest > 0) (void)std::frexp(largest, &scales_[c]);
            for (std::size_t r = 0; r < rows_; ++r) matrix_[c * rows_ + r] = std::ldexp(matrix_[c * rows_ + r], -scales_[c]);
        }
    }

    double upper(std::size_t row, std::size_t column) const noexcept { return triangle_[column * rows_ + row]; }
    /// Solves R'R x = x, R the triangle.
    void solve_both(std::span<double> x) const noexcept {
        forward(x);
        for (std::size_t r = k_; r-- > 0;) {
            for (std::size_t c = r + 1; c < k_; ++c) x[r] -= upper(r, c) * x[c];
            x[r] /= upper(r, r);
        }
    }
    /// R' x = x.
    void forward(std::span<double> x) const noexcept {
        for (std::size_t r = 0; r < k_; ++r) {
            for (std::size_t c = 0; c < r; ++c) x[r] -= upper(c, r) * x[c];
            x[r] /= upper(r, r);
        }
    }

    /// Coefficients of the scaled columns, each in two parts, and what they leave.
    void solve() {
        scaled_.assign(k_, 0);
        left_.assign(rows_, 0);
        std::vector<double> step(k_);
        double before = std::numeric_limits<double>::infinity();
        for (int pass = 0; pass < most_passes; ++pass) {
            find_left();
            double size = 0;
            for (std::size_t c = 0; c < k_; ++c) {
                precise sum = 0;
                for (std::size_t r = 0; r < rows_; ++r) sum += static_cast<precise>(matrix_[c * rows_ + r]) * left_[r];
                step[c] = static_cast<double>(sum);
            }
            solve_both(step);
            for (std::size_t c = 0; c < k_; ++c) size = std::max(size, std::abs(step[c]));
            if (!(size < before / 2)) break; // it does not get better any more
            for (std::size_t c = 0; c < k_; ++c) scaled_[c] += step[c];
            before = size;
        }
        find_left();
    }
    void find_left() {
        for (std::size_t r = 0; r < rows_; ++r) {
            precise left = r < n_ ? static_cast<precise>(y_[r]) - means_[k_] : 0;
            for (std::size_t c = 0; c < k_; ++c) left -= static_cast<precise>(matrix_[c * rows_ + r]) * scaled_[c];
            left_[r] = left;
        }
    }

    void tell(regression_answer& found) {
        precise at_zero = means_[k_], squares = 0, whole = 0;
        for (std::size_t c = 0; c < k_; ++c) {
            auto const b = std::ldexp(scaled_[c], -scales_[c]);
            at_zero -= b * means_[c];
            found.coefficients.push_back(static_cast<double>(b));
        }
        if (asked_.intercept) found.intercept = static_cast<double>(at_zero);
        double largest = 0;
        for (std::size_t r = 0; r < n_; ++r) {
            found.residuals.push_back(static_cast<double>(left_[r]));
            auto const off = static_cast<precise>(y_[r]) - means_[k_];
            squares += left_[r] * left_[r], whole += off * off;
            largest = std::max(largest, std::abs(y_[r]));
        }
        // residuals within the rounding of y count as none
        auto const rounding = static_cast<precise>(eps) * eps * static_cast<precise>(largest) * largest * static_cast<precise>(n_) / 4;
        if (squares <= rounding) squares = 0;
        squares_ = squares;
        found.r2 = whole > 0 ? static_cast<double>(1 - squares / whole) : std::numeric_limits<double>::quiet_NaN();
        found.residual_sd = found.freedom > 0 ? static_cast<double>(std::sqrt(squares / static_cast<precise>(found.freedom))) : std::numeric_limits<double>::quiet_NaN();
    }

    void tell_shape(regression_shape& shape) const {
        shape.middle.assign(means_.begin(), means_.end() - 1), shape.height = means_[k_], shape.units = scales_;
        for (std::size_t r = 0; r < k_; ++r)
            for (std::size_t c = 0; c < k_; ++c) shape.triangle.push_back(r <= c ? upper(r, c) : 0);
    }

    void tell_errors(regression_answer& found) {
        // each row of the inverse of R'R, of the scaled columns
        std::vector<double> inverse(k_ * k_, 0);
        for (std::size_t c = 0; c < k_; ++c) {
            inverse[c * k_ + c] = 1;
            solve_both({inverse.data() + c * k_, k_});
        }
        std::vector<double> row(k_);
        auto const share = asked_.intercept ? 1 / static_cast<double>(n_) : 0.0;
        for (std::size_t r = 0; r < n_; ++r) {
            for (std::size_t c = 0; c < k_; ++c) row[c] = matrix_[c * rows_ + r];
            forward(row);
            double sum = share;
            for (double const x : row) sum += x * x;
            found.leverage.push_back(sum);
        }
        if (asked_.neighbours < 0) {
            auto const spread = static_cast<double>(squares_ / static_cast<precise>(found.freedom));
            for (std::size_t c = 0; c < k_; ++c) found.errors.push_back(std::ldexp(std::sqrt(spread * inverse[c * k_ + c]), -scales_[c]));
            if (!asked_.intercept) return;
            precise sum = share;
            for (std::size_t a = 0; a < k_; ++a)
                for (std::size_t b = 0; b < k_; ++b) sum += scaled_mean(a) * scaled_mean(b) * inverse[a * k_ + b];
            found.intercept_error = static_cast<double>(std::sqrt(static_cast<precise>(spread) * sum));
            return;
        }
        // each row's share in each coefficient, times its residual: what depends on neighbours is their sum
        auto const terms = k_ + (asked_.intercept ? 1 : 0);
        std::vector<double> shares(n_ * terms);
        for (std::size_t r = 0; r < n_; ++r) {
            double of_intercept = share;
            for (std::size_t c = 0; c < k_; ++c) {
                double sum = 0;
                for (std::size_t other = 0; other < k_; ++other) sum += inverse[c * k_ + other] * matrix_[other * rows_ + r];
                shares[c * n_ + r] = std::ldexp(sum, -scales_[c]) * found.residuals[r];
                of_intercept -= static_cast<double>(scaled_mean(c)) * sum;
            }
            if (asked_.intercept) shares[k_ * n_ + r] = of_intercept * found.residuals[r];
        }
        auto const error_of = [&](std::size_t term) {
            double const* const of = shares.data() + term * n_;
            auto const product = [&](std::size_t lag) {
                double sum = 0;
                for (std::size_t r = lag; r < n_; ++r) sum += of[r] * of[r - lag];
                return sum;
            };
            double sum = product(0);
            for (int lag = 1; lag <= asked_.neighbours && static_cast<std::size_t>(lag) < n_; ++lag)
                sum += 2 * (1 - lag / (asked_.neighbours + 1.0)) * product(static_cast<std::size_t>(lag));
            return std::sqrt(std::max(sum, 0.0));
        };
        for (std::size_t c = 0; c < k_; ++c) found.errors.push_back(error_of(c));
        if (asked_.intercept) found.intercept_error = error_of(k_);
    }
    precise scaled_mean(std::size_t column) const noexcept { return std::ldexp(means_[column], -scales_[column]); }

    static constexpr int most_passes = 20;
    std::span<std::span<double const> const> columns_;
    std::span<double const> y_;
    regression_request asked_;
    std::size_t n_, k_, rows_;
    std::vector<precise> means_, scaled_, left_; // of the columns and y; coefficients; residuals
    std::vector<double> matrix_, triangle_; // columns one behind the other
    std::vector<int> scales_; // of the columns, as powers of two
    precise squares_ = 0; // of the residuals
};

} // namespace detail

/// Regresses y on these columns; each is as long as y.
inline regression_answer least_squares(std::span<std::span<double const> const> columns, std::span<double const> y, regression_request const& asked = {}) {
    return detail::regression{columns, y, asked}.run();
}

/// The line through values in their order, 0, 1, 2, …
inline regression_answer line_of(std::span<double const> values, regression_request const& asked = {}) {
    std::vector<double> time(values.size());
    for (std::size_t i = 0; i < time.size(); ++i) time[i] = static_cast<double>(i);
    std::span<double const> const columns[] = {time};
    return least_squares(columns, values, asked);
}

} // namespace sb::stats
