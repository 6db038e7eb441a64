// SPDX-License-Identifier: MIT
// What a tool says to people: one line at a time on standard error, as text or as JSON. Names and words in it may be a hostile
// program's, so this is where all of them are escaped.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <sb/json/write.hpp>
#include <string>
#include <string_view>

namespace sb::cli {

enum class log_level { error, warning, info, debug };

class logger {
public:
    std::string tool;
    log_level level = log_level::warning;
    bool json = false;

    void error(std::string_view what) { say(log_level::error, what); }
    void warn(std::string_view what) { say(log_level::warning, what); }
    /// Shown wherever warnings are shown, though nothing is wrong.
    void note(std::string_view what) { say(log_level::warning, what, true); }
    void info(std::string_view what) { say(log_level::info, what); }
    void debug(std::string_view what) { say(log_level::debug, what); }

    void say(log_level at, std::string_view what, bool is_note = false) {
        if (at > level) return;
        constexpr std::string_view names[] = {"error", "warning", "info", "debug"};
        std::string line;
        if (json) {
            line = cat("{\"ts\":\"", utc_stamp(wall_ns()), "\",\"level\":\"", names[static_cast<int>(is_note ? log_level::info : at)], "\",\"tool\":");
            sb::json::append_string(line, tool);
            line += ",\"message\":";
            sb::json::append_string(line, what, true);
            line += "}\n";
        } else {
            line = cat(tool, ": ", at == log_level::warning && !is_note ? "warning: " : "", printable(what), "\n");
        }
        (void)retry([&] { return ::write(2, line.data(), line.size()); }); // nobody is left to tell if this fails
    }
};

} // namespace sb::cli
