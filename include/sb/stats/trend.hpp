// SPDX-License-Identifier: MIT
// What a series does by itself, as the tests of this folder allow for it.
#pragma once
#include <cstdint>

namespace sb::stats {

/// What a regression has beside its other terms.
enum class trend : std::uint8_t { none, constant, linear, quadratic };

/// Coefficients that this trend brings along.
constexpr int terms_of(trend with) noexcept { return static_cast<int>(with); }

/// How many products of what is left over with what came earlier count, by Bartlett's weights: given, by the data, or by the rule
/// of older programs, 12 (n / 100)^(1/4).
enum class long_run_lags : std::uint8_t { fixed, automatic, legacy };

} // namespace sb::stats
