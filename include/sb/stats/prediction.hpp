// SPDX-License-Identifier: MIT
// Where one more observation will lie: after a sample, or on a row of a regression. The interval is wider than that of a mean,
// because the observation has a spread of its own.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/interval.hpp>
#include <sb/stats/least_squares.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

/// For observations that are independent and normal with one spread.
struct prediction_answer {
    no_answer why = no_answer::none;
    double value = 0; ///< what is expected; there also for a perfect fit
    double error = 0; ///< standard error of a new observation there
    double mean_error = 0; ///< of what is expected itself
    double freedom = 0; ///< degrees of freedom of both
    std::size_t n = 0; ///< observations before
    explicit operator bool() const noexcept { return why == no_answer::none; }

    interval bounds(double confidence = 0.95) const noexcept { return around(error, confidence); } ///< of a new observation
    interval mean_bounds(double confidence = 0.95) const noexcept { return around(mean_error, confidence); } ///< of the mean of many

private:
    interval around(double by, double confidence) const noexcept {
        double const half = student_t_quantile((1 - confidence) / 2, freedom) * by;
        return {value - half, value + half};
    }
};

namespace detail {

inline prediction_answer no_prediction(no_answer why, std::size_t n, double value = std::numeric_limits<double>::quiet_NaN()) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    prediction_answer answer;
    answer.why = why, answer.n = n, answer.value = value, answer.error = answer.mean_error = answer.freedom = nan;
    return answer;
}

} // namespace detail

/// After these values, one more: mean ± t s √(1 + 1/n).
inline prediction_answer predict(std::span<double const> values) noexcept {
    auto const n = values.size();
    if (!all_finite(values)) return detail::no_prediction(no_answer::not_finite, n);
    if (n < 2) return detail::no_prediction(no_answer::too_short, n);
    auto const [least, most] = std::minmax_element(values.begin(), values.end());
    if (*least == *most) return detail::no_prediction(no_answer::constant, n);
    double const range = *most - *least;
    if (!std::isfinite(range)) return detail::no_prediction(no_answer::not_finite, n);
    int unit = 0; // a power of two, in which squares neither vanish nor overflow
    (void)std::frexp(range, &unit);
    double const from = values[n / 2];
    moments sample;
    for (double const x : values) sample.push(std::ldexp(x - from, -unit));
    auto const count = static_cast<double>(n);
    prediction_answer answer;
    double const spread = *sample.stddev();
    answer.n = n, answer.freedom = count - 1;
    answer.value = from + std::ldexp(*sample.mean(), unit);
    answer.error = std::ldexp(spread * std::sqrt(1 + 1 / count), unit), answer.mean_error = std::ldexp(spread / std::sqrt(count), unit);
    return answer;
}

/// The leverage that a new row would have in a regression: how far it lies from the rows. `x` as the columns were; NaN without a
/// shape.
inline double leverage_at(regression_answer const& fit, std::span<double const> x) {
    auto const k = fit.shape.middle.size();
    if (k == 0 || x.size() != k) return std::numeric_limits<double>::quiet_NaN();
    bool const intercept = fit.freedom + static_cast<double>(k) < static_cast<double>(fit.n); // one term more than columns
    std::vector<double> off(k);
    double sum = intercept ? 1 / static_cast<double>(fit.n) : 0;
    for (std::size_t r = 0; r < k; ++r) { // solves R' off = x, R the triangle
        off[r] = static_cast<double>(std::ldexp(static_cast<long double>(x[r]) - fit.shape.middle[r], -fit.shape.units[r]));
        for (std::size_t c = 0; c < r; ++c) off[r] -= fit.shape.triangle[c * k + r] * off[c];
        off[r] /= fit.shape.triangle[r * k + r];
        sum += off[r] * off[r];
    }
    return sum;
}

/// On a new row of this regression, with `x` in the order of its columns: the expected value ± t s √(1 + leverage). A ridge and
/// residuals that may depend on each other have no such interval (bad_request).
inline prediction_answer predict(regression_answer const& fit, std::span<double const> x) {
    auto const k = fit.coefficients.size();
    if (!fit) return detail::no_prediction(fit.why, fit.n);
    if (fit.shape.middle.size() != k || x.size() != k) return detail::no_prediction(no_answer::bad_request, fit.n);
    if (!all_finite(x)) return detail::no_prediction(no_answer::not_finite, fit.n);
    long double value = fit.shape.height;
    for (std::size_t c = 0; c < k; ++c) value += fit.coefficients[c] * (static_cast<long double>(x[c]) - fit.shape.middle[c]);
    prediction_answer answer;
    answer.n = fit.n, answer.freedom = fit.freedom, answer.value = static_cast<double>(value);
    double const far = leverage_at(fit, x);
    answer.error = fit.residual_sd * std::sqrt(1 + far), answer.mean_error = fit.residual_sd * std::sqrt(far);
    if (!std::isfinite(answer.value) || !std::isfinite(answer.error)) return detail::no_prediction(no_answer::not_finite, fit.n);
    if (!(fit.residual_sd > 0)) return detail::no_prediction(no_answer::perfect_fit, fit.n, answer.value);
    return answer;
}

} // namespace sb::stats
