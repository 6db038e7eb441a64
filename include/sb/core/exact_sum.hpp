// SPDX-License-Identifier: MIT
// Sums of doubles and of their squares without any rounding, so that the result does not depend on order, threads or shards.
#pragma once
#include <sb/core/exact_integer.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace sb {

/// Count, sum and sum of squares of finite doubles, kept exactly. A double is a 53-bit integer times a power of two:
/// one bin for each power adds the integers and their squares, as the small superaccumulator of Neal (2015) adds
/// parts of them; bins are made for the powers that occur, so that most sums take a few hundred bytes.
class exact_sum {
public:
    void push(double x) {
        auto const raw = std::bit_cast<std::uint64_t>(x);
        auto const field = static_cast<int>(raw >> 52 & 0x7ff);
        auto const fraction = raw & ((std::uint64_t{1} << 52) - 1);
        auto const significand = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
        auto const power = field == 0 ? 1 : field;
        auto const at = static_cast<std::size_t>(power - first_); // what lies below wraps to far above
        if (at >= bins_.size() || pending_ == fold_every) [[unlikely]]
            return push_slowly(significand, power, raw >> 63 != 0);
        ++pending_, ++count_;
        add(bins_[at], significand, raw >> 63 != 0);
    }
    void merge(exact_sum const& other) {
        add_count(other.count_);
        sum_ += other.sum();
        squares_ += other.squares();
    }

    /// Exact up to 2^61. A larger count can only come from a forged state, and stays larger.
    std::int64_t count() const noexcept { return count_; }
    exact_integer sum() const {
        auto sum = sum_;
        for (std::size_t i = 0; i < bins_.size(); ++i) {
            bool const negative = bins_[i].sum < 0;
            auto const size = static_cast<wide_natural>(bins_[i].sum);
            sum += exact_integer{negative ? 0 - size : size, weight(first_ + static_cast<int>(i)), negative};
        }
        return sum;
    }
    exact_integer squares() const {
        auto squares = squares_;
        for (std::size_t i = 0; i < bins_.size(); ++i)
            squares += exact_integer{bins_[i].squares, 2 * weight(first_ + static_cast<int>(i)), false};
        return squares;
    }
    /// The state of another sum, as `count()`, `sum()` and `squares()` gave it.
    void merge(std::int64_t count, exact_integer sum, exact_integer squares) {
        add_count(count);
        sum_ += std::move(sum);
        squares_ += std::move(squares);
    }

private:
    struct bin {
        wide_integer sum = 0;
        wide_natural squares = 0;
    };
    // a square has at most 106 bits: 2^21 of them stay below 2^127
    static constexpr std::uint32_t fold_every = std::uint32_t{1} << 21;
    static constexpr std::size_t most_bins = 256;

    void add_count(std::int64_t more) noexcept {
        constexpr auto most = std::int64_t{1} << 61; // whatever is added to two of these, one by one, is far from an overflow
        count_ = std::min(count_, most) + std::min(more, most);
    }
    static int weight(int power) noexcept { return power - 1075; } // of a significand's last bit
    static void add(bin& b, std::uint64_t significand, bool negative) noexcept {
        auto const flip = -static_cast<std::int64_t>(negative); // no branch: signs follow no pattern
        b.sum += (static_cast<std::int64_t>(significand) ^ flip) - flip;
        b.squares += static_cast<wide_natural>(significand) * significand;
    }
    void push_slowly(std::uint64_t significand, int power, bool negative) {
        if (pending_ == fold_every) fold();
        ++pending_, ++count_;
        if (significand == 0) return;
        auto const last = first_ + static_cast<int>(bins_.size());
        auto const low = bins_.empty() ? power : std::min(first_, power), high = bins_.empty() ? power + 1 : std::max(last, power + 1);
        if (static_cast<std::size_t>(high - low) > most_bins) { // a stray: rare enough for the slow way
            sum_ += exact_integer{significand, weight(power), negative};
            squares_ += exact_integer{static_cast<wide_natural>(significand) * significand, 2 * weight(power), false};
            return;
        }
        bins_.insert(bins_.begin(), bins_.empty() ? 0 : static_cast<std::size_t>(first_ - low), bin{});
        bins_.resize(static_cast<std::size_t>(high - low));
        first_ = low;
        add(bins_[static_cast<std::size_t>(power - first_)], significand, negative);
    }
    void fold() {
        sum_ = sum(), squares_ = squares();
        for (auto& b : bins_) b = {};
        pending_ = 0;
    }

    std::vector<bin> bins_; // one for each exponent field from `first_` on
    int first_ = 0;
    std::uint32_t pending_ = 0; // pushed since the last fold
    std::int64_t count_ = 0;
    exact_integer sum_, squares_; // what was folded, merged, or lay too far off
};

} // namespace sb
