// SPDX-License-Identifier: MIT
// The presets that sb-exec runs under: from standard input, files, a variable, the generator, or none.
#pragma once
#include <sb/app/exec_choices.hpp>
#include <sb/cli/io.hpp>
#include <sb/cli/help.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/printable.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/run/preset_stream.hpp>
#include <sb/run/preset_turn.hpp>
#include <sb/stress/preset_source.hpp>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::app {

/// Preset options from the command line. The environment and the settings count only where it is silent.
inline void take_asked(cli::declaration const& self, exec_choices& asked) {
    for (auto const& o : self.options) {
        bool const flag = o.source.starts_with("flag ");
        for (std::string_view const each : {"--preset-file", "--presets", "--mode", "--generate", "--count"})
            if (flag && o.flag == each) asked.asked.push_back(o.flag);
        if (o.flag == "--presets" && !flag) asked.presets_by = o.source.substr(o.source.find(' ') + 1);
    }
    if (asked.asked == std::vector<std::string>{"--count"} && !asked.generate) asked.generate = true;
}

/// Warns about options of the command line that have no effect.
inline void say_unused(cli::io& io, exec_choices const& asked, stress::source from) {
    constexpr std::string_view had_a_say[] = {"", "--preset-file", "--presets", "--mode --generate", "--mode --generate --count", "--generate"};
    constexpr std::string_view names[] = {"standard input", "--preset-file", "--presets", "--mode", "the generator", "--no-generate"};
    auto const at = static_cast<std::size_t>(from);
    for (auto const& each : asked.asked)
        if (had_a_say[at].find(each) == std::string_view::npos)
            io.log.warn(cat(each, ": not used, presets come from ", from == stress::source::environment ? asked.presets_by : names[at],
                                from == stress::source::standard_input ? "; give </dev/null if there are none" : ""));
}

/// All presets of standard input; lines of other kinds are handed on.
inline result<std::vector<key::preset>> read_standard_input(cli::io& io, exec_choices const& asked) {
    constexpr std::string_view advice = " is read for presets: give </dev/null if there are none, and --stdin FILE for the input of the workload";
    auto const bad = [&](stress::bad_preset const& b) {
        bool const is_other_input = b.line == 1 && !b.is_object; // nobody meant it for presets
        io.reject("", b.line, b.byte, is_other_input ? cat(b.what, "; standard input", advice) : b.what);
    };
    auto const warn = [&](stress::bad_preset const& b) { io.log.warn(cat("line ", b.line, ": ", b.what)); };
    auto const pass = [&](std::string_view line) { io.out << (io.out_terminal ? cli::printable(line) : std::string{line}) << "\n"; }; // as it is, but no terminal obeys it
    bool said = false;
    auto const pause = [&] {
        (void)io.out.flush();
        pollfd waiting{0, POLLIN, 0};
        if (asked.asked.empty() || said || ::poll(&waiting, 1, 1000) != 0) return; // others mean to wait
        said = true;
        io.log.warn(cat("waiting for the end of standard input, which wins over ", asked.asked[0], "; give </dev/null if there are none"));
    };
    SB_TRY(auto read, run::read_preset_stream(0, "standard input", pass, bad, warn, pause));
    io.tell_rest();
    SB_CHECK(io.out.flush());
    if (read.presets.empty() && read.bad == 0 && asked.asked.empty()) return input_error(cat("standard input: no preset; it", advice));
    return std::move(read.presets);
}

/// From the first source that has any, in the order of stress/preset_source.hpp.
inline result<stress::sourced_presets> take_presets(cli::io& io, exec_choices const& asked) {
    stress::overrides given;
    for (auto const& each : asked.set)
        if (auto const got = given.set(each); got.has_error()) return caller_error(cat("--set: ", got.error().what));
    if (!io.in_terminal && !io.in_closed) {
        stress::sourced_presets read;
        read.from = stress::source::standard_input;
        SB_TRY(read.presets, read_standard_input(io, asked));
        if (!read.presets.empty()) say_unused(io, asked, read.from);
        if (!read.presets.empty() || io.bad_lines > 0) {
            for (auto& each : read.presets) SB_CHECK(stress::override_preset(each, given));
            return read;
        }
    }
    // what an option decides stands where its variable would
    auto const look = [&](std::string const& name) -> std::optional<std::string> {
        if (name == "SANDBOX_ENV_PRESETS") return asked.presets.empty() ? std::nullopt : std::optional{asked.presets};
        if (name == "SANDBOX_PRESET_MODE") return asked.mode.empty() ? std::nullopt : std::optional{asked.mode};
        if (name == "SANDBOX_GENERATE_PRESETS") return asked.generate ? std::optional<std::string>{*asked.generate ? "1" : "0"} : std::nullopt;
        auto const got = io.env.find(name);
        return got ? std::optional{got->value} : std::nullopt;
    };
    SB_CHECK(given.take_environment(look));
    if (asked.preset_files.empty() && asked.presets.empty() && asked.mode.empty() && !asked.generate) {
        std::string unused;
        SB_TRY(auto normal, stress::preset_of({}, 0, unused)); // nobody asked for anything: once, under the default limits
        SB_CHECK(stress::override_preset(normal, given));
        stress::sourced_presets one;
        one.presets.push_back(std::move(normal));
        return one;
    }
    stress::source_request request;
    request.files = asked.preset_files, request.inline_name = asked.presets_by;
    request.seed = asked.seed, request.count = asked.count;
    request.given = given;
    if (asked.preset_files.size() > 1 && !asked.dry_run) {
        auto const turn = run::next_turn(io.data_dir);
        if (turn.has_error()) io.log.warn(cat("using the first --preset-file, because the turn cannot be stored: ", turn.error().what));
        else request.turn = *turn;
    }
    SB_TRY(auto found, stress::find_presets(request, look, [&](std::string const& path) { return read_input(path, io.waits()); }));
    for (auto const& each : found.warnings) io.log.warn(each);
    say_unused(io, asked, found.from);
    return found;
}

} // namespace sb::app
