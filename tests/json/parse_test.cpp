// SPDX-License-Identifier: MIT
// Tests of locate.hpp, number.hpp, parse.hpp, unescape.hpp and write.hpp.
#include "support/catch.hpp"
#include "support/files.hpp"
#include <sb/json/line_reader.hpp>
#include <sb/json/locate.hpp>
#include <sb/json/number.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/unescape.hpp>
#include <sb/json/write.hpp>
#include <bit>
#include <cstdint>
#include <set>

namespace {

std::string base64(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    int have = 0;
    for (char const c : text) {
        constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        auto const six = alphabet.find(c);
        if (six == std::string_view::npos) break;
        bits = bits << 6 | static_cast<std::uint32_t>(six), have += 6;
        if (have >= 8) have -= 8, out.push_back(static_cast<char>(bits >> have & 0xff));
    }
    return out;
}

std::string repeated(std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
}

sb::value parsed(std::string_view text) {
    sb::value v;
    auto const wrong = sb::json::parse(text, v);
    INFO(text << ": " << (wrong ? wrong->what : ""));
    REQUIRE_FALSE(wrong);
    return v;
}
std::size_t fault_at(std::string_view text) {
    sb::value v;
    auto const wrong = sb::json::parse(text, v);
    REQUIRE(wrong);
    return wrong->at;
}

} // namespace

TEST_CASE("all cases of JSONTestSuite behave") {
    auto const suite = parsed(sb::test::oracle("jsontestsuite.json"));
    int accepted = 0, rejected = 0;
    for (auto const& each : *suite.if_object()->if_contains("cases")->if_array()) {
        auto const& o = *each.if_object();
        auto const name = std::string{sb::string_or(*o.if_contains("name"), {})};
        auto const* const encoded = o.if_contains("base64");
        // two cases are given by rule, being a repetition of a hundred thousand brackets
        auto const bytes = encoded                                             ? base64(sb::string_or(*encoded, {}))
                           : name == "n_structure_100000_opening_arrays.json" ? std::string(100000, '[')
                                                                               : repeated("[{\"\":", 50000) + "\n";
        sb::value v;
        bool const ok = !sb::json::parse(bytes, v);
        INFO(name);
        if (name.starts_with("y_")) {
            CHECK(ok);
            ++accepted;
        } else if (name.starts_with("n_")) {
            CHECK_FALSE(ok);
            ++rejected;
        }
        // the locator must say the same, and what is checked alone
        CHECK(!sb::json::locate(bytes) == ok);
        CHECK(!sb::json::check(bytes) == ok);
        // what is an object must mean the same to a strict reader of lines
        if (!bytes.empty() && bytes.find('\n') == std::string::npos && (!ok || v.if_object())) {
            sb::json::wanted_fields wanted;
            wanted.add("a");
            sb::json::line_reader reader{wanted, {.strict = true}};
            auto const padded = bytes + std::string(sb::block_padding, ' ');
            auto const* at = padded.data();
            CHECK((reader.next(at, at + bytes.size()) == sb::json::line_reader::kind::fields) == ok);
        }
        if (ok) CHECK(parsed(sb::json::text_of(v)) == v);
    }
    CHECK(accepted == 48);
    CHECK(rejected == 100);
}

TEST_CASE("numbers are read to the last bit and written so that they read back") {
    int rows = 0;
    sb::split(sb::test::oracle("json_numbers.csv"), '\n', [&](std::string_view row) {
        auto const comma = row.rfind(',');
        if (comma == std::string_view::npos || row.starts_with("text,")) return;
        ++rows;
        auto const text = row.substr(0, comma);
        std::uint64_t bits = 0;
        std::from_chars(row.data() + comma + 1, row.data() + row.size(), bits, 16);
        bool whole = false;
        INFO(text);
        REQUIRE(sb::json::number_length(text, whole) == text.size());
        auto const n = sb::json::read_number(text, whole);
        CHECK(std::bit_cast<std::uint64_t>(n.as_double()) == bits);
        CHECK((n.kind == sb::json::number_kind::overflow) == std::isinf(n.as_double()));
        if (std::isinf(n.as_double())) return;
        std::string out;
        sb::json::append_real(out, n.as_double());
        auto const again = parsed(out);
        CHECK(std::bit_cast<std::uint64_t>(sb::number_or(again, 0)) == bits);
    });
    CHECK(rows == 600);
}

TEST_CASE("integers to 2^63 and a negative zero survive unchanged") {
    for (auto const* text : {"9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615",
                             "9007199254740993", "-0.0", "1e-320", "0.1", "123456789012345.6"})
        CHECK(sb::json::text_of(parsed(text)) == text);
    CHECK(std::signbit(sb::number_or(parsed("-0"), 1)));
    CHECK(sb::number_or(parsed("1e-400"), 1) == 0);
    CHECK(fault_at("[1,1e400]") == 3);
}

TEST_CASE("escapes mean what they stand for, and half a surrogate is no text") {
    CHECK(sb::string_or(parsed(R"("a\u00e9\ud83d\ude00\/\n")"), {}) == "a\xc3\xa9\xf0\x9f\x98\x80/\n");
    CHECK(sb::string_or(parsed(R"("\u0000")"), "x") == std::string_view("\0", 1));
    CHECK(fault_at(R"(["\ud800"])") == 2);
    CHECK(fault_at(R"(["\ude00"])") == 2);
    CHECK(fault_at("[\"\xff\"]") == 2);
    CHECK(fault_at("[\"\xed\xa0\x80\"]") == 2);
}

TEST_CASE("the last of equal keys wins and each earlier one is counted, in small objects and large") {
    sb::value v;
    std::size_t duplicates = 0;
    REQUIRE_FALSE(sb::json::parse(R"({"a":1,"b":2,"\u0061":3})", v, &duplicates));
    CHECK(duplicates == 1);
    CHECK(sb::number_or(*v.if_object()->if_contains("a"), 0) == 3);
    std::string large = "{";
    for (int i = 0; i < 1000; ++i) large += sb::cat(i ? "," : "", "\"k", i % 900, "\":", i);
    duplicates = 0;
    REQUIRE_FALSE(sb::json::parse(large + "}", v, &duplicates));
    CHECK(duplicates == 100);
    CHECK(v.if_object()->size() == 900);
    CHECK(sb::number_or(*v.if_object()->if_contains("k99"), 0) == 999);
}

TEST_CASE("nesting has a bottom and a hundred thousand keys cost no square") {
    CHECK_FALSE(fault_at(std::string(65, '[') + std::string(65, ']')) == 0);
    parsed(std::string(64, '[') + std::string(64, ']'));
    std::string many = "{";
    for (int i = 0; i < 100000; ++i) many += sb::cat(i ? "," : "", "\"", i, "\":0");
    CHECK(parsed(many + "}").if_object()->size() == 100000);
}

TEST_CASE("no text is continued by one that was read before it") {
    std::string const whole = R"({"a":[[1],{"b":"c\u00e9"},[]],"d":{"e":{"f":null}},"g":[{"h":["i","j"]}]})";
    for (std::size_t n = 0; n < whole.size(); ++n) {
        parsed(whole + "    ");
        sb::value v;
        auto const got = sb::json::parse(whole.substr(0, n), v), want = sb::json::locate(whole.substr(0, n));
        REQUIRE(want);
        REQUIRE(got);
        CHECK(got->at == want->at);
        parsed(whole);
        sb::json::wanted_member d[]{{"d"}};
        CHECK(sb::json::read_members(whole.substr(0, n), d));
    }
}

TEST_CASE("a fault says where") {
    CHECK(fault_at("") == 0);
    CHECK(fault_at("{\"a\" 1}") == 5);
    CHECK(fault_at("[1,]") == 3);
    CHECK(fault_at("[1 2]") == 3);
    CHECK(fault_at("nul") == 0);
    CHECK(fault_at("{\"a\":1}}") == 7);
    CHECK(fault_at("\xef\xbb\xbf{}") == 0);
    auto const e = sb::json::parse_document("{\n \"a\": tru\n}", "presets.json").error();
    CHECK(e.what == "presets.json: line 2, byte 7: not a value");
}

TEST_CASE("what a terminal would obey or hide is written as an escape, and read back as it was") {
    auto const text = [](std::string_view raw) { return sb::json::text_of(sb::value(std::string{raw})); };
    CHECK(text("a\x1b[2J\x7f") == R"("a\u001b[2J\u007f")");
    CHECK(text("\u009b31m") == R"("\u009b31m")");
    CHECK(text("\u202etxt.exe\u200b") == R"("\u202etxt.exe\u200b")");
    CHECK(text("\ufeff\u00ad") == R"("\ufeff\u00ad")");
    CHECK(text("\U000e0041") == R"("\udb40\udc41")"); // RFC 2781: a tag, as two units of UTF-16
    CHECK(text("日本 naïve 🙂") == "\"日本 naïve 🙂\"");
    for (std::string const raw : {"\u202e\u2066x\u200d", "\U000e0041\U000e007f", "\ufeff\u0080"}) CHECK(parsed(text(raw)) == sb::value(raw));
}
