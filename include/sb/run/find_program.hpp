// SPDX-License-Identifier: MIT
// Which file is executed for a command, as the workload itself would see it.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sb::run {

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
