// SPDX-License-Identifier: MIT
// The environment of a workload, and where its program is found.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <sb/record/preset.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace sb::run {

using variables = std::map<std::string, std::string>;

inline constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

/// The variables that are copied from the caller's environment: where programs are, which language, which user. No token, no
/// proxy, no library path.
inline bool is_passed_on(std::string_view name) noexcept {
    for (std::string_view const each : {"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "USER", "LOGNAME", "SHELL"})
        if (name == each) return true;
    // not every name that begins with LC_: ssh forwards such names, and people use them for other things
    for (std::string_view const each : {"ALL", "CTYPE", "NUMERIC", "TIME", "COLLATE", "MONETARY", "MESSAGES", "PAPER", "NAME", "ADDRESS", "TELEPHONE", "MEASUREMENT", "IDENTIFICATION"})
        if (name.starts_with("LC_") && name.substr(3) == each) return true;
    return false;
}

/// The variables of `caller` (NAME=VALUE, ended by null) that the list above allows; PATH is always present.
inline variables passed_on(char const* const* caller) {
    variables kept;
    for (; caller && *caller; ++caller) {
        std::string_view const entry{*caller};
        auto const equals = entry.find('=');
        if (equals != std::string_view::npos && is_passed_on(entry.substr(0, equals)))
            kept[std::string{entry.substr(0, equals)}] = entry.substr(equals + 1);
    }
    kept.try_emplace("PATH", default_path);
    return kept;
}

/// `NAME=VALUE`, or `NAME` for the caller's value of it.
inline result<void> add_variable(variables& to, std::string_view text) {
    auto const equals = text.find('=');
    std::string const name{text.substr(0, equals)};
    if (name.empty()) return caller_error(cat("--env \"", text, "\": write NAME or NAME=VALUE"));
    if (equals != std::string_view::npos) {
        to[name] = text.substr(equals + 1);
        return {};
    }
    char const* const here = std::getenv(name.c_str());
    if (!here) return caller_error(cat("--env ", name, ": the variable is not set here; write ", name, "=VALUE"));
    to[name] = here;
    return {};
}

/// A preset's value as a variable: text unchanged, an array of words separated by commas, the rest as JSON.
inline std::string variable_text(value const& v) {
    if (auto const* s = v.if_string()) return std::string{*s};
    if (v.is_null()) return {};
    if (auto const* list = v.if_array()) {
        std::string joined;
        bool words = true;
        for (auto const& each : *list) {
            words = words && each.if_string();
            joined += cat(joined.empty() ? "" : ",", string_or(each, {}));
        }
        if (words) return joined;
    }
    return json::text_of(v);
}

/// NAME=VALUE for each, sorted by name. A value that contains a NUL ends there, as in C.
inline std::vector<std::string> as_strings(variables const& given) {
    std::vector<std::string> out;
    out.reserve(given.size() + 2);
    for (auto const& [name, text] : given) out.push_back(cat(name, "=", text.c_str()));
    return out;
}

/// Can a payload see a file? No value when it can, else what would fix it.
using file_judge = std::function<std::optional<std::string>(std::string const&)>;

/// How to look at a payload's files from here.
struct sight {
    std::string folder; ///< where the workload runs; empty: the current folder
    file_judge hidden; ///< what the sandbox hides from it; empty: nothing
    std::function<std::string(std::string const&)> host_path; ///< where a file of the payload is on the host; empty: at the same path
    std::function<bool(std::string const&)> outlasts_a_run; ///< whether a path stays the same during a run, as far as the sandbox decides it; empty: no sandbox
};

/// The program that exec would run for `name`, looked up in `path` as the workload would see it. If there is none,
/// `is_hidden` says whether the sandbox hides it.
inline result<std::string> find_program(std::string const& name, std::string_view path, sight const& seen_by = {}, bool* is_hidden = nullptr) {
    auto const& folder = seen_by.folder;
    auto const& hidden = seen_by.hidden;
    constexpr int no_file = ENXIO; // a FIFO, a socket, a device
    constexpr int not_executable = ENOEXEC; // EACCES: a folder on the way is closed to us, and nobody knows what is in it
    auto const check = [&](std::string const& asked) {
        auto const file = seen_by.host_path ? seen_by.host_path(asked) : asked;
        struct stat facts {};
        if (::stat(file.c_str(), &facts) != 0) return errno;
        if (S_ISDIR(facts.st_mode)) return EISDIR;
        if (!S_ISREG(facts.st_mode)) return no_file;
        if (::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) == 0) return 0;
        return errno == EACCES ? not_executable : errno;
    };
    auto const seen = [&](std::string const& file) -> result<std::string> {
        if (!hidden) return file;
        auto const full = file.starts_with('/') || folder.empty() ? file : cat(folder, "/", file);
        auto const why = hidden(full);
        if (is_hidden) *is_hidden = why.has_value();
        if (why) return caller_error(cat("command ", name, ": ", *why));
        return file;
    };
    if (name.empty()) return caller_error("the command is empty");
    if (name.find('/') != std::string::npos) {
        auto const full = name.starts_with('/') || folder.empty() ? name : cat(folder, "/", name);
        if (int const code = check(full); code != 0)
            return caller_error(cat("command ", name, ": ", code == not_executable ? "not executable" : code == no_file ? "not a regular file" : std::strerror(code)));
        return seen(name);
    }
    std::string found, refused;
    std::optional<error> out_of_sight;
    split(path, ':', [&](std::string_view place) {
        if (!found.empty()) return;
        auto const file = cat(place.empty() ? "." : place, "/", name);
        int const code = check(file.starts_with('/') || folder.empty() ? file : cat(folder, "/", file));
        if (code == not_executable && refused.empty()) refused = file;
        if (code != 0) return;
        auto const got = seen(file);
        if (!got.has_error()) found = file;
        else if (!out_of_sight) out_of_sight = got.error(); // a later folder may have it
    });
    if (!found.empty()) return found;
    if (out_of_sight) return *out_of_sight;
    if (!refused.empty()) return caller_error(cat("command ", name, ": ", refused, " is not executable"));
    return caller_error(cat("command ", name, ": not found in PATH (", path, ")"));
}

} // namespace sb::run
