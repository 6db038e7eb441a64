// SPDX-License-Identifier: MIT
// Products of vectors, as fast as the processor allows and with the same bytes on every one.
//
// How it works: eight sums side by side, each step one fused multiply-add, added up in a fixed order at the end. AVX-512 does
// them in one register, AVX2 in two, plain code one after the other (std::fma, which is one rounding too).
#pragma once
#include <sb/core/cpu.hpp>
#include <cmath>
#include <cstddef>
#include <span>
#if SB_X86
#include <immintrin.h>
#endif

namespace sb::stats {

namespace detail {

inline constexpr std::size_t lanes = 8;

/// The eight sums and what is left over, in the one order.
inline double add_up(double const (&sums)[lanes], double const* a, double const* b, std::size_t left) noexcept {
    double total = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    for (std::size_t i = 0; i < left; ++i) total = std::fma(a[i], b[i], total);
    return total;
}

inline double dot_plain(double const* a, double const* b, std::size_t n) noexcept {
    double sums[lanes]{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = std::fma(a[i + lane], b[i + lane], sums[lane]);
    return add_up(sums, a + i, b + i, n - i);
}
inline void add_scaled_plain(double* to, double factor, double const* from, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) to[i] = std::fma(factor, from[i], to[i]);
}

#if SB_X86
__attribute__((target("avx2,fma"))) inline double dot_avx2(double const* a, double const* b, std::size_t n) noexcept {
    auto low = _mm256_setzero_pd(), high = _mm256_setzero_pd();
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        low = _mm256_fmadd_pd(_mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i), low);
        high = _mm256_fmadd_pd(_mm256_loadu_pd(a + i + 4), _mm256_loadu_pd(b + i + 4), high);
    }
    double sums[lanes];
    _mm256_storeu_pd(sums, low), _mm256_storeu_pd(sums + 4, high);
    double total = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    for (; i < n; ++i) total = std::fma(a[i], b[i], total);
    return total;
}
__attribute__((target("avx2,fma"))) inline void add_scaled_avx2(double* to, double factor, double const* from, std::size_t n) noexcept {
    auto const all = _mm256_set1_pd(factor);
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) _mm256_storeu_pd(to + i, _mm256_fmadd_pd(all, _mm256_loadu_pd(from + i), _mm256_loadu_pd(to + i)));
    for (; i < n; ++i) to[i] = std::fma(factor, from[i], to[i]);
}
__attribute__((target("avx512f,avx2,fma"))) inline double dot_avx512(double const* a, double const* b, std::size_t n) noexcept {
    auto all = _mm512_setzero_pd();
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) all = _mm512_fmadd_pd(_mm512_loadu_pd(a + i), _mm512_loadu_pd(b + i), all);
    double sums[lanes];
    _mm512_storeu_pd(sums, all);
    double total = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    for (; i < n; ++i) total = std::fma(a[i], b[i], total);
    return total;
}
__attribute__((target("avx512f,avx2,fma"))) inline void add_scaled_avx512(double* to, double factor, double const* from, std::size_t n) noexcept {
    auto const all = _mm512_set1_pd(factor);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) _mm512_storeu_pd(to + i, _mm512_fmadd_pd(all, _mm512_loadu_pd(from + i), _mm512_loadu_pd(to + i)));
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
        if (with == instruction_set::avx512) dot_ = &detail::dot_avx512, add_scaled_ = &detail::add_scaled_avx512;
        else if (with == instruction_set::avx2 && detail::fuses()) dot_ = &detail::dot_avx2, add_scaled_ = &detail::add_scaled_avx2;
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
    /// to += factor * from
    void add_scaled(double* to, double factor, double const* from, std::size_t n) const noexcept { add_scaled_(to, factor, from, n); }

private:
    double (*dot_)(double const*, double const*, std::size_t) noexcept = &detail::dot_plain;
    void (*add_scaled_)(double*, double, double const*, std::size_t) noexcept = &detail::add_scaled_plain;
};

} // namespace sb::stats
