// SPDX-License-Identifier: MIT
// Mean and spread of a stream in which a value counts the less the older it is.
#pragma once
#include <sb/stats/answer.hpp>
#include <cmath>
#include <cstdint>
#include <optional>

namespace sb::stats {

/// How the first value weighs: as if it had been there for ever, or like any other of its age.
enum class ewm_start : std::uint8_t { recursive, normalised };

class ewm {
public:
    /// `alpha`: the weight of the newest, above 0 and at most 1; with another there is never an answer (`bad_request`).
    explicit ewm(double alpha, ewm_start start = ewm_start::recursive) noexcept : alpha_{alpha}, start_{start}, why_{alpha > 0 && alpha <= 1 ? no_answer::none : no_answer::bad_request} {}

    void push(double x) noexcept {
        if (why_ != no_answer::none) return;
        if (count_ == 0) origin_ = x;
        double const at = x - origin_, keeps = 1 - alpha_;
        double const weight = count_ == 0 || start_ == ewm_start::normalised ? 1 : alpha_;
        weights_ *= keeps, weights_squared_ *= keeps * keeps, squares_ *= keeps;
        weights_ += weight, weights_squared_ += weight * weight;
        double const off = at - mean_;
        mean_ += off * (weight / weights_);
        squares_ += weight * off * (at - mean_);
        ++count_;
    }
    no_answer why() const noexcept { return why_ == no_answer::none && count_ == 0 ? no_answer::too_short : why_; }
    std::int64_t count() const noexcept { return count_; }
    std::optional<double> mean() const noexcept { return count_ > 0 ? std::optional{origin_ + mean_} : std::nullopt; }
    /// Of these values themselves.
    std::optional<double> spread() const noexcept { return count_ > 0 ? std::optional{std::sqrt(squares_ / weights_)} : std::nullopt; }
    /// Of what they are a sample of.
    std::optional<double> stddev() const noexcept {
        double const freedom = weights_ - weights_squared_ / weights_;
        return count_ > 1 && freedom > 0 ? std::optional{std::sqrt(squares_ / freedom)} : std::nullopt;
    }

private:
    double alpha_;
    ewm_start start_;
    no_answer why_;
    std::int64_t count_ = 0;
    double origin_ = 0, mean_ = 0, squares_ = 0, weights_ = 0, weights_squared_ = 0;
};

} // namespace sb::stats
