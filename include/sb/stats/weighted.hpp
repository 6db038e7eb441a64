// SPDX-License-Identifier: MIT
// Mean and spread of values that do not count alike: in one pass, and merged from parts.
//
// How it works: West's updates (1979), of distances from the first value and in units of the first other distance and of the
// first weight (powers of two), so that neither offsets nor units cost digits; what each sum loses by rounding is kept beside it
// (Neumaier 1974).
#pragma once
#include <sb/stats/answer.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace sb::stats {

/// What a weight means.
enum class weight_kind : std::uint8_t {
    frequency, ///< how often the value was seen
    reliability ///< how much it is to be trusted beside the others: only their proportions matter
};

namespace detail {

/// A sum and what rounding has taken from it.
class kept_sum {
public:
    explicit kept_sum(double from = 0) noexcept : sum_{from} {}
    void add(double x) noexcept {
        double const next = sum_ + x;
        lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
        sum_ = next;
    }
    void add(kept_sum const& other) noexcept { add(other.sum_), lost_ += other.lost_; }
    void scale(int power) noexcept { sum_ = std::ldexp(sum_, power), lost_ = std::ldexp(lost_, power); }
    double value() const noexcept { return sum_ + lost_; }

private:
    double sum_, lost_ = 0;
};

} // namespace detail

class weighted_moments {
public:
    /// A weight of 0 leaves the value out. After a negative weight, or one or a value that is not finite,
    /// there is no answer any more.
    void push(double x, double weight) noexcept {
        if (!std::isfinite(weight) || !std::isfinite(x)) return fail(no_answer::not_finite);
        if (weight < 0) return fail(no_answer::bad_request);
        if (weight == 0) return;
        if (count_++ == 0) origin_ = x, weight_unit_ = std::ilogb(weight);
        double const far = x - origin_;
        if (!std::isfinite(far)) return fail(no_answer::not_finite);
        if (far != 0 && unit_ == unset) unit_ = std::ilogb(far);
        double const at = unit_ == unset ? 0 : std::ldexp(far, -unit_), w = std::ldexp(weight, -weight_unit_);
        weights_.add(w), weights_squared_.add(w * w);
        double const off = at - mean_.value();
        mean_.add(off * (w / weights_.value()));
        squares_.add(w * off * (at - mean_.value()));
    }
    void merge(weighted_moments const& other) noexcept {
        fail(other.why_);
        if (other.count_ == 0) return;
        if (count_ == 0) {
            auto const why = why_;
            *this = other, why_ = why;
            return;
        }
        auto from = other;
        auto const apart = from.origin_ - origin_;
        if (!std::isfinite(apart)) return fail(no_answer::not_finite);
        int unit = std::max(unit_, from.unit_);
        if (unit == unset && apart != 0) unit = std::ilogb(apart);
        to_units(unit, std::max(weight_unit_, from.weight_unit_));
        from.to_units(unit_, weight_unit_);
        double const a = weights_.value(), b = from.weights_.value();
        double const off = (unit_ == unset ? 0 : std::ldexp(apart, -unit_)) + (from.mean_.value() - mean_.value());
        weights_.add(from.weights_), weights_squared_.add(from.weights_squared_);
        squares_.add(from.squares_), squares_.add(off * off * (a * (b / (a + b))));
        mean_.add(off * (b / (a + b)));
        count_ += from.count_;
    }

    no_answer why() const noexcept { // of having no mean
        if (why_ != no_answer::none) return why_;
        if (count_ == 0) return no_answer::too_short;
        return std::isfinite(mean_.value()) && std::isfinite(squares_.value()) ? no_answer::none : no_answer::not_finite;
    }
    std::int64_t count() const noexcept { return count_; } ///< of values with a weight
    double weight() const noexcept { return std::ldexp(weights_.value(), weight_unit_); } ///< of all together
    /// The number of equally weighted values that would tell as much about the mean (Kish); at most count().
    double effective() const noexcept { return count_ > 0 ? std::min(static_cast<double>(count_), weights_.value() / weights_squared_.value() * weights_.value()) : 0; }
    std::optional<double> mean() const noexcept {
        if (why() != no_answer::none) return std::nullopt;
        return origin_ + scaled(mean_.value());
    }
    /// Unbiased for the population: divides by weight - 1, or by weight - squared weights / weight.
    std::optional<double> stddev(weight_kind kind) const noexcept {
        double const below = freedom(kind);
        if (why() != no_answer::none || !(below > 0)) return std::nullopt;
        return scaled(std::sqrt(std::max(squares_.value(), 0.0) / below));
    }
    std::optional<double> variance(weight_kind kind) const noexcept {
        auto const sd = stddev(kind);
        return sd ? std::optional{*sd * *sd} : std::nullopt;
    }
    /// Standard error of the mean, of independent values.
    std::optional<double> error(weight_kind kind) const noexcept {
        auto const sd = stddev(kind);
        return sd ? std::optional{*sd / std::sqrt(kind == weight_kind::frequency ? weight() : effective())} : std::nullopt;
    }
    /// The variance of these values themselves.
    std::optional<double> spread() const noexcept {
        if (why() != no_answer::none) return std::nullopt;
        return scaled(std::sqrt(std::max(squares_.value(), 0.0) / weights_.value()));
    }

private:
    static constexpr int unset = std::numeric_limits<int>::min();
    void fail(no_answer why) noexcept {
        if (why_ == no_answer::none) why_ = why;
    }
    double scaled(double x) const noexcept { return unit_ == unset ? 0 : std::ldexp(x, unit_); }
    /// In units of the weights; one value alone has none, however often it is weighed when weights are trust.
    double freedom(weight_kind kind) const noexcept {
        if (count_ == 0) return 0;
        if (kind == weight_kind::frequency) return weights_.value() - std::ldexp(1.0, -weight_unit_);
        return count_ < 2 ? 0 : weights_.value() - weights_squared_.value() / weights_.value();
    }
    void to_units(int unit, int weight_unit) noexcept {
        if (unit_ != unset) mean_.scale(unit_ - unit), squares_.scale(2 * (unit_ - unit));
        weights_.scale(weight_unit_ - weight_unit), squares_.scale(weight_unit_ - weight_unit), weights_squared_.scale(2 * (weight_unit_ - weight_unit));
        unit_ = unit, weight_unit_ = weight_unit;
    }

    no_answer why_ = no_answer::none;
    std::int64_t count_ = 0;
    double origin_ = 0;
    int unit_ = unset, weight_unit_ = 0; // powers of two
    detail::kept_sum weights_, weights_squared_, mean_, squares_; // the last: weighted squares of the distances from the mean
};

/// The moments of values with weights, in one pass.
struct weighted_answer {
    no_answer why = no_answer::none;
    double mean = 0;
    double sd = 0, error = 0; ///< of the population, and of the mean; NaN where one value is all there is
    double effective = 0; ///< values of equal weight that tell as much
    std::size_t n = 0; ///< values with a weight
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

inline weighted_answer weighted_mean(std::span<double const> values, std::span<double const> weights, weight_kind kind = weight_kind::reliability) noexcept {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (values.size() != weights.size()) return {no_answer::bad_request, nan, nan, nan, 0, 0};
    weighted_moments merged;
    for (std::size_t i = 0; i < values.size(); ++i) merged.push(values[i], weights[i]);
    return {merged.why(), merged.mean().value_or(nan), merged.stddev(kind).value_or(nan), merged.error(kind).value_or(nan), merged.effective(), static_cast<std::size_t>(merged.count())};
}

} // namespace sb::stats
