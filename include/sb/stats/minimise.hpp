// SPDX-License-Identifier: MIT
// The least value of a smooth function of a few variables, downhill from where one starts (Broyden, Fletcher, Goldfarb, Shanno).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace sb::stats {

inline constexpr std::size_t minimise_most_variables = 16;

struct minimise_request {
    double tolerance = 1e-9; ///< in the function's own unit: stop when no more is expected to be gained
    int most_steps = 200;
    double longest = 0.5; ///< of one step, in each variable
    bool reciprocal = false; ///< to the function x and 1 / x are the same: each is kept between -1 and 1
};

struct minimum {
    double value = 0; ///< infinite where the start has none
    int steps = 0, values = 0; ///< how often a step was taken, and the function called
    bool reached = false; ///< stopped because there was no more to be gained
};

/// `function` has value(x), which may be infinite where it is not defined, and gradient(to) of what value() last told. `inverse`:
/// a guess at the reciprocals of its second derivatives, the diagonal. x moves to the least that was found.
template <class Function>
minimum minimise(Function& function, std::span<double> x, std::span<double const> inverse, minimise_request const& asked = {}) noexcept {
    constexpr auto most = minimise_most_variables;
    auto const n = x.size();
    std::array<double, most> slope{}, next_slope{}, step{}, tried{}, turned{};
    std::array<std::array<double, most>, most> shape{}; // of the inverse of the second derivatives
    auto const reset = [&] {
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = 0; b < n; ++b) shape[a][b] = a == b ? inverse[a] : 0;
    };
    auto const view = [n](std::array<double, most>& of) { return std::span<double>{of.data(), n}; };
    auto const dot = [n](auto const& a, auto const& b) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
        return sum;
    };
    minimum got;
    got.value = function.value(x), got.values = 1;
    if (!std::isfinite(got.value)) return got;
    function.gradient(view(slope));
    reset();
    bool fresh = true;
    while (got.steps < asked.most_steps) {
        double largest = 0;
        for (std::size_t a = 0; a < n; ++a) {
            step[a] = -dot(shape[a], slope);
            largest = std::max(largest, std::abs(step[a]));
        }
        double downhill = dot(step, slope);
        if (!(downhill < 0)) { // rounding has spoilt the shape, or this is the bottom
            if (fresh) return got.reached = true, got;
            reset(), fresh = true;
            continue;
        }
        if (-downhill / 2 < asked.tolerance) {
            if (fresh) return got.reached = true, got;
            reset(), fresh = true; // a shape gone wrong promises as little as the bottom does
            continue;
        }
        double length = largest > asked.longest ? asked.longest / largest : 1, value = 0;
        bool found = false;
        for (int tries = 0; tries < 40; ++tries) {
            for (std::size_t a = 0; a < n; ++a) tried[a] = x[a] + length * step[a];
            value = function.value(view(tried)), ++got.values;
            if (value <= got.value + 1e-4 * length * downhill) {
                found = true;
                break;
            }
            if (-length * downhill < asked.tolerance * 1e-3) break;
            double const bend = (value - got.value) / length - downhill; // of the parabola through what is known
            length *= std::isfinite(value) && bend > 0 ? std::clamp(-downhill / (2 * bend), 0.1, 0.5) : 0.2;
        }
        if (!found) {
            if (fresh) return got.reached = true, got;
            reset(), fresh = true;
            continue;
        }
        function.gradient(view(next_slope));
        for (std::size_t a = 0; a < n; ++a) {
            step[a] = tried[a] - x[a], x[a] = tried[a];
            turned[a] = next_slope[a] - slope[a], slope[a] = next_slope[a];
        }
        got.value = value, ++got.steps;
        double const curved = dot(step, turned);
        if (curved > 1e-12 * std::sqrt(dot(step, step) * dot(turned, turned))) {
            if (fresh) { // the first step tells how large the guess should have been
                double weighted = 0;
                for (std::size_t a = 0; a < n; ++a) weighted += turned[a] * inverse[a] * turned[a];
                for (std::size_t a = 0; a < n; ++a) shape[a][a] *= std::clamp(curved / weighted, 0.05, 20.0);
            }
            std::array<double, most> moved{};
            for (std::size_t a = 0; a < n; ++a) moved[a] = dot(shape[a], turned);
            double const whole = 1 + dot(moved, turned) / curved;
            for (std::size_t a = 0; a < n; ++a)
                for (std::size_t b = 0; b < n; ++b) shape[a][b] += (whole * step[a] * step[b] - moved[a] * step[b] - step[a] * moved[b]) / curved;
            fresh = false;
        }
        if (asked.reciprocal)
            for (std::size_t a = 0; a < n; ++a) {
                if (!(std::abs(x[a]) > 1)) continue;
                double const turn = -1 / (x[a] * x[a]); // the derivative of 1 / x
                x[a] = 1 / x[a], slope[a] /= turn;
                for (std::size_t b = 0; b < n; ++b) shape[a][b] *= turn;
                for (std::size_t b = 0; b < n; ++b) shape[b][a] *= turn;
            }
    }
    return got;
}

} // namespace sb::stats
