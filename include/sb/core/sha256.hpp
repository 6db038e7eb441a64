// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), with the processor's own instructions where it has them.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace sb {

using sha256_digest = std::array<std::uint8_t, 32>;

namespace detail {

using sha256_state = std::array<std::uint32_t, 8>;
inline constexpr sha256_state sha256_start{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
alignas(64) inline constexpr std::uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/// Round I of a block, with the words of the message in a ring of 16. The state's letters do not move: they are
/// counted round.
template <int I>
inline void sha256_round(std::uint32_t (&v)[8], std::uint32_t (&w)[16]) noexcept {
    auto const at = [&](int k) -> std::uint32_t& { return v[(k - I % 8 + 8) % 8]; };
    if constexpr (I >= 16) {
        auto const x = w[(I + 1) % 16], y = w[(I + 14) % 16];
        w[I % 16] += (std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3)) + w[(I + 9) % 16] +
                     (std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10));
    }
    auto const a = at(0), b = at(1), c = at(2), e = at(4), f = at(5), g = at(6);
    auto const t = at(7) + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + (g ^ (e & (f ^ g))) + sha256_k[I] + w[I % 16];
    at(3) += t;
    at(7) = t + (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) | (c & (a | b)));
}
template <int... I>
inline void sha256_rounds(std::uint32_t (&v)[8], std::uint32_t (&w)[16], std::integer_sequence<int, I...>) noexcept {
    (sha256_round<I>(v, w), ...);
}

/// Folds whole blocks of 64 bytes into the state.
inline void sha256_plain(sha256_state& state, char const* data, std::size_t blocks) noexcept {
    for (; blocks > 0; --blocks, data += 64) {
        std::uint32_t w[16], v[8];
        for (int i = 0; i < 16; ++i) {
            auto const byte = [&](int k) { return std::uint32_t{static_cast<unsigned char>(data[4 * i + k])}; };
            w[i] = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
        }
        std::copy(state.begin(), state.end(), v);
        sha256_rounds(v, w, std::make_integer_sequence<int, 64>{});
        for (std::size_t i = 0; i < 8; ++i) state[i] += v[i];
    }
}

#if defined(__x86_64__)
/// One text's way through the SHA extensions: four rounds a step, the message schedule three steps ahead.
struct sha256_lane {
    __m128i abef, cdgh, m[4];
};
#define SB_SHA __attribute__((target("sha,sse4.1,ssse3"), always_inline))
SB_SHA inline __m128i sha256_load(void const* p) noexcept { return _mm_loadu_si128(static_cast<__m128i const*>(p)); }
SB_SHA inline void sha256_open(sha256_lane& lane, sha256_state const& state) noexcept {
    auto const low = _mm_shuffle_epi32(sha256_load(&state[0]), 0xb1),
        high = _mm_shuffle_epi32(sha256_load(&state[4]), 0x1b);
    lane.abef = _mm_alignr_epi8(low, high, 8), lane.cdgh = _mm_blend_epi16(high, low, 0xf0);
}
SB_SHA inline void sha256_close(sha256_lane const& lane, sha256_state& state) noexcept {
    auto const low = _mm_shuffle_epi32(lane.abef, 0x1b), high = _mm_shuffle_epi32(lane.cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(&state[0]), _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(&state[4]), _mm_alignr_epi8(high, low, 8));
}
SB_SHA inline void sha256_take(sha256_lane& lane, char const* data) noexcept {
    auto const swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (int i = 0; i < 4; ++i) lane.m[i] = _mm_shuffle_epi8(sha256_load(data + 16 * i), swap);
}
/// Rounds 4i to 4i + 3. The words of step i + 1 are finished here, those of step i + 3 begun.
template <int I>
SB_SHA inline void sha256_step(sha256_lane& lane) noexcept {
    auto const msg = _mm_add_epi32(lane.m[I % 4], sha256_load(sha256_k + 4 * I));
    lane.cdgh = _mm_sha256rnds2_epu32(lane.cdgh, lane.abef, msg);
    if constexpr (I >= 3 && I < 15) {
        auto const sum = _mm_add_epi32(lane.m[(I + 1) % 4], _mm_alignr_epi8(lane.m[I % 4], lane.m[(I + 3) % 4], 4));
        lane.m[(I + 1) % 4] = _mm_sha256msg2_epu32(sum, lane.m[I % 4]);
    }
    lane.abef = _mm_sha256rnds2_epu32(lane.abef, lane.cdgh, _mm_shuffle_epi32(msg, 0x0e));
    if constexpr (I >= 1 && I < 13) lane.m[(I + 3) % 4] = _mm_sha256msg1_epu32(lane.m[(I + 3) % 4], lane.m[I % 4]);
}
template <int... I>
SB_SHA inline void sha256_steps(sha256_lane& lane, std::integer_sequence<int, I...>) noexcept {
    (sha256_step<I>(lane), ...);
}
template <int... I>
SB_SHA inline void sha256_steps(sha256_lane& one, sha256_lane& two, std::integer_sequence<int, I...>) noexcept {
    ((sha256_step<I>(one), sha256_step<I>(two)), ...);
}

__attribute__((target("sha,sse4.1,ssse3")))
inline void sha256_extended(sha256_state& state, char const* data, std::size_t blocks) noexcept {
    sha256_lane lane;
    sha256_open(lane, state);
    for (; blocks > 0; --blocks, data += 64) {
        auto const abef = lane.abef, cdgh = lane.cdgh;
        sha256_take(lane, data);
        sha256_steps(lane, std::make_integer_sequence<int, 16>{});
        lane.abef = _mm_add_epi32(lane.abef, abef), lane.cdgh = _mm_add_epi32(lane.cdgh, cdgh);
    }
    sha256_close(lane, state);
}
/// Two texts at once: each fills the other's waits.
__attribute__((target("sha,sse4.1,ssse3")))
inline void sha256_extended_pair(sha256_state& one, char const* data, sha256_state& two, char const* other,
                                 std::size_t blocks) noexcept {
    sha256_lane a, b;
    sha256_open(a, one), sha256_open(b, two);
    for (; blocks > 0; --blocks, data += 64, other += 64) {
        auto const abef = a.abef, cdgh = a.cdgh, abef2 = b.abef, cdgh2 = b.cdgh;
        sha256_take(a, data), sha256_take(b, other);
        sha256_steps(a, b, std::make_integer_sequence<int, 16>{});
        a.abef = _mm_add_epi32(a.abef, abef), a.cdgh = _mm_add_epi32(a.cdgh, cdgh);
        b.abef = _mm_add_epi32(b.abef, abef2), b.cdgh = _mm_add_epi32(b.cdgh, cdgh2);
    }
    sha256_close(a, one), sha256_close(b, two);
}
#undef SB_SHA

inline bool has_sha_extensions() noexcept {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c >> 9 & c >> 19 & 1) == 0) return false; // SSSE3 and SSE4.1
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
}
#endif

using sha256_fold = void (*)(sha256_state&, char const*, std::size_t) noexcept;
inline sha256_fold choose_sha256() noexcept {
#if defined(__x86_64__)
    static sha256_fold const chosen = has_sha_extensions() ? sha256_extended : sha256_plain;
    return chosen;
#else
    return sha256_plain;
#endif
}

/// Folds blocks of two texts, as many of each.
inline void sha256_fold_pair(sha256_fold fold, sha256_state& one, char const* data, sha256_state& two,
                             char const* other, std::size_t blocks) noexcept {
#if defined(__x86_64__)
    if (fold == sha256_extended) return sha256_extended_pair(one, data, two, other, blocks);
#endif
    fold(one, data, blocks);
    fold(two, other, blocks);
}

/// Folds in the last bytes (fewer than 64), the mark and the length of all, and gives the digest.
inline sha256_digest sha256_end(sha256_fold fold, sha256_state& state, std::string_view rest,
    std::uint64_t bytes) noexcept {
    char tail[128]{};
    if (!rest.empty()) std::memcpy(tail, rest.data(), rest.size());
    tail[rest.size()] = static_cast<char>(0x80);
    auto const size = rest.size() < 56 ? 64u : 128u;
    for (unsigned i = 0; i < 8; ++i) tail[size - 1 - i] = static_cast<char>(bytes * 8 >> 8 * i & 0xff);
    fold(state, tail, size / 64);
    sha256_digest digest{};
    for (std::size_t i = 0; i < 32; ++i)
        digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    return digest;
}

} // namespace detail

/// Takes text in pieces; `finish` gives the digest and begins anew.
class sha256 {
public:
    sha256() noexcept : fold_{detail::choose_sha256()} {}
    /// With the folding function given: for the test that all of them agree.
    explicit sha256(detail::sha256_fold fold) noexcept : fold_{fold} {}

    sha256& update(std::string_view text) noexcept {
        bytes_ += text.size();
        if (held_ > 0) {
            auto const take = text.size() < 64 - held_ ? text.size() : 64 - held_;
            std::memcpy(block_ + held_, text.data(), take);
            held_ += take, text.remove_prefix(take);
            if (held_ < 64) return *this;
            fold_(state_, block_, 1), held_ = 0;
        }
        fold_(state_, text.data(), text.size() / 64);
        text.remove_prefix(text.size() / 64 * 64);
        if (!text.empty()) std::memcpy(block_, text.data(), held_ = text.size());
        return *this;
    }
    sha256_digest finish() noexcept {
        auto const digest = detail::sha256_end(fold_, state_, {block_, held_}, bytes_);
        state_ = detail::sha256_start, held_ = 0, bytes_ = 0;
        return digest;
    }
    std::string hex();

private:
    detail::sha256_fold fold_;
    detail::sha256_state state_ = detail::sha256_start;
    char block_[64];
    std::size_t held_ = 0;
    std::uint64_t bytes_ = 0;
};

/// The first `bytes` bytes as lower-case hexadecimal digits, two each, at `to`.
inline void write_hex(char* to, sha256_digest const& digest, std::size_t bytes) noexcept {
    constexpr char digits[] = "0123456789abcdef";
    for (std::size_t i = 0; i < bytes; ++i) *to++ = digits[digest[i] >> 4], *to++ = digits[digest[i] & 15];
}
inline std::string sha256::hex() {
    std::string text(64, '0');
    write_hex(text.data(), finish(), 32);
    return text;
}

inline sha256_digest sha256_of(std::string_view text) noexcept {
    auto const fold = detail::choose_sha256();
    auto state = detail::sha256_start;
    auto const whole = text.size() / 64 * 64;
    fold(state, text.data(), whole / 64);
    return detail::sha256_end(fold, state, text.substr(whole), text.size());
}
/// Both digests, in less time than one after the other takes when the texts are about as long.
inline std::array<sha256_digest, 2> sha256_of(std::string_view one, std::string_view two) noexcept {
    auto const fold = detail::choose_sha256();
    auto a = detail::sha256_start, b = detail::sha256_start;
    auto const both = std::min(one.size(), two.size()) / 64;
    detail::sha256_fold_pair(fold, a, one.data(), b, two.data(), both);
    auto const rest = [&](detail::sha256_state& state, std::string_view text) {
        auto const whole = text.size() / 64;
        fold(state, text.data() + 64 * both, whole - both);
        return detail::sha256_end(fold, state, text.substr(64 * whole), text.size());
    };
    return {rest(a, one), rest(b, two)};
}
/// As sha256sum(1) prints it.
inline std::string sha256_hex(std::string_view text) { return sha256{}.update(text).hex(); }

} // namespace sb
