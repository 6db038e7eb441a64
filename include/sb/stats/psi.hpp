// SPDX-License-Identifier: MIT
// The population stability index: how far have recent values moved from a baseline, over equal bins of the baseline?
#pragma once
#include <sb/core/random.hpp>
#include <sb/stats/answer.hpp>
#include <sb/stats/chi_square.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace sb::stats {

/// Where recent values beyond the baseline's range go: into the bins at the ends, or nowhere. Older programs drop them; then a sample
/// that is wholly out of range looks like an empty one.
enum class psi_ends : std::uint8_t { into_end_bins, dropped };

/// The bins of a constant baseline: less, equal and more. Or the usual number of bins over a range of width 1 around it, as numpy's
/// histogram has them; the result then depends on the unit, and far from zero no double holds such bins.
enum class psi_flat : std::uint8_t { three_bins, unit_wide };

struct psi_request {
    std::size_t bins = 10;
    psi_ends ends = psi_ends::into_end_bins;
    double empty = 1e-4; ///< the share of a bin without values
    psi_flat flat = psi_flat::three_bins;
};

struct psi_answer {
    no_answer why = no_answer::none;
    double index = 0;
    double p = 0; ///< of an index this large when nothing has moved: by chi square, or by shuffles where a bin is thin; NaN where that would take long
    std::size_t baseline = 0, recent = 0; ///< values
    std::size_t outside = 0; ///< recent ones beyond the baseline's range
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

namespace detail {

inline constexpr double fewest_in_bin = 5; ///< values of either sample that a bin is expected to hold where chi square is good
inline constexpr std::size_t most_shuffles = 999, fewest_shuffles = 99;
inline constexpr double most_psi_steps = 2e7; ///< values looked at for shuffles, a fraction of a second

/// Only the index, for samples that are finite and not empty.
class psi_index {
public:
    /// `counts` holds `counts_of(asked)`; what was counted stays there.
    psi_index(psi_request const& asked, std::span<double> counts) noexcept : asked_{asked}, counts_{counts} {}
    static std::size_t counts_of(psi_request const& asked) noexcept { return 2 * std::max<std::size_t>(asked.bins, 3); }

    /// NaN where the range of the baseline is too large for a double.
    double of(std::span<double const> baseline, std::span<double const> recent) noexcept {
        auto const [least, most] = std::minmax_element(baseline.begin(), baseline.end());
        low_ = *least, high_ = *most, bins_ = asked_.bins;
        if (low_ == high_) {
            double const step = 0.5 / static_cast<double>(bins_);
            if (asked_.flat == psi_flat::unit_wide && low_ - step < low_ && low_ + step > low_) low_ -= 0.5, high_ += 0.5;
            else bins_ = 3;
        }
        before_ = counts_.first(bins_), after_ = counts_.last(bins_);
        if (!std::isfinite(high_ - low_)) return std::numeric_limits<double>::quiet_NaN();
        std::fill(before_.begin(), before_.end(), 0.0), std::fill(after_.begin(), after_.end(), 0.0);
        for (double const x : baseline) ++before_[bin_of(x)];
        double counted = 0;
        outside_ = 0;
        for (double const x : recent) {
            bool const outside = x < low_ || x > high_;
            outside_ += outside;
            if (outside && asked_.ends == psi_ends::dropped) continue;
            ++after_[bin_of(x)], ++counted;
        }
        auto const share = [&](double count, double whole) { return count > 0 ? count / whole : asked_.empty; };
        double index = 0;
        for (std::size_t i = 0; i < before_.size(); ++i) {
            double const was = share(before_[i], static_cast<double>(baseline.size())), is = share(after_[i], counted);
            index += (is - was) * std::log(is / was);
        }
        return index;
    }
    std::size_t outside() const noexcept { return outside_; }
    std::size_t bins() const noexcept { return bins_; }
    /// Whether a bin is expected to hold too few of the smaller sample.
    bool thin(double smaller, double whole) const noexcept {
        for (std::size_t i = 0; i < before_.size(); ++i)
            if ((before_[i] + after_[i]) * smaller / whole < fewest_in_bin) return true;
        return false;
    }

private:
    double edge(std::size_t i) const noexcept { return i == before_.size() ? high_ : low_ + static_cast<double>(i) * ((high_ - low_) / static_cast<double>(before_.size())); }
    std::size_t bin_of(double x) const noexcept { // each begins with its lower edge; the last holds its upper one too
        if (low_ == high_) return x < low_ ? 0 : x > high_ ? 2 : 1;
        auto const bins = before_.size();
        auto at = static_cast<std::size_t>(std::clamp((x - low_) / (high_ - low_) * static_cast<double>(bins), 0.0, static_cast<double>(bins - 1)));
        while (at > 0 && x < edge(at)) --at;
        while (at + 1 < bins && x >= edge(at + 1)) ++at;
        return at;
    }
    psi_request asked_;
    std::span<double> counts_, before_, after_;
    std::size_t bins_ = 0;
    double low_ = 0, high_ = 0;
    std::size_t outside_ = 0;
};

} // namespace detail

/// `room` is memory that the caller lends.
inline psi_answer psi(std::span<double const> baseline, std::span<double const> recent, psi_request const& asked, std::vector<double>& room) {
    psi_answer answer;
    answer.baseline = baseline.size(), answer.recent = recent.size();
    auto const none = [&](no_answer why) {
        answer.why = why, answer.index = answer.p = std::numeric_limits<double>::quiet_NaN();
        return answer;
    };
    if (!all_finite(baseline) || !all_finite(recent)) return none(no_answer::not_finite);
    if (baseline.empty() || recent.empty()) return none(no_answer::too_short);
    if (asked.bins < 2 || !(asked.empty > 0)) return none(no_answer::bad_request);
    auto const whole = baseline.size() + recent.size();
    auto const counts = detail::psi_index::counts_of(asked);
    room.resize(counts + whole);
    auto const sorted = std::span{room}.last(whole);
    std::copy(recent.begin(), recent.end(), std::copy(baseline.begin(), baseline.end(), sorted.begin()));
    detail::psi_index counter{asked, std::span{room}.first(counts)};
    answer.index = counter.of(baseline, recent);
    if (!std::isfinite(answer.index)) return none(no_answer::not_finite);
    answer.outside = counter.outside();
    auto const n = static_cast<double>(whole);
    if (!counter.thin(static_cast<double>(std::min(baseline.size(), recent.size())), n)) {
        double const weight = 1 / static_cast<double>(baseline.size()) + 1 / static_cast<double>(recent.size());
        answer.p = chi_square_upper(answer.index / weight, static_cast<double>(counter.bins() - 1));
        return answer;
    }
    // thin bins: how often does a random division of the pooled values give as large an index?
    auto const shuffles = static_cast<std::size_t>(std::min(static_cast<double>(detail::most_shuffles), detail::most_psi_steps / n));
    if (shuffles < detail::fewest_shuffles) return answer.p = std::numeric_limits<double>::quiet_NaN(), answer;
    random_stream chance{1};
    std::size_t as_large = 1; // as it came is one way of dealing
    for (std::size_t round = 0; round < shuffles; ++round) {
        for (std::size_t i = 0; i + 1 < whole && i < baseline.size(); ++i) std::swap(sorted[i], sorted[i + chance.below(whole - i)]);
        double const index = counter.of(sorted.first(baseline.size()), sorted.last(recent.size()));
        as_large += !(index < answer.index * (1 - 1e-12));
    }
    answer.p = static_cast<double>(as_large) / static_cast<double>(shuffles + 1);
    return answer;
}
inline psi_answer psi(std::span<double const> baseline, std::span<double const> recent, psi_request const& asked = {}) {
    std::vector<double> room;
    return psi(baseline, recent, asked, room);
}

} // namespace sb::stats
