// SPDX-License-Identifier: MIT
// Tests of fields.hpp, line_reader.hpp, quick_number.hpp, scan.hpp and shape.hpp.
#include <sb/core/fd.hpp>
#include <sb/core/random.hpp>
#include <sb/json/fields.hpp>
#include <sb/json/line_reader.hpp>
#include <sb/json/quick_number.hpp>
#include <sb/json/scan.hpp>
#include <sb/json/shape.hpp>
#include <string>
#include <vector>
#include "support/catch.hpp"

namespace {

using sb::instruction_set;
using kind = sb::json::line_reader::kind;

std::vector<instruction_set> sets() {
    std::vector<instruction_set> all{instruction_set::plain};
    if (sb::best_instruction_set() >= instruction_set::avx2) all.push_back(instruction_set::avx2);
    if (sb::best_instruction_set() >= instruction_set::avx512) all.push_back(instruction_set::avx512);
    return all;
}

sb::json::wanted_fields wanted() {
    sb::json::wanted_fields w;
    for (auto const* key : {"scenario", "roi", "preset", "kind"}) w.add(key);
    w.add("metrics", "security_score");
    w.add("preset", "name");
    return w;
}

/// All that a reader says of a text, as one string.
std::string account(std::string text, instruction_set use, bool strict = false) {
    auto const size = text.size();
    text.append(sb::block_padding, '"'); // what lies behind must not matter
    sb::json::line_reader reader{wanted(), {.strict = strict}, use};
    std::string said;
    char const *at = text.data(), *end = at + size;
    while (at != end) {
        auto const what = reader.next(at, end);
        sb::detail::append_any(said, reader.line().size());
        if (what == kind::blank) said += " blank\n";
        else if (what == kind::bad) said += sb::cat(" byte ", reader.wrong().at, ": ", reader.wrong().what, "\n");
        else {
            for (std::size_t slot = 0; slot < 6; ++slot) {
                auto const& f = reader[slot];
                said += sb::cat(" ", static_cast<int>(f.type), "<", f.type == sb::json::field_type::absent ? "" : f.raw(), ">");
            }
            said += sb::cat(" ", reader.duplicates(), "\n");
        }
    }
    return said;
}

std::string oracle_lines() { return sb::read_file(std::string{SB_SOURCE_DIR} + "/tests/oracles/groupby.jsonl").value(); }

/// So many characters replaced, put in or taken out.
void mutate(std::string& text, std::string_view alphabet, std::uint64_t edits, double replaced, sb::random_stream& chance) {
    for (; edits > 0; --edits) {
        auto const at = chance.below(text.size());
        auto const c = alphabet[chance.below(alphabet.size())];
        if (chance.chance(replaced)) text[at] = c;
        else if (chance.chance(0.5)) text.insert(at, 1, c);
        else text.erase(at, 1);
    }
}

} // namespace

TEST_CASE("a line gives its wanted members, wherever they stand") {
    for (auto const use : sets()) {
        auto const said = [&](std::string const& line) { return account(line, use); };
        CHECK(said(R"({"scenario":"a","roi":1.5})") == "26 1<a> 2<1.5> 0<> 0<> 0<> 0<> 0\n");
        CHECK(said("{ \"roi\" :\t-2 , \"scenario\" : \"x y\" }\r\n") == "36 1<x y> 2<-2> 0<> 0<> 0<> 0<> 0\n");
        CHECK(said(R"({"metrics":{"security_score":7,"roi":8},"other":{"roi":9,"scenario":"no"}})") ==
              "74 0<> 0<> 0<> 0<> 2<7> 0<> 0\n");
        CHECK(said(R"({"a":[{"metrics":{"security_score":7}}],"metrics":[{"security_score":7}]})") == "73 0<> 0<> 0<> 0<> 0<> 0<> 0\n");
        CHECK(said(R"({"preset":{"name":"p","deep":{"name":"q"}},"roi":null})") == "54 0<> 2<null> 3<> 0<> 0<> 1<p> 0\n");
        CHECK(said(R"({"preset":"p"})") == "14 0<> 0<> 1<p> 0<> 0<> 0<> 0\n");
        CHECK(said(R"({})") == "2 0<> 0<> 0<> 0<> 0<> 0<> 0\n");
    }
}

TEST_CASE("escaped keys are the keys they spell") {
    for (auto const use : sets()) {
        CHECK(account(R"({"sc\u0065nario":"a","r\u006fi":1})", use) == "34 1<a> 2<1> 0<> 0<> 0<> 0<> 0\n");
        CHECK(account(R"({"a\"roi\":2,":1,"roi":3})", use) == "25 0<> 2<3> 0<> 0<> 0<> 0<> 0\n");
    }
}

TEST_CASE("the last of equal keys wins and is counted") {
    for (auto const use : sets()) {
        // thrice, so that the shape is known when it comes again
        std::string const line = R"({"roi":1,"metrics":{"security_score":1},"roi":2,"metrics":{"x":1},"r\u006fi":3})" "\n";
        CHECK(account(line + line + line, use) ==
              "79 0<> 2<3> 0<> 0<> 0<> 0<> 3\n79 0<> 2<3> 0<> 0<> 0<> 0<> 3\n79 0<> 2<3> 0<> 0<> 0<> 0<> 3\n");
        CHECK(account(R"({"metrics":{"security_score":1,"security_score":2}})", use) == "51 0<> 0<> 0<> 0<> 2<2> 0<> 1\n");
    }
}

TEST_CASE("what is wrong with a line is said with its byte, and the next line is read") {
    for (auto const use : sets()) {
        auto const wrong = [&](std::string const& line) {
            auto const good = std::string{"{\"roi\":1}\n"};
            auto const said = account(good + line + "\n" + good, use);
            auto const from = said.find('\n') + 1, to = said.rfind('\n', said.size() - 2);
            CHECK(said.substr(to + 1) == "9 0<> 2<1> 0<> 0<> 0<> 0<> 0\n");
            auto const middle = said.substr(from, to - from);
            return middle.substr(middle.find(' ') + 1);
        };
        CHECK(wrong(R"({"roi":1}TRAILER)") == "byte 9: text after the end of the object");
        CHECK(wrong(R"({"roi":1}})") == "byte 9: text after the end of the object");
        CHECK(wrong(R"({"roi":1},)") == "byte 9: text after the end of the object");
        CHECK(wrong(R"({"roi":1}{"roi":2})") == "byte 9: text after the end of the object");
        CHECK(wrong(R"({"roi":1)") == "byte 8: an object without its closing brace");
        CHECK(wrong(R"({"roi":1])") == "byte 8: no comma between members");
        CHECK(wrong(R"({"roi":[1})") == "byte 9: no comma between elements");
        CHECK(wrong(R"({"roi":"1})") == "byte 10: a string without its closing quote");
        CHECK(wrong(R"({"roi":"1\"})") == "byte 12: a string without its closing quote");
        CHECK(wrong(R"({"roi" 1})") == "byte 7: no colon after a key");
        CHECK(wrong(R"({roi:1})") == "byte 1: a key must be a string");
        CHECK(wrong(R"({"roi":1,})") == "byte 9: a key must be a string");
        CHECK(wrong(R"({"roi":})") == "byte 7: not a value");
        CHECK(wrong(R"({"roi":1 2})") == "byte 9: no comma between members");
        CHECK(wrong(R"({"roi":"1"2})") == "byte 10: no comma between members");
        CHECK(wrong(R"({"roi":\"1\"})") == "byte 8: no comma between members");
        CHECK(wrong(R"(x{"roi":1})") == "byte 0: not an object");
        CHECK(wrong("[1]") == "byte 0: not an object");
        CHECK(wrong("null") == "byte 0: not an object");
        CHECK(wrong("\xef\xbb\xbf{\"roi\":1}") == "byte 0: a byte order mark");
        CHECK(wrong("{\"a\":\f1,\"roi\" :2 3}") == "byte 17: no comma between members");
        std::string deep = "{\"a\":";
        for (int i = 0; i < 64; ++i) deep += '[';
        CHECK(wrong(deep) == "byte 68: nested too deep");
    }
}

TEST_CASE("strict and parse agree on every mutation of a line") {
    sb::random_stream chance{11};
    std::string const seeds[] = {R"({"scenario":"a\u00e9\n","roi":-1.5e-3,"t":[true,false,null,{"x":[]}],"u":"日本"})",
                                 R"({"roi":0,"metrics":{"security_score":12.5},"s":"\ud83d\ude00","n":-0,"e":1E+2})"};
    constexpr std::string_view alphabet = "{}[]:,\"\\0123456789.eE+-truefalsn u\t\x01\xc3\xa9\xff ";
    int accepted = 0;
    for (int i = 0; i < 60000; ++i) {
        auto line = seeds[chance.below(2)];
        mutate(line, alphabet, chance.below(3), 0.4, chance);
        if (line.empty() || line.find('\n') != std::string::npos) continue;
        sb::value v;
        bool const good = !sb::json::parse(line, v) && v.if_object();
        auto const said = account(line, instruction_set::plain, true);
        INFO(line << " -> " << said);
        REQUIRE(good == (said.find("byte ") == std::string::npos));
        accepted += good;
    }
    CHECK(accepted > 5000);
}

TEST_CASE("every instruction set says the same of every mutation of awkward lines") {
    auto const text = oracle_lines();
    sb::random_stream chance{12};
    constexpr std::string_view alphabet = "{}[]:,\"\"\"\\\\\\0a \t\f\x1a\r\xc3\n";
    for (int round = 0; round < 300; ++round) {
        auto const from = chance.below(text.size() - 40000);
        auto part = text.substr(from, 20000 + chance.below(20000));
        mutate(part, alphabet, round % 50 == 0 ? 0 : chance.below(60), 0.6, chance);
        auto const plain = account(part, instruction_set::plain);
        for (auto const use : sets()) REQUIRE((account(part, use) == plain));
    }
}

TEST_CASE("a string or an escape across a block's edge is read as anywhere else") {
    for (auto const use : sets())
        for (std::size_t pad = 0; pad < 200; ++pad) {
            auto const filler = std::string(pad, 'x');
            auto const line = sb::cat("{\"f\":\"", filler, "\\\\\\\"\",\"k\\\"\":[\"{\",1 , 2],\"scenario\" :   \"", filler, "\\\\\",\"roi\":", pad, "}");
            auto const want = sb::cat(line.size(), " 1<", filler, "\\\\> 2<", pad, "> 0<> 0<> 0<> 0<> 0\n");
            auto const twice = line + "\n" + line;
            REQUIRE((account(twice, use) == want + want));
        }
}

TEST_CASE("lines beyond the vector path's reach are read by the plain walk") {
    for (auto const use : sets()) {
        std::string line = R"({"a":[)";
        for (int i = 0; i < 20000; ++i) line += "\"x\",";
        line += R"(1],"roi":5})";
        CHECK(account(line + "\n" + line, use) == sb::cat(line.size(), " 0<> 2<5> 0<> 0<> 0<> 0<> 0\n", line.size(), " 0<> 2<5> 0<> 0<> 0<> 0<> 0\n"));
    }
}

TEST_CASE("more shapes than are remembered change nothing") {
    std::string text;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 1000; ++i) text += sb::cat("{\"k", i, "\":1,\"scenario\":\"s", i, "\",\"roi\":", i, "}\n");
    for (auto const use : sets()) CHECK((account(text, use) == account(text, instruction_set::plain)));
}

TEST_CASE("a scalar is read to the nearest double") {
    for (auto const use : sets()) {
        auto const read = [reader = sb::json::scalar_reader_for(use)](std::string text) {
            auto const size = text.size();
            text.append(32, '7');
            double x = -99;
            auto const got = reader({text.data(), size}, x);
            return got == sb::json::scalar_kind::number ? x : got == sb::json::scalar_kind::word ? 1001 : got == sb::json::scalar_kind::malformed ? 1002 : 1003;
        };
        CHECK(read("0.1") == 0.1);
        CHECK(read("-12.345678901234") == -12.345678901234);
        CHECK(read("123456789012345") == 123456789012345.0);
        CHECK(read("1234567890123456") == 1234567890123456.0);
        CHECK(read("1234567890123456789") == 1234567890123456789.0);
        CHECK(read("1e400") == 1003);
        CHECK(read("1e-400") == 0);
        CHECK(std::signbit(read("-0")));
        CHECK(std::signbit(read("-0.0")));
        CHECK(read("2.2250738585072011e-308") == 2.2250738585072011e-308);
        for (auto const* bad : {"", "-", "1.", ".5", "01", "1.2.3", "+1", "1e", "NaN", "Infinity", "0x1", "-01", "1-", "tru", "00", "--1", "1:", "1/", "."})
            CHECK(read(bad) == 1002);
        for (auto const* word : {"true", "false", "null"}) CHECK(read(word) == 1001);
        sb::random_stream chance{3};
        for (int i = 0; i < 50000; ++i) { // against the library's own reading
            auto text = sb::fixed((chance.unit() - 0.5) * std::pow(10.0, static_cast<double>(chance.below(16))), static_cast<int>(chance.below(16)));
            double want = 0;
            std::from_chars(text.data(), text.data() + text.size(), want);
            REQUIRE(read(text) == want);
        }
    }
}

TEST_CASE("a plain decimal is one on every instruction set") {
    for (auto const use : sets()) {
        auto const check = [is = sb::json::decimal_check_for(use)](std::string text) {
            auto const size = text.size();
            text.append(40, '7');
            return is({text.data(), size});
        };
        for (auto const* good : {"0", "-0", "12", "-12.5", "0.1", "100", "12345678901234567890.12345", "-1234567890123456789012345678901.5"}) CHECK(check(good));
        for (auto const* bad : {"", "-", "1.", ".5", "01", "-01.5", "1.2.3", "+1", "1e5", "null", "--1", "1:", "/1", ".", "00", "1 "}) CHECK_FALSE(check(bad));
    }
}
