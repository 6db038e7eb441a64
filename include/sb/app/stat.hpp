// SPDX-License-Identifier: MIT
// The work of sb-stat: columns are read from the inputs, one test is asked of them, and its answers are written.
#pragma once
#include <sb/analysis/column.hpp>
#include <sb/analysis/test_list.hpp>
#include <sb/app/test_columns.hpp>
#include <sb/cli/help.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/core/result.hpp>
#include <sb/core/input_source.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sb::app {

struct stat_choices {
    std::vector<std::string> files;
    analysis::column_question from;
    analysis::test_question test;
    std::string format;
};

/// An option that would do nothing is a slip of the pen. One from the settings or the environment stands for other calls too.
inline result<void> check_use(cli::declaration const& tool, analysis::test_question const& test) {
    auto const given = [&](std::string_view flag) { return std::any_of(tool.options.begin(), tool.options.end(), [&](auto const& each) { return each.flag == flag && each.source.starts_with("flag "); }); };
    if (test.test == "levene" && test.center != "trimmed" && given("--trim")) return caller_error(cat("--trim is for --center trimmed, not for ", test.center));
    if (test.test == "ci" && test.method != "bootstrap" && given("--seed")) return caller_error(cat("--seed is for --method bootstrap, not for ", test.method));
    return {};
}

namespace detail {

/// What is asked, and of which files, before any of them is opened.
inline result<void> check_choices(stat_choices& asked, bool in_terminal) {
    SB_CHECK(asked.test.check());
    SB_CHECK(asked.from.check());
    if (!asked.from.by.empty() && asked.from.field.empty()) return caller_error("--by needs --field, which names the number of each JSON line");
    if (asked.files.empty()) {
        if (in_terminal) return caller_error("no input; give a file of numbers, or numbers on standard input");
        asked.files.emplace_back("-");
    }
    if (std::count(asked.files.begin(), asked.files.end(), "-") > 1) return caller_error("-: standard input can be read once");
    asked.from.holes = analysis::goes_by_lines(asked.test);
    return {};
}

/// Says that lines lack the number; a warning where none has it.
inline void say_without(cli::io& io, analysis::column_question const& from, std::int64_t lines, bool none_has_it) {
    if (lines == 0) return;
    if (none_has_it) io.log.warn(cat("no line has ", from.field, from.by.empty() ? "" : cat(" and ", from.by)));
    else io.log.info(cat("lines without ", from.field, from.by.empty() ? "" : cat(" or ", from.by), ", passed over: ", lines));
}

/// All columns of the inputs, in the order in which the test takes them.
inline result<analysis::columns> read_columns(cli::io& io, stat_choices const& asked) {
    bool const several = asked.files.size() > 1;
    analysis::columns columns;
    analysis::column_reader reader{asked.from, several};
    for (auto const& file : asked.files) {
        SB_TRY(auto from, source::open(file, io.waits()));
        SB_CHECK(reader.read(from, file, columns, [&](std::int64_t line, std::size_t byte, std::string_view what) { io.reject(several ? file : "", line, byte, what); }));
    }
    if (io.bad_lines > 0) return columns;
    auto const is_empty = [](analysis::column const& each) { return each.values.empty(); };
    say_without(io, asked.from, reader.counts().without, std::all_of(columns.begin(), columns.end(), is_empty));
    if (asked.from.by.empty()) return columns;
    std::erase_if(columns, is_empty); // a group is one that has a number
    bool const each_alone = analysis::find_test(asked.test.test)->fewest == 0; // samples stay in the order in which they came: which is first matters
    if (each_alone) std::sort(columns.begin(), columns.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
    return columns;
}

/// Of pairs, those that were left out.
inline void say_left_out(cli::io& io, test_record const& answer) {
    auto const* const left_out = answer.besides.if_contains("left_out");
    if (!left_out || !left_out->if_int64()) return;
    auto const count = *left_out->if_int64(), pairs = answer.test == "compare" ? answer.n / 2 : answer.n;
    io.log.warn(cat(count, " of ", count + pairs, count == 1 ? " pairs has only one side and is left out" : " pairs have only one side and are left out"));
}

} // namespace detail

/// A bad line ends the work without an answer: an answer that leaves values out is another test's.
inline result<void> answer_test(cli::io& io, stat_choices asked) {
    SB_CHECK(detail::check_choices(asked, io.in_terminal));
    SB_TRY(auto const columns, detail::read_columns(io, asked));
    if (io.bad_lines > 0) return {};
    auto const answered = analysis::answered(columns, asked.test, asked.files.size() > 1 || !asked.from.by.empty());
    if (answered.has_error()) return caller_error(printable(answered.error().what)); // a group's name may hold anything
    auto const& answers = *answered;
    io.answer_no = answers.empty();
    for (auto const& each : answers) {
        io.answer_no |= analysis::is_no(each);
        detail::say_left_out(io, each);
    }
    auto const format = io.format_of(asked.format);
    if (format == "jsonl") cli::write_lines(io, answers);
    else cli::write_table(io, format, test_table(answers, format == "csv"));
    return {};
}

} // namespace sb::app
