// SPDX-License-Identifier: MIT
// Where values fall most clearly apart into two stretches, by the energy distance of Székely and Rizzo: the first step of
// e-divisive (Matteson and James 2014), over all pairs of a split and an end.
//
// How it works: the gain of a pair is 2/end (whole - (end - 1) (before/(at - 1) + within/(size - 1))), where whole, before and within
// are the sums of distances up to the end, before the split and behind it, and size is how many values lie behind it. Eight
// ends walk back together, each a split behind the next, so that all have one size (energy_walk.hpp); memory is one row. A pair
// that may be the best so far is then judged by the definition.
#pragma once
#include <sb/stats/energy_walk.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sb::stats {

struct split {
    std::size_t at = 0, end = 0; ///< one stretch ends before `at`, where the other begins, which ends before `end`
    double gain = 0; ///< m n / (m + n) times the energy distance of the two; 0: there is no split
};

class split_finder {
public:
    explicit split_finder(instruction_set with) noexcept : walk_{detail::energy_walk::with(with)} {}
    split_finder() noexcept : walk_{detail::energy_walk::chosen()} {}

    /// No stretch is shorter than `least` values; all values are finite. The finder's memory serves call after call.
    split best(std::span<double const> values, std::size_t least = 1) {
        least = std::max<std::size_t>(least, 1);
        auto const n = values.size();
        split found;
        if (n < 2 * least) return found;
        prepare(values, least);
        for (std::size_t first = 0; first < n; first += ends) take(first, n, least, found);
        return found;
    }

private:
    static constexpr std::size_t ends = detail::energy_walk::ends;
    static constexpr double infinite = std::numeric_limits<double>::infinity();

    /// What lies before the first value and behind the last one is read, but never counts.
    void prepare(std::span<double const> values, std::size_t least) {
        auto const n = values.size();
        lead_ = ends + least; // the first ends walk back over a shortest stretch, and further than there are values
        values_.assign(lead_ + n + ends, values.back());
        std::copy(values.begin(), values.end(), values_.begin() + static_cast<std::ptrdiff_t>(lead_));
        within_.assign(lead_ + n + ends, 0);
        before_.assign(n + ends + 1, 0);
        before_each_.assign(lead_ + n + ends + 1, 0);
        std::fill_n(before_each_.begin(), lead_ + least, infinite);
        while (inverse_.size() < n + ends) inverse_.push_back(inverse_.empty() ? 0 : 1 / static_cast<double>(inverse_.size()));
        least_ = least;
    }

    /// Ends behind the values `first` to `first` + 7.
    void take(std::size_t first, std::size_t n, std::size_t least, split& found) noexcept {
        double const* const x = values_.data() + lead_;
        detail::energy_walk::place here;
        for (std::size_t k = 0; k < ends; ++k) here.last[k] = x[first + k];
        walk_.distances(x, first, here.last, here.back); // of each new value to all before
        double whole[ends];
        for (std::size_t k = 0; k < ends; ++k) {
            auto const end = first + k + 1;
            double row = here.back[k];
            for (std::size_t i = first; i < first + k; ++i) row += std::abs(x[i] - x[first + k]);
            whole[k] = (k > 0 ? whole[k - 1] : before_[first]) + row;
            if (end > n) continue;
            before_[end] = whole[k];
            if (end >= least_) before_each_[lead_ + end] = end > 1 ? whole[k] / static_cast<double>(end - 1) : 0;
        }
        // what before/(at - 1) + within/(size - 1) is below where the gain is larger; rounding is let pass, and judged there
        auto const set_limits = [&] {
            for (std::size_t k = 0; k < ends; ++k) {
                auto const end = static_cast<double>(first + k + 1);
                here.limit[k] = first + k < n && first + k > 0 ? (whole[k] * (1 + 1e-12) - found.gain * end / 2) / (end - 1) : -infinite;
            }
        };
        for (std::size_t k = 0; k < ends; ++k) here.back[k] = here.within[k] = 0, here.limit[k] = -infinite;
        here.values = x + first, here.row = within_.data() + lead_ + first, here.each = before_each_.data() + lead_ + first, here.inverse = inverse_.data();
        walk_.back(here, least - 1); // too short to be a stretch
        set_limits();
        for (auto const steps = first + ends > least ? first + ends - least : 0; walk_.back(here, steps);) {
            auto const step = here.steps - 1; // which has one that may be better
            for (std::size_t k = 0; k < ends; ++k) {
                if (first + k < step + least || first + k >= n) continue;
                auto const at = first + k - step, end = first + k + 1, size = step + 1;
                double const between = whole[k] - before_[at] - here.within[k];
                double const of_later = static_cast<double>(at) * here.within[k] * inverse_[step];
                double const gain = 2 / static_cast<double>(end) * (between - static_cast<double>(size) * before_each_[lead_ + at] - of_later);
                if (gain > found.gain) found = {at, end, gain};
            }
            set_limits();
        }
    }

    detail::energy_walk walk_;
    std::vector<double> values_, inverse_;
    std::vector<double> within_; // of each split, up to the last end that was taken
    std::vector<double> before_, before_each_; // of each split: within the earlier stretch, and by one value less than it has
    std::size_t least_ = 1, lead_ = ends; // values that a stretch has at least; places before the first value
};

} // namespace sb::stats
