// SPDX-License-Identifier: MIT
// The settings file as one object. JSON is read here; YAML is read by `sb-settings`, which prints it as JSON, so that
// no other tool carries a YAML parser or pays for one when there is no settings file.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/value.hpp>
#include <sb/json/parse.hpp>
#include <climits>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT: POSIX leaves its declaration to the program

namespace sb::cli {

/// The tool of that name beside this one, else the bare name for PATH to find.
inline std::string sibling_tool(std::string const& name) {
    char self[PATH_MAX];
    auto const n = ::readlink("/proc/self/exe", self, sizeof self);
    if (n > 0) {
        std::string path{self, static_cast<std::size_t>(n)};
        path.resize(path.rfind('/') + 1);
        path += name;
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return name;
}

/// What a short command of ours prints, on both streams.
inline result<std::string> output_of(std::string const& program, std::vector<std::string> arguments, int& status) {
    SB_TRY(auto ends, make_pipe());
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (auto& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends.write.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, ends.write.get(), 2);
    pid_t child = -1;
    int const code = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (code != 0) return errno_error("run", program, code);
    ends.write.reset();
    std::string text;
    char block[4096];
    for (;;) {
        auto const n = retry([&] { return ::read(ends.read.get(), block, sizeof block); });
        if (n <= 0) break;
        text.append(block, static_cast<std::size_t>(n));
    }
    (void)retry([&] { return ::waitpid(child, &status, 0); });
    return text;
}

/// Reads `path`; an error names the file, the line and what is wrong.
inline result<object> read_settings(std::string const& path) {
    std::string text;
    if (path.ends_with(".json")) {
        auto read = sb::read_file(path, std::size_t{16} << 20);
        if (read.has_error()) return error{read.error().on, cat("settings ", read.error().what)};
        text = std::move(*read);
    } else {
        auto const program = sibling_tool("sb-settings");
        int status = 0;
        auto got = output_of(program, {"--json", path}, status);
        if (got.has_error())
            return system_error(cat("settings ", path, ": YAML is read by sb-settings, which could not be run: ", got.error().what));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            return error{WIFEXITED(status) && WEXITSTATUS(status) == 4 ? blame::system : blame::caller,
                         cat("settings ", trim(got->starts_with("sb-settings: ") ? got->substr(13) : *got))};
        text = std::move(*got);
    }
    auto document = json::parse_document(text, path);
    if (document.has_error()) return caller_error(cat("settings ", document.error().what));
    auto* const o = document->if_object();
    if (!o) return caller_error(cat("settings ", path, ": must be a map of names to values"));
    return std::move(*o);
}

} // namespace sb::cli
