// SPDX-License-Identifier: MIT
// Which vector instructions this machine has, asked at run time: one program serves all of a family.
#pragma once
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SB_X86 1
#define SB_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,pclmul")))
#define SB_TARGET_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,lzcnt,popcnt,pclmul")))
#else
#define SB_X86 0
#endif

namespace sb {

/// Each includes the one before. `avx2` stands for AVX2, BMI1/2, LZCNT, POPCNT and PCLMUL; `avx512` adds F, BW, VL, VBMI
/// and VBMI2.
enum class instruction_set { plain, avx2, avx512 };

inline instruction_set best_instruction_set() noexcept {
#if SB_X86
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
          __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul")))
        return instruction_set::plain;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
        return instruction_set::avx512;
    return instruction_set::avx2;
#else
    return instruction_set::plain;
#endif
}

/// The best there is, or less when SB_CPU says so (plain, avx2, avx512): results are the same on every one, and a
/// test asks for each.
inline instruction_set chosen_instruction_set() noexcept {
    auto const best = best_instruction_set();
    char const* const said = std::getenv("SB_CPU");
    std::string_view const asked{said ? said : ""};
    auto const less = asked == "plain" ? instruction_set::plain : asked == "avx2" ? instruction_set::avx2 : best;
    return less < best ? less : best;
}

} // namespace sb
