// SPDX-License-Identifier: MIT
// What the work of a tool gets: its output, its log, its environment and settings, and what is known of the terminal.
#pragma once
#include <sb/cli/environment.hpp>
#include <sb/cli/log.hpp>
#include <sb/core/open_input.hpp>
#include <sb/core/output.hpp>
#include <sb/core/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace sb::cli {

/// What the work of a tool gets.
struct io {
    output& out; ///< standard output: records and tables, nothing else
    logger& log; ///< standard error, for people
    environment const& env;
    object const& settings; ///< the whole settings file, and what cannot harm of one that was only found; empty without one
    std::string settings_file; ///< its path; empty without one
    std::string data_dir; ///< where histories live; not made until something is written
    int threads = 1;
    bool in_terminal = false, out_terminal = false, err_terminal = false;
    bool in_closed = false; ///< standard input was closed or is the null device
    bool out_color = false, err_color = false;
    bool answer_no = false; ///< set it when the answer to what was asked is no: exit status 1
    std::int64_t bad_lines = 0; ///< what `reject` counted: exit status 3
    std::int64_t untold = 0; ///< how many of them were not reported yet
    int interrupted = 0; ///< the signal that ended the work early: exit status 128 + it

    /// What an option that `tool::formats` declared means here.
    std::string_view format_of(std::string_view asked) const noexcept { return asked != "auto" ? asked : out_terminal ? "table" : "jsonl"; }

    /// For sb::open_input.
    wait_report waits() const {
        return [this](std::string const& path) { log.note(cat(path, ": is a FIFO without a writer; waiting for one")); };
    }

    /// Reports a bad line, counts it, and lets the work go on. Only the first ten are reported one by one: in a file of another kind
    /// every line is bad.
    void reject(std::string_view file, std::int64_t line, std::size_t byte, std::string_view what) {
        constexpr std::int64_t told_one_by_one = 10;
        if (++bad_lines > told_one_by_one && log.level < log_level::info) ++untold;
        else log.error(cat(file, file.empty() ? "" : ": ", "line ", line, ", byte ", byte, ": ", what));
    }
    /// Reports the number of the other bad lines. Call it when the input was read; `tool` calls it when the work is done.
    void tell_rest() {
        if (untold > 0) log.error(cat("and ", untold, untold == 1 ? " more bad line" : " more bad lines", "; --verbose shows each"));
        untold = 0;
    }
};

} // namespace sb::cli
