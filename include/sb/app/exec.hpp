// SPDX-License-Identifier: MIT
// The work of sb-exec: presets are read, runs are made and told.
#pragma once
#include <sb/app/exec_choices.hpp>
#include <sb/app/exec_place.hpp>
#include <sb/app/exec_presets.hpp>
#include <sb/app/exec_report.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/table.hpp>
#include <sb/core/text.hpp>
#include <sb/json/record.hpp>
#include <sb/record/event.hpp>
#include <sb/run/command_line.hpp>
#include <sb/run/payload_environment.hpp>
#include <sb/run/host_facts.hpp>
#include <sb/run/standard_input.hpp>
#include <sb/run/value_settings.hpp>
#include <sb/run/resume.hpp>
#include <sb/run/session.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sb::app {

namespace detail {

inline result<run::session_options> session_of(exec_choices const& asked, cli::io const& io) {
    run::session_options o;
    o.command = asked.command;
    o.repeat = static_cast<int>(asked.repeat), o.warmup = static_cast<int>(asked.warmup);
    o.order = asked.order == "grouped" ? run::run_order::grouped : run::run_order::interleaved;
    o.seed = asked.seed;
    if (asked.timeout) o.wins.timeout_s = asked.timeout->count;
    o.wait_tree = asked.wait_tree, o.keep = asked.keep;
    o.check = asked.check, o.check_timeout_s = asked.check_timeout.count;
    SB_TRY(o.values, run::value_range::parse(asked.value_range));
    o.base = run::passed_on(environ);
    for (auto const& each : asked.env) {
        SB_CHECK(run::add_variable(o.given, each));
        for (std::string const name : {"HOME", "TMPDIR"})
            if (o.given.contains(name))
                return caller_error(cat("--env ", name, ": each run has a folder of its own; the command itself can set it: -- env ", name, "=… CMD"));
    }
    o.context.workload = run::shell_text(asked.command);
    if (!asked.module.empty()) {
        o.context.module = asked.module;
        if (::access(asked.module.c_str(), F_OK) != 0) io.log.warn(cat("--module ", asked.module, ": ", std::strerror(errno), "; the records name it anyway"));
    }
    o.context.host = run::this_host();
    if (asked.budget) o.context.budget_s = asked.budget->count;
    SB_CHECK(run::read_worth(io.settings, o.context.weights, o.context.prices));
    return o;
}

inline result<void> show_plan(cli::io& io, run::session& session, std::unordered_set<std::string> const& done, bool table) {
    cli::table rows;
    rows.column("run").column("scenario").column("severity").column("rep", cli::table::align::right).column("command");
    for (std::size_t i = 0; i < session.plan().size() && io.out.usable(); ++i) {
        auto const planned = session.plan().at(i);
        if (done.contains(planned.run_id)) continue;
        SB_TRY(auto const ready, session.prepared().at(planned.preset));
        if (table) {
            rows.row({planned.run_id, std::string{ready->preset->scenario()}, std::string{ready->preset->text(preset_record::severity)},
                      planned.rep < 0 ? "warm-up" : cat(planned.rep), session.context().workload});
            continue;
        }
        auto what = cat("preset ", ready->preset->id, " (", ready->preset->scenario(), ")");
        what += planned.rep < 0 ? std::string{", warm-up"} : cat(", repetition ", planned.rep);
        what += cat(", seed ", planned.seed, ": ", session.context().workload);
        io.out << json::line(event_record{"exec", planned.run_id, "planned", std::move(what), {}});
    }
    if (table) io.out << rows.text(io.out_color);
    return {};
}

/// The runs that an earlier session finished; its last line, where it was torn, is cut off.
inline result<run::finished_runs> finished_before(cli::io& io, exec_choices const& asked) {
    run::finished_runs done;
    if (asked.resume.empty()) return done;
    if (!asked.dry_run) SB_CHECK(run::claim(asked.resume, io.out.fd()));
    SB_TRY(done, run::read_finished(asked.resume));
    for (auto const number : done.too_long) io.log.warn(cat(asked.resume, ": line ", number, ": longer than 16 MiB; skipped"));
    if (asked.dry_run) return done;
    SB_TRY(bool const cut, run::mend_end(done, asked.resume, io.out.fd()));
    if (cut) io.log.warn(cat(asked.resume, ": the last line was incomplete and is removed; its run is made again"));
    return done;
}

} // namespace detail

/// `again` is a command line that makes the runs that an interruption leaves.
inline result<void> execute(cli::io& io, exec_choices const& asked, std::string const& again) {
    SB_CHECK(check_choices(asked));
    std::vector<run::output_metric> metrics;
    for (auto const& each : asked.metrics) {
        SB_TRY(auto made, run::output_metric::parse(each));
        metrics.push_back(std::move(made));
    }
    SB_TRY(auto input, run::find_input_file(asked.input));
    if (asked.isolate == "full") input.guard();
    SB_TRY(auto place, find_place(io, asked));
    SB_TRY(auto options, detail::session_of(asked, io));
    options.input = std::move(input);
    SB_TRY(auto const given, take_presets(io, asked));
    if (given.presets.empty()) return {}; // each of them was wrong, and that has been said
    options.context.preset_source = stress::name_of(given.from);
    run::session session{*place.with, std::move(options), given.presets, metrics};
    SB_TRY(auto const lowered, session.prepared().check_limits(asked.require_limits));
    SB_TRY(auto const other_checker, session.look_up_commands());
    if (!other_checker.empty()) io.log.warn(other_checker);
    for (auto const& each : lowered) io.log.warn(each);

    SB_TRY(auto const done, detail::finished_before(io, asked));
    exec_report report{io, asked};
    if (asked.dry_run) return detail::show_plan(io, session, done.ids, report.is_table());
    SB_TRY(auto const made, session.run(std::move(place.lanes), done.ids, [&](run::run_seen const& seen) { return report.record(seen); },
                                        [&](std::size_t runs) { report.begin(runs, place.with->facts().exposed); }));
    clear_after_the_dead(io, false);
    report.end(made);
    if (!made.kept.empty()) io.log.warn(cat("kept: ", made.kept, "/RUN_ID/{", place.is_sandbox ? "work," : "", "home,tmp,stdout,stderr}"));
    if (made.signal != 0) {
        io.interrupted = made.signal;
        io.log.error(cat("interrupted: ", made.made, " of ", made.made + made.left, " runs are recorded; to make the rest:"));
        io.log.error("  " + again);
    }
    return {};
}

} // namespace sb::app
