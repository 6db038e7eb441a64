// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/printable.hpp>
#include <string>

using sb::printable;
using namespace std::string_view_literals;

TEST_CASE("text stays as it is, in any script") {
    for (auto const each : {""sv, "plain text"sv, "naïve Straße"sv, "日本語"sv, "🙂"sv, "עברית"sv, "C:\\path"sv}) CHECK(printable(each) == each);
}

TEST_CASE("what acts on a terminal stands as its bytes") {
    CHECK(printable("a\x1b[31mred\nline\t\x7f"sv) == "a\\x1b[31mred\\x0aline\\x09\\x7f");
    CHECK(printable("\0\r"sv) == "\\x00\\x0d");
    CHECK(printable("\xc2\x9b\x33\x31m"sv) == "\\xc2\\x9b31m"); // a control of eight bits
    CHECK(printable("\xe2\x80\xa8"sv) == "\\xe2\\x80\\xa8"); // a line separator
    CHECK(printable("\xe2\x80\xae" "txt.exe"sv) == "\\xe2\\x80\\xaetxt.exe"); // from right to left
    CHECK(printable("\xe2\x81\xa6"sv) == "\\xe2\\x81\\xa6");
    CHECK(printable("\xe2\x80\xa6"sv) == "…");
}

TEST_CASE("bytes that are no UTF-8 stand as such, and what follows is read anew") {
    CHECK(printable("\xff"sv) == "\\xff");
    CHECK(printable("\xc3(\xe2\x82"sv) == "\\xc3(\\xe2\\x82");
    CHECK(printable("\xed\xa0\x80"sv) == "\\xed\\xa0\\x80"); // a surrogate
    CHECK(printable("\xc0\xaf"sv) == "\\xc0\\xaf"); // longer than it need be
}

TEST_CASE("a reversible line tells a backslash from an escape") {
    CHECK(printable("a\\x0a"sv, true) == "a\\x5cx0a");
    CHECK(printable("a\n"sv, true) == "a\\x0a");
}

TEST_CASE("what cannot be seen stands as its bytes, so that no two names look the same") {
    for (auto const each : {u8"\u00ad", u8"\u034f", u8"\u061c", u8"\u115f", u8"\u180e", u8"\u200b", u8"\u200c", u8"\u200d", u8"\u200e", u8"\u200f", u8"\u202a", u8"\u202e",
                            u8"\u2028", u8"\u2060", u8"\u2066", u8"\u2069", u8"\u206f", u8"\u3164", u8"\ufe00", u8"\ufeff", u8"\uffa0", u8"\ufff9", u8"\U0001d173", u8"\U000e0001",
                            u8"\U000e0041", u8"\U000e007f", u8"\U000e0100"}) {
        std::string const text{reinterpret_cast<char const*>(each)};
        auto const shown = printable("a" + text + "b");
        CHECK(shown.size() == 2 + 4 * text.size());
        CHECK(shown.starts_with("a\\x"));
    }
    for (auto const each : {"\u00a0"sv, "\u00ae"sv, "\u034e"sv, "\u0350"sv, "\u1161"sv, "\u200a"sv, "\u2010"sv, "\u2027"sv, "\u202f"sv, "\u205f"sv, "\u2070"sv, "\u3163"sv, "\u3165"sv, "\ufe10"sv, "\ufffc"sv, "\ufffd"sv,
                            "❤\ufe0f"sv, "\U0001f642"sv})
        CHECK(printable(each) == each);
}
