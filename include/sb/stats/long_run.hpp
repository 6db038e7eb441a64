// SPDX-License-Identifier: MIT
// The spread of a sum in the long run: products of residuals with earlier ones, by Bartlett's weights, and how many of them count.
#pragma once
#include <sb/stats/dot.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sb::stats {

/// How many products count: a given number, a number that the data ask for, or Schwert's rule.
enum class long_run_lags : std::uint8_t { fixed, automatic, legacy };

/// Schwert's rule, 12 (n / 100)^(1/4), rounded up.
inline double schwert_lags(std::size_t n) noexcept { return std::ceil(12 * std::pow(static_cast<double>(n) / 100, 0.25)); }

/// The sum of all products, each other one twice and by its weight; `squares` are the residuals' own.
inline double long_run_sum(std::span<double const> residuals, double squares, std::size_t lags) noexcept {
    auto const& unit = vector_unit::chosen();
    double sum = squares;
    for (std::size_t lag = 1; lag <= lags; ++lag)
        sum += 2 * (1 - static_cast<double>(lag) / static_cast<double>(lags + 1)) * unit.dot(residuals.data() + lag, residuals.data(), residuals.size() - lag);
    return sum;
}

/// Newey's and West's (1994), from the first `looked` products; not finite where products undo each other.
inline double newey_west_lags(std::span<double const> residuals, double squares, std::size_t looked) noexcept {
    auto const& unit = vector_unit::chosen();
    double sum = squares, weighted = 0;
    for (std::size_t lag = 1; lag <= looked && lag < residuals.size(); ++lag) {
        double const product = 2 * unit.dot(residuals.data() + lag, residuals.data(), residuals.size() - lag);
        sum += product, weighted += static_cast<double>(lag) * product;
    }
    double const ratio = weighted / sum;
    return std::floor(1.1447 * std::cbrt(ratio * ratio) * std::cbrt(static_cast<double>(residuals.size())));
}

} // namespace sb::stats
