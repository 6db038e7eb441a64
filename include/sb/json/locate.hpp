// SPDX-License-Identifier: MIT
// Where a JSON text is wrong, and what was expected there. Works byte by byte, without making a value. simdjson reads valid
// text (parse.hpp); this reads what simdjson refused.
#pragma once
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <sb/json/number.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sb::json {

/// The problem, and its byte (from 0) in the text.
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

class locator {
public:
    locator(std::string_view text, parse_limits limits) noexcept : text_{text}, limits_{limits} {}

    std::optional<fault> document() {
        if (text_.starts_with("\xef\xbb\xbf")) return fault{0, "a byte order mark"};
        blanks();
        if (!any(limits_.depth)) return fault_;
        blanks();
        if (more()) return fault{at_, "text after the end of the value"};
        return std::nullopt;
    }

private:
    bool no(std::string_view what, std::size_t at) { return fault_ = {at, what}, false; }
    bool no(std::string_view what) { return no(what, at_); }
    bool more() const noexcept { return at_ < text_.size(); }
    bool is_at(char c) const noexcept { return more() && text_[at_] == c; }
    void blanks() {
        while (more() && is_blank(text_[at_])) ++at_;
    }
    bool word(std::string_view expected) {
        if (!text_.substr(at_).starts_with(expected)) return no("not a value");
        at_ += expected.size();
        return true;
    }

    bool any(int depth) {
        if (!more()) return no("the text ends where a value should be");
        switch (text_[at_]) {
        case '{': return members(depth);
        case '[': return elements(depth);
        case '"': return string();
        case 't': return word("true");
        case 'f': return word("false");
        case 'n': return word("null");
        default: return number();
        }
    }

    bool number() {
        bool whole = false;
        auto const length = number_length(text_.substr(at_), whole);
        if (length == 0) return no("not a value");
        if (read_number(text_.substr(at_, length), whole).kind == number_kind::overflow) return no("a number too large for a double");
        at_ += length;
        return true;
    }

    bool string() {
        ++at_; // the opening quote
        while (more()) {
            auto const c = static_cast<unsigned char>(text_[at_]);
            if (c == '"') return ++at_, true;
            if (c == '\\') {
                if (!escape()) return false;
            } else if (c < 0x20) {
                return no("a control character in a string");
            } else if (c < 0x80) {
                ++at_;
            } else {
                auto const n = utf8_length(text_.substr(at_));
                if (n == 0) return no("not UTF-8");
                at_ += n;
            }
        }
        return no("a string without its closing quote");
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

    bool escape() {
        auto const from = at_++; // the backslash
        if (!more()) return no("a string without its closing quote");
        char const c = text_[at_++];
        if (std::string_view{"\"\\/bfnrt"}.find(c) != std::string_view::npos) return true;
        if (c != 'u') return no("an unknown escape", from);
        std::uint32_t code = 0, low = 0;
        if (!hex4(code)) return false;
        if (code >= 0xdc00 && code <= 0xdfff) return no("half of a surrogate pair", from);
        if (code >= 0xd800 && code <= 0xdbff) {
            if (!text_.substr(at_).starts_with("\\u")) return no("half of a surrogate pair", from);
            at_ += 2;
            if (!hex4(low)) return false;
            if (low < 0xdc00 || low > 0xdfff) return no("half of a surrogate pair", from);
        }
        return true;
    }

    struct bracket {
        char closing;
        char const *unclosed, *no_comma;
    };
    /// What stands between brackets: each `item` is followed by a comma or the closing one.
    template <class Item>
    bool items(int depth, bracket const& of, Item item) {
        if (depth <= 0) return no("nested too deep");
        ++at_;
        blanks();
        if (is_at(of.closing)) return ++at_, true;
        for (;;) {
            blanks();
            if (!item()) return false;
            blanks();
            if (!more()) return no(of.unclosed);
            if (is_at(of.closing)) return ++at_, true;
            if (!is_at(',')) return no(of.no_comma);
            ++at_;
        }
    }
    bool elements(int depth) {
        return items(depth, {']', "an array without its closing bracket", "no comma between elements"}, [&] { return any(depth - 1); });
    }
    bool members(int depth) {
        static constexpr bracket braces{'}', "an object without its closing brace", "no comma between members"};
        return items(depth, braces, [&] {
            if (!is_at('"')) return no(more() ? "a key must be a string" : braces.unclosed);
            if (!string()) return false;
            blanks();
            if (!is_at(':')) return no("no colon after a key");
            ++at_;
            blanks();
            return any(depth - 1);
        });
    }

    std::string_view text_;
    parse_limits limits_;
    std::size_t at_ = 0;
    fault fault_;
};

} // namespace detail

/// The first problem; no value when the text is one valid value: grammar, UTF-8, surrogates, depth and size of numbers.
inline std::optional<fault> locate(std::string_view text, parse_limits limits = {}) {
    return detail::locator{text, limits}.document();
}

} // namespace sb::json
