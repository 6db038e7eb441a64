// SPDX-License-Identifier: MIT
// The command of --check: whether it can be run, with which environment and limits, and what its exit status means.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/path.hpp>
#include <sb/key/open_files_limit.hpp>
#include <sb/key/pids_limit.hpp>
#include <sb/process/limits.hpp>
#include <sb/run/command_line.hpp>
#include <sb/run/payload_environment.hpp>
#include <sb/run/find_program.hpp>
#include <sb/run/lane.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::run {

struct check_answer {
    std::optional<bool> right; ///< null: it could not decide
    std::string why; ///< how it ended, if the output was not found right
    std::string said; ///< first line of its standard error
};

/// With an exit status of 126, 127 or above 128 a shell reports a command that it could not run, or that a signal ended.
inline check_answer read_check(outcome const& got, double timeout_s) {
    check_answer answer;
    auto const& err = got.err.head;
    answer.said = trim(std::string_view{err}.substr(0, err.find('\n')));
    if (!got.lost.empty() || got.copies == 0) { // everything that the check needs disappeared with the run
        answer.right = false;
        answer.why = got.lost;
        return answer;
    }
    auto const& end = got.end;
    if (end.code) {
        bool const could_say = *end.code < 126 || *end.code == 128 || *end.code >= 128 + 65;
        if (could_say) answer.right = *end.code == 0;
        if (*end.code != 0) answer.why = cat("exit status ", *end.code);
    } else if (end.class_ == end_class::timeout) {
        answer.why = cat("still running after ", fixed(timeout_s, timeout_s < 1 ? 3 : 0), " s (--check-timeout)");
    } else {
        answer.why = end.reason;
    }
    return answer;
}

namespace detail {

/// Words that a shell handles itself (POSIX, 2.4, 2.14 and 1.6).
inline bool is_shells_own(std::string_view word) noexcept {
    for (std::string_view const each : {".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "do", "done", "echo", "elif", "else", "esac", "eval", "exec", "exit",
                                        "export", "false", "fc", "fg", "fi", "for", "getopts", "hash", "if", "in", "jobs", "kill", "local", "printf", "pwd", "read", "readonly", "return", "set",
                                        "shift", "test", "then", "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "until", "wait", "while"})
        if (word == each) return true;
    return false;
}

/// Variables with paths of programs, libraries and modules, separated by colons.
inline constexpr std::string_view search_paths[] = {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH"};

/// Without a sandbox a run may write wherever its caller may. The most likely place is the folder that it runs in.
inline bool outlasts_a_run(std::string const& place, sight const& seen_by) {
    if (!place.starts_with('/') || cat(place, "/").find("/../") != std::string::npos) return false;
    if (seen_by.outlasts_a_run) return seen_by.outlasts_a_run(place);
    auto const real = files::real_path(place), here = files::real_path(seen_by.folder.empty() ? "." : seen_by.folder);
    return !real.has_error() && !here.has_error() && !files::is_below(*real, *here);
}

} // namespace detail

/// Python scripts that a command starts: by their own name, or as the first word after python that is not one of its
/// options. Another word that ends in .py may be the run's output.
inline std::vector<std::string> scripts_of(std::string_view command) {
    enum class place { first, python, value, other } at = place::first; // what the next word is
    std::vector<std::string> found;
    std::string word;
    bool redirected = false, quoted = false;
    auto const end_word = [&] {
        if (word.empty()) return;
        auto const name = std::string_view{word}.substr(word.rfind('/') + 1);
        bool const script = name.ends_with(".py") && word.find('$') == word.npos;
        if (std::exchange(redirected, false)) {
        } else if (at == place::first && (name.starts_with("python") || name.starts_with("pypy")) && !script) {
            at = place::python;
        } else if (at == place::first && !quoted && word.find('=') != word.npos) { // sets a variable
        } else if (at == place::value) {
            at = place::python;
        } else if (at == place::python && word.starts_with('-')) {
            at = word == "-W" || word == "-X" ? place::value : word.starts_with("-c") || word.starts_with("-m") ? place::other : place::python;
        } else {
            if (at != place::other && script) found.push_back(word);
            at = place::other;
        }
        word.clear(), quoted = false;
    };
    for (char const c : command) {
        if (std::string_view{" \t\n;|&<>()"}.find(c) == std::string_view::npos) {
            if (c == '"' || c == '\'') quoted = true;
            else word += c;
            continue;
        }
        end_word();
        if (c == '<' || c == '>') redirected = true;
        else if (c != ' ' && c != '\t') at = place::first, redirected = false;
    }
    end_word();
    return found;
}

/// Where Python looks for modules of the scripts that a command starts, separated by colons. The files beside a script are
/// as trustworthy as the script. If the run cannot change the folder of one of the scripts, only such folders are searched,
/// because the search path applies to all scripts.
inline std::string folders_of_scripts(std::string_view command, sight const& seen_by) {
    std::string sure, other;
    for (auto const& script : scripts_of(command)) {
        auto const slash = script.rfind('/');
        auto const folder = slash == script.npos ? "." : slash == 0 ? "/" : script.substr(0, slash);
        auto& into = detail::outlasts_a_run(folder, seen_by) ? sure : other;
        into += cat(into.empty() ? "" : ":", folder);
    }
    return sure.empty() ? other : sure;
}

/// The limits of a check, for a run with these limits. A check may start what the run made. A preset that leaves the run
/// without descriptors or processes must not do the same to the check.
inline key::setup setup_of_check(key::setup const& run, double timeout_s) {
    key::setup held;
    held.wall_ns = static_cast<std::int64_t>(timeout_s * 1e9);
    held.file_bytes = run.file_bytes;
    if (run.open_files >= 0) held.open_files = std::max(run.open_files, key::default_open_files.count);
    if (run.user_processes >= 0) held.user_processes = std::max(run.user_processes, key::default_pids.count + process::resident_processes);
    held.all_files = run.all_files, held.file_shares = run.file_shares;
    return held;
}

/// The environment of a check, made from that of the run. Nothing that the run left may replace the programs of the check.
/// So the check does not search places that the run could write to. Python loads no module from the current folder (from
/// Python 3.11 on), nor from the folder of a script, unless `command` names it.
inline variables check_variables(variables passed, sight const& seen_by, std::string_view command = {}) {
    for (auto const name : detail::search_paths) {
        auto const found = passed.find(std::string{name});
        if (found == passed.end()) continue;
        std::string kept;
        split(found->second, ':', [&](std::string_view place) {
            if (detail::outlasts_a_run(std::string{place}, seen_by)) kept += cat(kept.empty() ? "" : ":", place);
        });
        if (!kept.empty()) found->second = kept;
        else if (name == "PATH") found->second = default_path;
        else passed.erase(found);
    }
    passed.erase("SB_REPORT_FD"); // a check reports nothing
    if (auto const beside = folders_of_scripts(command, seen_by); passed.try_emplace("PYTHONSAFEPATH", "1").second && !beside.empty()) {
        auto& path = passed["PYTHONPATH"];
        path = cat(beside, path.empty() ? "" : ":", path);
    }
    return passed;
}

/// The program that a shell command begins with; empty where only the shell knows.
inline std::string program_of(std::string_view command) {
    command = trim(command);
    auto const end = std::min(command.find_first_of(" \t\n;|&<>()"), command.size());
    auto const word = command.substr(0, end);
    auto const rest = trim(command.substr(end));
    if (word.find_first_of("\"'\\$`*?[]{}~=#!") != std::string_view::npos) return {};
    if (rest.starts_with('(') || detail::is_shells_own(word)) return {}; // its own function
    return std::string{word};
}

/// An error when a shell cannot parse the command. Runs none of it.
inline result<void> check_syntax(std::string const& command) {
    auto* const shell = ::popen(cat("exec /bin/sh -n -c ", shell_word(command), " 2>&1 </dev/null").c_str(), "re");
    if (!shell) return last_error("popen", "/bin/sh");
    char said[512]{};
    auto const n = std::fread(said, 1, sizeof said - 1, shell);
    for (char rest[512]; std::fread(rest, 1, sizeof rest, shell) > 0;) {} // closing the pipe early would end the shell by a signal
    if (::pclose(shell) == 0) return {};
    std::string_view const text{said, n};
    return caller_error(cat("--check: ", trim(text.substr(0, text.find('\n')))));
}

} // namespace sb::run
