// SPDX-License-Identifier: MIT
// Finds another of our tools, and runs it for what it prints.
#pragma once
#include <sb/cli/trust.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <climits>
#include <cstdlib>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ; // NOLINT: POSIX leaves its declaration to the program

namespace sb::cli {

/// The tool of that name beside this one, else in a folder of PATH; empty when there is none. What a relative entry of PATH leads
/// to, or any entry into the current folder, is passed over: a workspace holds what a stranger put there.
inline std::string sibling_tool(std::string const& name) {
    auto const is_program = [](std::string const& path) {
        struct stat facts {};
        return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0;
    };
    char self[PATH_MAX];
    auto const n = ::readlink("/proc/self/exe", self, sizeof self);
    if (n > 0) {
        std::string path{self, static_cast<std::size_t>(n)};
        path.resize(path.rfind('/') + 1);
        path += name;
        if (is_program(path)) return path;
    }
    std::string found;
    char const* const folders = std::getenv("PATH");
    split(folders ? folders : "", ':', [&](std::string_view folder) {
        if (auto path = cat(folder, "/", name); found.empty() && folder.starts_with('/') && is_program(path) && !lies_here(path)) found = std::move(path);
    });
    return found;
}

/// Runs a short command of ours and returns what it prints on both streams. `input`: its standard input; -1 means ours.
inline result<std::string> output_of(std::string const& program, std::vector<std::string> arguments, int& status, int input = -1) {
    SB_TRY(auto ends, make_pipe());
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (auto& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    if (input >= 0) ::posix_spawn_file_actions_adddup2(&actions, input, 0);
    ::posix_spawn_file_actions_adddup2(&actions, ends.write.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, ends.write.get(), 2);
    pid_t child = -1;
    int const code = ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
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

} // namespace sb::cli
