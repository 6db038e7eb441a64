// SPDX-License-Identifier: MIT
// A tool's `main`: options declared once, the work beside them, one line for each way it can go wrong.
#pragma once
#include <sb/cli/arguments.hpp>
#include <sb/cli/completion.hpp>
#include <sb/cli/help.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/log.hpp>
#include <sb/cli/manual.hpp>
#include <sb/cli/option.hpp>
#include <sb/cli/settings.hpp>
#include <sb/cli/record_table.hpp>
#include <sb/cli/sources.hpp>
#include <sb/cli/standard_streams.hpp>
#include <sb/cli/terminal.hpp>
#include <sb/cli/user_folders.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/output.hpp>
#include <sb/json/record.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <sched.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::cli {

class tool {
public:
    tool(std::string name, std::string summary) {
        self_.name = std::move(name);
        self_.summary = std::move(summary);
    }
    /// The hand-written half of the manual and the version, both made by the build.
    tool& about(std::string_view version, std::string_view manual) {
        self_.version = version;
        self_.manual = manual;
        return *this;
    }
    /// Replaces this line of the manual with generated text, which ends with a newline, when the manual is printed.
    tool& fills_in(std::string_view line, std::string (*text)()) {
        places_.emplace_back(cat("\n", line, "\n"), text);
        return *this;
    }
    template <json::record R>
    tool& reads() {
        schemas_.emplace_back("reads", [] { return json::schema_document<R>(); });
        self_.reads.emplace_back(R::kind);
        return *this;
    }
    template <json::record R>
    tool& writes() {
        schemas_.emplace_back("writes", [] { return json::schema_document<R>(); });
        self_.writes.emplace_back(R::kind);
        return *this;
    }
    /// An option that fills `target`, whose value now is its default. The returned declaration can be refined until
    /// the next option is added.
    template <class T>
    cli::option& option(std::string flag, std::string meta, std::string help, T& target) {
        auto& o = self_.options.emplace_back();
        o.flag = std::move(flag), o.meta = std::move(meta), o.help = std::move(help);
        bind_option(o, target);
        return o;
    }
    /// An option without a value: `--name` is yes, `--no-name` is no.
    cli::option& flag(std::string name, std::string help, bool& target) {
        return option(std::move(name), "", std::move(help), target);
    }
    /// How answers are written: auto, or one of `words`. `io::format_of` says which it is.
    cli::option& formats(std::string& into, std::vector<std::string> words = {"table", "jsonl", "csv", "md"}) {
        into = "auto";
        words.insert(words.begin(), into);
        return option("--format", "FORMAT", "output format; auto is a table on a terminal and jsonl elsewhere", into).choices(std::move(words)).harmless();
    }
    /// Words that are not options go to `into`.
    tool& operands(std::string usage, std::string help, std::vector<std::string>& into) {
        self_.operands = std::move(usage), self_.operands_help = std::move(help), operands_ = &into;
        return *this;
    }
    /// `-- CMD ARG…`: all after `--`, or from the first word that is no option, is another program's command line.
    tool& command(std::string usage, std::string help, std::vector<std::string>& into) {
        self_.rest_is_command = true;
        return operands(std::move(usage), std::move(help), into);
    }

    /// The first word that is no option says what is to be done: one of these.
    tool& verbs(std::string title, std::vector<declaration::verb> these, std::string& into) {
        self_.verbs_title = std::move(title), self_.verbs = std::move(these), verb_ = &into;
        return *this;
    }

    /// The first word names a tool, without the prefix that is this one's name, and the rest is for it: completions hand over.
    tool& dispatches() {
        self_.dispatches = true;
        return *this;
    }

    /// Maps of the settings that the work reads from `io::settings`. They must be harmless whatever they contain, because a file
    /// that was merely found in the current folder may set them. `judges` checks them as the work would. Errors in such a file are
    /// ignored, so that a project's file never stops the tool.
    tool& sections(std::vector<std::string> names, std::function<result<void>(object const&)> judges = {}) {
        self_.sections = std::move(names), self_.judges = std::move(judges);
        return *this;
    }
    /// Tells which variables the work looks up in `io::env` besides those of options.
    tool& looks_up(std::function<bool(std::string_view)> is_one) {
        self_.looks_up = std::move(is_one);
        return *this;
    }

    /// For the one tool that reads settings files for all others: it must not ask itself.
    tool& without_settings() {
        reads_settings_ = false;
        return *this;
    }

    /// Parses, runs the work, flushes, and gives the exit status of design.md §5.
    int run(int argc, char** argv, std::function<result<void>(io&)> const& work) {
        std::signal(SIGPIPE, SIG_IGN); // a closed output is seen where it is written
        std::signal(SIGCHLD, SIG_DFL); // whoever called may ignore it, and then the kernel takes in our children itself
        bool const in_closed = open_missing_descriptors();
        add_shared_options();
        log_.tool = self_.name;
        output out{1};
        int status = 0;
        auto const said = resolve(argc, argv);
        if (said.has_error()) {
            find_log_form(argc, argv);
            return fail(said.error());
        }
        if (inform(out)) return finish(out, 0);
        if (auto const known = take_verb(); known.has_error()) return fail(known.error());
        io given{out, log_, from_.env, from_.settings, settings_path_, data_dir_, threads()};
        given.in_terminal = ::isatty(0) == 1, given.out_terminal = ::isatty(1) == 1, given.err_terminal = ::isatty(2) == 1;
        given.in_closed = in_closed || is_null_device(0);
        given.out_color = use_color(1, color()), given.err_color = use_color(2, color());
        try {
            auto const done = work(given);
            given.tell_rest();
            if (done.has_error()) status = fail(done.error());
            else if (given.bad_lines > 0) status = 3;
            else if (given.answer_no) status = 1;
        } catch (std::bad_alloc const&) {
            status = fail(system_error("out of memory"));
        }
        status = finish(out, status);
        return given.interrupted ? 128 + given.interrupted : status;
    }

    declaration const& self() const noexcept { return self_; }

private:
    void add_shared_options() {
        auto const first = self_.options.size();
        option("--data-dir", "DIR", "folder for histories and leases; default: $XDG_STATE_HOME/sandbench", data_dir_)
            .env("SANDBOX_DATA_DIR").alias("--sandbox-data-dir").setting("data_dir");
        option("--settings", "FILE", "trusted settings file, YAML or .json; default: sandbench/settings.yaml in $XDG_CONFIG_HOME, else in /etc", settings_path_)
            .env("SANDBOX_SETTINGS_YAML");
        option("--env-file", "FILE", "trusted file of variables NAME=VALUE, instead of .env", env_file_).env("SANDBOX_ENV_FILE");
        option("--log-level", "LEVEL", "how much is written to standard error", level_)
            .choices({"critical", "error", "warning", "info", "debug"}).synonym("fatal", "critical").synonym("warn", "warning").synonym("trace", "debug")
            .env("SANDBOX_LOG_LEVEL").foreign_env("LOG_LEVEL").setting("log_level")
            .harmless({"warning", "info", "debug"}); // not to hide what is to be known
        flag("--verbose", "write more: the same as --log-level info", verbose_).short_name('v').env("SANDBOX_VERBOSE").setting("verbose").harmless();
        flag("--debug", "write everything: the same as --log-level debug", debug_).env("SANDBOX_DEBUG").setting("debug").harmless();
        flag("--json-logs", "write log messages as JSON lines", log_.json).env("SANDBOX_JSON_LOGS").setting("json_logs").harmless();
        option("--threads", "N", "number of threads; 0 is one per core", threads_).env("SANDBOX_THREADS").setting("threads");
        option("--color", "WHEN", "colour on a terminal; NO_COLOR is respected", color_).choices({"auto", "always", "never"}).env("SANDBOX_COLOR").setting("color").harmless();
        flag("--explain", "print the value and source of each option, then exit", explain_);
        flag("--schema", "print the JSON Schema of input and output, then exit", schema_);
        flag("--man", "print the manual page (roff), then exit", man_);
        flag("--reference", "print the manual page (Markdown), then exit", reference_);
        option("--completion", "SHELL", "print a completion script for this shell, then exit", completion_).choices({"bash", "zsh", "fish"});
        flag("--version", "print the version, then exit", version_);
        flag("--help", "print this help, then exit", help_).short_name('h');
        for (auto i = first; i < self_.options.size(); ++i) self_.options[i].shared = true;
    }

    result<void> take_verb() {
        if (!verb_) return {};
        std::vector<std::string> names;
        for (auto const& each : self_.verbs) names.push_back(each.name);
        if (operands_->empty()) return caller_error(cat("name one of the ", self_.verbs_title, ": ", joined(names, ", ")));
        *verb_ = operands_->front();
        operands_->erase(operands_->begin());
        if (std::find(names.begin(), names.end(), *verb_) == names.end()) {
            auto const hint = did_you_mean(*verb_, names);
            return caller_error(cat("\"", *verb_, "\" is not one of the ", self_.verbs_title, hint, hint.empty() ? "; " : " ", self_.name, " --help lists them"));
        }
        for (auto const& o : self_.options)
            if (o.source.starts_with("flag ") && !o.verbs.empty() && std::find(o.verbs.begin(), o.verbs.end(), *verb_) == o.verbs.end())
                return caller_error(cat(o.flag, " is for ", joined(o.verbs, ", "), ", not for ", *verb_));
        return {};
    }

    result<void> resolve(int argc, char** argv) {
        SB_TRY(auto const given, read_arguments(self_, operands_, argc, argv));
        for (auto& o : self_.options) SB_CHECK(from_flags(o, given));
        if (help_ || version_ || man_ || reference_ || !completion_.empty()) return {}; // works whatever the environment holds
        for (auto& o : self_.options)
            if (o.flag == "--env-file" && o.source == "default") SB_CHECK(from_.from_environment(o)); // the others may stand in it
        if (!env_file_.empty())
            if (auto const read = from_.env.read_file(env_file_); read.has_error()) return error{read.error().on, cat("--env-file: ", read.error().what)};
        for (auto& o : self_.options)
            if (o.source == "default") SB_CHECK(from_.from_environment(o));
        bool const is_named = !settings_path_.empty();
        if (!is_named) settings_path_ = usual_settings({user_folder(from_.env, "XDG_CONFIG_HOME", "/.config"), "/etc"});
        if (!is_named && is_of_workspace(settings_path_)) { // HOME or XDG_CONFIG_HOME may be the folder of a run
            from_.later.push_back(cat("settings ", settings_path_, ": ignored because it is in the current folder; to trust a file, name it with --settings FILE"));
            settings_path_.clear();
        }
        if (reads_settings_ && !settings_path_.empty()) {
            SB_TRY(bool const taken, from_.read_trusted_settings(self_, settings_path_, is_named));
            if (!taken) settings_path_.clear();
        }
        if (env_file_.empty()) from_.take_found_variables(self_);
        if (reads_settings_ && !is_named) from_.take_found_settings(self_);
        set_level();
        bool const hands_over = self_.dispatches && !operands_->empty(); // to a tool that finds the same files
        from_.tell(log_, !hands_over);
        if (data_dir_.empty()) data_dir_ = default_data_dir(from_.env);
        if (threads_ < 0 || threads_ > 4096) return caller_error("--threads: must be from 0 to 4096");
        return {};
    }

    result<void> from_flags(cli::option& o, std::vector<assignment> const& given) {
        bool first = true;
        for (auto const& [which, text] : given) {
            if (which != &o) continue;
            if (text.empty() && (o.meta == "FILE" || o.meta == "DIR")) return caller_error(cat(o.flag, ": the value is empty; name a ", o.meta == "DIR" ? "folder" : "file"));
            if (std::exchange(first, false)) o.clear();
            SB_CHECK(o.take(text, o.flag));
            o.source = "flag " + o.flag;
        }
        return {};
    }

    void set_level() {
        constexpr std::string_view names[] = {"error", "warning", "info", "debug"};
        for (int i = 0; i < 4; ++i)
            if (level_ == names[i]) log_.level = static_cast<log_level>(i);
        if (level_ == "critical") log_.level = log_level::error;
        if (verbose_ && log_.level < log_level::info) log_.level = log_level::info;
        if (debug_) log_.level = log_level::debug;
    }

    /// The questions about the tool itself; true when one was answered.
    bool inform(output& out) {
        if (man_ || reference_)
            for (auto const& [line, text] : places_)
                if (auto const at = self_.manual.find(line); at != std::string::npos) self_.manual.replace(at + 1, line.size() - 1, text());
        if (help_) out << help_text(self_, static_cast<std::size_t>(::isatty(1) == 1 ? std::max(columns(1), 60) : 100));
        else if (version_) out << cat(self_.name, " (sandbench) ", self_.version, "\n");
        else if (man_) out << man_page(self_);
        else if (reference_) out << reference_page(self_);
        else if (!completion_.empty()) out << completion(self_, completion_);
        else if (schema_) out << json::text_of(schemas()) << "\n";
        else if (explain_) out << explanation();
        else return false;
        return true;
    }
    value schemas() const {
        object schemas{{"reads", object{}}, {"writes", object{}}};
        for (auto const& [side, make] : schemas_) {
            auto schema = make();
            auto const kind = std::string{string_or(*schema.if_contains("title"), {})};
            schemas[side].as_object()[kind] = std::move(schema);
        }
        return schemas;
    }
    std::string explanation() const {
        table rows;
        rows.column("option").column("value").column("from");
        for (auto const& o : self_.options) {
            bool const question = o.flag == "--explain" || o.flag == "--schema" || o.flag == "--man" || o.flag == "--reference" ||
                                  o.flag == "--completion" || o.flag == "--version" || o.flag == "--help";
            auto const shown = o.flag == "--threads" ? cat(threads()) : o.show();
            if (!question) rows.row({o.flag.substr(2), shown, o.source});
        }
        for (auto const& each : self_.sections)
            if (auto const* v = from_.settings.if_contains(each)) rows.row({each, json::text_of(*v), from_.section_source.at(each)});
        return ::isatty(1) == 1 ? rows.text(use_color(1, color())) : rows.csv();
    }

    /// Finds out whether the error is to be logged as JSON, even if reading the options failed.
    void find_log_form(int argc, char** argv) {
        for (auto& o : self_.options)
            if (o.flag == "--json-logs" && o.source == "default") (void)from_.from_environment(o);
        for (int i = 1; i < argc && std::string_view{argv[i]} != "--"; ++i)
            if (std::string_view const word{argv[i]}; word == "--json-logs" || word == "--no-json-logs") log_.json = word == "--json-logs";
    }
    /// The work names an option when it refuses a value; this adds where the value came from, if not from the command line.
    std::string given_elsewhere(std::string_view what) const {
        for (auto const& o : self_.options)
            if (what.starts_with(o.flag) && what.substr(o.flag.size()).find_first_of(": ") == 0 && o.source != "default" && !o.source.starts_with("flag "))
                return cat(" (from ", o.source, ")");
        return {};
    }
    int fail(error const& e) {
        log_.error(cat(e.what, given_elsewhere(e.what)));
        return e.on == blame::caller ? 2 : e.on == blame::input ? 3 : 4;
    }
    /// Flushes the output. A full disk is a refusal of the system; a reader that left is not.
    int finish(output& out, int status) {
        if (status != 0 && !out.usable()) return status; // the work said it already
        auto const flushed = out.flush();
        if (flushed.has_error()) return fail(flushed.error());
        return status;
    }

    int threads() const {
        if (threads_ > 0) return static_cast<int>(threads_);
        cpu_set_t set; // the cores this process may use, as taskset and containers set them
        CPU_ZERO(&set);
        return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(CPU_COUNT(&set), 1) : 1;
    }
    color_mode color() const noexcept {
        return color_ == "always" ? color_mode::always : color_ == "never" ? color_mode::never : color_mode::automatic;
    }

    declaration self_;
    std::vector<std::pair<std::string, std::function<object()>>> schemas_;
    std::vector<std::pair<std::string, std::string (*)()>> places_; // lines of the manual
    std::vector<std::string>* operands_ = nullptr;
    std::string* verb_ = nullptr;
    sources from_;
    logger log_;
    std::string data_dir_, settings_path_, env_file_, level_ = "warning", color_ = "auto", completion_;
    std::int64_t threads_ = 0;
    bool verbose_ = false, debug_ = false, explain_ = false, schema_ = false, man_ = false, reference_ = false,
         version_ = false, help_ = false, reads_settings_ = true;
};

} // namespace sb::cli
