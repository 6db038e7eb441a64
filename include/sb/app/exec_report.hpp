// SPDX-License-Identifier: MIT
// What sb-exec says of runs: each as a record or all in a table, the first failure at once, and remarks at the end.
#pragma once
#include <sb/app/exec_choices.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/progress.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <sb/core/units.hpp>
#include <sb/json/record.hpp>
#include <sb/run/unapplied_keys.hpp>
#include <sb/run/report_channel.hpp>
#include <sb/run/output_metric.hpp>
#include <sb/run/session.hpp>
#include <sb/run/steadiness.hpp>
#include <sb/run/summary.hpp>
#include <sb/watch/watcher.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sb::app {

/// One row per scenario. If some scenario's keys did not all act, a column says which did.
inline cli::record_columns<run::summary::row> run_columns(run::unapplied_keys const& unapplied) {
    constexpr auto left = cli::table::align::left, right = cli::table::align::right;
    using row = run::summary::row;
    cli::record_columns<row> columns{
        {"scenario", left, [](row const& r) { return r.scenario; }},
        {"runs", right, [](row const& r) { return cat(r.runs); }},
        {"ok", right, [](row const& r) { return cat(r.ok); }},
        {"median", right, [](row const& r) { return show_seconds(r.median_wall_s); }},
        {"p95", right, [](row const& r) { return show_seconds(r.p95_wall_s); }},
        {"peak memory", right, [](row const& r) { return r.peak_rss_bytes ? show_bytes(static_cast<double>(*r.peak_rss_bytes)) : std::string{"?"}; }},
    };
    if (unapplied.any())
        columns.push_back({"acted", left, [&unapplied](row const& r) {
                               constexpr std::string_view words[] = {"all", "in part", "as normal", "nothing"};
                               return std::string{words[static_cast<int>(unapplied.of(r.scenario))]};
                           }});
    columns.push_back({"worst end", left, [](row const& r) { return cat(r.worst.end, r.worst.why.empty() ? "" : ": ", r.worst.why); }});
    return columns;
}

/// Tells of runs while they are made.
class exec_report {
public:
    exec_report(cli::io& io, exec_choices const& asked)
        : io_{&io}, is_table_{io.format_of(asked.format) == "table"}, steady_{{asked.warmup > 0, static_cast<int>(asked.jobs)}},
          value_range_{asked.value_range}, bar_{io.err_terminal && !io.log.json} {}

    bool is_table() const noexcept { return is_table_; }
    void begin(std::size_t runs, std::string const& exposed) {
        if (runs > 0 && !exposed.empty()) io_->log.warn(exposed);
        bar_.total(runs);
    }
    /// False when nothing more can be written.
    bool record(run::run_seen const& seen) {
        auto const& record = seen.record;
        auto const judged = run::judge(record, seen.check);
        if (says_doubts()) steady_.add(record);
        unapplied_.add(record);
        if (is_table_) {
            summary_.add(record, judged);
        } else {
            json::append_record(io_->out.buffer(), record);
            io_->out.buffer().push_back('\n');
            (void)io_->out.flush(); // its failure is remembered, and said at the end
        }
        tell_first(seen);
        bar_.step(judged.badness == 0);
        return io_->out.usable();
    }
    /// The table, and all that is worth a remark.
    void end(run::session_result const& session) {
        bar_.erase();
        if (is_table_) io_->out << cli::table_of(summary_.rows(), run_columns(unapplied_)).text(io_->out_color);
        auto& log = io_->log;
        for (auto const& each : unapplied_.remarks()) log.warn(each);
        if (unanswered_ > 1) log.warn(cat("--check gave no answer to ", unanswered_, " of ", session.made, " runs"));
        for (auto const& each : steady_.remarks()) log.say(io_->err_terminal || log.json ? cli::log_level::warning : cli::log_level::info, each);
        tell_reports(session);
        if (session.not_searched > 0) log.warn(cat("--metric: gave up on the output of ", session.not_searched, session.not_searched == 1 ? " run" : " runs", " after ", run::most_seconds_to_look, " s; a regex without nested repetition is faster"));
        if (session.not_kept > 0) log.warn(cat("--keep: ", session.not_kept, session.not_kept == 1 ? " run is" : " runs are", " kept only in part: ", session.why_not_kept));
    }

private:
    bool says_doubts() const noexcept { return io_->err_terminal || io_->log.json || io_->log.level >= cli::log_level::info; }

    /// The first run that failed, that was wrong, and that a check could not judge.
    void tell_first(run::run_seen const& seen) {
        auto const& record = seen.record;
        auto const told = [&] { // how the check ended, and of which run
            auto const& check = *seen.check;
            return cat(check.why, check.said.empty() ? "" : ": ", cli::printable(check.said), " (", record.scenario, ", repetition ", record.rep, ")");
        };
        if (seen.check && !seen.check->right && unanswered_++ == 0) {
            bar_.erase();
            io_->log.warn(cat("--check gives no answer: ", told(), "; output_check and value of this run are unknown"));
        }
        if (!is_table_ && !io_->err_terminal) return;
        if (record.end.class_ != end_class::ok && !failure_shown_) {
            failure_shown_ = true;
            bar_.erase();
            io_->log.error(cat("first failure: ", record.scenario, ", repetition ", record.rep, ": ", record.end.reason));
            for (auto const& line : run::last_lines(seen.error_tail, 10)) io_->log.error("  " + cli::printable(line));
        }
        if (record.end.class_ == end_class::ok && seen.check && seen.check->right == false && !wrong_shown_) {
            wrong_shown_ = true;
            bar_.erase();
            io_->log.error(cat("first wrong output: --check: ", told()));
        }
    }

    /// What workloads reported and was not taken.
    void tell_reports(run::session_result const& session) {
        auto& log = io_->log;
        if (session.bad_reports > 0) log.warn(cat("report channel: ", session.bad_reports, session.bad_reports == 1 ? " line is" : " lines are", " not a JSON object"));
        if (session.bad_values > 0)
            log.warn(cat("report channel: ", session.bad_values, session.bad_values == 1 ? " value is" : " values are", " outside of ", value_range_, " and ignored; --value-range changes the range"));
        if (session.reserved > 0) {
            auto const names = joined(session.reserved_names, ", ");
            log.warn(cat("report channel: ", session.reserved, session.reserved == 1 ? " number" : " numbers", " under reserved names (", names, ") ignored"));
        }
        if (session.cut_reports > 0)
            log.warn(cat("report channel: ", session.cut_reports, session.cut_reports == 1 ? " run" : " runs", " wrote more than ", watch::output_pipes::most_report_bytes >> 10, " KiB or ",
                         run::most_report_lines, " lines; the rest was not read"));
    }

    cli::io* io_;
    bool is_table_;
    run::summary summary_;
    run::unapplied_keys unapplied_;
    run::steadiness steady_;
    std::string value_range_;
    cli::progress bar_;
    std::size_t unanswered_ = 0;
    bool failure_shown_ = false, wrong_shown_ = false;
};

} // namespace sb::app
