// SPDX-License-Identifier: MIT
// The least value of a smooth function of a few variables, downhill from where one starts (Broyden, Fletcher, Goldfarb, Shanno).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace sb::stats {

inline constexpr std::size_t minimise_most_variables = 16;

/// The inverse of a matrix of n rows that is symmetric, its lower triangle is enough, and positive; a pivot that rounding made less
/// counts as the least there is. What `m` holds is used up.
inline void invert_positive(std::span<double> m, std::size_t n, std::span<double> to) noexcept {
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = m[a * n + b];
            for (std::size_t k = 0; k < b; ++k) sum -= m[a * n + k] * m[b * n + k];
            m[a * n + b] = a == b ? std::sqrt(std::max(sum, std::numeric_limits<double>::min())) : sum / m[b * n + b];
        }
    for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t a = 0; a < n; ++a) {
            double sum = a == c ? 1 : 0;
            for (std::size_t k = 0; k < a; ++k) sum -= m[a * n + k] * to[c * n + k];
            to[c * n + a] = sum / m[a * n + a];
        }
        for (std::size_t a = n; a-- > 0;) {
            double sum = to[c * n + a];
            for (std::size_t k = a + 1; k < n; ++k) sum -= m[k * n + a] * to[c * n + k];
            to[c * n + a] = sum / m[a * n + a];
        }
    }
}

struct minimise_request {
    double tolerance = 1e-9; ///< in the function's own unit: stop when no more is expected to be gained
    int most_steps = 200;
    int guesses = 3; ///< so many steps take the function's own guess, later ones what the steps before have shown
    double longest = 0.5; ///< of one step, in each variable
    bool reciprocal = false; ///< to the function x and 1 / x are the same: each is kept between -1 and 1
};

struct minimum {
    double value = 0; ///< infinite where the start has none
    int steps = 0, values = 0; ///< how often a step was taken, and the function called
    bool reached = false; ///< stopped because there was no more to be gained
};

/// `function` has value(x), which may be infinite where it is not defined; of what value() last told, gradient(to); and of what
/// gradient() last told, guess(to), the inverse of the matrix of second derivatives or something like it, row by row. x moves to
/// the least that was found.
template <class Function>
minimum minimise(Function& function, std::span<double> x, minimise_request const& asked = {}) noexcept {
    constexpr auto most = minimise_most_variables;
    auto const n = x.size();
    std::array<double, most> slope{}, next_slope{}, step{}, tried{}, turned{};
    std::array<double, most * most> flat;
    auto const shape = [&](std::size_t a, std::size_t b) -> double& { return flat[a * n + b]; }; // of the inverse of the second derivatives
    auto const view = [n](std::array<double, most>& of) { return std::span<double>{of.data(), n}; };
    auto const dot = [n](auto const& a, auto const& b) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
        return sum;
    };
    minimum lowest;
    lowest.value = function.value(x), lowest.values = 1;
    if (!std::isfinite(lowest.value)) return lowest;
    function.gradient(view(slope));
    bool fresh = true, told = true; // the shape is the guess; value() and gradient() last told of x
    auto const reset = [&] {
        if (!told) (void)function.value(x), function.gradient(view(slope)), ++lowest.values;
        function.guess(std::span<double>{flat.data(), n * n});
        fresh = told = true;
    };
    reset();
    while (lowest.steps < asked.most_steps) {
        double largest = 0;
        for (std::size_t a = 0; a < n; ++a) {
            step[a] = 0;
            for (std::size_t b = 0; b < n; ++b) step[a] -= shape(a, b) * slope[b];
            largest = std::max(largest, std::abs(step[a]));
        }
        double const downhill = dot(step, slope);
        if (!(downhill < 0)) { // rounding has spoilt the shape, or this is the bottom
            if (fresh) return lowest.reached = true, lowest;
            reset();
            continue;
        }
        if (-downhill / 2 < asked.tolerance) {
            if (fresh) return lowest.reached = true, lowest;
            reset(); // a shape gone wrong promises as little as the bottom does
            continue;
        }
        double length = largest > asked.longest ? asked.longest / largest : 1, value = 0;
        bool found = false;
        told = false;
        for (int tries = 0; tries < 40; ++tries) {
            for (std::size_t a = 0; a < n; ++a) tried[a] = x[a] + length * step[a];
            value = function.value(view(tried)), ++lowest.values;
            if (value <= lowest.value + 1e-4 * length * downhill) {
                found = true;
                break;
            }
            if (-length * downhill < asked.tolerance * 1e-3) break;
            double const bend = (value - lowest.value) / length - downhill; // of the parabola through what is known
            length *= std::isfinite(value) && bend > 0 ? std::clamp(-downhill / (2 * bend), 0.1, 0.5) : 0.2;
        }
        if (!found) {
            if (fresh) return lowest.reached = true, lowest;
            reset();
            continue;
        }
        function.gradient(view(next_slope));
        told = true;
        for (std::size_t a = 0; a < n; ++a) {
            step[a] = tried[a] - x[a], x[a] = tried[a];
            turned[a] = next_slope[a] - slope[a], slope[a] = next_slope[a];
        }
        lowest.value = value, ++lowest.steps;
        double const curved = dot(step, turned);
        fresh = lowest.steps < asked.guesses;
        if (fresh) {
            function.guess(std::span<double>{flat.data(), n * n});
        } else if (curved > 1e-12 * std::sqrt(dot(step, step) * dot(turned, turned))) {
            std::array<double, most> moved{};
            for (std::size_t a = 0; a < n; ++a)
                for (std::size_t b = 0; b < n; ++b) moved[a] += shape(a, b) * turned[b];
            double const whole = 1 + dot(moved, turned) / curved;
            for (std::size_t a = 0; a < n; ++a)
                for (std::size_t b = 0; b < n; ++b) shape(a, b) += (whole * step[a] * step[b] - moved[a] * step[b] - step[a] * moved[b]) / curved;
        }
        if (asked.reciprocal)
            for (std::size_t a = 0; a < n; ++a) {
                if (!(std::abs(x[a]) > 1)) continue;
                told = false;
                double const turn = -1 / (x[a] * x[a]); // the derivative of 1 / x
                x[a] = 1 / x[a], slope[a] /= turn;
                for (std::size_t b = 0; b < n; ++b) shape(a, b) *= turn;
                for (std::size_t b = 0; b < n; ++b) shape(b, a) *= turn;
            }
    }
    return lowest;
}

} // namespace sb::stats
