// SPDX-License-Identifier: MIT
// How many values a two-sided CUSUM takes until its alarm, on average; and the threshold for a rate of false alarms.
//
// How it works: from a sum u, the run length of one side satisfies L(u) = 1 + L(0) P(the sum falls to nothing) + ∫ L(v) times the
// density of reaching v (Page 1954). Gauss and Legendre's points turn the integral into equations (Goel, Wu 1971), enough of them
// that a dozen digits stand. The two sides cannot stand high at once, so their rates of alarm add up (Kemp 1961).
#pragma once
#include <sb/stats/answer.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

namespace sb::stats {

namespace detail {

/// Points and weights of Gauss and Legendre on [0, width]: Newton's steps to the roots of the polynomial (DLMF 3.5.17).
inline void gauss_legendre(double width, std::vector<double>& points, std::vector<double>& weights) {
    auto const size = points.size();
    auto const n = static_cast<double>(size);
    for (std::size_t i = 0; i < size; ++i) {
        double x = -std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5)), slope = 1;
        for (int step = 0; step < 8; ++step) {
            double before = 1, now = x;
            for (double k = 2; k <= n; ++k) {
                double const next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
                before = now, now = next;
            }
            slope = n * (x * now - before) / (x * x - 1);
            x -= now / slope;
        }
        points[i] = (x + 1) * width / 2, weights[i] = width / ((1 - x * x) * slope * slope);
    }
}

inline double normal_upper(double z) noexcept { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

/// Siegmund's (1985, 2.56): as if the sum moved without jumps, the threshold raised by what a jump passes it by.
inline double siegmund_run_length(double k, double h, double shift) noexcept {
    double const drift = shift - k, raised = h + 1.166, x = 2 * drift * raised;
    if (std::abs(x) < 1e-4) return raised * raised * (1 - x / 3);
    return (std::expm1(-x) + x) / (2 * drift * drift);
}

inline constexpr double highest_exact = 60; // thresholds beyond which only a small k asks for, where Siegmund's is within 0.1 %

inline double one_sided_run_length(double k, double h, double shift) {
    if (h > highest_exact) return siegmund_run_length(k, h, shift);
    auto const size = static_cast<std::size_t>(16 + 2 * h), width = size + 1;
    std::vector<double> points(size), weights(size), matrix(width * width), right(width, 1.0);
    gauss_legendre(h, points, weights);
    for (std::size_t row = 0; row < width; ++row) {
        double const from = row == 0 ? 0 : points[row - 1];
        double* const at = matrix.data() + row * width;
        at[0] = -normal_upper(from + shift - k);
        for (std::size_t i = 0; i < size; ++i) {
            double const z = points[i] - from + k - shift;
            at[i + 1] = -weights[i] * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        }
        at[row] += 1;
    }
    // what is left of each row is a chance below one, so the diagonal carries the elimination; from the last row up, as only the
    // first unknown is asked for
    for (std::size_t pivot = width; pivot-- > 1;)
        for (std::size_t row = 0; row < pivot; ++row) {
            double const factor = matrix[row * width + pivot] / matrix[pivot * width + pivot];
            for (std::size_t c = 0; c < pivot; ++c) matrix[row * width + c] -= factor * matrix[pivot * width + c];
            right[row] -= factor * right[pivot];
        }
    return right[0] / matrix[0];
}

inline bool reasonable_cusum(double k, double h) noexcept { return std::isfinite(k) && std::isfinite(h) && k >= 0 && h >= 0; }

} // namespace detail

/// How many independent normal values it takes on average until a two-sided CUSUM with allowance `k` and threshold `h` alarms, both
/// in standard deviations, when the mean lies `shift` standard deviations off from the first value on. NaN where k or h is negative
/// or not finite.
inline double cusum_run_length(double k, double h, double shift = 0) {
    if (!detail::reasonable_cusum(k, h) || !std::isfinite(shift)) return std::numeric_limits<double>::quiet_NaN();
    return 1 / (1 / detail::one_sided_run_length(k, h, shift) + 1 / detail::one_sided_run_length(k, h, -shift));
}

struct cusum_design {
    no_answer why = no_answer::none;
    double k = 0, h = 0; ///< in standard deviations
    double quiet = 0; ///< values until a false alarm, on average
    double delay = 0; ///< values from a change by the shift asked for to the alarm, on average, from sums of nothing: the longest wait
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// The threshold that alarms falsely once in so many values, on average, and finds a shift of so many standard deviations soonest
/// (k is half of it). `quiet` up to 1e9; `shift` from 0.02 to 10; bad_request where even no threshold is quieter than that.
inline cusum_design design_cusum(double quiet, double shift = 1) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    double const k = shift / 2, loudest = 1 / (2 * detail::normal_upper(k));
    if (!(quiet > loudest && quiet <= 1e9) || !(shift >= 0.02 && shift <= 10)) return {no_answer::bad_request, nan, nan, nan, nan};
    auto const excess = [&](double h) { return std::log(cusum_run_length(k, h) / quiet); };
    double low = 0, high = 1, of_low = std::log(loudest / quiet), of_high = excess(high);
    while (of_high < 0) low = high, of_low = of_high, high *= 2, of_high = excess(high);
    // the false position, with the end that stays made to count half as much (Dowell, Jarratt 1971)
    int stayed = 0;
    for (int i = 0; i < 60 && high - low > 1e-12 * high; ++i) {
        double const h = (low * of_high - high * of_low) / (of_high - of_low), of_h = excess(h);
        if (of_h < 0) {
            low = h, of_low = of_h;
            if (stayed < 0) of_high /= 2;
            stayed = -1;
        } else {
            high = h, of_high = of_h;
            if (stayed > 0) of_low /= 2;
            stayed = 1;
        }
        if (std::abs(of_h) < 1e-11) {
            low = high = h;
            break;
        }
    }
    return {no_answer::none, k, high, cusum_run_length(k, high), cusum_run_length(k, high, shift)};
}

} // namespace sb::stats
