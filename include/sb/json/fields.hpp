// SPDX-License-Identifier: MIT
// Finds a few members of one line in place: nothing is copied; the rest is checked and skipped.
#pragma once
#include <sb/json/number.hpp>
#include <sb/json/unescape.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::json {

enum class field_type : std::uint8_t { absent, text, scalar, object, array };

/// Where a member's value is in the line. `text`: the bytes between the quotes, with escapes unchanged. `scalar`: a number,
/// true, false or null, not checked yet. Objects and arrays: only where they begin.
struct field {
    char const* at = nullptr;
    std::uint32_t size = 0;
    field_type type = field_type::absent;
    std::string_view raw() const noexcept { return {at, size}; }
};

/// The members to look for: top-level keys and keys of a top-level object.
class wanted_fields {
public:
    struct inner {
        std::string key;
        std::size_t slot;
    };
    struct top {
        std::string key;
        std::size_t slot = none;
        std::vector<inner> inside;
    };
    static constexpr std::size_t none = ~std::size_t{0}, most = 64;

    /// The slot of `key`, or of `key`.`inside`; the same path has only one slot. At most `most` paths.
    std::size_t add(std::string_view key, std::string_view inside = {}) {
        auto& t = at(key);
        if (inside.empty()) {
            if (t.slot == none) t.slot = count_++;
            return t.slot;
        }
        for (auto const& each : t.inside)
            if (each.key == inside) return each.slot;
        t.inside.push_back({std::string{inside}, count_});
        return count_++;
    }
    std::size_t size() const noexcept { return count_; }
    std::vector<top> const& tops() const noexcept { return tops_; }

private:
    top& at(std::string_view key) {
        for (auto& t : tops_)
            if (t.key == key) return t;
        return tops_.emplace_back(top{std::string{key}, none, {}});
    }
    std::vector<top> tops_;
    std::size_t count_ = 0;
};

namespace detail {

enum byte_class : std::uint8_t { plain_byte, blank_byte, structural_byte, quote_byte };
inline constexpr auto byte_classes = [] {
    std::array<byte_class, 256> classes{};
    for (char const c : {' ', '\t', '\r', '\n'}) classes[static_cast<unsigned char>(c)] = blank_byte;
    for (char const c : {'{', '}', '[', ']', ':', ','}) classes[static_cast<unsigned char>(c)] = structural_byte;
    classes['"'] = quote_byte;
    return classes;
}();
constexpr byte_class class_of(char c) noexcept { return byte_classes[static_cast<unsigned char>(c)]; }

/// Reads one object byte by byte. This defines the meaning of a line; the vector code may only be faster. The tokens must
/// form an object. The code that reads strings and scalars checks their contents.
class field_walk {
public:
    field_walk(wanted_fields const& wanted, char const* begin, char const* end, field* into)
        : wanted_{wanted}, begin_{begin}, end_{end}, at_{begin}, fields_{into} {}

    bool object() {
        for (std::size_t i = 0; i < wanted_.size(); ++i) fields_[i] = {};
        if (std::string_view{at_, left()}.starts_with("\xef\xbb\xbf")) return no("a byte order mark");
        blanks();
        if (at_ == end_ || *at_ != '{') return no("not an object");
        return nested();
    }
    fault const& wrong() const noexcept { return fault_; }
    std::uint32_t duplicates() const noexcept { return duplicates_; }

private:
    static constexpr int most_depth = 64;
    std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    bool no(std::string_view what, char const* at) {
        fault_ = {static_cast<std::size_t>(at - begin_), what};
        return false;
    }
    bool no(std::string_view what) { return no(what, at_); }
    void blanks() noexcept {
        while (at_ != end_ && class_of(*at_) == blank_byte) ++at_;
    }

    /// From the opening brace of the line's object to the end of the line.
    bool nested() {
        std::uint64_t in_object = 0; // a bit for each open bracket; the lowest bit is the innermost
        int depth = 0;
        for (;;) { // at an opening bracket
            bool const object = *at_ == '{';
            if (depth == most_depth) return no("nested too deep");
            in_object = in_object << 1 | (object ? 1u : 0u);
            ++depth, ++at_;
            blanks();
            bool closed = at_ != end_ && *at_ == (object ? '}' : ']');
            for (;;) { // at a member, an element or a closing bracket
                bool const inside = (in_object & 1) != 0;
                if (!closed) {
                    field* target = nullptr;
                    if (inside && !key(depth, target)) return false;
                    if (at_ == end_) return no("the text ends where a value should be");
                    if (*at_ == '{' || *at_ == '[') {
                        if (target) *target = {at_, 0, *at_ == '{' ? field_type::object : field_type::array};
                        if (depth == 1 && *at_ != '{') parent_ = nullptr;
                        break;
                    }
                    if (depth == 1) parent_ = nullptr;
                    if (!value(target)) return false;
                    blanks();
                }
                for (;;) { // after a value
                    if (!closed && at_ == end_)
                        return no((in_object & 1) != 0 ? "an object without its closing brace" : "an array without its closing bracket");
                    if (closed || *at_ == ((in_object & 1) != 0 ? '}' : ']')) {
                        closed = false;
                        ++at_;
                        in_object >>= 1;
                        blanks();
                        if (--depth == 0) return at_ == end_ || no("text after the end of the object");
                        continue;
                    }
                    break;
                }
                if (*at_ != ',') return no((in_object & 1) != 0 ? "no comma between members" : "no comma between elements");
                ++at_;
                blanks();
            }
        }
    }

    /// A key, its colon, and the blanks around it; `target` is where its value goes.
    bool key(int depth, field*& target) {
        if (at_ == end_) return no("an object without its closing brace");
        if (*at_ != '"') return no("a key must be a string");
        auto const from = at_ + 1;
        if (!string()) return false;
        std::string_view name{from, static_cast<std::size_t>(at_ - 1 - from)};
        if (depth == 1 || (depth == 2 && parent_)) {
            if (name.find('\\') != std::string_view::npos) {
                decoded_.clear();
                if (auto const wrong = unescape(name, decoded_)) return no(wrong->what, from + wrong->at);
                name = decoded_;
            }
            target = depth == 1 ? top(name) : inner(name);
        }
        blanks();
        if (at_ == end_ || *at_ != ':') return no("no colon after a key");
        ++at_;
        blanks();
        return true;
    }

    field* top(std::string_view name) {
        parent_ = nullptr;
        for (std::size_t i = 0; i < wanted_.tops().size(); ++i) {
            auto const& t = wanted_.tops()[i];
            if (t.key != name) continue;
            if ((seen_ >> i & 1) != 0) ++duplicates_;
            seen_ |= std::uint64_t{1} << i;
            for (auto const& each : t.inside) fields_[each.slot] = {}; // of an earlier object under this key
            if (!t.inside.empty()) parent_ = &t;
            seen_inside_ = 0;
            return t.slot == wanted_fields::none ? nullptr : &fields_[t.slot];
        }
        return nullptr;
    }
    field* inner(std::string_view name) {
        for (std::size_t i = 0; i < parent_->inside.size(); ++i) {
            auto const& each = parent_->inside[i];
            if (each.key != name) continue;
            if ((seen_inside_ >> i & 1) != 0) ++duplicates_;
            seen_inside_ |= std::uint64_t{1} << i;
            return &fields_[each.slot];
        }
        return nullptr;
    }

    bool value(field* target) {
        auto const from = at_;
        if (*at_ == '"') {
            if (!string()) return false;
            if (target) *target = {from + 1, static_cast<std::uint32_t>(at_ - from - 2), field_type::text};
            return true;
        }
        while (at_ != end_ && class_of(*at_) == plain_byte) ++at_;
        if (at_ == from) return no("not a value");
        auto const size = static_cast<std::size_t>(at_ - from);
        if (target) *target = {from, static_cast<std::uint32_t>(size), field_type::scalar};
        return true;
    }
    /// Moves past the closing quote.
    bool string() {
        for (++at_; at_ != end_ && *at_ != '"'; ++at_)
            if (*at_ == '\\' && ++at_ == end_) break;
        if (at_ == end_) return no("a string without its closing quote");
        ++at_;
        return true;
    }

    wanted_fields const& wanted_;
    char const *begin_, *end_, *at_;
    field* fields_;
    wanted_fields::top const* parent_ = nullptr; // the members of this key are at the next depth
    std::uint64_t seen_ = 0, seen_inside_ = 0;
    std::uint32_t duplicates_ = 0;
    std::string decoded_;
    fault fault_;
};

} // namespace detail

} // namespace sb::json
