// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/sha256.hpp>
#include <string>

using namespace sb;

namespace {
// sha256sum of n times the letter given
struct example {
    std::string text;
    char const* digest;
};
example const examples[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};
} // namespace

TEST_CASE("sha256 gives the digests of FIPS 180-4's examples") {
    for (auto const& each : examples) CHECK(sha256_hex(each.text) == each.digest);
}

TEST_CASE("sha256 without the processor's instructions gives the same digests") {
    for (auto const& each : examples) CHECK(sha256{detail::sha256_plain}.update(each.text).hex() == each.digest);
    std::string text;
    for (int n = 0; n < 300; ++n) {
        CHECK(sha256{detail::sha256_plain}.update(text).hex() == sha256_hex(text));
        text.push_back(static_cast<char>(n * 37));
    }
}

TEST_CASE("sha256 does not care how its text is cut") {
    std::string text;
    for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>(i * 31 + i / 7));
    auto const whole = sha256_hex(text);
    for (std::size_t piece : {1u, 3u, 55u, 56u, 63u, 64u, 65u, 127u, 128u, 999u}) {
        sha256 h;
        for (std::size_t at = 0; at < text.size(); at += piece) h.update(std::string_view{text}.substr(at, piece));
        CHECK(h.hex() == whole);
    }
}

TEST_CASE("sha256 begins anew after finish") {
    sha256 h;
    h.update("left over").finish();
    CHECK(h.update("abc").hex() == examples[1].digest);
}

TEST_CASE("two texts at once give the digests of each alone") {
    std::string long_text;
    for (int i = 0; i < 700; ++i) long_text.push_back(static_cast<char>(i * 13));
    for (std::size_t a : {0u, 1u, 55u, 56u, 64u, 119u, 128u, 500u, 700u})
        for (std::size_t b : {0u, 63u, 64u, 300u, 699u}) {
            std::string_view const one = std::string_view{long_text}.substr(0, a), two = std::string_view{long_text}.substr(700 - b);
            auto const both = sha256_of(one, two);
            CHECK(both[0] == sha256_of(one));
            CHECK(both[1] == sha256_of(two));
        }
}
