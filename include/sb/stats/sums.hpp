// SPDX-License-Identifier: MIT
// Sums of values, and how far they reach, in one fixed order: eight sums side by side, so that no addition waits for the one before.
#pragma once
#include <sb/core/cpu.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#if SB_X86
#include <emmintrin.h>
#endif

namespace sb::stats {

namespace detail {

using double_pair = double __attribute__((vector_size(16))); // what every processor of the kind can do at once

inline double_pair load_pair(double const* from) noexcept {
    double_pair both;
    std::memcpy(&both, from, sizeof both);
    return both;
}
inline void store_pair(double* to, double_pair both) noexcept { std::memcpy(to, &both, sizeof both); }

#if SB_X86
inline double_pair lesser(double_pair a, double_pair b) noexcept { return _mm_min_pd(a, b); }
inline double_pair greater(double_pair a, double_pair b) noexcept { return _mm_max_pd(a, b); }
#else
inline double_pair lesser(double_pair a, double_pair b) noexcept { return {a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]}; }
inline double_pair greater(double_pair a, double_pair b) noexcept { return {a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]}; }
#endif

/// What `of` makes of two values at once, added up; of what does not fill eight, one by one.
template <class Of>
__attribute__((always_inline)) inline double sum_of_each(double const* x, std::size_t n, Of const& of) noexcept {
    double_pair a{}, b{}, c{}, d{};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) a += of(load_pair(x + i)), b += of(load_pair(x + i + 2)), c += of(load_pair(x + i + 4)), d += of(load_pair(x + i + 6));
    double_pair const pairs = (a + b) + (c + d);
    double sum = pairs[0] + pairs[1];
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
    detail::double_pair const first{x[0], x[0]};
    auto least = first, most = first, more_least = first, more_most = first;
    detail::double_pair nothing{}, more_nothing{}; // a NaN of what is not finite
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        auto const a = detail::load_pair(x + i), b = detail::load_pair(x + i + 2);
        least = detail::lesser(a, least), most = detail::greater(a, most), nothing += a - a;
        more_least = detail::lesser(b, more_least), more_most = detail::greater(b, more_most), more_nothing += b - b;
    }
    for (; i < n; ++i) {
        detail::double_pair const a{x[i], x[i]};
        least = detail::lesser(a, least), most = detail::greater(a, most), nothing += a - a;
    }
    least = detail::lesser(least, more_least), most = detail::greater(most, more_most), nothing += more_nothing;
    return {nothing[0] + nothing[1] == 0, std::min(least[0], least[1]), std::max(most[0], most[1])};
}

} // namespace sb::stats
