// SPDX-License-Identifier: MIT
// One JSON text into a value, every byte checked: grammar, UTF-8, surrogates, depth.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/json/number.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sb::json {

/// What is wrong, and at which byte (from 0) of the text.
struct fault {
    std::size_t at = 0;
    std::string_view what; ///< static text
};

struct parse_limits {
    int depth = 64;
};

namespace detail {

constexpr int hex_digit(char c) noexcept {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

inline void append_utf8(std::string& to, std::uint32_t code) {
    auto const put = [&](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
    if (code < 0x80) put(code);
    else if (code < 0x800) put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
    else if (code < 0x10000) put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
    else put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f)), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
}

class parser {
public:
    parser(std::string_view text, parse_limits limits) : text_{text}, limits_{limits} {}

    std::optional<fault> document(value& into) {
        if (text_.starts_with("\xef\xbb\xbf")) return fail("a byte order mark");
        blanks();
        if (!any(into, limits_.depth)) return fault_;
        blanks();
        if (at_ < text_.size()) return fail("text after the end of the value");
        return std::nullopt;
    }
    /// Keys that were given more than once; the last one counted.
    std::size_t duplicates() const noexcept { return duplicates_; }

private:
    fault fail(std::string_view what, std::size_t at) { return fault_ = {at, what}; }
    fault fail(std::string_view what) { return fail(what, at_); }
    bool no(std::string_view what) { return fail(what), false; }
    bool no(std::string_view what, std::size_t at) { return fail(what, at), false; }
    bool more() const noexcept { return at_ < text_.size(); }
    void blanks() {
        while (more() && is_blank(text_[at_])) ++at_;
    }
    bool word(std::string_view expected, value& into, value meaning) {
        if (!text_.substr(at_).starts_with(expected)) return no("not a value");
        at_ += expected.size();
        into = std::move(meaning);
        return true;
    }

    bool any(value& into, int depth) {
        if (!more()) return no("the text ends where a value should be");
        switch (text_[at_]) {
        case '{': return members(into, depth);
        case '[': return elements(into, depth);
        case '"': {
            std::string s;
            if (!string(s)) return false;
            into = value{std::move(s)};
            return true;
        }
        case 't': return word("true", into, value{true});
        case 'f': return word("false", into, value{false});
        case 'n': return word("null", into, value{});
        default: return number_value(into);
        }
    }

    bool number_value(value& into) {
        bool whole = false;
        auto const length = number_length(text_.substr(at_), whole);
        if (length == 0) return no("not a value");
        auto const n = read_number(text_.substr(at_, length), whole);
        switch (n.kind) {
        case number_kind::integer: into = value{n.integer}; break;
        case number_kind::natural: into = value{n.natural}; break;
        case number_kind::real: into = value{n.real}; break;
        case number_kind::overflow: return no("a number too large for a double");
        case number_kind::malformed: return no("not a number");
        }
        at_ += length;
        return true;
    }

    bool string(std::string& into) {
        ++at_; // the opening quote
        for (;;) {
            auto const from = at_;
            while (more() && static_cast<unsigned char>(text_[at_]) >= 0x20 && text_[at_] != '"' && text_[at_] != '\\' &&
                   static_cast<unsigned char>(text_[at_]) < 0x80)
                ++at_;
            into.append(text_, from, at_ - from);
            if (!more()) return no("a string without its closing quote");
            auto const c = static_cast<unsigned char>(text_[at_]);
            if (c == '"') return ++at_, true;
            if (c == '\\') {
                if (!escape(into)) return false;
            } else if (c < 0x20) {
                return no("a control character in a string");
            } else {
                auto const n = utf8_length(text_.substr(at_));
                if (n == 0) return no("not UTF-8");
                into.append(text_, at_, n);
                at_ += n;
            }
        }
    }

    bool hex4(std::uint32_t& code) {
        code = 0;
        for (int i = 0; i < 4; ++i, ++at_) {
            auto const digit = more() ? hex_digit(text_[at_]) : -1;
            if (digit < 0) return no("\\u without four hexadecimal digits");
            code = code << 4 | static_cast<std::uint32_t>(digit);
        }
        return true;
    }

    bool escape(std::string& into) {
        auto const from = at_++; // the backslash
        if (!more()) return no("a string without its closing quote");
        constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
        char const c = text_[at_++];
        if (auto const i = letters.find(c); i != std::string_view::npos) return into.push_back(meanings[i]), true;
        if (c != 'u') return no("an unknown escape", from);
        std::uint32_t code = 0, low = 0;
        if (!hex4(code)) return false;
        if (code >= 0xdc00 && code <= 0xdfff) return no("half of a surrogate pair", from);
        if (code >= 0xd800 && code <= 0xdbff) {
            if (!text_.substr(at_).starts_with("\\u")) return no("half of a surrogate pair", from);
            at_ += 2;
            if (!hex4(low)) return false;
            if (low < 0xdc00 || low > 0xdfff) return no("half of a surrogate pair", from);
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(into, code);
        return true;
    }

    bool elements(value& into, int depth) {
        if (depth <= 0) return no("nested too deep");
        array all;
        ++at_;
        blanks();
        if (more() && text_[at_] == ']') return ++at_, into = value{std::move(all)}, true;
        for (;;) {
            blanks();
            if (!any(all.emplace_back(), depth - 1)) return false;
            blanks();
            if (!more()) return no("an array without its closing bracket");
            if (text_[at_] == ']') return ++at_, into = value{std::move(all)}, true;
            if (text_[at_] != ',') return no("no comma between elements");
            ++at_;
        }
    }

    bool members(value& into, int depth) {
        if (depth <= 0) return no("nested too deep");
        object all;
        key_index index;
        ++at_;
        blanks();
        if (more() && text_[at_] == '}') return ++at_, into = value{std::move(all)}, true;
        for (;;) {
            blanks();
            if (!more() || text_[at_] != '"') return no(more() ? "a key must be a string" : "an object without its closing brace");
            std::string key;
            if (!string(key)) return false;
            blanks();
            if (!more() || text_[at_] != ':') return no("no colon after a key");
            ++at_;
            blanks();
            value v;
            if (!any(v, depth - 1)) return false;
            put(all, index, std::move(key), std::move(v));
            blanks();
            if (!more()) return no("an object without its closing brace");
            if (text_[at_] == '}') return ++at_, into = value{std::move(all)}, true;
            if (text_[at_] != ',') return no("no comma between members");
            ++at_;
        }
    }

    using key_index = std::unordered_map<std::string, std::size_t>;
    /// The last of equal keys wins. Small objects are searched in place; large ones by index, so that 100,000 keys
    /// from a hostile line cost no square.
    void put(object& all, key_index& index, std::string key, value v) {
        constexpr std::size_t large = 24;
        if (all.size() < large) {
            if (!all.set(key, std::move(v))) ++duplicates_;
            return;
        }
        auto& members = all.members();
        if (index.empty())
            for (std::size_t i = 0; i < members.size(); ++i) index.emplace(members[i].first, i);
        auto const [there, added] = index.try_emplace(key, members.size());
        if (added) members.emplace_back(std::move(key), std::move(v));
        else members[there->second].second = std::move(v), ++duplicates_;
    }

    std::string_view text_;
    parse_limits limits_;
    std::size_t at_ = 0, duplicates_ = 0;
    fault fault_;
};

} // namespace detail

/// Nothing when `into` holds the value; else what is wrong and where.
inline std::optional<fault> parse(std::string_view text, value& into, std::size_t* duplicates = nullptr,
                                  parse_limits limits = {}) {
    detail::parser p{text, limits};
    auto wrong = p.document(into);
    if (duplicates) *duplicates += p.duplicates();
    return wrong;
}

/// A whole document; the error names line and byte (both from 1) of `name`.
inline result<value> parse_document(std::string_view text, std::string_view name) {
    value v;
    if (auto const wrong = parse(text, v)) {
        std::size_t line = 1, start = 0;
        for (std::size_t i = 0; i < wrong->at && i < text.size(); ++i)
            if (text[i] == '\n') ++line, start = i + 1;
        return input_error(cat(name, ": line ", line, ", byte ", wrong->at - start + 1, ": ", wrong->what));
    }
    return v;
}

} // namespace sb::json
