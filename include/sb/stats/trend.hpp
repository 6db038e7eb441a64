// SPDX-License-Identifier: MIT
// What a series does by itself, as the tests of this folder allow for it.
#pragma once
#include <cstdint>

namespace sb::stats {

/// What a regression has beside its other terms.
enum class trend : std::uint8_t { none, constant, linear, quadratic };

/// Coefficients that this trend brings along.
constexpr int terms_of(trend with) noexcept { return static_cast<int>(with); }

} // namespace sb::stats
