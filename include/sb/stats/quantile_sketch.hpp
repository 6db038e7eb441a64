// SPDX-License-Identifier: MIT
// Quantiles of a stream in bounded memory, each with a bounded relative error; parts merge to the same bytes in any order.
//
// How it works: values are counted in buckets, as in DDSketch (Masson, Rim and Lee 2019), but a bucket is the first bits of the
// double itself: its sign, its power of two and a few bits of its fraction. So no logarithm is rounded, and buckets are halved in
// number by dropping one bit more. That is done when they span too many, which depends on the values alone and not on their order:
// the bits that are left are the most with which all values fit.
#pragma once
#include <sb/stats/quantile.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace sb::stats {

/// Counts of neighbouring buckets, the first and the last of them not empty. A bucket's number is the first bits of its values.
struct sketch_side {
    std::uint32_t first = 0;
    std::vector<std::uint64_t> counts;
    bool operator==(sketch_side const&) const = default;
};

/// The whole state of a sketch, to be stored and compared.
struct sketch_state {
    int bits = 0; ///< of the fraction that number a bucket: 2^bits buckets for each doubling
    std::uint64_t zeros = 0; ///< values below 2.2e-308 in size
    std::uint64_t not_finite = 0;
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity(); ///< exactly
    sketch_side negative, positive; ///< by their size
    bool operator==(sketch_state const&) const = default;
};

class quantile_sketch {
public:
    static constexpr int most_bits = 10;
    static constexpr std::size_t most_buckets = 4096; ///< of eight bytes each; never more than 4092 are needed without any bit

    /// With so many bits to begin with, 0 … 10: quantiles are within 1 / (2^(bits + 1) + 1) of themselves, 0.4 % with seven, while
    /// the smallest and the largest size (of each sign, together) are less than 4096 / 2^bits doublings apart: 32 with seven.
    explicit quantile_sketch(int bits = 7) { state_.bits = std::clamp(bits, 0, most_bits); }
    /// A sketch from a stored state; none if no sketch can have that state.
    static std::optional<quantile_sketch> of(sketch_state state) {
        quantile_sketch sketch{state.bits};
        sketch.state_ = std::move(state);
        return sketch.is_whole() ? std::optional{std::move(sketch)} : std::nullopt;
    }

    void push(double x, std::uint64_t times = 1) {
        if (times == 0) return;
        if (!std::isfinite(x)) {
            state_.not_finite += times;
            return;
        }
        x += 0.0; // minus zero is none
        state_.least = std::min(state_.least, x), state_.most = std::max(state_.most, x);
        count_ += times;
        double const size = std::abs(x);
        if (size < std::numeric_limits<double>::min()) {
            state_.zeros += times;
            return;
        }
        auto& side = x < 0 ? state_.negative : state_.positive;
        auto const at = key(size) - side.first; // what lies below wraps to far above
        if (at < side.counts.size()) [[likely]] side.counts[at] += times;
        else push_beside(side, size, times);
    }
    void merge(quantile_sketch const& other) {
        if (&other == this) return merge(quantile_sketch{other});
        auto const& from = other.state_;
        while (state_.bits > from.bits) drop_bit();
        while (span(state_.negative, from.negative, from.bits) + span(state_.positive, from.positive, from.bits) > most_buckets) drop_bit();
        add(state_.negative, from.negative, from.bits), add(state_.positive, from.positive, from.bits);
        count_ += other.count_, state_.zeros += from.zeros, state_.not_finite += from.not_finite;
        state_.least = std::min(state_.least, from.least), state_.most = std::max(state_.most, from.most);
    }

    std::uint64_t count() const noexcept { return count_; } ///< of finite values
    sketch_state const& state() const noexcept { return state_; }
    /// The relative error of a quantile is at most this, apart from rounding.
    double relative_error() const noexcept { return 1 / (std::ldexp(1.0, state_.bits + 1) + 1); }

    /// About the value that `quantile_rule::step` finds among all that were pushed; the least and the largest value exactly. Not
    /// finite where any value was not.
    quantile_answer quantile(double p) const noexcept {
        quantile_answer answer;
        answer.n = static_cast<std::size_t>(count_), answer.value = std::numeric_limits<double>::quiet_NaN();
        answer.why = !(p >= 0 && p <= 1) ? no_answer::bad_request : state_.not_finite > 0 ? no_answer::not_finite : count_ == 0 ? no_answer::too_short : no_answer::none;
        if (answer) answer.value = std::clamp(nth(detail::place_of_quantile(answer.n, p, quantile_rule::step).at), state_.least, state_.most);
        return answer;
    }
    bool operator==(quantile_sketch const&) const = default;

private:
    std::uint32_t key(double size) const noexcept { return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(size) >> (52 - state_.bits)); }
    /// Nearest to both ends of a bucket, as a share of either: their harmonic mean.
    double middle(std::uint32_t key) const noexcept {
        auto const leading_bit = std::uint32_t{1} << state_.bits;
        auto const part = static_cast<double>(leading_bit | (key & (leading_bit - 1))); // the lower end, of which the upper is one more
        return std::bit_cast<double>(std::uint64_t{key} << (52 - state_.bits)) * (1 + 1 / (2 * part + 1));
    }
    double nth(std::uint64_t rank) const noexcept {
        if (rank == 0) return state_.least;
        if (rank + 1 == count_) return state_.most;
        auto const& [first, counts] = state_.negative; // the largest sizes come first
        for (std::size_t i = counts.size(); i-- > 0; rank -= counts[i])
            if (rank < counts[i]) return -middle(first + static_cast<std::uint32_t>(i));
        if (rank < state_.zeros) return 0;
        rank -= state_.zeros;
        auto const& up = state_.positive;
        for (std::size_t i = 0; i < up.counts.size(); rank -= up.counts[i++])
            if (rank < up.counts[i]) return middle(up.first + static_cast<std::uint32_t>(i));
        return state_.most;
    }

    void push_beside(sketch_side& side, double size, std::uint64_t times) {
        sketch_side const one{key(size), {times}};
        auto const bits = state_.bits;
        auto& other = &side == &state_.negative ? state_.positive : state_.negative;
        while (span(side, one, bits) + other.counts.size() > most_buckets) drop_bit();
        add(side, one, bits);
    }
    /// Buckets from the first to the last of both.
    std::size_t span(sketch_side const& own, sketch_side const& more, int bits) const noexcept {
        if (more.counts.empty()) return own.counts.size();
        auto const [first, last] = ends(more, bits);
        if (own.counts.empty()) return last - first + 1;
        return std::max(last, own.first + static_cast<std::uint32_t>(own.counts.size()) - 1) - std::min(first, own.first) + 1;
    }
    /// The numbers of the first and the last bucket, with the bits that are left here.
    std::pair<std::uint32_t, std::uint32_t> ends(sketch_side const& side, int bits) const noexcept {
        auto const last = side.first + static_cast<std::uint32_t>(side.counts.size()) - 1;
        return {side.first >> (bits - state_.bits), last >> (bits - state_.bits)};
    }
    void add(sketch_side& own, sketch_side const& more, int bits) {
        if (more.counts.empty()) return;
        auto const [first, last] = ends(more, bits);
        if (own.counts.empty()) own.first = first;
        if (first < own.first) own.counts.insert(own.counts.begin(), own.first - first, 0), own.first = first;
        own.counts.resize(std::max<std::size_t>(own.counts.size(), last - own.first + 1));
        for (std::size_t i = 0; i < more.counts.size(); ++i) own.counts[((more.first + i) >> (bits - state_.bits)) - own.first] += more.counts[i];
    }
    void drop_bit() {
        --state_.bits;
        for (auto* const side : {&state_.negative, &state_.positive}) {
            auto const old = std::exchange(*side, {});
            add(*side, old, state_.bits + 1);
        }
    }
    /// Is the state one that values can lead to? Counts them.
    bool is_whole() noexcept {
        if (state_.bits < 0 || state_.bits > most_bits) return false;
        auto const add_up = [&](std::uint64_t more) { return (count_ += more) >= more; };
        if (!add_up(state_.zeros)) return false;
        for (auto const& side : {std::cref(state_.negative), std::cref(state_.positive)}) {
            auto const& [first, counts] = side.get();
            if (counts.empty()) {
                if (first != 0) return false;
                continue;
            }
            if (counts.size() > most_buckets || counts.front() == 0 || counts.back() == 0) return false;
            if (first < std::uint32_t{1} << state_.bits || first + counts.size() > std::uint64_t{2047} << state_.bits) return false;
            for (auto const count : counts)
                if (!add_up(count)) return false;
        }
        if (state_.negative.counts.size() + state_.positive.counts.size() > most_buckets) return false;
        if (count_ == 0) return state_.least == std::numeric_limits<double>::infinity() && state_.most == -state_.least;
        return state_.least <= state_.most && holds(state_.least, true) && holds(state_.most, false);
    }
    /// Does this value lie in the lowest bucket of all, or in the highest?
    bool holds(double x, bool lowest) const noexcept {
        auto const& outer = lowest ? state_.negative : state_.positive;
        auto const& inner = lowest ? state_.positive : state_.negative;
        double const size = lowest ? -x : x;
        if (!std::isfinite(x)) return false;
        if (!outer.counts.empty()) return size >= std::numeric_limits<double>::min() && key(size) == outer.first + outer.counts.size() - 1;
        if (state_.zeros > 0) return std::abs(x) < std::numeric_limits<double>::min();
        return -size >= std::numeric_limits<double>::min() && key(-size) == inner.first;
    }

    sketch_state state_;
    std::uint64_t count_ = 0;
};

} // namespace sb::stats
