// SPDX-License-Identifier: MIT
// sb-exec - run a command under each preset: limited, measured, recorded
#include "manual.hpp"
#include <sb/cli/progress.hpp>
#include <sb/cli/tool.hpp>
#include <sb/record/event.hpp>
#include <sb/local/plain_backend.hpp>
#include <sb/local/sandbox_backend.hpp>
#include <sb/record/preset.hpp>
#include <sb/run/command_line.hpp>
#include <sb/run/idle_keys.hpp>
#include <sb/run/inputs.hpp>
#include <sb/run/host_facts.hpp>
#include <sb/run/resume.hpp>
#include <sb/run/session.hpp>
#include <sb/run/steadiness.hpp>
#include <sb/run/summary.hpp>
#include <sb/stress/source.hpp>
#include <poll.h>
#include <string>
#include <vector>

namespace {

struct choices {
    std::vector<std::string> command, env, metrics, preset_files, set;
    std::string presets, mode;
    std::string presets_by = "--presets"; ///< the option or variable that gave them
    std::vector<std::string> asked; ///< options on the command line that say which presets to take
    std::optional<bool> generate;
    std::int64_t repeat = 1, warmup = 0, jobs = 1, count = 3;
    std::uint64_t seed = 0;
    std::optional<sb::seconds> timeout, budget;
    sb::seconds check_timeout{30};
    std::string order = "interleaved", input = "null", check, resume, module, format;
    std::string value_range = "0..1";
    std::string isolate = "full";
    sb::local::sandbox_choices walls;
    bool allow_degraded = false, require_limits = false;
    bool wait_tree = false, keep = false, dry_run = false;
};

void declare(sb::cli::tool& tool, choices& c) {
    tool.option("--repeat", "N", "recorded runs of each preset", c.repeat);
    tool.option("--warmup", "N", "runs of each preset before those, unrecorded", c.warmup);
    tool.option("--jobs", "N", "runs at the same time; more than 1 disturbs what is measured", c.jobs);
    tool.option("--order", "ORDER", "interleaved goes round all presets (A B A B), grouped takes one after the other (A A B B)", c.order)
        .choices({"interleaved", "grouped"});
    tool.option("--seed", "N", "where the seed of each run comes from, with its preset and repetition", c.seed).env("SANDBOX_SEED");
    tool.option("--timeout", "TIME", "wall-clock limit of each run; wins over the preset's TIMEOUT", c.timeout);
    tool.option("--budget", "TIME", "what a run should take: the nearer it comes, the less its time counts in `value`", c.budget);
    tool.option("--stdin", "FILE", "standard input of the workload, one file that each run reads from its beginning; null is the null device", c.input);
    tool.option("--env", "NAME[=VALUE]", "one more variable for the workload; without a value the one it has here", c.env);
    tool.option("--check", "CMD", "shell command that gets the workload's output on its standard input; exit 0: the output is right", c.check);
    tool.option("--check-timeout", "TIME", "how long that may take", c.check_timeout);
    tool.option("--metric", "NAME=REGEX", "a number out of the output: POSIX extended, last match, first bracketed part", c.metrics);
    tool.option("--value-range", "LOW..HIGH", "what a value that the workload reports may be, an empty side without bound; another is not taken", c.value_range);
    tool.option("--module", "PATH", "module that the records name", c.module);
    tool.option("--preset-file", "FILE", "presets, when standard input has none; several are used in turn", c.preset_files);
    tool.option("--presets", "JSON", "presets in place, when there are no files either: an object, a list, or a map of lists", c.presets).env("SANDBOX_ENV_PRESETS");
    tool.option("--mode", "MODE", "which presets to make when none are given", c.mode).choices({"random", "canonical", "chaos", "robustness"}).env("SANDBOX_PRESET_MODE");
    tool.option("--generate", "", "make presets when none are given; --no-generate: run once without limits but the default ones", c.generate)
        .env("SANDBOX_GENERATE_PRESETS");
    tool.option("--count", "N", "how many to make; on the command line it is --generate too", c.count).alias("--preset-count");
    tool.option("--set", "KEY=VALUE", "a key that wins over every preset, and is recorded in it; a variable of the key's name does so for presets that do not come by standard input", c.set);
    tool.option("--resume", "FILE", "make only the runs that this file of records lacks", c.resume);
    tool.option("--isolate", "HOW", "full: namespaces, a root of its own, a system-call filter; basic: limits and private folders; none: measure only", c.isolate)
        .choices({"full", "basic", "none"});
    tool.flag("--allow-degraded", "fall back to basic where full isolation cannot be had, and record it", c.allow_degraded);
    tool.flag("--require-limits", "run nothing under a preset of which a limit cannot be enforced here", c.require_limits);
    tool.option("--work", "DIR", "workspace: shown at its own path, what is written goes to a copy; default: the current folder", c.walls.work).env("SANDBOX_REPO_PATH");
    tool.flag("--work-copy", "give each run a copy of the workspace in memory instead of a view of it", c.walls.copies_work);
    tool.option("--bind", "SRC[:DST][:ro|rw]", "a folder or file to be shown too, read-only unless rw", c.walls.bindings);
    tool.flag("--bind-path", "show the folders of PATH too, read-only", c.walls.bind_path);
    tool.option("--root", "DIR", "take the system folders (/usr, /bin, /lib, what is shown of /etc) from there", c.walls.system);
    tool.option("--cgroup", "DIR", "make control groups below this v2 group, which is yours, instead of the one that sb-exec was started in", c.walls.groups_below).env("SANDBOX_CGROUP");
    tool.flag("--fresh", "a new sandbox for each run instead of one that is proven clean", c.walls.fresh);
    tool.flag("--wait-tree", "wait for what the first process leaves behind instead of killing it", c.wait_tree);
    tool.flag("--keep", "keep what each run wrote and its streams, and say where", c.keep);
    tool.flag("--dry-run", "print what would be run, and run nothing", c.dry_run);
    tool.formats(c.format, {"table", "jsonl"});
    tool.command("[--] CMD [ARG…]", "the workload", c.command);
}

/// The first option that says what a sandbox is to be like, for where there is none, and what that means.
struct wall_need {
    std::string_view name, without;
};
std::optional<wall_need> needs_walls(choices const& c) {
    auto const& asked = c.walls;
    auto const name = !asked.work.empty() ? "--work" : !asked.system.empty() ? "--root" : !asked.bindings.empty() ? "--bind" : asked.bind_path ? "--bind-path" : asked.copies_work ? "--work-copy" : asked.fresh ? "--fresh" : "";
    if (*name) return wall_need{name, "a command runs in the current folder and sees all of the host"};
    if (!asked.groups_below.empty()) return wall_need{"--cgroup", "no control group is made"};
    return std::nullopt;
}

sb::result<void> check_choices(choices const& c) {
    if (c.command.empty()) return sb::caller_error("no command to run; write sb-exec [OPTION…] -- CMD [ARG…]");
    if (c.repeat < 1 || c.repeat > 1'000'000'000) return sb::caller_error("--repeat: must be from 1 to 1000000000");
    if (c.warmup < 0 || c.warmup > 1'000'000) return sb::caller_error("--warmup: must be from 0 to 1000000");
    if (c.jobs < 1 || c.jobs > 1024) return sb::caller_error("--jobs: must be from 1 to 1024");
    if (c.timeout && c.timeout->count <= 0) return sb::caller_error("--timeout: must be more than 0");
    if (c.check_timeout.count <= 0) return sb::caller_error("--check-timeout: must be more than 0");
    if (c.count < 1 || c.count > 1'000'000) return sb::caller_error("--count: must be from 1 to 1000000");
    if (c.budget && c.budget->count <= 0) return sb::caller_error("--budget: must be more than 0");
    if (c.isolate != "full")
        if (auto const need = needs_walls(c)) return sb::caller_error(sb::cat(need->name, ": needs --isolate full; without it ", need->without));
    return {};
}

/// Where runs happen: the way to run them, and the lanes in which they do.
struct place {
    std::unique_ptr<sb::run::backend> with;
    sb::run::lanes lanes; ///< none for a dry run
    bool is_sandbox = false;
};

/// What dead sessions left. A killed one may still be ending when we come, so we look again when we go: then in silence.
void clear_after_the_dead(sb::cli::io& io, bool aloud) {
    std::vector<std::string> stuck;
    sb::files::sweep_dead_folders(sb::files::temporary_folder(), stuck);
    sb::local::sweep_leases(io.data_dir, stuck);
    for (auto const& each : stuck)
        if (aloud) io.log.warn(sb::cat("left by a dead sb-exec and not removable: ", each));
}

/// The slots come first, while this process is small: what it holds now is the least peak memory a plain run can show.
sb::result<place> find_place(sb::cli::io& io, choices const& c) {
    place here;
    if (!c.dry_run) {
        SB_CHECK(sb::files::own_folder::open(sb::files::temporary_folder(), sb::files::for_temporary)); // said once, and before anything is looked for there
        clear_after_the_dead(io, true);
    }
    auto const behind_walls = [&]() -> sb::result<void> {
        auto asked = c.walls;
        asked.jobs = static_cast<int>(c.jobs), asked.keeps = c.keep;
        SB_TRY(here.with, sb::local::sandbox_backend::make(asked, io.data_dir, sb::run::passed_on(environ).at("PATH")));
        if (auto const kept = sb::process::kept_groups(); !kept.empty()) io.log.info(sb::cat("the payload keeps your supplementary groups: ", sb::process::groups_line(kept)));
        here.is_sandbox = true;
        if (c.dry_run) return {};
        SB_TRY(here.lanes, here.with->open(asked.jobs));
        return {};
    };
    if (c.isolate == "full") {
        auto const done = behind_walls();
        if (!done.has_error()) return here;
        if (done.error().on == sb::blame::caller) return done.error();
        here = {};
        if (!c.allow_degraded)
            return sb::system_error(sb::cat("full isolation cannot be had here: ", done.error().what,
                                            "; sb-doctor says what mends it, --allow-degraded or --isolate basic do without"));
        if (auto const need = needs_walls(c))
            return sb::system_error(sb::cat("full isolation cannot be had here: ", done.error().what, "; --allow-degraded would do without it, but ", need->name, " needs it"));
        io.log.warn(sb::cat("full isolation cannot be had here: ", done.error().what));
    }
    using how = sb::local::plain_backend::strictness;
    here.with = std::make_unique<sb::local::plain_backend>(c.isolate == "none" ? how::none : how::basic);
    if (c.dry_run) return here;
    SB_TRY(here.lanes, here.with->open(static_cast<int>(c.jobs)));
    return here;
}

sb::result<sb::run::session_options> session_of(choices const& c, sb::cli::io const& io) {
    sb::run::session_options o;
    o.command = c.command;
    o.repeat = static_cast<int>(c.repeat), o.warmup = static_cast<int>(c.warmup);
    o.order = c.order == "grouped" ? sb::run::run_order::grouped : sb::run::run_order::interleaved;
    o.seed = c.seed;
    if (c.timeout) o.wins.timeout_s = c.timeout->count;
    o.wait_tree = c.wait_tree, o.keep = c.keep;
    o.check = c.check, o.check_timeout_s = c.check_timeout.count;
    SB_TRY(o.values, sb::run::value_range::parse(c.value_range));
    o.base = sb::run::passed_on(environ);
    for (auto const& each : c.env) {
        SB_CHECK(sb::run::add_variable(o.given, each));
        for (std::string const name : {"HOME", "TMPDIR"})
            if (o.given.contains(name))
                return sb::caller_error(sb::cat("--env ", name, ": is each run's own folder; the command itself can set it: -- env ", name, "=… CMD"));
    }
    o.context.workload = sb::run::shell_text(c.command);
    if (!c.module.empty()) {
        o.context.module = c.module;
        if (::access(c.module.c_str(), F_OK) != 0) io.log.warn(sb::cat("--module ", c.module, ": ", std::strerror(errno), "; the records name it all the same"));
    }
    o.context.host = sb::run::this_host();
    if (c.budget) o.context.budget_s = c.budget->count;
    SB_CHECK(sb::run::read_worth(io.settings, o.context.weights, o.context.prices));
    return o;
}

sb::result<void> show_plan(sb::cli::io& io, sb::run::session& session, std::unordered_set<std::string> const& done, bool table) {
    sb::cli::table rows;
    rows.column("run").column("scenario").column("severity").column("rep", sb::cli::table::align::right).column("command");
    for (std::size_t i = 0; i < session.plan().size() && io.out.usable(); ++i) {
        auto const planned = session.plan().at(i);
        if (done.contains(planned.run_id)) continue;
        SB_TRY(auto const ready, session.prepared().at(planned.preset));
        if (table) {
            rows.row({planned.run_id, std::string{ready->preset->scenario()}, std::string{ready->preset->text("SEVERITY")},
                      planned.rep < 0 ? "warm-up" : sb::cat(planned.rep), session.context().workload});
            continue;
        }
        auto what = sb::cat("preset ", ready->preset->id, " (", ready->preset->scenario(), ")");
        what += planned.rep < 0 ? std::string{", warm-up"} : sb::cat(", repetition ", planned.rep);
        what += sb::cat(", seed ", planned.seed, ": ", session.context().workload);
        io.out << sb::json::line(sb::event_record{"exec", planned.run_id, "planned", std::move(what), {}});
    }
    if (table) io.out << rows.text(io.out_color);
    return {};
}

/// What the command line says of presets; what the environment and the settings say is for where it is silent.
void take_asked(sb::cli::declaration const& self, choices& c) {
    for (auto const& o : self.options) {
        bool const flag = o.source.starts_with("flag ");
        for (std::string_view const each : {"--preset-file", "--presets", "--mode", "--generate", "--count"})
            if (flag && o.flag == each) c.asked.push_back(o.flag);
        if (o.flag == "--presets" && !flag) c.presets_by = o.source.substr(o.source.find(' ') + 1);
    }
    if (c.asked == std::vector<std::string>{"--count"} && !c.generate) c.generate = true;
}

/// An option of the command line that has no say is not passed over in silence.
void say_unused(sb::cli::io& io, choices const& c, sb::stress::source from) {
    constexpr std::string_view had_a_say[] = {"", "--preset-file", "--presets", "--mode --generate", "--mode --generate --count", "--generate"};
    constexpr std::string_view names[] = {"standard input", "--preset-file", "--presets", "--mode", "the generator", "--no-generate"};
    auto const at = static_cast<std::size_t>(from);
    for (auto const& each : c.asked)
        if (had_a_say[at].find(each) == std::string_view::npos)
            io.log.warn(sb::cat(each, ": not used, presets come from ", from == sb::stress::source::environment ? c.presets_by : names[at],
                                from == sb::stress::source::standard_input ? "; </dev/null gives none" : ""));
}

/// All presets of standard input; lines of other kinds are handed on.
sb::result<std::vector<sb::preset_record>> read_standard_input(sb::cli::io& io, choices const& c) {
    constexpr std::string_view advice = " is read for presets: </dev/null gives none, --stdin FILE is the workload's own input";
    auto const bad = [&](sb::stress::bad_preset const& b) {
        bool const is_other_input = b.line == 1 && !b.is_object; // nobody meant it for presets
        io.reject("", b.line, b.byte, is_other_input ? sb::cat(b.what, "; standard input", advice) : b.what);
    };
    auto const warn = [&](sb::stress::bad_preset const& b) { io.log.warn(sb::cat("line ", b.line, ": ", b.what)); };
    auto const pass = [&](std::string_view line) { io.out << (io.out_terminal ? sb::cli::printable(line) : std::string{line}) << "\n"; }; // as it is, but no terminal obeys it
    bool said = false;
    auto const pause = [&] {
        (void)io.out.flush();
        pollfd waiting{0, POLLIN, 0};
        if (c.asked.empty() || said || ::poll(&waiting, 1, 1000) != 0) return; // others mean to wait
        said = true;
        io.log.warn(sb::cat("waiting for the end of standard input, which comes before ", c.asked[0], "; </dev/null gives none"));
    };
    SB_TRY(auto read, sb::run::read_preset_stream(0, "standard input", pass, bad, warn, pause));
    io.tell_rest();
    SB_CHECK(io.out.flush());
    if (read.presets.empty() && read.bad == 0 && c.asked.empty()) return sb::input_error(sb::cat("standard input: no preset in it; it", advice));
    return std::move(read.presets);
}

/// From the first source that has any, in the order of stress/source.hpp.
sb::result<sb::stress::sourced_presets> take_presets(sb::cli::io& io, choices const& c) {
    sb::stress::overrides given;
    for (auto const& each : c.set)
        if (auto const got = given.set(each); got.has_error()) return sb::caller_error(sb::cat("--set: ", got.error().what));
    if (!io.in_terminal && !io.in_closed) {
        sb::stress::sourced_presets all;
        all.from = sb::stress::source::standard_input;
        SB_TRY(all.presets, read_standard_input(io, c));
        if (!all.presets.empty()) say_unused(io, c, all.from);
        if (!all.presets.empty() || io.bad_lines > 0) {
            for (auto& each : all.presets) SB_CHECK(sb::stress::override_preset(each, given));
            return all;
        }
    }
    // what an option decides stands where its variable would
    auto const look = [&](std::string const& name) -> std::optional<std::string> {
        if (name == "SANDBOX_ENV_PRESETS") return c.presets.empty() ? std::nullopt : std::optional{c.presets};
        if (name == "SANDBOX_PRESET_MODE") return c.mode.empty() ? std::nullopt : std::optional{c.mode};
        if (name == "SANDBOX_GENERATE_PRESETS") return c.generate ? std::optional<std::string>{*c.generate ? "1" : "0"} : std::nullopt;
        auto const got = io.env.find(name);
        return got ? std::optional{got->value} : std::nullopt;
    };
    SB_CHECK(given.take_environment(look));
    if (c.preset_files.empty() && c.presets.empty() && c.mode.empty() && !c.generate) {
        std::string unused;
        SB_TRY(auto normal, sb::stress::preset_of({}, 0, unused)); // nobody asked for anything: once, under the default limits
        SB_CHECK(sb::stress::override_preset(normal, given));
        sb::stress::sourced_presets one;
        one.presets.push_back(std::move(normal));
        return one;
    }
    sb::stress::source_request request;
    request.files = c.preset_files, request.inline_name = c.presets_by;
    request.seed = c.seed, request.count = c.count;
    request.given = given;
    if (c.preset_files.size() > 1 && !c.dry_run) {
        auto const turn = sb::run::next_turn(io.data_dir);
        if (turn.has_error()) io.log.warn(sb::cat("the first --preset-file is taken, for whose turn it is cannot be kept: ", turn.error().what));
        else request.turn = *turn;
    }
    SB_TRY(auto all, sb::stress::find_presets(request, look, [&](std::string const& path) { return sb::read_input(path, io.waits()); }));
    for (auto const& each : all.warnings) io.log.warn(each);
    say_unused(io, c, all.from);
    return all;
}

std::string_view shown(sb::run::acted much) {
    constexpr std::string_view words[] = {"all", "in part", "as normal", "nothing"};
    return words[static_cast<int>(much)];
}

sb::cli::table as_table(sb::run::summary const& all, sb::run::idle_keys const& idle) {
    sb::cli::table rows;
    auto const right = sb::cli::table::align::right;
    rows.column("scenario").column("runs", right).column("ok", right).column("median", right).column("p95", right);
    rows.column("peak memory", right);
    if (idle.any()) rows.column("acted"); // of what was asked for
    rows.column("worst end");
    for (auto const& row : all.rows()) {
        auto worst = row.worst.end;
        if (!row.worst.why.empty()) worst += ": " + row.worst.why;
        std::vector<std::string> cells{row.scenario, sb::cat(row.runs), sb::cat(row.ok), sb::show_seconds(row.median_wall_s), sb::show_seconds(row.p95_wall_s),
                                       row.peak_rss_bytes ? sb::show_bytes(static_cast<double>(*row.peak_rss_bytes)) : "?"};
        if (idle.any()) cells.emplace_back(shown(idle.of(row.scenario)));
        cells.push_back(std::move(worst));
        rows.row(std::move(cells));
    }
    return rows;
}

sb::result<void> execute(sb::cli::io& io, choices const& c, std::string const& command_line) {
    SB_CHECK(check_choices(c));
    std::vector<sb::run::output_metric> metrics;
    for (auto const& each : c.metrics) {
        SB_TRY(auto made, sb::run::output_metric::parse(each));
        metrics.push_back(std::move(made));
    }
    SB_TRY(auto input, sb::run::find_input_file(c.input));
    if (c.isolate == "full") input.guard();
    SB_TRY(auto place, find_place(io, c));
    SB_TRY(auto options, session_of(c, io));
    options.input = std::move(input);
    bool const table = io.format_of(c.format) == "table";
    SB_TRY(auto const given, take_presets(io, c));
    if (given.presets.empty()) return {}; // each of them was wrong, and that has been said
    options.context.preset_source = sb::stress::name_of(given.from);
    sb::run::session session{*place.with, std::move(options), given.presets, metrics};
    SB_TRY(auto const lowered, session.prepared().check_limits(c.require_limits));
    SB_TRY(auto const other_checker, session.look_up_commands());
    if (!other_checker.empty()) io.log.warn(other_checker);
    for (auto const& each : lowered) io.log.warn(each);

    sb::run::finished_runs done;
    if (!c.resume.empty()) {
        if (!c.dry_run) SB_CHECK(sb::run::claim(c.resume, io.out.fd()));
        SB_TRY(done, sb::run::read_finished(c.resume));
        for (auto const number : done.too_long) io.log.warn(sb::cat(c.resume, ": line ", number, ": longer than 16 MiB, passed over"));
        if (c.dry_run) return show_plan(io, session, done.ids, table);
        SB_TRY(bool const cut, sb::run::mend_end(done, c.resume, io.out.fd()));
        if (cut) io.log.warn(sb::cat(c.resume, ": the last line was torn and is cut off; its run is made again"));
    }
    if (c.dry_run) return show_plan(io, session, done.ids, table);

    sb::run::summary summary;
    sb::run::idle_keys idle;
    bool const doubts_are_shown = io.err_terminal || io.log.json || io.log.level >= sb::cli::log_level::info;
    sb::run::steadiness steady{{c.warmup > 0, static_cast<int>(c.jobs)}};
    sb::cli::progress bar{io.err_terminal && !io.log.json};
    bool failure_shown = false, wrong_shown = false;
    std::size_t unanswered = 0;
    auto const recorded = [&](sb::run::run_seen const& seen) {
        auto const& record = seen.record;
        auto const judged = sb::run::judge(record, seen.check);
        if (doubts_are_shown) steady.add(record);
        idle.add(record);
        if (table) {
            summary.add(record, judged);
        } else {
            sb::json::append_record(io.out.buffer(), record);
            io.out.buffer().push_back('\n');
            (void)io.out.flush(); // its failure is remembered, and said at the end
        }
        auto const told = [&] { // how the check ended, and of which run
            auto const& check = *seen.check;
            return sb::cat(check.why, check.said.empty() ? "" : ": ", sb::cli::printable(check.said), " (", record.scenario, ", repetition ", record.rep, ")");
        };
        if (seen.check && !seen.check->right && unanswered++ == 0) {
            bar.erase();
            io.log.warn(sb::cat("--check gives no answer: ", told(), "; output_check and value of such a run are unknown"));
        }
        if (record.end.class_ != sb::end_class::ok && !failure_shown && (table || io.err_terminal)) {
            failure_shown = true;
            bar.erase();
            io.log.error(sb::cat("first failure: ", record.scenario, ", repetition ", record.rep, ": ", record.end.reason));
            for (auto const& line : sb::run::last_lines(seen.error_tail, 10)) io.log.error("  " + sb::cli::printable(line));
        }
        if (record.end.class_ == sb::end_class::ok && seen.check && seen.check->right == false && !wrong_shown && (table || io.err_terminal)) {
            wrong_shown = true;
            bar.erase();
            io.log.error(sb::cat("first wrong output: --check: ", told()));
        }
        bar.step(judged.badness == 0);
        return io.out.usable();
    };
    auto const begun = [&](std::size_t runs) {
        if (auto const& exposed = place.with->facts().exposed; runs > 0 && !exposed.empty()) io.log.warn(exposed);
        bar.total(runs);
    };
    SB_TRY(auto const all, session.run(std::move(place.lanes), done.ids, recorded, begun));
    clear_after_the_dead(io, false);
    bar.erase();
    if (table) io.out << as_table(summary, idle).text(io.out_color);
    for (auto const& each : idle.remarks()) io.log.warn(each);
    if (unanswered > 1) io.log.warn(sb::cat("--check gave no answer to ", unanswered, " of ", all.made, " runs"));
    for (auto const& each : steady.remarks()) io.log.say(io.err_terminal || io.log.json ? sb::cli::log_level::warning : sb::cli::log_level::info, each);
    if (all.bad_reports > 0) io.log.warn(sb::cat("report channel: ", all.bad_reports, all.bad_reports == 1 ? " line is" : " lines are", " no JSON object"));
    if (all.bad_values > 0)
        io.log.warn(sb::cat("report channel: ", all.bad_values, all.bad_values == 1 ? " value is" : " values are", " outside of ", c.value_range, " and not taken; --value-range says what may be"));
    if (all.reserved > 0) {
        std::string names;
        for (auto const& each : all.reserved_names) names += sb::cat(names.empty() ? "" : ", ", each);
        io.log.warn(sb::cat("report channel: ", all.reserved, all.reserved == 1 ? " number" : " numbers", " under reserved names (", names, ") not taken"));
    }
    if (all.cut_reports > 0)
        io.log.warn(sb::cat("report channel: ", all.cut_reports, all.cut_reports == 1 ? " run" : " runs", " wrote more than ", sb::watch::watcher::most_report_bytes >> 10, " KiB or ",
                            sb::run::most_report_lines, " lines; the rest was not read"));
    if (all.not_searched > 0) io.log.warn(sb::cat("--metric: given up on the output of ", all.not_searched, all.not_searched == 1 ? " run" : " runs", " after ", sb::run::most_seconds_to_look, " s; a pattern without nested repetition is quicker"));
    if (all.not_kept > 0) io.log.warn(sb::cat("--keep: ", all.not_kept, all.not_kept == 1 ? " run is" : " runs are", " kept in part: ", all.why_not_kept));
    if (!all.kept.empty()) io.log.warn(sb::cat("kept: ", all.kept, "/RUN_ID/{", place.is_sandbox ? "work," : "", "home,tmp,stdout,stderr}"));
    if (all.signal != 0) {
        io.interrupted = all.signal;
        io.log.error(sb::cat("interrupted: ", all.made, " of ", all.made + all.left, " runs are recorded; this makes the rest:"));
        io.log.error("  " + command_line);
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    choices c;
    sb::cli::tool tool{"sb-exec", "run a command under each preset: limited, measured, recorded"};
    tool.about(sb::generated::version, sb::generated::manual);
    tool.reads<sb::preset_record>().writes<sb::run_record>().writes<sb::event_record>();
    declare(tool, c);
    tool.sections({"value_weights", "prices"}, [](sb::object const& settings) {
        sb::run::run_context unused;
        return sb::run::read_worth(settings, unused.weights, unused.prices);
    });
    tool.looks_up(sb::stress::is_variable);
    return tool.run(argc, argv, [&](sb::cli::io& io) {
        take_asked(tool.self(), c);
        return execute(io, c, sb::run::resuming_line(argc, argv));
    });
}
