// SPDX-License-Identifier: MIT
// Student's t distribution: upper tail and its inverse.
#pragma once
#include <sb/stats/incomplete_beta.hpp>
#include <sb/stats/normal.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numbers>

namespace sb::stats {

namespace detail {

/// Γ(z + ½) / Γ(z) for z > 0, without the cancellation of two logarithms: the series of Tricomi and Erdélyi (1951)
/// from z = 20 on, reached by the recurrence of Γ.
inline double gamma_half_ratio(double z) noexcept {
    double scale = 1;
    for (; z < 20; ++z) scale *= z / (z + 0.5);
    double const u = 1 / z;
    double const series =
        1 + u * (-1.0 / 8 + u * (1.0 / 128 + u * (5.0 / 1024 + u * (-21.0 / 32768 + u * (-399.0 / 262144 +
            u * (869.0 / 4194304 + u * (39325.0 / 33554432)))))));
    return scale * std::sqrt(z) * series;
}

/// log(1 + x²), for x whose square no double holds too.
inline double log1p_square(double x) noexcept {
    double const square = x * x;
    return std::isinf(square) ? 2 * std::log(std::abs(x)) : std::log1p(square);
}

/// The normal quantile `z` as that of t, by the expansion of Cornish and Fisher in 1/df up to its eighth power. Its first four
/// terms are Abramowitz, Stegun 26.7.5; all follow, exactly, from dt/dz = the normal density by that of t.
inline double student_t_near(double z, double df) noexcept {
    struct term {
        double below, of[9]; ///< of 1, z², z⁴ …
    };
    constexpr term terms[] = {{4, {1, 1}},
                              {96, {3, 16, 5}},
                              {384, {-15, 17, 19, 3}},
                              {92160, {-945, -1920, 1482, 776, 79}},
                              {122880, {5985, -255, -594, 310, 113, 9}},
                              {185794560, {2463615, 6667920, 616707, -82440, 48821, 15448, 1065}},
                              {743178240, {-111486375, -18226215, 5639193, 1086849, 113891, 41107, 6891, 339}},
                              {356725555200, {-14223634425, -42618441600, -9178970220, -591760080, 27817290, 16657824, 3393364, 296624, 9159}}};
    double const s = z * z;
    double sum = 0, power = 1;
    for (std::size_t k = 0; k < std::size(terms); ++k) {
        double value = 0;
        for (std::size_t i = k + 2; i-- > 0;) value = value * s + terms[k].of[i];
        sum += value / terms[k].below * (power /= df);
    }
    return z + z * sum;
}

/// The normal value whose upper tail is that of t > 0, by the expansion of Hill (1970, algorithm 395), whose error falls with the fifth
/// power of df >= 1e4; infinite where a double has no tail left.
inline double normal_of_t(double t, double df) noexcept {
    if (df > 1e30) return t;
    double const a = df - 0.5, b = 48 * a * a, y = a * std::log1p(t * t / df);
    if (!(y < 1500)) return std::numeric_limits<double>::infinity();
    return std::sqrt(y) * (1 + (y + 3) / b - (((4 * y + 33) * y + 240) * y + 855) / (10 * b * (b + 0.8 * y * y + 100)));
}

} // namespace detail

/// Density at `t` with `df` > 0 degrees of freedom, infinitely many too.
inline double student_t_density(double t, double df) noexcept {
    if (df > 1e30) return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    return detail::gamma_half_ratio(df / 2) / std::sqrt(std::numbers::pi * df) * std::exp(-(df + 1) / 2 * detail::log1p_square(t / std::sqrt(df)));
}

/// P(T > t) with `df` > 0 degrees of freedom, NaN without; small tails keep their digits: at 1e4 degrees, where the fraction
/// loses most, twelve. With infinitely many it is the normal one.
inline double student_t_upper(double t, double df) noexcept {
    if (std::isnan(t) || !(df > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (t < 0) return 1 - student_t_upper(-t, df);
    if (t == 0) return 0.5;
    if (std::isinf(t)) return 0;
    if (df > 1e4) return normal_upper(detail::normal_of_t(t, df));
    double const a = df / 2, b = 0.5, root = t / std::sqrt(df), square = root * root;
    double const x = 1 / (1 + square), rest = std::isinf(square) ? 1 : square / (1 + square); // x + rest = 1
    // x^a (1 - x)^b / B(a, b)
    double const front = std::exp(-a * detail::log1p_square(root)) * std::sqrt(rest) * detail::gamma_half_ratio(a) / std::sqrt(std::numbers::pi);
    if (x < (a + 1) / (a + b + 2)) return 0.5 * front * detail::beta_fraction(a, b, x) / a;
    return 0.5 - 0.5 * front * detail::beta_fraction(b, a, rest) / b;
}

/// The t whose upper tail is `p`, with `df` >= 1 degrees of freedom: below 0 for p > ½, infinite for 0 and 1, NaN beyond them
/// and without any freedom.
inline double student_t_quantile(double p, double df) noexcept {
    if (!(df > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (!(p > 0)) return p == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (p >= 0.5) return p == 0.5 ? 0 : -student_t_quantile(1 - p, df);
    double const z = normal_quantile(p), s = z * z, near = detail::student_t_near(z, df);
    if (df >= 60 + 4 * s) return near; // what is left out is below 2e-16 here
    // from there, if it is near by what is left out, else from a bound that is doubled until it lies above: Newton on the
    // logarithm of the tail, which is nearly straight, kept inside the bracket
    double low = 0, high = std::numeric_limits<double>::infinity(), t = near;
    if (df < 4 || s > df) {
        for (high = 1; student_t_upper(high, df) > p; high *= 2) low = high;
        t = (low + high) / 2;
    }
    // of a small step what is left is its square; with few degrees of freedom it is made once more, until rounding is all there is
    double const enough = df >= 20 ? 1e-9 : 4 * std::numeric_limits<double>::epsilon();
    double last = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 200; ++i) {
        double const tail = student_t_upper(t, df);
        double const step = std::log(tail / p) * tail / student_t_density(t, df), next = t + step;
        if (std::abs(step) <= enough * t || (std::abs(step) <= 1e-9 * t && std::abs(step) >= last / 2)) return next;
        last = std::abs(step);
        (tail > p ? low : high) = t;
        if (next > low && next < high) t = next;
        else t = high < std::numeric_limits<double>::infinity() ? (low + high) / 2 : 2 * t;
    }
    return t;
}

} // namespace sb::stats
