// SPDX-License-Identifier: MIT
// Count, mean and spread of a stream in one pass, whatever the size of its values: 1e-160 and 1e150 keep as many digits as 1.
//
// How it works: as moments.hpp, by Welford's updates of distances from the first value; these are counted in a power of two
// that the first of them sets, so that a square neither vanishes nor overflows and no digit is lost by it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sb::stats {

class scaled_moments {
public:
    /// Returns false, and changes nothing, if the value is not finite or no double holds its distance from the first value.
    bool push(double x) noexcept {
        double const off = count_ == 0 ? 0 : x - origin_;
        if (!std::isfinite(x) || !std::isfinite(off)) return false;
        if (count_ == 0) origin_ = x;
        if (!(std::abs(off) <= widest_)) measure(off);
        double const at = off * unit_, step = at - mean_;
        mean_ += step / static_cast<double>(++count_);
        squares_ += step * (at - mean_);
        return true;
    }
    std::int64_t count() const noexcept { return count_; }
    bool constant() const noexcept { return !(squares_ > 0); } ///< true for less than two values
    double mean() const noexcept { return origin_ + mean_ / unit_; } ///< 0 before the first
    double stddev() const noexcept { return count_ < 2 ? 0 : spread() / unit_; } ///< n - 1 below
    /// How far `x` lies above the mean, in standard deviations; only where these values are not constant.
    double distance(double x) const noexcept { return ((x - origin_) * unit_ - mean_) / spread(); }

private:
    double spread() const noexcept { return std::sqrt(squares_ / static_cast<double>(count_ - 1)); }
    void measure(double off) noexcept {
        int exponent = 0;
        (void)std::frexp(off, &exponent);
        double const unit = std::ldexp(1.0, -std::clamp(exponent, -1000, 1000)), by = unit / unit_;
        if (!constant()) mean_ *= by, squares_ *= by * by;
        unit_ = unit, widest_ = std::ldexp(1 / unit, 100);
    }

    std::int64_t count_ = 0;
    double origin_ = 0, mean_ = 0, squares_ = 0;
    double unit_ = 1, widest_ = 0; // the distance that this unit serves
};

} // namespace sb::stats
