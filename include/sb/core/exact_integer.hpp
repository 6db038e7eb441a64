// SPDX-License-Identifier: MIT
// A whole number of any size times a power of two: what sums of doubles and of their squares are, exactly.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sb {

__extension__ using wide_natural = unsigned __int128;
__extension__ using wide_integer = __int128;

/// sign * magnitude * 2^scale. Sums and products are exact; `nearest()` rounds once, to nearest even.
class exact_integer {
public:
    exact_integer() = default;
    /// magnitude * 2^exponent, negative if said so.
    exact_integer(wide_natural magnitude, int exponent, bool negative) : scale_{exponent}, negative_{negative} {
        for (; magnitude != 0; magnitude >>= 64) limbs_.push_back(static_cast<std::uint64_t>(magnitude));
        tidy();
    }

    bool is_zero() const noexcept { return limbs_.empty(); }
    bool negative() const noexcept { return negative_; }

    exact_integer& operator+=(exact_integer other) {
        if (other.is_zero()) return *this;
        if (is_zero()) return *this = std::move(other);
        if (other.scale_ < scale_) std::swap(*this, other); // the finer scale holds both
        other.shift_left(other.scale_ - scale_);
        if (negative_ == other.negative_) {
            add(limbs_, other.limbs_);
        } else {
            if (compare(limbs_, other.limbs_) < 0) std::swap(limbs_, other.limbs_), negative_ = other.negative_;
            subtract(limbs_, other.limbs_);
        }
        tidy();
        return *this;
    }
    exact_integer& operator-=(exact_integer other) {
        other.negative_ = !other.negative_;
        return *this += std::move(other);
    }
    friend exact_integer operator*(exact_integer const& a, exact_integer const& b) {
        exact_integer product;
        if (a.is_zero() || b.is_zero()) return product;
        product.limbs_.resize(a.limbs_.size() + b.limbs_.size());
        for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
            std::uint64_t carry = 0;
            for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
                auto const t = wide_natural{a.limbs_[i]} * b.limbs_[j] + product.limbs_[i + j] + carry;
                product.limbs_[i + j] = static_cast<std::uint64_t>(t);
                carry = static_cast<std::uint64_t>(t >> 64);
            }
            product.limbs_[i + b.limbs_.size()] = carry;
        }
        product.scale_ = a.scale_ + b.scale_;
        product.negative_ = a.negative_ != b.negative_;
        product.tidy();
        return product;
    }

    /// The nearest double; infinite beyond the largest.
    double nearest() const {
        if (is_zero()) return 0;
        auto const top = high_bit();
        // a double's last bit is 52 below its first, and never below 2^-1074
        auto const last = std::max(top - 52 + scale_, -1074) - scale_; // index of the last bit that is kept
        double size = 0;
        if (last <= 0) { // all of it fits
            size = std::ldexp(static_cast<double>(bits(0, top + 1)), scale_);
        } else if (last <= top + 1) {
            auto kept = bits(last, top + 1 - last);
            if (bit(last - 1) && ((kept & 1) != 0 || any_below(last - 1))) ++kept; // half is up when odd or more follows
            size = std::ldexp(static_cast<double>(kept), last + scale_);
        }
        return negative_ ? -size : size;
    }

    struct term {
        std::int64_t significand; ///< odd or whole, below 2^53 in size
        int exponent;
    };
    /// The same value as a short list, largest first, each up to 53 bits: equal values give equal lists.
    std::vector<term> terms() const {
        std::vector<term> found;
        for (auto at = high_bit(); at >= 0;) {
            if (!bit(at)) {
                --at;
                continue;
            }
            auto const size = std::min(at + 1, 53);
            auto low = at + 1 - size;
            auto part = bits(low, size);
            for (; (part & 1) == 0; part >>= 1) ++low;
            auto const m = static_cast<std::int64_t>(part);
            found.push_back({negative_ ? -m : m, low + scale_});
            at -= size;
        }
        return found;
    }

private:
    using limbs = std::vector<std::uint64_t>;

    bool bit(int i) const noexcept { return (limbs_[static_cast<std::size_t>(i) / 64] >> (i % 64) & 1) != 0; }
    std::uint64_t bits(int from, int count) const noexcept { // up to 64
        std::uint64_t out = 0;
        for (int i = count; i-- > 0;) out = out << 1 | (bit(from + i) ? 1u : 0u);
        return out;
    }
    bool any_below(int i) const noexcept {
        auto const whole = static_cast<std::size_t>(i) / 64;
        for (std::size_t k = 0; k < whole; ++k)
            if (limbs_[k] != 0) return true;
        return i % 64 != 0 && (limbs_[whole] & ((std::uint64_t{1} << (i % 64)) - 1)) != 0;
    }
    /// Index of the first bit that is set, -1 for zero.
    int high_bit() const noexcept {
        return is_zero() ? -1 : static_cast<int>(limbs_.size() * 64) - 1 - std::countl_zero(limbs_.back());
    }
    void tidy() noexcept {
        while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
        if (limbs_.empty()) scale_ = 0, negative_ = false;
    }
    void shift_left(int by) {
        auto const whole = static_cast<std::size_t>(by) / 64;
        auto const rest = by % 64;
        if (rest != 0) {
            limbs_.push_back(0);
            for (auto i = limbs_.size(); i-- > 0;)
                limbs_[i] = limbs_[i] << rest | (i > 0 ? limbs_[i - 1] >> (64 - rest) : 0);
        }
        limbs_.insert(limbs_.begin(), whole, 0);
        scale_ -= by;
    }
    static int compare(limbs const& a, limbs const& b) noexcept { // both may end in zeros
        for (auto i = std::max(a.size(), b.size()); i-- > 0;) {
            auto const x = i < a.size() ? a[i] : 0, y = i < b.size() ? b[i] : 0;
            if (x != y) return x < y ? -1 : 1;
        }
        return 0;
    }
    static void add(limbs& to, limbs const& other) {
        to.resize(std::max(to.size(), other.size()) + 1);
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < to.size(); ++i) {
            auto const t = wide_natural{to[i]} + (i < other.size() ? other[i] : 0) + carry;
            to[i] = static_cast<std::uint64_t>(t);
            carry = static_cast<std::uint64_t>(t >> 64);
        }
    }
    static void subtract(limbs& from, limbs const& smaller) {
        from.resize(std::max(from.size(), smaller.size()));
        std::uint64_t borrow = 0;
        for (std::size_t i = 0; i < from.size(); ++i) {
            auto const t = wide_natural{from[i]} - (i < smaller.size() ? smaller[i] : 0) - borrow;
            from[i] = static_cast<std::uint64_t>(t);
            borrow = static_cast<std::uint64_t>(t >> 64) & 1;
        }
    }

    limbs limbs_; // least first, no zero at the end
    int scale_ = 0;
    bool negative_ = false;
};

} // namespace sb
