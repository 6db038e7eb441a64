// SPDX-License-Identifier: MIT
// Reads the numbers to be tested: one a line, or a member of each JSON line, grouped by another member.
#pragma once
#include <sb/core/input_source.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/json/line_reader.hpp>
#include <sb/json/number.hpp>
#include <sb/json/unescape.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sb::analysis {

struct column_question {
    std::string field; ///< of JSON lines: `roi` (or that of `metrics`), `metrics.roi`; empty: each line is a number
    std::string by; ///< likewise: what tells the columns of one input apart; empty: all are one
    bool holes = false; ///< keep where a line has no number, for columns that belong together line by line

    result<void> check() const {
        for (auto const& [flag, name] : {std::pair{"--field ", &field}, std::pair{"--by ", &by}}) {
            auto const dot = name->find('.');
            if (dot == std::string::npos) continue;
            if (name->find('.', dot + 1) != std::string::npos) return caller_error(cat(flag, *name, ": more than one dot; a dot goes one level down"));
            if (dot == 0 || dot + 1 == name->size()) return caller_error(cat(flag, *name, ": write a name on each side of the dot"));
        }
        return {};
    }
};
struct column {
    std::string name;
    std::vector<double> values = {};
    std::vector<std::size_t> holes = {}; ///< where they were asked for: the lines (from 0) without a number; of a group, of the lines that are its own
    std::size_t lines() const noexcept { return values.size() + holes.size(); } ///< but for blank ones at the end
};
struct column_counts {
    std::int64_t lines = 0, blank = 0;
    std::int64_t without = 0; ///< lines that do not have the number, or have null for it
};

namespace detail {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf", mark_is_wrong = "byte order mark; save the text as UTF-8 without one";

inline bool is_not_finite(std::string_view text) {
    auto word = lowered(text);
    if (word.starts_with('-') || word.starts_with('+')) word.erase(0, 1);
    return word == "nan" || word == "inf" || word == "infinity";
}

/// A scalar as a name: a number by its value, however it is written. What is wrong with it, if it is none.
inline char const* name_scalar(std::string_view text, std::string& name) {
    bool is_whole = false;
    if (json::number_length(text, is_whole) != text.size()) {
        if (text != "true" && text != "false" && text != "null") return is_not_finite(text) ? "is not JSON, which has no NaN and no infinity" : "is neither text, a number, true, false nor null";
        return name = text, nullptr;
    }
    constexpr std::size_t plain = 18; // digits that any whole number may have
    if (is_whole && text.size() <= plain && text != "-0") return name = text, nullptr;
    auto const got = json::read_number(text, is_whole);
    if (got.kind == json::number_kind::overflow) return "is too large for a double";
    name.clear();
    if (got.kind == json::number_kind::integer) return append_number(name, got.integer), nullptr;
    if (got.kind == json::number_kind::natural) return append_number(name, got.natural), nullptr;
    double const x = got.real;
    if (std::floor(x) == x && x >= 0 && x < 0x1p64) append_number(name, static_cast<std::uint64_t>(x));
    else if (std::floor(x) == x && x < 0 && x >= -0x1p63) append_number(name, static_cast<std::int64_t>(x));
    else json::append_real(name, x);
    return nullptr;
}

} // namespace detail

class column_reader {
public:
    /// Line and byte from 1.
    using fault_report = std::function<void(std::int64_t line, std::size_t byte, std::string_view what)>;

    /// `apart`: groups of the same name in different inputs are different columns, which bear the input's name too.
    explicit column_reader(column_question const& asked, bool apart = false) : asked_{asked}, apart_{apart}, value_{paths(asked.field)}, group_{paths(asked.by)}, lines_{std::move(wanted_)} {}

    /// Adds what the input holds; `name` is that of its column, where nothing else tells them apart. Groups come in the order of
    /// their first lines; one that has no number at all is a column without values.
    result<void> read(source& from, std::string const& name, std::vector<column>& into, fault_report const& wrong) {
        if (asked_.by.empty()) into.push_back({name});
        else if (apart_) input_ = name, known_.clear();
        std::int64_t line = 0;
        blank_ = 0;
        for (std::string_view block;;) {
            SB_TRY(bool const more, from.next_block(block));
            if (!more) return {};
            auto const* at = block.data();
            for (auto const* const end = at + block.size(); at != end;) {
                ++line, ++counts_.lines;
                auto const report = [&](std::size_t byte, std::string_view what) { wrong(line, byte, what); };
                if (asked_.field.empty()) take_plain(at, end, into, report);
                else take_fields(at, end, into, report);
            }
        }
    }
    column_counts const& counts() const noexcept { return counts_; }

private:
    /// Where a name may stand: at the top and in `metrics`, or where its dot says.
    struct places {
        std::size_t first = json::wanted_fields::none, second = json::wanted_fields::none;
    };
    places paths(std::string const& name) {
        if (name.empty()) return {};
        if (auto const dot = name.find('.'); dot != std::string::npos) return {wanted_.add(name.substr(0, dot), name.substr(dot + 1)), json::wanted_fields::none};
        auto const top = wanted_.add(name);
        return {top, wanted_.add("metrics", name)};
    }
    json::field const* find(places const& at) const noexcept {
        for (auto const slot : {at.first, at.second})
            if (slot != json::wanted_fields::none && lines_[slot].type != json::field_type::absent) return &lines_[slot];
        return nullptr;
    }

    template <class Report>
    void take_plain(char const*& at, char const* end, std::vector<column>& into, Report const& wrong) {
        auto const* const begin = at;
        auto const* const newline = static_cast<char const*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        std::string_view const whole{begin, static_cast<std::size_t>((newline ? newline : end) - begin)};
        at = newline ? newline + 1 : end;
        auto text = trim(whole);
        if (text.empty() || text.front() == '#') return pass_blank();
        auto const where = static_cast<std::size_t>(text.data() - begin) + 1;
        if (text.starts_with(detail::byte_order_mark)) return wrong(where, detail::mark_is_wrong);
        if (text.front() == '{') return wrong(where, "an object; name the number to read with --field NAME");
        if (text.front() == '+' && !text.starts_with("+-")) text.remove_prefix(1);
        double x = 0;
        auto const [rest, code] = std::from_chars(text.data(), text.data() + text.size(), x);
        if (code == std::errc::result_out_of_range) { // or one that is nearly nothing
            auto const got = json::read_number({text.data(), static_cast<std::size_t>(rest - text.data())}, false);
            if (got.kind != json::number_kind::real) return wrong(where, "number too large for a double");
            x = got.real;
        } else if (code != std::errc{}) return wrong(where, "not a number");
        if (rest != text.data() + text.size()) return wrong(static_cast<std::size_t>(rest - begin) + 1, "more than one number");
        add(into.back(), x);
    }

    template <class Report>
    void take_fields(char const*& at, char const* end, std::vector<column>& into, Report const& wrong) {
        auto const kind = lines_.next(at, end);
        if (kind == json::line_reader::kind::blank) return pass_blank();
        if (kind == json::line_reader::kind::bad) return wrong(lines_.wrong().at + 1, lines_.line().starts_with(detail::byte_order_mark) ? detail::mark_is_wrong : lines_.wrong().what);
        auto const byte_of = [&](json::field const& f) { return static_cast<std::size_t>(f.at - lines_.line().data()) + 1; };
        auto const* const found = find(value_);
        bool const lacks = !found || (found->type == json::field_type::scalar && found->raw() == "null");
        if (lacks) {
            ++counts_.without;
            if (!asked_.holes && asked_.by.empty()) return;
        }
        double x = 0;
        if (!lacks) {
            bool is_whole = false;
            auto const text = found->raw();
            if (found->type != json::field_type::scalar || json::number_length(text, is_whole) != text.size()) return wrong(byte_of(*found), cat("\"", asked_.field, "\" is not a number", found->type == json::field_type::scalar && detail::is_not_finite(text) ? ": JSON has no NaN and no infinity" : ""));
            auto const got = json::read_number(text, is_whole);
            if (got.kind == json::number_kind::overflow) return wrong(byte_of(*found), "number too large for a double");
            x = got.as_double();
        }
        auto place = into.size() - 1;
        if (!asked_.by.empty()) {
            auto const* const group = find(group_);
            if (!group || (group->type != json::field_type::text && group->type != json::field_type::scalar)) return void(counts_.without += lacks ? 0 : 1);
            name_.clear();
            if (group->type == json::field_type::scalar) {
                if (auto const* const bad = detail::name_scalar(group->raw(), name_)) return wrong(byte_of(*group), cat("\"", asked_.by, "\" ", bad));
            } else if (auto const bad = json::unescape(group->raw(), name_)) return wrong(byte_of(*group) + bad->at, bad->what);
            if (!input_.empty()) name_.insert(0, input_ + ": ");
            auto const [known, is_new] = known_.try_emplace(name_, into.size());
            if (is_new) into.push_back({name_});
            place = known->second;
        }
        if (!lacks) add(into[place], x);
        else if (asked_.holes) fill_blank(into[place]), into[place].holes.push_back(into[place].lines());
    }

    /// A blank line counts as a missing number once another line follows. With groups, it belongs to none.
    void pass_blank() noexcept { ++counts_.blank, ++blank_; }
    void fill_blank(column& to) {
        if (blank_ == 0) return;
        if (asked_.holes && asked_.by.empty())
            for (; blank_ > 0; --blank_) to.holes.push_back(to.lines());
        blank_ = 0;
    }
    void add(column& to, double x) {
        fill_blank(to);
        to.values.push_back(x);
    }

    column_question asked_;
    bool apart_;
    std::string input_; // whose groups are read, where that tells them apart
    json::wanted_fields wanted_; // before the slots that it gives, and taken by the reader of lines after
    places value_, group_;
    json::line_reader lines_;
    std::unordered_map<std::string, std::size_t> known_; // columns by name
    std::string name_;
    std::size_t blank_ = 0; // lines of nothing since the last that held something
    column_counts counts_;
};

} // namespace sb::analysis
