// SPDX-License-Identifier: MIT
// The interval of a bounded mean that is narrowest when values are few, and holds at every look.
//
// How it works: the hedged capital of Waudby-Smith and Ramdas (2024, theorem 3). Against each of a row of means two bettors play,
// one on more and one on less, and a mean whose bettor made 2/α of one is ruled out. The one capital falls with the mean and the
// other rises, so that what lies beyond a mean that is ruled out is ruled out too: between two of the row, the outer one counts.
// Fifteen times the work of bounded_sequence, which comes as close from a thousand values on.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/confidence_sequence.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace sb::stats {

/// The mean of values that lie between `lo` and `hi`, however they are distributed, to one part in `Places` of that width. A value
/// outside the bounds ends it (`bad_request`), as does one that is not finite.
template <std::size_t Places = 256>
class betting_sequence {
public:
    betting_sequence(double lo, double hi, double alpha = 0.05) noexcept : values_{lo, hi, alpha}, alpha_{alpha} {
        more_.fill(1), less_.fill(1);
    }
    void push(double x) noexcept {
        double at = 0;
        if (!values_.take(x, at)) return;
        double const t = values_.count(), variance = (squares_ + 0.25) / t;
        double const bet = std::sqrt(2 * std::log(2 / alpha_) / (variance * t * std::log(1 + t)));
        sum_ += at;
        double const off = at - (sum_ + 0.5) / (t + 1);
        squares_ += off * off;
        // nobody bets more than half of what there is; what is beyond any need is put aside, for good
        for (std::size_t i = 0; i <= Places; ++i) {
            double const mean = static_cast<double>(i) / Places, gain = at - mean;
            more_[i] = std::min(most, more_[i] * (1 + std::min(bet, half_over_[i]) * gain));
            less_[i] = std::min(most, less_[i] * (1 - std::min(bet, half_over_[Places - i]) * gain));
        }
    }
    sequence_answer now() const noexcept {
        auto answer = values_.frame();
        if (!answer) return answer;
        answer.estimate = values_.value(sum_ / values_.count());
        auto const beaten = [&](double capital) { return capital >= 2 / alpha_; };
        auto const low = std::partition_point(more_.begin(), more_.end(), beaten) - more_.begin();
        auto const high = std::partition_point(less_.begin(), less_.end(), [&](double capital) { return !beaten(capital); }) - less_.begin();
        if (low > 0) answer.within.lo = values_.value(static_cast<double>(low - 1) / Places);
        if (high <= static_cast<std::ptrdiff_t>(Places)) answer.within.hi = values_.value(static_cast<double>(high) / Places);
        return answer;
    }
    /// The logarithm of the evidence against this mean, or a little less, from its two neighbours in the row. 0: none.
    double log_e(double mean) const noexcept {
        if (!values_.has_answer() || !std::isfinite(mean)) return 0;
        double const at = std::clamp(values_.share(mean), 0.0, 1.0) * Places;
        return std::log((more_[static_cast<std::size_t>(std::ceil(at))] + less_[static_cast<std::size_t>(std::floor(at))]) / 2);
    }

private:
    static constexpr double most = 1e290;
    static constexpr std::array<double, Places + 1> half_over_ = [] { // the means of the row
        std::array<double, Places + 1> places{};
        places[0] = 1e300;
        for (std::size_t i = 1; i <= Places; ++i) places[i] = 0.5 * Places / static_cast<double>(i);
        return places;
    }();
    detail::bounded_values values_;
    double alpha_;
    double sum_ = 0, squares_ = 0; // of the values in [0, 1], and of their distances from the mean up to each
    std::array<double, Places + 1> more_, less_;
};

} // namespace sb::stats
