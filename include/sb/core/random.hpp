// SPDX-License-Identifier: MIT
// Chance that repeats: the same seed gives the same stream on every machine and compiler.
#pragma once
#include <cstdint>

namespace sb {

/// Spreads a seed over 64 bits (Steele, Lea, Flood 2014); also a good way to derive one seed from another.
constexpr std::uint64_t split_mix(std::uint64_t& state) noexcept {
    state += 0x9e3779b97f4a7c15u;
    auto z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// xoshiro256** (Blackman, Vigna 2018): small, fast, no known bias; not for secrets.
class random_stream {
public:
    explicit constexpr random_stream(std::uint64_t seed) noexcept {
        for (auto& word : state_) word = split_mix(seed);
    }
    constexpr std::uint64_t next() noexcept {
        auto const out = rotate(state_[1] * 5, 7) * 9;
        auto const shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotate(state_[3], 45);
        return out;
    }
    /// Uniform in [0, n), without the bias of a remainder (Lemire 2019). n > 0.
    constexpr std::uint64_t below(std::uint64_t n) noexcept {
        for (;;) {
            auto const wide = static_cast<wide_product>(next()) * n;
            auto const low = static_cast<std::uint64_t>(wide);
            if (low >= n || low >= (0 - n) % n) return static_cast<std::uint64_t>(wide >> 64);
        }
    }
    /// Uniform in [0, 1), 53 bits.
    constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
    constexpr bool chance(double p) noexcept { return unit() < p; }

private:
    __extension__ using wide_product = unsigned __int128;
    static constexpr std::uint64_t rotate(std::uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }
    std::uint64_t state_[4]{};
};

} // namespace sb
