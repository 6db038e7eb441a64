// SPDX-License-Identifier: MIT
// The work of sb-rank: runs and states are summed by name, and the ranking or the sums are written.
#pragma once
#include <sb/app/rank_columns.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/core/printable.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/record/partial.hpp>
#include <sb/record/rank.hpp>
#include <sb/track/rank_job.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace sb::app {

struct rank_choices {
    track::rank_question question;
    std::string baseline, format, sort = "total";
    bool partial = false;
    std::vector<std::string> files;
};

namespace detail {

/// A folder stands for the roi_history.json in it: the predecessor names a run by its folder.
inline result<void> find_histories(std::vector<std::string>& files) {
    for (auto& file : files) {
        struct stat is {};
        if (file == "-" || ::stat(file.c_str(), &is) < 0 || !S_ISDIR(is.st_mode)) continue;
        auto const inside = file + "/roi_history.json";
        if (::access(inside.c_str(), F_OK) < 0) return system_error(cat(file, ": has no roi_history.json"));
        file = inside;
    }
    return {};
}

/// Reports what was read and what was skipped and, if nothing can be ranked, why.
inline void say_counts(cli::io& io, track::rank_counts const& c, track::rank_question const& question) {
    auto const note = [&](std::int64_t count, std::string_view what) {
        if (count > 0) io.log.info(cat(what, ": ", count));
    };
    note(c.lines, "lines read");
    note(c.blank, "blank lines");
    note(c.other_kind, "lines of kinds that are not ranked, skipped");
    note(c.off_arm, "runs of the off arm, skipped");
    note(c.unnamed, cat("lines without ", question.by));
    note(c.without_metric, cat("lines without ", question.metric));
    note(c.duplicate_keys, "repeated keys, only the last value counted");
    if (c.other_partial > 0)
        io.log.warn(cat(c.other_partial, c.other_partial == 1 ? " partial record answers" : " partial records answer", " another question than --by ", question.by,
                        " --metric ", question.metric));
    if (c.ranked > 0) return;
    std::string const why = c.lines == c.blank     ? "the input is empty"
                            : c.without_metric > 0 ? cat("no line has a number as \"", question.metric, "\"")
                            : c.unnamed > 0        ? cat("no line has a ", question.by)
                                                   : cat("no run, sample, delta, synergy or partial in ", c.lines, c.lines == 1 ? " line" : " lines");
    io.log.warn(cat("nothing to rank: ", why));
}

/// Rows in the format asked for.
inline void write_ranking(cli::io& io, track::rank_table const& table, rank_choices const& asked) {
    auto const baseline = asked.baseline.empty() ? std::string{"normal"} : asked.baseline;
    bool const by_mean = asked.sort == "mean";
    auto const rows = track::rank_rows(table, asked.question, baseline, by_mean ? track::rank_order::mean : track::rank_order::total);
    if (!asked.baseline.empty() && !rows.empty() && !rows.front().effect)
        io.log.warn(cat("no ", asked.question.by, " is called \"", baseline, "\", so there are no effects"));
    auto const format = io.format_of(asked.format);
    if (format == "jsonl") return cli::write_lines(io, rows);
    cli::write_table(io, format, cli::table_of(rows, format == "csv" ? cli::member_columns<rank_record>() : rank_columns(rows, asked.question.by)));
    if (format == "table" && !rows.empty()) io.out << rank_notes(rows, baseline, by_mean);
}

} // namespace detail

inline result<void> write_ranks(cli::io& io, rank_choices asked) {
    if (asked.files.empty()) asked.files.emplace_back("-");
    if (std::count(asked.files.begin(), asked.files.end(), "-") > 1) return caller_error("-: standard input can be read once");
    bool const named = asked.files.size() > 1 || asked.files.front() != "-";
    SB_CHECK(detail::find_histories(asked.files));
    auto const report = [&](std::string const& file, std::int64_t line, std::size_t byte, std::string_view what) {
        io.reject(!named ? "" : file == "-" ? "standard input" : file, line, byte, what);
    };
    SB_TRY(auto const sums, track::read_ranks(asked.files, asked.question, io.threads, report, io.waits()));
    io.tell_rest();
    if (sums.stopped) return {}; // counted by `reject`
    detail::say_counts(io, sums.counts, asked.question);
    for (auto const& name : sums.overfull) { // no single line is at fault: which thread adds which states varies
        io.log.error(cat("the partial records of \"", printable(name), "\" claim more than 2^53 values; the row is left out"));
        ++io.bad_lines;
    }
    if (asked.partial) {
        if (asked.format != "auto" && asked.format != "jsonl") io.log.warn(cat("--partial writes states as JSON lines; --format ", asked.format, " is ignored"));
        cli::write_lines(io, track::rank_states(sums.table, asked.question));
    } else detail::write_ranking(io, sums.table, asked);
    return {};
}

} // namespace sb::app
