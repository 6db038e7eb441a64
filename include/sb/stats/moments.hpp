// SPDX-License-Identifier: MIT
// Count, mean and spread of a stream, and how two streams move together: in one pass, and merged from parts.
//
// How it works: Welford's updates work on distances from the first value, so an offset that all values share costs no digits. When
// all values are there at once, two passes add them up, the second over what the first left. Chan's formula merges parts. If all
// values are the same, the spread is exactly 0. Squares are doubles: for distances below 1e-154 the spread loses digits (below
// 1e-162 all of them), above 1e154 it is infinite; scaled_moments.hpp has no such bounds.
#pragma once
#include <sb/stats/sums.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sb::stats {

class moments {
public:
    void push(double x) noexcept {
        if (count_ == 0) origin_ = x;
        double const at = x - origin_, off = at - mean_;
        mean_ += off / static_cast<double>(++count_);
        squares_ += off * (at - mean_);
    }
    void merge(moments const& other) noexcept {
        if (other.count_ == 0) return;
        if (count_ == 0) {
            *this = other;
            return;
        }
        double const a = static_cast<double>(count_), b = static_cast<double>(other.count_), off = (other.origin_ - origin_) + (other.mean_ - mean_);
        squares_ += other.squares_ + off * off * (a * b / (a + b));
        mean_ += off * (b / (a + b));
        count_ += other.count_;
    }
    /// From all values at once: faster than one by one, and equal up to rounding.
    static moments of(std::span<double const> values) noexcept {
        moments merged;
        if (values.empty()) return merged;
        auto const n = static_cast<double>(values.size());
        merged.count_ = static_cast<std::int64_t>(values.size()), merged.origin_ = values.front();
        double const middle = merged.origin_ + sum_from(values, merged.origin_) / n; // rounded where the values share much
        double const left = sum_from(values, middle);
        merged.mean_ = (middle - merged.origin_) + left / n;
        merged.squares_ = std::max(squares_from(values, middle) - left * (left / n), 0.0);
        if (std::isfinite(merged.squares_)) return merged;
        merged = {}; // a sum was too large
        for (double const x : values) merged.push(x);
        return merged;
    }
    std::int64_t count() const noexcept { return count_; }
    std::optional<double> mean() const noexcept { return count_ > 0 ? std::optional{origin_ + mean_} : std::nullopt; }
    /// Estimates the population's from a sample: divides by n - 1.
    std::optional<double> variance() const noexcept { return count_ > 1 ? std::optional{squares_ / static_cast<double>(count_ - 1)} : std::nullopt; }
    std::optional<double> stddev() const noexcept { return count_ > 1 ? std::optional{std::sqrt(squares_ / static_cast<double>(count_ - 1))} : std::nullopt; }
    double squares() const noexcept { return squares_; } ///< of the distances from the mean

private:
    std::int64_t count_ = 0;
    double origin_ = 0, mean_ = 0, squares_ = 0;
};

/// Pairs of values.
class joint_moments {
public:
    void push(double x, double y) noexcept {
        if (count_ == 0) x0_ = x, y0_ = y;
        double const n = static_cast<double>(++count_), dx = x - x0_ - mean_x_, dy = y - y0_ - mean_y_;
        mean_x_ += dx / n, mean_y_ += dy / n;
        xx_ += dx * (x - x0_ - mean_x_), yy_ += dy * (y - y0_ - mean_y_), xy_ += dx * (y - y0_ - mean_y_);
    }
    void merge(joint_moments const& other) noexcept {
        if (other.count_ == 0) return;
        if (count_ == 0) {
            *this = other;
            return;
        }
        double const a = static_cast<double>(count_), b = static_cast<double>(other.count_), weight = a * b / (a + b);
        double const dx = (other.x0_ - x0_) + (other.mean_x_ - mean_x_), dy = (other.y0_ - y0_) + (other.mean_y_ - mean_y_);
        xx_ += other.xx_ + dx * dx * weight, yy_ += other.yy_ + dy * dy * weight, xy_ += other.xy_ + dx * dy * weight;
        mean_x_ += dx * (b / (a + b)), mean_y_ += dy * (b / (a + b));
        count_ += other.count_;
    }
    std::int64_t count() const noexcept { return count_; }
    /// Pearson's correlation; none if either side is constant.
    std::optional<double> correlation() const noexcept {
        if (!(xx_ > 0 && yy_ > 0)) return std::nullopt;
        return std::clamp(xy_ / std::sqrt(xx_) / std::sqrt(yy_), -1.0, 1.0);
    }
    /// The least-squares slope of y on x.
    std::optional<double> slope() const noexcept { return xx_ > 0 ? std::optional{xy_ / xx_} : std::nullopt; }

private:
    std::int64_t count_ = 0;
    double x0_ = 0, y0_ = 0, mean_x_ = 0, mean_y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

/// The correlation of values with those `lag` places before; none if they are constant or too few.
inline std::optional<double> autocorrelation(std::span<double const> values, std::size_t lag = 1) noexcept {
    auto const whole = moments::of(values);
    if (values.size() <= lag || !(whole.squares() > 0)) return std::nullopt;
    double const first = values.front();
    double mean = 0; // of distances from the first value
    for (double const x : values) mean += x - first;
    mean /= static_cast<double>(values.size());
    double sum = 0;
    for (std::size_t i = lag; i < values.size(); ++i) sum += (values[i] - first - mean) * (values[i - lag] - first - mean);
    return sum / whole.squares();
}

} // namespace sb::stats
