// SPDX-License-Identifier: MIT
// The bits of a set of any size.
#pragma once
#include <bit>
#include <bitset>
#include <cstddef>

namespace sb::key {

/// Calls `use(i)` for each bit that is set, lowest first; works through one machine word at a time.
template <std::size_t Size, class Use>
void each_bit(std::bitset<Size> left, Use use) {
    constexpr std::size_t word = 64;
    constexpr std::bitset<Size> of_a_word{~0ull};
    for (std::size_t begin = 0; begin < Size; begin += word) {
        for (auto bits = (left & of_a_word).to_ullong(); bits != 0; bits &= bits - 1) use(begin + static_cast<std::size_t>(std::countr_zero(bits)));
        if constexpr (Size > word) left >>= word;
    }
}

/// For small sets: the first machine word itself.
struct hash_of_bits {
    template <std::size_t Size>
    std::size_t operator()(std::bitset<Size> const& set) const noexcept {
        constexpr std::bitset<Size> of_a_word{~0ull};
        return static_cast<std::size_t>((set & of_a_word).to_ullong());
    }
};

} // namespace sb::key
