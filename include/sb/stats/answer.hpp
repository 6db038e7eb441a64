// SPDX-License-Identifier: MIT
// Why a statistic has no answer: what every test of this folder says instead of a number that it does not have.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace sb::stats {

enum class no_answer : std::uint8_t {
    none, ///< there is one
    too_short, ///< fewer values than the question needs
    not_finite, ///< a NaN or an infinity among the values, or a value that no computation of ours can hold
    constant, ///< all values are the same
    collinear, ///< what explains cannot be told apart
    perfect_fit, ///< nothing is left unexplained but rounding: no error to measure anything by
    no_freedom, ///< as many coefficients as values
    bad_request ///< an option beyond what these values allow
};

/// In words, for the `reason` of a record.
inline char const* name_of(no_answer why) noexcept {
    switch (why) {
    case no_answer::none: return "";
    case no_answer::too_short: return "too short";
    case no_answer::not_finite: return "not finite";
    case no_answer::constant: return "constant";
    case no_answer::collinear: return "collinear";
    case no_answer::perfect_fit: return "perfect fit";
    case no_answer::no_freedom: return "zero degrees of freedom";
    case no_answer::bad_request: return "too few values for what was asked";
    }
    return "";
}

/// Neither a NaN nor an infinity among them.
inline bool all_finite(std::span<double const> values) noexcept {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

} // namespace sb::stats
