// SPDX-License-Identifier: MIT
// A workload under every preset, again and again, in slots: planned, run, checked, recorded, and cleared away.
//
// How it works: the session forks its slots (slot.hpp) and sees to it that each has a run and the next one at hand. It
// waits for their answers and for signals at once; the signal handler only writes to a pipe. Each answer becomes a
// record and is handed to the caller. The first SIGINT, SIGTERM or SIGHUP ends the runs in progress without a
// record and clears up; a second one ends everything now.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/isolate/copy_tree.hpp>
#include <sb/isolate/input_file.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/check.hpp>
#include <sb/run/compose.hpp>
#include <sb/run/environment.hpp>
#include <sb/run/plan.hpp>
#include <sb/run/report.hpp>
#include <sb/run/signal_pipe.hpp>
#include <sb/run/slot_pool.hpp>
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sb::run {

struct session_options {
    std::vector<std::string> command;
    int repeat = 1, warmup = 0;
    run_order order = run_order::interleaved;
    std::uint64_t seed = 0;
    overrides wins;
    isolate::input_file input; ///< for the workload's standard input; opened before the slots were forked
    bool wait_tree = false, keep = false;
    std::string check; ///< shell command that judges the output; empty: none
    double check_timeout_s = 30;
    value_range values; ///< of what the workload may say its value is
    variables base; ///< of the caller's environment
    variables given; ///< --env: wins over preset keys
    run_context context;
    sight seen; ///< how the workload sees its files
};

/// What the caller sees of each run that got a record.
struct run_seen {
    run_record const& record;
    std::string const& error_tail; ///< the last 4 KiB of standard error, raw
    check_answer const* check = nullptr; ///< null: none was asked for
};

struct session_result {
    std::size_t made = 0; ///< runs that were recorded
    std::size_t left = 0; ///< runs that were planned and not made
    std::int64_t bad_reports = 0; ///< lines in report channels that are no JSON object
    std::int64_t bad_values = 0; ///< numbers there that are no value
    std::int64_t reserved = 0; ///< numbers there under names that are ours
    std::set<std::string> reserved_names; ///< which
    std::int64_t cut_reports = 0; ///< runs that reported more than is read
    std::int64_t not_kept = 0; ///< runs whose folders or streams --keep could not keep
    std::string why_not_kept; ///< the first of them
    std::int64_t not_searched = 0; ///< runs whose output would have taken a pattern of --metric too long
    int signal = 0; ///< that ended the session early
    std::string kept; ///< folder that --keep left
};

class session {
public:
    /// `presets` and `metrics` stay the caller's, and outlive the session.
    session(session_options options, std::vector<preset_record> const& presets, std::vector<output_metric>& metrics)
        : options_{std::move(options)}, presets_{presets}, metrics_{metrics},
          plan_{ids(), run_identity{options_.command, options_.input.called(), limits_text(), options_.check, options_.seed}, options_.repeat,
                options_.warmup, options_.order} {}

    run_plan const& plan() const noexcept { return plan_; }
    std::vector<std::string> const& command() const noexcept { return options_.command; }
    run_context const& context() const noexcept { return options_.context; }

    /// Looks the command up for every PATH that a preset would give it; an error when none of them has it. So too the
    /// program that the check begins with: the answer tells when that is not the one that the run itself would find.
    result<std::string> look_up_commands() const {
        SB_TRY([[maybe_unused]] auto const command, look_up(options_.command.front(), false));
        if (options_.check.empty()) return std::string{};
        SB_CHECK(check_syntax(options_.check));
        auto const checker = program_of(options_.check);
        if (checker.empty()) return std::string{};
        auto const found = look_up(checker, true), left_out = look_up(checker, false);
        auto const why = left_out.has_error() || (!found.has_error() && *found == *left_out) ? std::string{}
                                                                                           : cat("not taken from ", *left_out, ", for a run may write there; show that folder at a place of its own (--bind), or name the program by its path");
        if (found.has_error()) return error{found.error().on, cat("--check: ", found.error().what, why.empty() ? "" : "; ", why)};
        return why.empty() ? why : cat("--check: ", checker, " is ", *found, ", ", why);
    }

    /// Reads all presets as they will be enforced. An error for one that cannot be, and, where limits are required, for a
    /// limit that does not hold here for the whole tree. The answer tells of limits that are held lower than asked, a line each.
    result<std::vector<std::string>> check_limits(bool required) const {
        struct lower {
            std::string first; ///< scenario
            std::size_t presets;
        };
        std::map<std::string, lower> all;
        for (auto const& preset : presets_) {
            auto const name = [&] { return cat("preset ", preset.id, " (", preset.scenario(), "): "); };
            auto const held = options_.context.with->enforce(preset, options_.wins);
            if (held.has_error()) return error{held.error().on, cat(name(), held.error().what)};
            if (required && !held->loose.empty()) return system_error(cat("--require-limits: ", name(), held->loose.front()));
            for (auto const& each : held->lowered) ++all.try_emplace(each, lower{std::string{preset.scenario()}, 0}).first->second.presets;
        }
        std::vector<std::string> lines;
        for (auto const& [what, of] : all)
            lines.push_back(cat(of.first, of.presets > 1 ? cat(" and ", of.presets - 1, of.presets > 2 ? " more presets" : " more preset") : std::string{}, ": ", what));
        return lines;
    }

    struct prepared {
        preset_record const* preset;
        enforcement held;
        result<std::string> program;
        bool hidden = false; ///< there is a program, and the walls hide it
        std::vector<std::string> environment = {}; ///< as it is but for the seed
        std::ptrdiff_t seed_at = -1; ///< where in it that stands; -1: it is the caller's
    };
    /// A preset, ready to run; kept, for its other repetitions need the same.
    result<std::shared_ptr<prepared const>> prepare(std::size_t index) {
        if (auto const there = ready_.find(index); there != ready_.end()) return there->second;
        auto const& preset = presets_[index];
        SB_TRY(auto held, options_.context.with->enforce(preset, options_.wins));
        bool hidden = false;
        auto const around = all_variables(preset, held, 0);
        auto program = find_program(options_.command.front(), around.at("PATH"), options_.seen, &hidden);
        auto const seed_at = options_.given.contains("SEED") ? -1 : std::distance(around.begin(), around.find("SEED"));
        if (ready_.size() >= most_ready) ready_.clear();
        return ready_[index] = std::make_shared<prepared const>(prepared{&preset, std::move(held), std::move(program), hidden, as_strings(around), seed_at});
    }

    /// Makes all planned runs but those in `done`. `recorded` gets each record as soon as it is whole, and says false
    /// when nothing more can be written; `begun` hears how many runs there will be.
    result<session_result> run(slot_pool& pool, std::unordered_set<std::string> const& done,
                               std::function<bool(run_seen const&)> const& recorded, std::function<void(std::size_t)> const& begun = {}) {
        session_result all;
        todo_ = count_missing(done);
        if (begun) begun(todo_);
        SB_TRY(auto const signals, signal_pipe::make(pool.slots()));
        std::vector<std::deque<place>> places(pool.slots().size()); // what each slot was given, in order
        std::size_t next = 0, busy = 0;
        bool open = true;
        std::optional<error> wrong;
        // a slot that has its next run at hand need not wait for us between two short ones; behind a long one that run would
        // wait while another slot is free, and output that is looked at afterwards must not be overwritten by then
        std::vector<std::size_t> ahead(places.size(), 1);
        std::vector<std::int64_t> started_ns(places.size(), 0); // of each slot's last run
        auto const fill = [&](std::size_t i) -> result<void> {
            while (open && next < plan_.size() && places[i].size() < (plan_.size() - next > places.size() * most_ahead ? ahead[i] : std::min(ahead[i], few_ahead))) {
                auto planned = plan_.at(next++);
                if (planned.rep >= 0 && done.contains(planned.run_id)) continue;
                SB_CHECK(begin(pool.slots()[i], places[i].emplace_back(), std::move(planned)));
                ++busy;
            }
            return {};
        };
        for (std::size_t i = 0; i < places.size() && !wrong; ++i)
            if (auto const got = fill(i); got.has_error()) wrong = got.error();
        std::vector<pollfd> waiting;
        while (busy > 0 && !wrong && signal_pipe::first() == 0) {
            waiting.assign(1, {signals.fd(), POLLIN, 0});
            // where all have enough at hand some answers are taken together: to be woken up by each costs more than to take it
            if (std::all_of(places.begin(), places.end(), [](auto const& each) { return each.size() >= most_ahead; })) {
                timespec const nap{0, nap_ns};
                (void)::ppoll(waiting.data(), 1, &nap, nullptr);
            }
            for (std::size_t i = 0; i < places.size(); ++i) waiting.push_back({places[i].empty() ? -1 : pool.slots()[i].socket(), POLLIN, 0});
            if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
            if (waiting[0].revents) break;
            for (std::size_t i = 0; i < places.size() && !wrong; ++i) {
                if (!waiting[i + 1].revents) continue;
                bool const there = pool.slots()[i].look_for_answers();
                while (!wrong && (!there || pool.slots()[i].has_answer())) { // all that have come
                    auto const finished = answer(pool, i, places[i].front(), all, recorded, open);
                    if (finished.has_error()) {
                        wrong = finished.error();
                    } else if (*finished) {
                        --busy;
                        auto const& last = places[i].front().got;
                        auto const since = static_cast<double>(last.started_ns - std::exchange(started_ns[i], last.started_ns)) / 1e9;
                        ahead[i] = keeps_output() ? 1 : runs_ahead(std::max(last.wall_s, since));
                        places[i].pop_front();
                        if (auto const got = fill(i); got.has_error()) wrong = got.error();
                    }
                }
            }
        }
        all.signal = signal_pipe::first();
        all.left = todo_ - all.made;
        if (options_.keep) all.kept = pool.folder().path(), pool.folder().keep();
        pool.close();
        if (wrong && all.signal == 0) return *wrong;
        return all;
    }

    /// What the workload would find in its environment, but for what its slot adds.
    variables all_variables(preset_record const& preset, enforcement const& held, std::int64_t seed) const {
        auto all = options_.base;
        for (auto const& [name, v] : preset.keys) all[name] = variable_text(v);
        for (auto const& [name, text] : held.variables) all[name] = text;
        all["SEED"] = cat(seed);
        all["SB_REPORT_FD"] = cat(isolate::report_descriptor);
        for (auto const& [name, text] : options_.given) all[name] = text;
        all.erase("HOME"), all.erase("TMPDIR"); // the slot's
        return all;
    }

private:
    using prepared_ptr = std::shared_ptr<prepared const>;
    /// A run that a slot was given.
    struct place {
        planned_run planned;
        prepared_ptr prepared;
        isolate::outcome got; ///< of the run, while its check runs
        bool checking = false;
    };
    static constexpr std::size_t most_ready = 4096;
    static constexpr std::size_t few_ahead = 2, most_ahead = 8;
    static constexpr long nap_ns = 600'000;
    /// How many runs a slot is given, if the last one took so long, with what lies between two. A nap and a run are shorter than
    /// what it has at hand then.
    static std::size_t runs_ahead(double each_s) noexcept { return each_s < 0.001 ? most_ahead : each_s < 0.01 ? few_ahead : 1; }

    std::vector<std::string> ids() const {
        std::vector<std::string> all;
        all.reserve(presets_.size());
        for (auto const& each : presets_) all.push_back(each.id);
        return all;
    }
    std::string limits_text() const {
        std::string text;
        if (options_.wins.timeout_s) json::append_real(text, *options_.wins.timeout_s);
        return text;
    }
    /// For the first preset that has it.
    result<std::string> look_up(std::string const& name, bool for_check) const {
        result<std::string> found = std::string{};
        for (auto const& preset : presets_) {
            SB_TRY(auto const held, options_.context.with->enforce(preset, options_.wins));
            auto around = all_variables(preset, held, 0);
            if (for_check) around = check_variables(std::move(around), options_.seen);
            auto got = find_program(name, around.at("PATH"), options_.seen);
            if (!got.has_error()) return got;
            if (!found.has_error()) found = std::move(got);
        }
        return found;
    }
    bool keeps_output() const noexcept { return options_.keep || !options_.check.empty() || !metrics_.empty(); }

    std::size_t count_missing(std::unordered_set<std::string> const& done) const {
        auto const all = presets_.size() * static_cast<std::size_t>(options_.repeat);
        if (done.empty()) return all;
        std::size_t missing = 0;
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            auto const run = plan_.at(i);
            if (run.rep >= 0 && !done.contains(run.run_id)) ++missing;
        }
        return missing;
    }

    result<void> begin(slot& into, place& at, planned_run planned) {
        SB_TRY(auto const ready, prepare(planned.preset));
        at.prepared = ready;
        at.planned = std::move(planned);
        at.checking = false;
        isolate::job job;
        // a program that is missing for this preset only cannot be executed by an empty name: the run ends as `setup`
        job.path = ready->program.has_error() ? std::string{} : *ready->program;
        job.argv = options_.command;
        job.environment = ready->environment;
        if (ready->seed_at >= 0) job.environment[static_cast<std::size_t>(ready->seed_at)] = cat("SEED=", at.planned.seed);
        job.held = ready->held.held;
        job.in = options_.input.name();
        if (options_.input.was_named()) job.in_called = options_.input.called();
        job.copies = ready->held.copies;
        job.wait_tree = options_.wait_tree;
        job.reports = true;
        job.keep_output = keeps_output();
        job.first_cpu = job.held.cpus >= 0 ? into.number() * static_cast<std::size_t>(job.held.cpus) : 0;
        return into.send(errand::run, job);
    }

    /// Takes a slot's answer; true when its run is over.
    result<bool> answer(slot_pool& pool, std::size_t i, place& at, session_result& all, std::function<bool(run_seen const&)> const& recorded,
                        bool& open) {
        auto& from = pool.slots()[i];
        SB_TRY(auto got, from.receive());
        if (got.killed_by == isolate::killer::request) return system_error(cat("slot ", i, " was told to stop from outside"));
        check_answer check;
        if (at.checking) {
            check = read_check(got, options_.check_timeout_s);
        } else {
            at.got = std::move(got);
            if (at.planned.rep < 0) return true; // a warm-up
            if (!look_for(metrics_, from.out())) ++all.not_searched;
            if (!options_.check.empty()) {
                SB_CHECK(send_check(from, at));
                return false;
            }
        }
        auto found = read_reports(at.got.reports, options_.values);
        all.bad_reports += found.bad_lines, all.bad_values += found.bad_values;
        all.reserved += found.reserved;
        all.reserved_names.merge(found.reserved_names);
        if (found.cut || at.got.reports_cut) ++all.cut_reports;
        for (auto& each : metrics_)
            if (auto const x = each.take()) found.metrics[each.name()] = *x;
        auto const tail = at.got.err.tail;
        auto record = compose(options_.context, *at.prepared->preset, at.prepared->held, at.planned, at.got, check.right, std::move(found));
        if (at.checking && !check.right) record.value.reset(), record.roi.reset(); // half of it nobody knows, and its maker is not asked
        if (at.prepared->program.has_error()) {
            record.end.reason = at.prepared->program.error().what;
            if (at.prepared->hidden) record.end.class_ = end_class::refused;
        }
        if (options_.keep)
            if (auto const kept = keep_run(pool, from, record.run_id); kept.has_error() && all.not_kept++ == 0) all.why_not_kept = kept.error().what;
        open = recorded(run_seen{record, tail, at.checking ? &check : nullptr});
        ++all.made;
        return true;
    }

    /// The check sees the output on its standard input, and the run's folders as they were left.
    result<void> send_check(slot& into, place& at) {
        at.checking = true;
        isolate::job job;
        job.path = "/bin/sh";
        job.argv = {"sh", "-c", options_.check};
        job.environment = as_strings(check_variables(all_variables(*at.prepared->preset, at.prepared->held, at.planned.seed), options_.seen, options_.check));
        job.held = limits_of_check(at.prepared->held.held, options_.check_timeout_s);
        return into.send(errand::look, job); // the slot gives it the output
    }

    static result<void> copy_file(int from, int folder, std::string const& name, std::string const& called) {
        isolate::deaf_to_file_limit const meanwhile;
        SB_TRY(auto const into, isolate::detail::make_file(folder, name, called));
        auto const to = cat(called, "/", name);
        char block[1 << 14];
        for (off_t at = 0;;) {
            auto const n = retry([&] { return ::pread(from, block, sizeof block, at); });
            if (n < 0) return last_error("read what is copied to", to);
            if (n == 0) return {};
            at += n;
            SB_CHECK(write_all(into.get(), {block, static_cast<std::size_t>(n)}, to));
        }
    }

    /// Leaves a run's folders and streams under its key.
    result<void> keep_run(slot_pool& pool, slot& from, std::string const& run_id) {
        SB_CHECK(from.send_keep(run_id));
        auto const folders = from.receive(); // what went wrong there leaves the streams
        auto const called = cat(pool.folder().path(), "/", run_id);
        auto const folder = isolate::detail::open_folder(pool.folder().fd(), run_id.c_str());
        if (!folder) return folders.has_error() ? folders.error() : last_error("open", called);
        auto const out = copy_file(from.out(), folder.get(), "stdout", called), err = copy_file(from.err(), folder.get(), "stderr", called);
        if (folders.has_error()) return folders.error();
        SB_CHECK(out);
        return err;
    }

    session_options options_;
    std::vector<preset_record> const& presets_;
    std::vector<output_metric>& metrics_;
    run_plan plan_;
    std::map<std::size_t, prepared_ptr> ready_;
    std::size_t todo_ = 0;
};

} // namespace sb::run
