// SPDX-License-Identifier: MIT
// Products of vectors, as fast as the processor allows and with the same bytes on every one.
//
// How it works: sixteen sums side by side (eight of each where four products are made at once), each step one fused multiply-add,
// added up in a fixed order at the end. AVX-512 does eight in one register, AVX2 four, plain code one after the other (std::fma,
// which is one rounding too).
#pragma once
#include <sb/core/cpu.hpp>
#include <cmath>
#include <cstddef>
#if SB_X86
#include <immintrin.h>
#endif

namespace sb::stats {

namespace detail {

inline constexpr std::size_t lanes = 8;

/// The eight sums and what is left over, in the one order. In line, where it is as fast as what calls it.
__attribute__((always_inline)) inline double add_up(double const (&sums)[lanes], double const* a, double const* b, std::size_t left) noexcept {
    double total = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    for (std::size_t i = 0; i < left; ++i) total = std::fma(a[i], b[i], total);
    return total;
}

inline double dot_plain(double const* a, double const* b, std::size_t n) noexcept {
    double sums[lanes]{}, more[lanes]{};
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sums[lane] = std::fma(a[i + lane], b[i + lane], sums[lane]);
            more[lane] = std::fma(a[i + lanes + lane], b[i + lanes + lane], more[lane]);
        }
    if (i + lanes <= n) {
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = std::fma(a[i + lane], b[i + lane], sums[lane]);
        i += lanes;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += more[lane];
    return add_up(sums, a + i, b + i, n - i);
}
/// The products of `a` with `b` and with the values one, two and three places before `b`.
inline void dots_back_plain(double const* a, double const* b, std::size_t n, double* to) noexcept {
    for (std::size_t back = 0; back < 4; ++back, --b) {
        double sums[lanes]{};
        std::size_t i = 0;
        for (; i + lanes <= n; i += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = std::fma(a[i + lane], b[i + lane], sums[lane]);
        to[back] = add_up(sums, a + i, b + i, n - i);
    }
}
inline void add_scaled_plain(double* to, double factor, double const* from, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = std::fma(factor, from[i], to[i]);
}

#if SB_X86
__attribute__((target("avx2,fma"))) inline double dot_avx2(double const* a, double const* b, std::size_t n) noexcept {
    auto low = _mm256_setzero_pd(), high = low, more_low = low, more_high = low;
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        low = _mm256_fmadd_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i), low);
        high = _mm256_fmadd_pd(_mm256_loadu_pd(a + i + 4), _mm256_loadu_pd(b + i + 4), high);
        more_low = _mm256_fmadd_pd(_mm256_loadu_pd(a + i + 8), _mm256_loadu_pd(b + i + 8), more_low);
        more_high = _mm256_fmadd_pd(_mm256_loadu_pd(a + i + 12), _mm256_loadu_pd(b + i + 12), more_high);
    }
    if (i + lanes <= n) {
        low = _mm256_fmadd_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i), low);
        high = _mm256_fmadd_pd(_mm256_loadu_pd(a + i + 4), _mm256_loadu_pd(b + i + 4), high);
        i += lanes;
    }
    double sums[lanes];
    _mm256_storeu_pd(sums, _mm256_add_pd(low, more_low)), _mm256_storeu_pd(sums + 4, _mm256_add_pd(high, more_high));
    return add_up(sums, a + i, b + i, n - i);
}
// The four stand one by one below, for g++ -O2 keeps in memory what a loop over registers adds to.
__attribute__((target("avx2,fma"))) inline void dots_back_avx2(double const* a, double const* b, std::size_t n, double* to) noexcept {
    auto low_0 = _mm256_setzero_pd(), low_1 = low_0, low_2 = low_0, low_3 = low_0, high_0 = low_0, high_1 = low_0, high_2 = low_0, high_3 = low_0;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        auto const first = _mm256_loadu_pd(a + i), second = _mm256_loadu_pd(a + i + 4);
        low_0 = _mm256_fmadd_pd(first, _mm256_loadu_pd(b + i), low_0), high_0 = _mm256_fmadd_pd(second, _mm256_loadu_pd(b + i + 4), high_0);
        low_1 = _mm256_fmadd_pd(first, _mm256_loadu_pd(b + i - 1), low_1), high_1 = _mm256_fmadd_pd(second, _mm256_loadu_pd(b + i + 3), high_1);
        low_2 = _mm256_fmadd_pd(first, _mm256_loadu_pd(b + i - 2), low_2), high_2 = _mm256_fmadd_pd(second, _mm256_loadu_pd(b + i + 2), high_2);
        low_3 = _mm256_fmadd_pd(first, _mm256_loadu_pd(b + i - 3), low_3), high_3 = _mm256_fmadd_pd(second, _mm256_loadu_pd(b + i + 1), high_3);
    }
    double sums[4][lanes];
    _mm256_storeu_pd(sums[0], low_0), _mm256_storeu_pd(sums[0] + 4, high_0), _mm256_storeu_pd(sums[1], low_1), _mm256_storeu_pd(sums[1] + 4, high_1);
    _mm256_storeu_pd(sums[2], low_2), _mm256_storeu_pd(sums[2] + 4, high_2), _mm256_storeu_pd(sums[3], low_3), _mm256_storeu_pd(sums[3] + 4, high_3);
    for (std::size_t back = 0; back < 4; ++back) to[back] = add_up(sums[back], a + i, b + i - back, n - i);
}
__attribute__((target("avx2,fma"))) inline void add_scaled_avx2(double* to, double factor, double const* from, std::size_t n) noexcept {
    auto const factors = _mm256_set1_pd(factor);
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) _mm256_storeu_pd(to + i, _mm256_fmadd_pd(factors, _mm256_loadu_pd(from + i), _mm256_loadu_pd(to + i)));
    for (; i < n; ++i) to[i] = std::fma(factor, from[i], to[i]);
}
__attribute__((target("avx512f,avx2,fma"))) inline double dot_avx512(double const* a, double const* b, std::size_t n) noexcept {
    auto sum = _mm512_setzero_pd(), more = sum;
    std::size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        sum = _mm512_fmadd_pd(_mm512_loadu_pd(a + i), _mm512_loadu_pd(b + i), sum);
        more = _mm512_fmadd_pd(_mm512_loadu_pd(a + i + lanes), _mm512_loadu_pd(b + i + lanes), more);
    }
    if (i + lanes <= n) {
        sum = _mm512_fmadd_pd(_mm512_loadu_pd(a + i), _mm512_loadu_pd(b + i), sum);
        i += lanes;
    }
    double sums[lanes];
    _mm512_storeu_pd(sums, _mm512_add_pd(sum, more));
    return add_up(sums, a + i, b + i, n - i);
}
__attribute__((target("avx512f,avx2,fma"))) inline void dots_back_avx512(double const* a, double const* b, std::size_t n, double* to) noexcept {
    auto all_0 = _mm512_setzero_pd(), all_1 = all_0, all_2 = all_0, all_3 = all_0;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        auto const here = _mm512_loadu_pd(a + i);
        all_0 = _mm512_fmadd_pd(here, _mm512_loadu_pd(b + i), all_0), all_1 = _mm512_fmadd_pd(here, _mm512_loadu_pd(b + i - 1), all_1);
        all_2 = _mm512_fmadd_pd(here, _mm512_loadu_pd(b + i - 2), all_2), all_3 = _mm512_fmadd_pd(here, _mm512_loadu_pd(b + i - 3), all_3);
    }
    double sums[4][lanes];
    _mm512_storeu_pd(sums[0], all_0), _mm512_storeu_pd(sums[1], all_1), _mm512_storeu_pd(sums[2], all_2), _mm512_storeu_pd(sums[3], all_3);
    for (std::size_t back = 0; back < 4; ++back) to[back] = add_up(sums[back], a + i, b + i - back, n - i);
}
__attribute__((target("avx512f,avx2,fma"))) inline void add_scaled_avx512(double* to, double factor, double const* from, std::size_t n) noexcept {
    auto const factors = _mm512_set1_pd(factor);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) _mm512_storeu_pd(to + i, _mm512_fmadd_pd(factors, _mm512_loadu_pd(from + i), _mm512_loadu_pd(to + i)));
    for (; i < n; ++i) to[i] = std::fma(factor, from[i], to[i]);
}
inline bool fuses() noexcept {
    static bool const yes = __builtin_cpu_supports("fma") != 0;
    return yes;
}
#endif

} // namespace detail

/// Which instructions the functions below use.
class vector_unit {
public:
    explicit vector_unit(instruction_set with) noexcept {
#if SB_X86
        if (with == instruction_set::avx512) dot_ = &detail::dot_avx512, dots_back_ = &detail::dots_back_avx512, add_scaled_ = &detail::add_scaled_avx512;
        else if (with == instruction_set::avx2 && detail::fuses()) dot_ = &detail::dot_avx2, dots_back_ = &detail::dots_back_avx2, add_scaled_ = &detail::add_scaled_avx2;
#else
        (void)with;
#endif
    }
    /// This machine's best, or what SB_CPU says.
    static vector_unit const& chosen() noexcept {
        static vector_unit const one{chosen_instruction_set()};
        return one;
    }
    double dot(double const* a, double const* b, std::size_t n) const noexcept { return dot_(a, b, n); }
    /// The products of `a` with `b`, with the values one place before `b`, two before, and so on: `count` of them, into `to`.
    void dots_back(double const* a, double const* b, std::size_t n, double* to, std::size_t count) const noexcept {
        std::size_t back = 0;
        for (; back + 4 <= count; back += 4) dots_back_(a, b - back, n, to + back);
        for (; back < count; ++back) to[back] = dot_(a, b - back, n);
    }
    /// to += factor * from
    void add_scaled(double* to, double factor, double const* from, std::size_t n) const noexcept { add_scaled_(to, factor, from, n); }

private:
    double (*dot_)(double const*, double const*, std::size_t) noexcept = &detail::dot_plain;
    void (*dots_back_)(double const*, double const*, std::size_t, double*) noexcept = &detail::dots_back_plain;
    void (*add_scaled_)(double*, double, double const*, std::size_t) noexcept = &detail::add_scaled_plain;
};

} // namespace sb::stats
