// SPDX-License-Identifier: MIT
// Reduces one line to its skeleton: the bytes that determine its shape, found 64 at a time.
//
// How it works: each block of 64 bytes becomes bit masks: quotes, backslashes, brackets with comma and colon, blanks,
// newlines. The running parity of the quotes tells whether a byte is inside a string. It is computed by a carry-less product
// with all ones, as in simdjson (Langdale and Lemire 2019). The skeleton contains
//   - every bracket, colon and comma outside strings, and every quote,
//   - a '0' for each scalar (number, true, false, null),
//   - all bytes of a string, unless the string follows a colon: keys stay, values go.
// One addition finds the bytes of a string after a colon: its opening quote, added to the mask of string bytes, carries to
// the bit just after the string's end. So equal skeletons mean equal keys in equal places with equal nesting. A line whose
// skeleton was proved well-formed once needs no second proof (shape.hpp).
#pragma once
#include <sb/core/cpu.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#if SB_X86
#include <immintrin.h>
#endif

namespace sb::json {

struct line_skeleton {
    static constexpr std::size_t most_blocks = 256;
    std::size_t line_size = 0; ///< size without the newline
    bool usable = false; ///< false: too long for this, or a backslash outside a string
    std::uint32_t size = 0;
    struct block {
        std::uint64_t kept; ///< which bytes of the block are in the skeleton
        std::uint64_t before; ///< number of bytes in the skeleton before this block
    };
    std::array<block, most_blocks + 1> blocks; ///< one more than the line has: its `before` is the size
    alignas(64) std::array<char, (most_blocks + 1) * 64> bytes;
    std::string_view text() const noexcept { return {bytes.data(), size}; }
};

namespace detail {

#if SB_X86

/// What one block passes to the next.
struct scan_carry {
    std::uint64_t in_string = 0; // all ones inside
    std::uint64_t escaped = 0, scalar = 0, after_colon = 0; // 0 or 1
    unsigned char in_value = 0;
    bool stray_backslash = false; // outside strings: noticed before it can mislead
};

/// Bytes that a preceding backslash escapes (as in simdjson).
[[gnu::always_inline]] inline std::uint64_t escaped_bytes(std::uint64_t backslash, std::uint64_t& carry) noexcept {
    constexpr std::uint64_t even = 0x5555555555555555u;
    backslash &= ~carry;
    auto const follows = backslash << 1 | carry;
    std::uint64_t runs;
    carry = __builtin_add_overflow(backslash & ~even & ~follows, backslash, &runs) ? 1 : 0;
    return (even ^ (runs << 1)) & follows;
}

/// Masks of a block's bytes: the quotes of strings, their running parity within the block, brackets with comma and colon,
/// colons, and blanks.
struct scan_masks {
    std::uint64_t quote, parity, structural, colon, blank;
};
struct scan_marks {
    std::uint64_t kept, scalar_starts;
};
enum class block_kind {
    whole, ///< all of it belongs to the line; no blank, no backslash
    last, ///< the line ends in it; no blank, no backslash before its end
    any
};
template <block_kind Kind>
[[gnu::always_inline]] inline scan_marks mark_block(scan_masks const& m, std::uint64_t valid, scan_carry& carry) noexcept {
    auto const in_string = m.parity ^ carry.in_string; // includes the opening quote, but not the closing one
    carry.in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(in_string) >> 63);
    auto const string = in_string | m.quote;
    auto structural = m.structural & ~string, scalar = ~(string | structural);
    auto const blank = Kind == block_kind::any ? m.blank & ~string : 0;
    if constexpr (Kind != block_kind::whole) structural &= valid, scalar &= valid & ~blank;
    auto const scalar_starts = scalar & ~(scalar << 1 | carry.scalar);
    carry.scalar = scalar >> 63;
    // the first byte after a colon and its blanks
    auto const colon = m.colon & structural;
    auto first = colon << 1 | carry.after_colon;
    carry.after_colon = colon >> 63;
    if constexpr (Kind == block_kind::any) {
        if (__builtin_add_overflow(first, blank, &first)) carry.after_colon = 1;
        first &= ~blank;
    }
    unsigned long long ends = 0;
    carry.in_value = _addcarry_u64(carry.in_value, in_string, first & m.quote, &ends);
    return {structural | m.quote | scalar_starts | (in_string & ends), scalar_starts};
}

/// The line is longer than the available room. Finds its end.
[[gnu::noinline]] inline void give_up(line_skeleton& into, char const* line, char const* at, char const* limit) noexcept {
    auto const* const end = at < limit ? static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(limit - at))) : nullptr;
    into.usable = false;
    into.line_size = static_cast<std::size_t>((end ? end : limit) - line);
}
[[gnu::always_inline]] inline void finish_scan(line_skeleton& into, std::size_t line_size, std::size_t block, std::uint64_t size, bool usable) noexcept {
    into.line_size = line_size;
    into.blocks[block + 1].before = size;
    into.size = static_cast<std::uint32_t>(size);
    into.usable = usable;
}

SB_TARGET_AVX2 inline std::uint64_t parity_of(std::uint64_t bits) noexcept {
    auto const product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}
/// The block's bytes that belong to the line: up to its first newline.
SB_TARGET_AVX2 inline std::uint64_t bytes_before(std::uint64_t newline) noexcept {
    return newline == 0 ? ~std::uint64_t{0} : _blsmsk_u64(newline) >> 1;
}

/// Scans a line. `bytes` sees 64 bytes at once, with whatever instructions; flattened into a function that may use them.
template <class Bytes>
inline void scan_blocks(Bytes& bytes, char const* line, char const* limit, line_skeleton& into) noexcept {
    scan_carry carry;
    std::uint64_t size = 0;
    auto const* const whole = std::min(limit - 64, line + (line_skeleton::most_blocks - 1) * 64); // the last block that may be plain
    auto const* at = line;
    for (std::size_t block = 0;; ++block, at += 64) {
        bytes.read(at);
        auto const low = bytes.low(), backslash = bytes.backslash();
        auto quote = bytes.quote();
        auto const structural = bytes.structural(), colon = bytes.colon();
        if ((low | backslash | carry.escaped) == 0 && at <= whole) [[likely]] {
            size = bytes.append(size, block, mark_block<block_kind::whole>({quote, parity_of(quote), structural, colon, 0}, 0, carry), into);
            continue;
        }
        if (block == line_skeleton::most_blocks) return give_up(into, line, at, limit);
        auto newline = bytes.newline();
        if (limit - at < 64) [[unlikely]] newline |= std::uint64_t{1} << (limit - at);
        auto const valid = bytes_before(newline);
        quote &= valid;
        if ((((low | backslash) & valid) | carry.escaped) == 0) [[likely]] {
            size = bytes.append(size, block, mark_block<block_kind::last>({quote, parity_of(quote), structural, colon, 0}, valid, carry), into);
        } else {
            if (((backslash & valid) | carry.escaped) != 0) quote &= ~escaped_bytes(backslash & valid, carry.escaped);
            auto const parity = parity_of(quote);
            if ((backslash & valid & ~(parity ^ carry.in_string)) != 0) carry.stray_backslash = true;
            size = bytes.append(size, block, mark_block<block_kind::any>({quote, parity, structural, colon, bytes.blank()}, valid, carry), into);
        }
        if (newline != 0)
            return finish_scan(into, static_cast<std::size_t>(at - line) + static_cast<std::size_t>(std::countr_zero(newline)), block, size, !carry.stray_backslash);
    }
}

class bytes_avx512 {
public:
    SB_TARGET_AVX512 bytes_avx512() noexcept
        : blanks_{_mm512_maskz_broadcast_i32x4(0xffff, _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0))},
          brackets_{_mm512_maskz_broadcast_i32x4(0xffff, _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0))},
          space_{_mm512_set1_epi8(0x20)} {}
    SB_TARGET_AVX512 void read(char const* at) noexcept { bytes_ = _mm512_loadu_si512(at); }
    SB_TARGET_AVX512 std::uint64_t low() const noexcept { return _mm512_cmple_epu8_mask(bytes_, space_); }
    SB_TARGET_AVX512 std::uint64_t backslash() const noexcept { return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8('\\')); }
    SB_TARGET_AVX512 std::uint64_t quote() const noexcept { return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8('"')); }
    SB_TARGET_AVX512 std::uint64_t structural() const noexcept { return _mm512_cmpeq_epi8_mask(_mm512_or_si512(bytes_, space_), _mm512_shuffle_epi8(brackets_, bytes_)); }
    SB_TARGET_AVX512 std::uint64_t colon() const noexcept { return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8(':')); }
    SB_TARGET_AVX512 std::uint64_t newline() const noexcept { return _mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8('\n')); }
    SB_TARGET_AVX512 std::uint64_t blank() const noexcept { return _mm512_cmpeq_epi8_mask(bytes_, _mm512_shuffle_epi8(blanks_, bytes_)); }
    SB_TARGET_AVX512 std::uint64_t append(std::uint64_t size, std::size_t block, scan_marks const& marks, line_skeleton& into) const noexcept {
        auto const named = _mm512_mask_mov_epi8(bytes_, marks.scalar_starts, _mm512_set1_epi8('0'));
        into.blocks[block] = {marks.kept, size};
        _mm512_storeu_si512(into.bytes.data() + size, _mm512_maskz_compress_epi8(marks.kept, named));
        return size + static_cast<std::uint64_t>(_mm_popcnt_u64(marks.kept));
    }

private:
    __m512i blanks_, brackets_, space_, bytes_;
};
SB_TARGET_AVX512 __attribute__((flatten)) inline void scan_avx512(char const* line, char const* limit, line_skeleton& into) noexcept {
    bytes_avx512 bytes;
    scan_blocks(bytes, line, limit, into);
}

/// For each mask of eight bytes: which bytes to take, in order.
inline constexpr auto compress_table = [] {
    std::array<std::array<std::uint8_t, 8>, 256> table{};
    for (unsigned mask = 0; mask < 256; ++mask) {
        unsigned to = 0;
        for (unsigned bit = 0; bit < 8; ++bit)
            if ((mask >> bit & 1) != 0) table[mask][to++] = static_cast<std::uint8_t>(bit);
    }
    return table;
}();

class bytes_avx2 {
public:
    SB_TARGET_AVX2 bytes_avx2() noexcept
        : blanks_{_mm256_broadcastsi128_si256(_mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0))},
          brackets_{_mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0))},
          space_{_mm256_set1_epi8(0x20)} {}
    SB_TARGET_AVX2 void read(char const* at) noexcept {
        at_ = at;
        one_ = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(at)), two_ = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(at + 32));
    }
    SB_TARGET_AVX2 std::uint64_t low() const noexcept { return equal(_mm256_max_epu8(one_, space_), _mm256_max_epu8(two_, space_), space_, space_); } // <= 0x20
    SB_TARGET_AVX2 std::uint64_t backslash() const noexcept { return are(_mm256_set1_epi8('\\')); }
    SB_TARGET_AVX2 std::uint64_t quote() const noexcept { return are(_mm256_set1_epi8('"')); }
    SB_TARGET_AVX2 std::uint64_t structural() const noexcept {
        return equal(_mm256_or_si256(one_, space_), _mm256_or_si256(two_, space_), _mm256_shuffle_epi8(brackets_, one_), _mm256_shuffle_epi8(brackets_, two_));
    }
    SB_TARGET_AVX2 std::uint64_t colon() const noexcept { return are(_mm256_set1_epi8(':')); }
    SB_TARGET_AVX2 std::uint64_t newline() const noexcept { return are(_mm256_set1_epi8('\n')); }
    SB_TARGET_AVX2 std::uint64_t blank() const noexcept { return equal(one_, two_, _mm256_shuffle_epi8(blanks_, one_), _mm256_shuffle_epi8(blanks_, two_)); }
    SB_TARGET_AVX2 std::uint64_t append(std::uint64_t size, std::size_t block, scan_marks const& marks, line_skeleton& into) const noexcept {
        into.blocks[block] = {marks.kept, size};
        auto* const out = into.bytes.data() + size;
        auto* to = out;
        for (int i = 0; i < 8; ++i) {
            auto const mask = static_cast<std::uint8_t>(marks.kept >> (8 * i));
            auto const eight = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(at_ + 8 * i));
            auto const order = _mm_loadl_epi64(reinterpret_cast<__m128i const*>(compress_table[mask].data()));
            _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(eight, order));
            to += _mm_popcnt_u32(mask);
        }
        for (auto scalars = _pext_u64(marks.scalar_starts, marks.kept); scalars != 0; scalars = _blsr_u64(scalars)) out[_tzcnt_u64(scalars)] = '0';
        return size + static_cast<std::uint64_t>(to - out);
    }

private:
    SB_TARGET_AVX2 static std::uint64_t equal(__m256i low, __m256i high, __m256i low_to, __m256i high_to) noexcept {
        auto const a = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, low_to)));
        auto const b = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, high_to)));
        return a | std::uint64_t{b} << 32;
    }
    SB_TARGET_AVX2 std::uint64_t are(__m256i wanted) const noexcept { return equal(one_, two_, wanted, wanted); }

    __m256i blanks_, brackets_, space_, one_, two_;
    char const* at_ = nullptr;
};
SB_TARGET_AVX2 __attribute__((flatten)) inline void scan_avx2(char const* line, char const* limit, line_skeleton& into) noexcept {
    bytes_avx2 bytes;
    scan_blocks(bytes, line, limit, into);
}

#endif

} // namespace detail

/// Scans the line at `line`, which ends at the first newline or at `limit`; 64 bytes after `limit` must be readable.
using line_scan = void (*)(char const* line, char const* limit, line_skeleton& into) noexcept;

/// Null if only the plain code is possible.
inline line_scan scanner_for(instruction_set have) noexcept {
#if SB_X86
    if (have == instruction_set::avx512) return detail::scan_avx512;
    if (have == instruction_set::avx2) return detail::scan_avx2;
#endif
    (void)have;
    return nullptr;
}

} // namespace sb::json
