// SPDX-License-Identifier: MIT
// The inner loops of energy_split.hpp: sums of distances, eight side by side, with the same bytes on every processor.
//
// How it works: lane k has the end behind the value `values[k]`, and at a step s the split before `values[k - s]`. Its sum within the
// later stretch is that of lane k - 1 a step ago, which had the same split and one end less, and what the end's value is away from all
// values since the split; lane 0 goes on from what the last eight ends left in a row of memory, lane 7 leaves its sum there.
// Only the limits see a product added to something, which some processors round once and others twice: they are no more than a
// hint where to look.
#pragma once
#include <sb/core/cpu.hpp>
#include <sb/stats/sums.hpp>
#include <cstddef>
#include <limits>
#if SB_X86
#include <immintrin.h>
#endif

namespace sb::stats::detail {

class energy_walk {
public:
    static constexpr std::size_t ends = 8;

    struct place {
        double last[ends], back[ends], within[ends]; ///< each end's value; what it is away from those since the split; see above
        double limit[ends]; ///< before / (at - 1) + within / (size - 1) below that is told
        std::size_t steps = 0; ///< that were made
        double const *values, *each, *inverse; ///< each[k - s] is before / (at - 1), inverse[i] is 1 / i
        double* row;
    };

    static energy_walk with(instruction_set set) noexcept;
    static energy_walk const& chosen() noexcept;

    /// Of each `last` to the first `count` values, added up into `sums`.
    void distances(double const* x, std::size_t count, double const* last, double* sums) const noexcept { distances_(x, count, last, sums); }
    /// Goes on up to so many steps. True when it stopped behind one where a lane is below its limit.
    bool back(place& here, std::size_t steps) const noexcept { return back_(here, steps); }

private:
    using distances_type = void(double const*, std::size_t, double const*, double*) noexcept;
    using back_type = bool(place&, std::size_t) noexcept;
    energy_walk(distances_type* add, back_type* go) noexcept : distances_{add}, back_{go} {}
    distances_type* distances_;
    back_type* back_;
};

// ---- two lanes a vector, which every processor of the kind can do

inline double_pair absolute(double_pair x) noexcept {
    using bits = long long __attribute__((vector_size(16)));
    constexpr long long but_sign = std::numeric_limits<long long>::max();
    return reinterpret_cast<double_pair>(reinterpret_cast<bits>(x) & bits{but_sign, but_sign});
}

inline void distances_plain(double const* x, std::size_t count, double const* last, double* sums) noexcept {
    double_pair const a = load_pair(last), b = load_pair(last + 2), c = load_pair(last + 4), d = load_pair(last + 6);
    double_pair of_a{}, of_b{}, of_c{}, of_d{};
    for (std::size_t i = 0; i < count; ++i) of_a += absolute(x[i] - a), of_b += absolute(x[i] - b), of_c += absolute(x[i] - c), of_d += absolute(x[i] - d);
    store_pair(sums, of_a), store_pair(sums + 2, of_b), store_pair(sums + 4, of_c), store_pair(sums + 6, of_d);
}
inline bool back_plain(energy_walk::place& p, std::size_t steps) noexcept {
    double_pair const last_a = load_pair(p.last), last_b = load_pair(p.last + 2), last_c = load_pair(p.last + 4), last_d = load_pair(p.last + 6);
    double_pair const limit_a = load_pair(p.limit), limit_b = load_pair(p.limit + 2), limit_c = load_pair(p.limit + 4), limit_d = load_pair(p.limit + 6);
    double_pair back_a = load_pair(p.back), back_b = load_pair(p.back + 2), back_c = load_pair(p.back + 4), back_d = load_pair(p.back + 6);
    double_pair a = load_pair(p.within), b = load_pair(p.within + 2), c = load_pair(p.within + 4), d = load_pair(p.within + 6);
    bool told = false;
    while (p.steps < steps && !told) {
        auto const step = static_cast<std::ptrdiff_t>(p.steps++);
        double const *const x = p.values - step, *const each = p.each - step;
        double* const row = p.row - step;
        back_a += absolute(load_pair(x) - last_a), back_b += absolute(load_pair(x + 2) - last_b);
        back_c += absolute(load_pair(x + 4) - last_c), back_d += absolute(load_pair(x + 6) - last_d);
        d = __builtin_shufflevector(c, d, 1, 2) + back_d;
        c = __builtin_shufflevector(b, c, 1, 2) + back_c;
        b = __builtin_shufflevector(a, b, 1, 2) + back_b;
        a = __builtin_shufflevector(load_pair(row - 1), a, 1, 2) + back_a;
        row[7] = d[1];
        double const inverse = p.inverse[step];
        auto const below = (load_pair(each) + a * inverse < limit_a) | (load_pair(each + 2) + b * inverse < limit_b) | (load_pair(each + 4) + c * inverse < limit_c) |
                           (load_pair(each + 6) + d * inverse < limit_d);
        told = (below[0] | below[1]) != 0;
    }
    store_pair(p.back, back_a), store_pair(p.back + 2, back_b), store_pair(p.back + 4, back_c), store_pair(p.back + 6, back_d);
    store_pair(p.within, a), store_pair(p.within + 2, b), store_pair(p.within + 4, c), store_pair(p.within + 6, d);
    return told;
}

#if SB_X86
// ---- four

#define SB_FOUR __attribute__((target("avx2")))
SB_FOUR inline void distances_avx2(double const* x, std::size_t count, double const* last, double* sums) noexcept {
    auto const sign = _mm256_set1_pd(-0.0), a = _mm256_loadu_pd(last), b = _mm256_loadu_pd(last + 4);
    auto of_a = _mm256_setzero_pd(), of_b = of_a;
    for (std::size_t i = 0; i < count; ++i) {
        auto const here = _mm256_broadcast_sd(x + i);
        of_a = _mm256_add_pd(of_a, _mm256_andnot_pd(sign, _mm256_sub_pd(here, a)));
        of_b = _mm256_add_pd(of_b, _mm256_andnot_pd(sign, _mm256_sub_pd(here, b)));
    }
    _mm256_storeu_pd(sums, of_a), _mm256_storeu_pd(sums + 4, of_b);
}
SB_FOUR inline bool back_avx2(energy_walk::place& p, std::size_t steps) noexcept {
    auto const sign = _mm256_set1_pd(-0.0), last_a = _mm256_loadu_pd(p.last), last_b = _mm256_loadu_pd(p.last + 4);
    auto const limit_a = _mm256_loadu_pd(p.limit), limit_b = _mm256_loadu_pd(p.limit + 4);
    auto back_a = _mm256_loadu_pd(p.back), back_b = _mm256_loadu_pd(p.back + 4), a = _mm256_loadu_pd(p.within), b = _mm256_loadu_pd(p.within + 4);
    bool told = false;
    while (p.steps < steps && !told) {
        auto const step = static_cast<std::ptrdiff_t>(p.steps++);
        double const *const x = p.values - step, *const each = p.each - step;
        double* const row = p.row - step;
        back_a = _mm256_add_pd(back_a, _mm256_andnot_pd(sign, _mm256_sub_pd(_mm256_loadu_pd(x), last_a)));
        back_b = _mm256_add_pd(back_b, _mm256_andnot_pd(sign, _mm256_sub_pd(_mm256_loadu_pd(x + 4), last_b)));
        // one lane on: the last of the lower ones comes first
        auto const joint = _mm256_permute2f128_pd(a, b, 0x21), entering = _mm256_permute2f128_pd(_mm256_broadcast_sd(row), a, 0x21);
        b = _mm256_add_pd(_mm256_shuffle_pd(joint, b, 0b0101), back_b);
        a = _mm256_add_pd(_mm256_shuffle_pd(entering, a, 0b0101), back_a);
        _mm_storeh_pd(row + 7, _mm256_extractf128_pd(b, 1));
        auto const inverse = _mm256_broadcast_sd(p.inverse + step);
        auto const below_a = _mm256_cmp_pd(_mm256_add_pd(_mm256_loadu_pd(each), _mm256_mul_pd(a, inverse)), limit_a, _CMP_LT_OQ);
        auto const below_b = _mm256_cmp_pd(_mm256_add_pd(_mm256_loadu_pd(each + 4), _mm256_mul_pd(b, inverse)), limit_b, _CMP_LT_OQ);
        told = _mm256_movemask_pd(_mm256_or_pd(below_a, below_b)) != 0;
    }
    _mm256_storeu_pd(p.back, back_a), _mm256_storeu_pd(p.back + 4, back_b), _mm256_storeu_pd(p.within, a), _mm256_storeu_pd(p.within + 4, b);
    return told;
}
#undef SB_FOUR

// ---- eight

#define SB_EIGHT __attribute__((target("avx512f")))
SB_EIGHT inline void distances_avx512(double const* x, std::size_t count, double const* last, double* sums) noexcept {
    auto const from = _mm512_loadu_pd(last);
    auto sum = _mm512_setzero_pd();
    for (std::size_t i = 0; i < count; ++i) sum = _mm512_add_pd(sum, _mm512_abs_pd(_mm512_sub_pd(_mm512_set1_pd(x[i]), from)));
    _mm512_storeu_pd(sums, sum);
}
SB_EIGHT inline bool back_avx512(energy_walk::place& p, std::size_t steps) noexcept {
    auto const last = _mm512_loadu_pd(p.last), limit = _mm512_loadu_pd(p.limit);
    auto back = _mm512_loadu_pd(p.back), within = _mm512_loadu_pd(p.within);
    bool told = false;
    while (p.steps < steps && !told) {
        auto const step = static_cast<std::ptrdiff_t>(p.steps++);
        double* const row = p.row - step;
        back = _mm512_add_pd(back, _mm512_abs_pd(_mm512_sub_pd(_mm512_loadu_pd(p.values - step), last)));
        auto const entering = _mm512_castpd_si512(_mm512_set1_pd(row[0]));
        within = _mm512_add_pd(_mm512_castsi512_pd(_mm512_maskz_alignr_epi64(0xff, _mm512_castpd_si512(within), entering, 7)), back);
        _mm512_mask_storeu_pd(row, 0x80, within);
        auto const sum = _mm512_add_pd(_mm512_loadu_pd(p.each - step), _mm512_mul_pd(within, _mm512_set1_pd(p.inverse[step])));
        told = _mm512_cmp_pd_mask(sum, limit, _CMP_LT_OQ) != 0;
    }
    _mm512_storeu_pd(p.back, back), _mm512_storeu_pd(p.within, within);
    return told;
}
#undef SB_EIGHT
#endif

inline energy_walk energy_walk::with(instruction_set set) noexcept {
#if SB_X86
    if (set == instruction_set::avx512) return {&distances_avx512, &back_avx512};
    if (set == instruction_set::avx2) return {&distances_avx2, &back_avx2};
#else
    (void)set;
#endif
    return {&distances_plain, &back_plain};
}
/// This machine's best, or what SB_CPU says.
inline energy_walk const& energy_walk::chosen() noexcept {
    static energy_walk const one = with(chosen_instruction_set());
    return one;
}

} // namespace sb::stats::detail
