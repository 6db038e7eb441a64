// SPDX-License-Identifier: MIT
// Densities of the binomial and the gamma kind without the cancellation of large logarithms, after C. Loader (Fast and
// accurate computation of binomial probabilities, 2000): what is left of Stirling's formula, and deviances.
#pragma once
#include <cmath>
#include <numbers>

namespace sb::stats::detail {

/// log Γ(z + 1) less Stirling's (z + ½) log z - z + ½ log 2π, for z > 0.
inline double stirling_rest(double z) noexcept {
    double sum = 0;
    for (; z < 16; ++z) sum += (z + 0.5) * std::log1p(1 / z) - 1;
    double const u = 1 / (z * z);
    return sum + (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u * (1.0 / 1188 - u * (691.0 / 360360 - u / 156)))))) / z;
}

/// x log(x / mean) + mean - x, for x, mean > 0.
inline double deviance(double x, double mean) noexcept {
    double const off = x - mean;
    if (std::abs(off) >= 0.1 * (x + mean)) return x * std::log(x / mean) - off;
    double const v = off / (x + mean), square = v * v;
    double sum = off * v, term = 2 * x * v;
    for (double k = 3; k < 1000; k += 2) {
        term *= square;
        double const next = sum + term / k;
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

/// x^a y^b / B(a, b), where x + y = 1 and both are > 0.
inline double beta_part(double a, double b, double x, double y) noexcept {
    double const n = a + b;
    double const log_part = stirling_rest(n) - stirling_rest(a) - stirling_rest(b) - deviance(a, n * x) - deviance(b, n * y);
    return std::exp(log_part) * std::sqrt(a / n * b / (2 * std::numbers::pi));
}

/// x^a e^-x / Γ(a), for a, x > 0.
inline double gamma_part(double a, double x) noexcept {
    return std::exp(-stirling_rest(a) - deviance(a, x)) * std::sqrt(a / (2 * std::numbers::pi));
}

} // namespace sb::stats::detail
