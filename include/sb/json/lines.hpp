// SPDX-License-Identifier: MIT
// Records of one kind out of a stream of lines; lines of other kinds are handed on as they came.
#pragma once
#include <sb/core/input_source.hpp>
#include <sb/core/text.hpp>
#include <sb/json/parse.hpp>
#include <sb/json/record.hpp>
#include <cstdint>
#include <functional>
#include <string_view>

namespace sb::json {

/// A line that is not what it should be; line and byte count from 1.
struct line_fault {
    std::int64_t line;
    std::size_t byte;
    std::string_view what;
};

struct line_counts {
    std::int64_t records = 0, others = 0, bad = 0, blank = 0, duplicate_keys = 0;
};

struct line_uses {
    std::function<void(std::string_view line)> other = [](std::string_view) {}; ///< whole line without its newline
    std::function<void(line_fault const&)> bad = [](line_fault const&) {};
    bool strict = false; ///< stop at the first bad line
};

/// Calls `use(record)` for each line of that kind. Every byte of every line is checked. A bad line is reported and
/// passed over, unless `strict`; only a failure to read is an error.
template <record R, class Use>
result<line_counts> for_each(source& from, Use use, line_uses const& uses = {}) {
    line_counts counts;
    auto const bad = [&](std::int64_t number, std::size_t byte, std::string_view what) {
        ++counts.bad;
        uses.bad({number, byte + 1, what});
        return !uses.strict;
    };
    auto const one = [&](input_line const& whole) {
        auto line = whole.text;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (trim(line).empty()) return ++counts.blank, true;
        value v;
        std::size_t duplicates = 0;
        if (auto const wrong = parse(line, v, &duplicates)) return bad(whole.number, wrong->at, wrong->what);
        counts.duplicate_keys += static_cast<std::int64_t>(duplicates);
        auto const* o = v.if_object();
        if (!o) return bad(whole.number, 0, "not an object");
        auto const* kind = o->find("kind");
        if (!kind || kind->string_or({}) != R::kind) return ++counts.others, uses.other(line), true;
        R r;
        if (auto const got = read_record(v, r); got.has_error()) return bad(whole.number, 0, got.error().what);
        ++counts.records;
        use(std::as_const(r));
        return true;
    };
    SB_CHECK(each_line(from, one, [&](std::int64_t number, std::string_view what) { return bad(number, 0, what); }));
    return counts;
}

} // namespace sb::json
