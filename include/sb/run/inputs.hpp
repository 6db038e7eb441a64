// SPDX-License-Identifier: MIT
// The inputs of a session besides its options: presets from a stream, a file for standard input, weights from settings.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/did_you_mean.hpp>
#include <sb/core/result.hpp>
#include <sb/core/input_source.hpp>
#include <sb/core/text.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/metric/run_value.hpp>
#include <sb/key/preset_amounts.hpp>
#include <sb/record/preset.hpp>
#include <sb/stress/read_preset.hpp>
#include <sb/watch/input_file.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <vector>

namespace sb::run {

struct preset_stream {
    std::vector<key::preset> presets;
    std::int64_t bad = 0; ///< lines that are not presets
};

/// Reads presets from a descriptor to its end. A line that is a record of another kind goes to `pass` unchanged. A broken
/// line goes to `bad`. A preset that was accepted with a remark goes to `warn`. `pause` is called before a read that waits.
inline result<preset_stream> read_preset_stream(int fd, std::string name, std::function<void(std::string_view)> const& pass,
                                                stress::preset_reader::report const& bad, stress::preset_reader::report const& warn,
                                                std::function<void()> pause = {}) {
    preset_stream stream;
    stress::preset_reader reader{[&](key::preset p) { stream.presets.push_back(std::move(p)); },
                                 [&](stress::bad_preset const& wrong) { ++stream.bad, bad(wrong); }, warn};
    auto const is_other = [](std::string_view line) {
        if (line.find("\"kind\"") == std::string_view::npos) return false;
        return json::dispatch(line, json::on<preset_record>([] {})).is == json::dispatched::line_is::other;
    };
    source from{fd, std::move(name)};
    from.on_pause(std::move(pause));
    auto const one = [&](input_line const& line) {
        if (is_other(line.text)) pass(line.text); // its line end keeps the line numbers right
        else reader.feed(line.text);
        if (line.is_ended) reader.feed("\n");
        return true;
    };
    auto const too_long = [&](std::int64_t number, std::string_view what) {
        ++stream.bad, bad({number, 1, std::string{what}});
        reader.feed("\n");
        return true;
    };
    SB_CHECK(each_line(from, one, too_long));
    reader.finish();
    return stream;
}

/// The number of this use of several preset files, counted in `folder`, so that they are used in turn.
inline result<std::uint64_t> next_turn(std::string const& folder) {
    SB_TRY(auto const in, files::own_folder::make(folder, files::for_data));
    auto const path = in.path() + "/preset-turn";
    unique_fd const file{::openat(in.fd(), "preset-turn", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)};
    if (!file) return last_error("open", path);
    struct stat facts {}; // others may have put something into a sticky folder
    if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || facts.st_nlink != 1) return system_error(cat(path, ": is not a regular file of this user with one link; remove it"));
    if (retry([&] { return ::flock(file.get(), LOCK_EX); }) != 0) return last_error("lock", path);
    char text[24]{};
    auto const n = retry([&] { return ::pread(file.get(), text, sizeof text - 1, 0); });
    if (n < 0) return last_error("read", path);
    std::uint64_t turn = 0;
    std::from_chars(text, text + n, turn);
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return last_error("seek in", path);
    SB_CHECK(write_all(file.get(), cat(turn + 1, "\n"), path));
    return turn;
}

/// Opens the file for the workload's standard input, before workers are forked. Each run reads it from the start, so it must
/// be a file that can be read again.
inline result<watch::input_file> find_input_file(std::string const& path) {
    if (path == "null" || path == watch::nothing_to_read) return watch::input_file{};
    auto const wrong = [&](std::string_view why) { return caller_error(cat("--stdin ", path, ": ", why)); };
    if (path == "-") return wrong("needs a file, because each run reads it from the beginning; standard input is for presets");
    auto const unfit = [&](struct stat const& facts) { return wrong(S_ISDIR(facts.st_mode) ? "is a folder" : "must be a file that can be read more than once"); };
    struct stat there {}; // a pipe has no path at which it could be opened again, and the error must say that it is a pipe
    if (::stat(path.c_str(), &there) == 0 && !watch::input_file::takes(there)) return unfit(there);
    auto file = watch::input_file::open(path);
    if (file.has_error()) return system_error(cat("--stdin: ", file.error().what));
    if (!watch::input_file::takes(file->facts())) return unfit(file->facts());
    if (::access(file->name().c_str(), R_OK) != 0) return last_error("--stdin: open", path);
    return file;
}

/// Weights of the value and prices of resources, from the settings file.
inline result<void> read_worth(object const& settings, metric::value_weights& weights, metric::prices& prices) {
    struct place {
        std::string_view name;
        double* into;
    };
    auto const read = [&](std::string_view section, std::initializer_list<place> places) -> result<void> {
        auto const* const given = settings.if_contains(section);
        if (!given || given->is_null()) return {};
        if (!given->if_object()) return caller_error(cat("settings: ", section, ": must be a map"));
        for (auto const& [name, v] : *given->if_object()) {
            auto const there = std::find_if(places.begin(), places.end(), [&name = name](auto const& each) { return each.name == name; });
            if (there == places.end()) {
                std::vector<std::string_view> known;
                for (auto const& each : places) known.push_back(each.name);
                auto const hint = did_you_mean(name, known);
                return caller_error(cat("settings: ", section, ": unknown name \"", name, "\"", hint.empty() ? "; known names: " + joined(known, ", ") : hint));
            }
            if (!v.is_number() || number_or(v, -1) < 0) return caller_error(cat("settings: ", section, ".", name, ": must be a number, 0 or more"));
            *there->into = number_or(v, 0);
        }
        return {};
    };
    SB_CHECK(read("value_weights", {{"success", &weights.success}, {"output", &weights.output}, {"time", &weights.time}, {"memory", &weights.memory}}));
    return read("prices", {{"cpu_s", &prices.cpu_s}, {"gib_s", &prices.gib_s}, {"gib_out", &prices.gib_out}});
}

} // namespace sb::run
