// SPDX-License-Identifier: MIT
// Sums of values, and how far they reach, in one fixed order: eight sums side by side, so that no addition waits for the one before.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace sb::stats {

namespace detail {

using double_pair = double __attribute__((vector_size(16))); // what every processor of the kind can do at once

inline double_pair load_pair(double const* from) noexcept {
    double_pair both;
    std::memcpy(&both, from, sizeof both);
    return both;
}
inline void store_pair(double* to, double_pair both) noexcept { std::memcpy(to, &both, sizeof both); }

/// What `of` makes of two values at once, added up; of what does not fill eight, one by one.
template <class Of>
__attribute__((always_inline)) inline double sum_of_each(double const* x, std::size_t n, Of const& of) noexcept {
    double_pair a{}, b{}, c{}, d{};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) a += of(load_pair(x + i)), b += of(load_pair(x + i + 2)), c += of(load_pair(x + i + 4)), d += of(load_pair(x + i + 6));
    double_pair const all = (a + b) + (c + d);
    double sum = all[0] + all[1];
    for (; i < n; ++i) sum += of(double_pair{x[i], x[i]})[0];
    return sum;
}

} // namespace detail

/// Of the distances from `from`: what all values share costs no digits.
inline double sum_from(std::span<double const> values, double from) noexcept {
    return detail::sum_of_each(values.data(), values.size(), [=](detail::double_pair x) { return x - from; });
}
inline double squares_from(std::span<double const> values, double from) noexcept {
    return detail::sum_of_each(values.data(), values.size(), [=](detail::double_pair x) { return (x - from) * (x - from); });
}

struct reach {
    bool finite = true; ///< neither a NaN nor an infinity among them; else the rest is of no use
    double least = 0, most = 0;
};

/// Of one value or more.
inline reach reach_of(std::span<double const> values) noexcept {
    double const* const x = values.data();
    auto const n = values.size();
    double least[4], most[4], nothing[4]{};
    for (std::size_t k = 0; k < 4; ++k) least[k] = most[k] = x[0];
    auto const take = [&](std::size_t k, double value) {
        least[k] = value < least[k] ? value : least[k], most[k] = value > most[k] ? value : most[k];
        nothing[k] += value - value; // a NaN of what is not finite
    };
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) take(0, x[i]), take(1, x[i + 1]), take(2, x[i + 2]), take(3, x[i + 3]);
    for (; i < n; ++i) take(0, x[i]);
    return {(nothing[0] + nothing[1]) + (nothing[2] + nothing[3]) == 0, std::min(std::min(least[0], least[1]), std::min(least[2], least[3])),
            std::max(std::max(most[0], most[1]), std::max(most[2], most[3]))};
}

} // namespace sb::stats
