// SPDX-License-Identifier: MIT
// A workload under every preset, repeatedly, in lanes: planned, run, checked, recorded and cleared up.
//
// How it works: the backend opened its lanes before (lane.hpp). The session gives each lane a run and queues the next one.
// It waits for answers, for signals and for the clock at once (session_loop.hpp). Each answer becomes a record and is passed
// to the caller. The first SIGINT, SIGTERM or SIGHUP ends the runs in progress without a record and clears up. A second one
// ends everything at once (signal_pipe.hpp). A lane that dies, answers something that it was not asked, or does not answer
// in time ends the session with an error; earlier records stay.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/watch/input_file.hpp>
#include <sb/run/backend.hpp>
#include <sb/run/check.hpp>
#include <sb/run/payload_environment.hpp>
#include <sb/run/run_plan.hpp>
#include <sb/run/prepared_presets.hpp>
#include <sb/run/record_of.hpp>
#include <sb/run/report_channel.hpp>
#include <sb/run/output_metric.hpp>
#include <sb/run/session_loop.hpp>
#include <sb/run/signal_pipe.hpp>
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
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
    watch::input_file input; ///< for the workload's standard input; opened before the workers were forked
    bool wait_tree = false, keep = false;
    std::string check; ///< shell command that checks the output; empty: none
    double check_timeout_s = 30;
    value_range values; ///< the valid range of the workload's own value
    variables base; ///< from the caller's environment
    variables given; ///< --env: wins over preset keys
    run_context context; ///< its backend is the session's
    double patience_s = 60; ///< how late the answer of a lane may be, beyond the limit of its run
};

/// What the caller sees of each run that got a record.
struct run_seen {
    run_record const& record;
    std::string const& error_tail; ///< the last 4 KiB of standard error, raw
    check_answer const* check = nullptr; ///< null: there was no check
};

struct session_result {
    std::size_t made = 0; ///< runs that were recorded
    std::size_t left = 0; ///< planned runs that were not made
    std::int64_t bad_reports = 0; ///< lines in report channels that are not a JSON object
    std::int64_t bad_values = 0; ///< numbers there outside the range of a value
    std::int64_t reserved = 0; ///< numbers there under names that are reserved for us
    std::set<std::string> reserved_names; ///< those names
    std::int64_t cut_reports = 0; ///< runs that reported more than we read
    std::int64_t not_kept = 0; ///< runs whose folders or streams --keep could not keep
    std::string why_not_kept; ///< for the first of them
    std::int64_t not_searched = 0; ///< runs whose output would have taken too long to search for a pattern of --metric
    int signal = 0; ///< the signal that ended the session early
    std::string kept; ///< folder that --keep left
};

class session {
public:
    /// The backend, `presets` and `metrics` belong to the caller, and outlive the session.
    session(backend& with, session_options options, std::vector<key::preset> const& presets, std::vector<output_metric>& metrics)
        : with_{with}, options_{std::move(options)}, presets_{presets}, metrics_{metrics},
          prepared_{with, options_.command, presets, {options_.base, options_.given}, options_.wins},
          plan_{ids(), run_identity{options_.command, options_.input.called(), limits_text(), options_.check, options_.seed}, options_.repeat,
                options_.warmup, options_.order} {
        options_.context.with = &with;
    }

    run_plan const& plan() const noexcept { return plan_; }
    std::vector<std::string> const& command() const noexcept { return options_.command; }
    run_context const& context() const noexcept { return options_.context; }
    prepared_presets& prepared() noexcept { return prepared_; }

    /// Looks the command up in every PATH that a preset would give it; an error when none of them has it. Does the same for
    /// the program that the check begins with: the answer reports when that is not the program that the run itself would
    /// find.
    result<std::string> look_up_commands() const {
        SB_TRY([[maybe_unused]] auto const command, prepared_.look_up(options_.command.front(), false));
        if (options_.check.empty()) return std::string{};
        SB_CHECK(check_syntax(options_.check));
        auto const checker = program_of(options_.check);
        if (checker.empty()) return std::string{};
        auto const found = prepared_.look_up(checker, true), left_out = prepared_.look_up(checker, false);
        auto const why = left_out.has_error() || (!found.has_error() && *found == *left_out) ? std::string{}
                                                                                           : cat("not taken from ", *left_out, ", because a run may write there; bind that folder read-only at a place of its own (--bind), or give the path of the program");
        if (found.has_error()) return error{found.error().on, cat("--check: ", found.error().what, why.empty() ? "" : "; ", why)};
        return why.empty() ? why : cat("--check: ", checker, " is ", *found, ", ", why);
    }

    /// Makes all planned runs except those in `done`, and closes lanes and backend. `recorded` gets each record as soon as
    /// it is complete, and returns false when nothing more can be written. `begun` gets the number of runs.
    result<session_result> run(lanes open, std::unordered_set<std::string> const& done, std::function<bool(run_seen const&)> const& recorded,
                               std::function<void(std::size_t)> const& begun = {}) {
        lanes_ = std::move(open), done_ = &done, recorded_ = &recorded;
        result_ = {};
        todo_ = count_missing(done);
        if (begun) begun(todo_);
        // signals are heard until all is cleared up: a second one must end the lanes' processes then too
        std::vector<pid_t> processes;
        for (auto const& each : lanes_) processes.push_back(each->process());
        auto const signals = signal_pipe::make(processes);
        auto const finished = signals.has_error() ? result<void>{signals.error()} : make_runs(signals->fd());
        result_.left = todo_ - result_.made;
        if (options_.keep) result_.kept = with_.leave_kept();
        lanes_.clear();
        with_.close();
        if (finished.has_error() && result_.signal == 0) return finished.error();
        return std::move(result_);
    }

private:
    /// A run that a lane has been given.
    struct place {
        planned_run planned;
        prepared_presets::ready_ptr ready;
        std::uint64_t number = 0; ///< of the current job: the run, or its check
        std::int64_t wall_ns = 0; ///< its limit
        outcome got; ///< of the run, while its check runs
        bool checking = false;
    };
    /// The jobs that a lane has been given, in order.
    struct lane_queue {
        std::deque<place> places;
        // Between two short runs, a lane that has its next run queued need not wait for us. Behind a long run, a queued run
        // would wait while another lane is free, and output that is read afterwards must not be overwritten by then.
        std::size_t ahead = 1;
        std::int64_t started_ns = 0; ///< of the last run
        std::int64_t begun_ns = 0; ///< when the first of `places` could begin, by the monotonic clock
    };
    static constexpr std::size_t few_ahead = 2, most_ahead = 8;
    /// How many runs a lane is given, if the last one took so long, including the time between two runs: enough for
    /// it to go on while the session takes answers.
    static std::size_t runs_ahead(double each_s) noexcept { return each_s < 0.001 ? most_ahead : each_s < 0.01 ? few_ahead : 1; }
    /// How many such runs a lane can be given without waiting for it: what it is given may be a message through a socket.
    std::size_t runs_that_fit(prepared_presets::ready const& like) const noexcept {
        constexpr std::size_t most_bytes = std::size_t{128} << 10;
        std::size_t each_bytes = 1;
        for (auto const* const words : {&options_.command, &like.environment})
            for (auto const& each : *words) each_bytes += each.size() + sizeof(std::size_t);
        return std::max<std::size_t>(most_bytes / each_bytes, 1);
    }

    std::vector<std::string> ids() const {
        std::vector<std::string> ids;
        ids.reserve(presets_.size());
        for (auto const& each : presets_) ids.push_back(each.id);
        return ids;
    }
    std::string limits_text() const {
        std::string text;
        if (options_.wins.timeout_s) json::append_real(text, *options_.wins.timeout_s);
        return text;
    }
    bool keeps_output() const noexcept { return options_.keep || !options_.check.empty() || !metrics_.empty(); }

    std::size_t count_missing(std::unordered_set<std::string> const& done) const {
        auto const planned = presets_.size() * static_cast<std::size_t>(options_.repeat);
        if (done.empty()) return planned;
        std::size_t missing = 0;
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            auto const run = plan_.at(i);
            if (run.rep >= 0 && !done.contains(run.run_id)) ++missing;
        }
        return missing;
    }

    result<void> make_runs(int signals) {
        std::vector<int> descriptors;
        for (auto const& each : lanes_) descriptors.push_back(each->descriptor());
        queues_ = std::vector<lane_queue>(lanes_.size());
        next_ = 0, open_ = true;
        result<void> wrong{};
        for (std::size_t i = 0; i < lanes_.size() && !wrong.has_error(); ++i) wrong = fill(i);
        if (!wrong.has_error() && signal_pipe::first() == 0) {
            session_loop::calls use;
            use.busy = [this](std::size_t i) { return !queues_[i].places.empty(); };
            use.due_ns = [this](std::size_t i) { return due_ns(queues_[i]); };
            use.has_enough = [this](std::size_t i) { // as long as its runs are short: behind a long one nobody need wake up
                return queues_[i].places.size() > most_ahead / 2 && monotonic_ns() - queues_[i].begun_ns < 4 * session_loop::nap_ns;
            };
            use.ready = [this](std::size_t i) { return take_answers(i); };
            use.overdue = [this](std::size_t i) {
                lanes_[i]->stop();
                return system_error(cat("lane ", i, " did not answer within ", fixed(options_.patience_s, options_.patience_s < 1 ? 2 : 0), " s of the time limit of run ", queues_[i].places.front().planned.run_id));
            };
            wrong = session_loop::run(descriptors, signals, std::move(use));
        }
        result_.signal = signal_pipe::first();
        return wrong;
    }
    std::optional<std::int64_t> due_ns(lane_queue const& queue) const {
        auto const wall_ns = queue.places.front().wall_ns;
        if (wall_ns < 0) return std::nullopt;
        return queue.begun_ns + wall_ns + static_cast<std::int64_t>(options_.patience_s * 1e9);
    }

    /// Gives a lane the runs that it should have queued, once half of them are done.
    result<void> fill(std::size_t i) {
        auto& queue = queues_[i];
        if (2 * queue.places.size() > queue.ahead || signal_pipe::first() != 0) return {};
        auto const many_left = plan_.size() - next_ > queues_.size() * most_ahead;
        std::vector<job> begun;
        while (open_ && next_ < plan_.size() && queue.places.size() < (many_left ? queue.ahead : std::min(queue.ahead, few_ahead))) {
            auto planned = plan_.at(next_++);
            if (planned.rep >= 0 && done_->contains(planned.run_id)) continue;
            if (queue.places.empty()) queue.begun_ns = monotonic_ns();
            SB_TRY(auto next, job_for(queue.places.emplace_back(), std::move(planned)));
            begun.push_back(std::move(next));
        }
        return begun.empty() ? result<void>{} : lanes_[i]->start(begun);
    }

    result<job> job_for(place& at, planned_run planned) {
        SB_TRY(at.ready, prepared_.at(planned.preset));
        at.planned = std::move(planned);
        auto const& ready = *at.ready;
        job what;
        // a program that is missing only for this preset gets an empty name, which cannot be executed: the run ends as
        // `setup`
        what.path = ready.program.has_error() ? std::string{} : *ready.program;
        what.argv = options_.command;
        what.environment = ready.environment;
        if (ready.seed_at >= 0) what.environment[static_cast<std::size_t>(ready.seed_at)] = cat(preset_record::seed, "=", at.planned.seed);
        what.setup = ready.held.setup;
        what.in = options_.input.name();
        if (options_.input.was_named()) what.in_called = options_.input.called();
        what.wait_tree = options_.wait_tree;
        what.reports = true;
        what.keep_output = keeps_output();
        number(at, what);
        return what;
    }
    /// The check gets the output on its standard input, and the run's folders as the run left them.
    result<void> begin_check(lane& into, place& at) {
        at.checking = true;
        job what;
        what.path = "/bin/sh";
        what.argv = {"sh", "-c", options_.check};
        what.environment = as_strings(check_variables(prepared_.variables_of(*at.ready->preset, at.ready->held, at.planned.seed), prepared_.seen(), options_.check));
        what.setup = setup_of_check(at.ready->held.setup, options_.check_timeout_s);
        what.is_check = true;
        number(at, what);
        return into.start({what});
    }
    void number(place& at, job& what) {
        at.number = what.number = ++jobs_;
        at.wall_ns = what.setup.wall_ns;
    }

    /// Takes all answers that have come.
    result<void> take_answers(std::size_t i) {
        auto& queue = queues_[i];
        while (!queue.places.empty()) {
            SB_TRY(auto got, lanes_[i]->take());
            if (!got) return {};
            auto& first = queue.places.front();
            if (got->number != first.number) return system_error(cat("lane ", i, " answered job ", got->number, " when job ", first.number, " was asked for"));
            queue.begun_ns = monotonic_ns();
            SB_TRY(bool const over, take_answer(*lanes_[i], first, std::move(*got)));
            if (!over) continue;
            auto const started_ns = first.got.started_ns;
            auto const since = static_cast<double>(started_ns - std::exchange(queue.started_ns, started_ns)) / 1e9;
            queue.ahead = keeps_output() ? 1 : std::min(runs_ahead(std::max(first.got.wall_s, since)), runs_that_fit(*first.ready));
            queue.places.pop_front();
            SB_CHECK(fill(i));
        }
        return {};
    }

    /// True when the run is finished.
    result<bool> take_answer(lane& from, place& at, outcome&& got) {
        check_answer check;
        if (at.checking) {
            check = read_check(got, options_.check_timeout_s);
        } else {
            at.got = std::move(got);
            if (at.planned.rep < 0) return true; // a warm-up
            if (!look_for(metrics_, from.output())) ++result_.not_searched;
            if (!options_.check.empty()) {
                SB_CHECK(begin_check(from, at));
                return false;
            }
        }
        auto found = read_reports(at.got.reports, options_.values);
        result_.bad_reports += found.bad_lines, result_.bad_values += found.bad_values;
        result_.reserved += found.reserved;
        result_.reserved_names.merge(found.reserved_names);
        if (found.cut || at.got.reports_cut) ++result_.cut_reports;
        for (auto& each : metrics_)
            if (auto const x = each.take()) found.metrics[each.name()] = *x;
        auto const tail = at.got.err.tail;
        auto record = record_of(options_.context, *at.ready->preset, at.ready->held, at.planned, at.got, check.right, std::move(found));
        if (at.checking && !check.right) record.value.reset(), record.roi.reset(); // half of it is unknown, and the workload is not asked
        if (at.ready->program.has_error()) {
            record.end.reason = at.ready->program.error().what;
            if (at.ready->hidden) record.end.class_ = end_class::refused;
        }
        if (options_.keep)
            if (auto const kept = from.keep(record.run_id); kept.has_error() && result_.not_kept++ == 0) result_.why_not_kept = kept.error().what;
        open_ = (*recorded_)(run_seen{record, tail, at.checking ? &check : nullptr});
        ++result_.made;
        return true;
    }

    backend& with_;
    session_options options_;
    std::vector<key::preset> const& presets_;
    std::vector<output_metric>& metrics_;
    prepared_presets prepared_;
    run_plan plan_;

    lanes lanes_;
    std::vector<lane_queue> queues_;
    std::unordered_set<std::string> const* done_ = nullptr;
    std::function<bool(run_seen const&)> const* recorded_ = nullptr;
    session_result result_;
    std::size_t todo_ = 0, next_ = 0;
    std::uint64_t jobs_ = 0;
    bool open_ = true; // more records may be written
};

} // namespace sb::run
