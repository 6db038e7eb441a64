// SPDX-License-Identifier: MIT
// Reads a scalar of a line as a number: short decimals by one exact operation, everything else by the library.
#pragma once
#include <sb/core/cpu.hpp>
#include <sb/json/number.hpp>
#include <cstdint>
#include <string_view>
#if SB_X86
#include <immintrin.h>
#endif

namespace sb::json {

enum class scalar_kind : std::uint8_t { number, word, malformed, overflow }; ///< word: true, false or null

namespace detail {

inline scalar_kind read_scalar_slowly(std::string_view text, double& into) noexcept {
    if (text == "null" || text == "true" || text == "false") return scalar_kind::word;
    bool whole = false;
    if (text.empty() || number_length(text, whole) != text.size()) return scalar_kind::malformed;
    auto const n = read_number(text, whole);
    if (n.kind == number_kind::overflow) return scalar_kind::overflow;
    into = n.as_double();
    return scalar_kind::number;
}

inline constexpr double powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

} // namespace detail

/// The nearest double to the decimal text. Up to 15 digits and a power of ten up to 22 are both exact doubles, so one
/// division rounds once (Clinger 1990).
inline scalar_kind read_scalar(std::string_view text, double& into) noexcept {
    if (text.size() > 17 || text.empty()) return detail::read_scalar_slowly(text, into);
    auto const* at = text.data();
    auto const* const end = at + text.size();
    bool const negative = *at == '-';
    at += negative ? 1 : 0;
    auto const* const digits = at;
    std::uint64_t mantissa = 0;
    while (at != end && static_cast<unsigned char>(*at - '0') < 10) mantissa = mantissa * 10 + static_cast<unsigned char>(*at++ - '0');
    auto const whole = at - digits;
    if (whole == 0 || (whole > 1 && *digits == '0')) return detail::read_scalar_slowly(text, into);
    std::ptrdiff_t decimals = 0;
    if (at != end && *at == '.') {
        auto const* const from = ++at;
        while (at != end && static_cast<unsigned char>(*at - '0') < 10) mantissa = mantissa * 10 + static_cast<unsigned char>(*at++ - '0');
        decimals = at - from;
        if (decimals == 0) return detail::read_scalar_slowly(text, into);
    }
    if (at != end || whole + decimals > 15) return detail::read_scalar_slowly(text, into);
    double const size = static_cast<double>(mantissa) / detail::powers_of_ten[decimals];
    into = negative ? -size : size;
    return scalar_kind::number;
}

/// True for digits, with or without a sign and decimals: certainly a finite number. False means nothing.
inline bool is_plain_decimal(std::string_view text) noexcept {
    bool whole = false;
    return text.size() <= 300 && !text.empty() && number_length(text, whole) == text.size() && text.find_first_of("eE") == std::string_view::npos;
}

/// A reader of scalars; needs 32 readable bytes from the start of the text.
using scalar_read = scalar_kind (*)(std::string_view text, double& into) noexcept;

#if SB_X86
namespace detail {

/// All digits at once: a shuffle removes the point. The digits are at the right end of sixteen bytes, and are joined into
/// pairs, fours and eights. No branch depends on their number.
SB_TARGET_AVX2 inline scalar_kind read_scalar_avx2(std::string_view text, double& into) noexcept {
    bool const negative = text.starts_with('-');
    auto const* const at = text.data() + (negative ? 1 : 0);
    auto const size = static_cast<unsigned>(text.size()) - (negative ? 1 : 0);
    if (size - 1 >= 16) [[unlikely]] return read_scalar_slowly(text, into);
    auto const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(at));
    auto const digits = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
    auto const valid = (1u << size) - 1;
    auto const digit = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits))) & valid;
    auto const point = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')))) & valid;
    auto const whole = _tzcnt_u32(point | (1u << size)), count = size - (point != 0 ? 1 : 0);
    bool const odd = (digit | point) != valid || (point & (point - 1)) != 0 || whole == 0 || (point != 0 && whole + 1 == size) ||
                     (whole > 1 && *at == '0') || count > 15;
    if (odd) [[unlikely]] return read_scalar_slowly(text, into);
    auto const place = _mm_sub_epi8(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), _mm_set1_epi8(static_cast<char>(16 - count)));
    auto const from = _mm_sub_epi8(place, _mm_cmpgt_epi8(place, _mm_set1_epi8(static_cast<char>(whole - 1)))); // below zero: no digit
    auto const ones = _mm_shuffle_epi8(digits, from);
    auto const pairs = _mm_maddubs_epi16(ones, _mm_set1_epi16(0x010a));
    auto const fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));
    auto const eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
    auto const both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
    auto const mantissa = static_cast<double>((both & 0xffffffffu) * 100'000'000 + (both >> 32));
    auto const size_of = mantissa / powers_of_ten[count - whole];
    into = negative ? -size_of : size_of;
    return scalar_kind::number;
}

/// `is_plain_decimal` for text with 33 readable bytes from its start.
SB_TARGET_AVX2 inline bool is_plain_decimal_avx2(std::string_view text) noexcept {
    bool const negative = text.starts_with('-');
    auto const* const at = text.data() + (negative ? 1 : 0);
    auto const size = static_cast<unsigned>(text.size()) - (negative ? 1 : 0);
    if (size - 1 >= 31) [[unlikely]] return is_plain_decimal(text);
    auto const bytes = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(at));
    auto const digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    auto const valid = (1u << size) - 1;
    auto const digit = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits))) & valid;
    auto const point = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.')))) & valid;
    auto const whole = _tzcnt_u32(point | (1u << size));
    return (digit | point) == valid && (point & (point - 1)) == 0 && whole != 0 && (point == 0 || whole + 1 != size) && !(whole > 1 && *at == '0');
}

} // namespace detail
#endif

using decimal_check = bool (*)(std::string_view text) noexcept;
inline decimal_check decimal_check_for(instruction_set have) noexcept {
#if SB_X86
    if (have >= instruction_set::avx2) return detail::is_plain_decimal_avx2;
#endif
    (void)have;
    return is_plain_decimal;
}

inline scalar_read scalar_reader_for(instruction_set have) noexcept {
#if SB_X86
    if (have >= instruction_set::avx2) return detail::read_scalar_avx2;
#endif
    (void)have;
    return read_scalar;
}

} // namespace sb::json
