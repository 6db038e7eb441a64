// SPDX-License-Identifier: MIT
// Where values fall most clearly apart into two stretches, by the energy distance of Székely and Rizzo: the first step of
// e-divisive (Matteson and James 2014), over all pairs of a split and an end.
//
// How it works: within and between stretches stand sums of distances. For each end, walking back from it, the sum within the
// later stretch grows by the new value's distances; that of the earlier one is known from earlier ends, and what lies between
// is the rest. Four ends go back together, so memory is one row, and each pair takes a few instructions.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
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
    /// No stretch is shorter than `least` values; all values are finite. The splitter's memory serves call after call.
    split best(std::span<double const> values, std::size_t least = 1) {
        least = std::max<std::size_t>(least, 1);
        auto const n = values.size();
        split found;
        if (n < 2 * least) return found;
        prepare(values);
        for (std::size_t first = 0; first < n; first += ends) take(first, n, least, found);
        return found;
    }

private:
    using pair = double __attribute__((vector_size(16))); // what every processor of the kind can do at once
    using bits = long long __attribute__((vector_size(16)));
    static constexpr std::size_t ends = 4;

    void prepare(std::span<double const> values) {
        auto const n = values.size();
        values_.assign(n + ends, values.back());
        std::copy(values.begin(), values.end(), values_.begin());
        within_.assign(n + ends, 0);
        before_.assign(n + ends + 1, 0), before_each_.assign(n + ends + 1, 0);
        if (inverse_.size() < n + 2 * ends) {
            inverse_.resize(n + 2 * ends);
            for (std::size_t i = 0; i < inverse_.size(); ++i) inverse_[i] = i == 0 ? 0 : 1 / static_cast<double>(i);
        }
    }
    static pair load(double const* from) noexcept {
        pair both;
        std::memcpy(&both, from, sizeof both);
        return both;
    }
    static pair absolute(pair x) noexcept {
        constexpr long long but_sign = std::numeric_limits<long long>::max();
        return reinterpret_cast<pair>(reinterpret_cast<bits>(x) & bits{but_sign, but_sign});
    }
    /// The second with the first.
    static pair sums(pair x) noexcept { return x + __builtin_shufflevector(pair{}, x, 0, 2); }

    /// Ends behind the values `first` to `first` + 3.
    void take(std::size_t first, std::size_t n, std::size_t least, split& found) noexcept {
        double const* const x = values_.data();
        pair const low = load(x + first), high = load(x + first + 2);
        pair low_sum{}, high_sum{}; // distances of each new value to all before it: what an end adds to the whole
        for (std::size_t i = 0; i < first; ++i) low_sum += absolute(x[i] - low), high_sum += absolute(x[i] - high);
        double const row[ends] = {low_sum[0], low_sum[1], high_sum[0], high_sum[1]};
        double whole[ends], share[ends], back[ends]{};
        for (std::size_t k = 0; k < ends; ++k) {
            auto const end = first + k + 1;
            whole[k] = (k > 0 ? whole[k - 1] : before_[first]) + row[k];
            for (std::size_t i = first; i < first + k; ++i) whole[k] += std::abs(x[i] - x[first + k]);
            before_[end] = whole[k];
            before_each_[end] = end > 1 ? whole[k] / static_cast<double>(end - 1) : 0;
            share[k] = 2 / static_cast<double>(end);
        }
        auto const last = std::min(ends, n - first); // ends that there are
        auto const look = [&](std::size_t at, std::size_t k, double within) {
            auto const size = static_cast<double>(first + k + 1 - at);
            double const between = whole[k] - before_[at] - within;
            double const here = share[k] * (between - size * before_each_[at] - static_cast<double>(at) * within * inverse_[first + k - at]);
            if (here > found.gain) found = {at, first + k + 1, here};
        };
        // splits among or near the new values, one by one
        auto at = first + ends - 1;
        auto const apart = first > least ? first - least : 0; // from here on all ends are far enough
        for (; at > apart && at >= least; --at) {
            double within = within_[at];
            for (std::size_t k = at > first ? at - first : 0; k < last; ++k) {
                back[k] += std::abs(x[at] - x[first + k]);
                within += back[k];
                if (first + k + 1 >= at + least) look(at, k, within);
            }
            within_[at] = within;
        }
        if (at > apart || at < least) return;
        // the others, four ends at once; to be larger than the best so far is rare
        pair low_back = load(back), high_back = load(back + 2), low_bound, high_bound;
        pair const low_whole = load(whole), high_whole = load(whole + 2);
        auto const set_bounds = [&] {
            double bound[ends];
            for (std::size_t k = 0; k < ends; ++k) bound[k] = k < last ? found.gain / share[k] : std::numeric_limits<double>::infinity();
            low_bound = load(bound), high_bound = load(bound + 2);
        };
        set_bounds();
        double const nearest = static_cast<double>(first + 1 - at);
        pair low_size = pair{0, 1} + nearest, high_size = low_size + 2.0;
        for (; at >= least; --at) {
            low_back += absolute(x[at] - low), high_back += absolute(x[at] - high);
            pair const low_within = sums(low_back) + within_[at];
            pair const high_within = sums(high_back) + low_within[1];
            within_[at] = high_within[1];
            double const* const inverse = inverse_.data() + (first - at);
            double const place = static_cast<double>(at), each = before_each_[at], early = before_[at];
            pair const low_gain = low_whole - early - low_within - low_size * each - place * low_within * load(inverse);
            pair const high_gain = high_whole - early - high_within - high_size * each - place * high_within * load(inverse + 2);
            auto const more = (low_gain > low_bound) | (high_gain > high_bound);
            if (__builtin_expect((more[0] | more[1]) != 0, 0)) {
                double const within[ends] = {low_within[0], low_within[1], high_within[0], high_within[1]};
                for (std::size_t k = 0; k < last; ++k) look(at, k, within[k]);
                set_bounds();
            }
            low_size += 1, high_size += 1;
        }
    }

    std::vector<double> values_, inverse_;
    std::vector<double> within_; // of each split, up to the last end that was taken
    std::vector<double> before_, before_each_; // of each split: within the earlier stretch, and by one value less than it has
};

} // namespace sb::stats
