// SPDX-License-Identifier: MIT
// The folders that an account has for settings and histories.
#pragma once
#include <sb/cli/environment.hpp>
#include <sb/cli/trust.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace sb::cli {

/// The home folder that the system's list of users knows for us, when it is there; empty without one.
inline std::string listed_home() {
    auto const users = sb::read_file("/etc/passwd", std::size_t{16} << 20);
    if (users.has_error()) return {};
    std::string home;
    auto const id = cat(::geteuid());
    split(*users, '\n', [&](std::string_view line) {
        std::vector<std::string_view> fields;
        split(line, ':', [&](std::string_view each) { fields.push_back(each); });
        if (home.empty() && fields.size() > 5 && fields[2] == id) home = fields[5];
    });
    return home.starts_with('/') && ::access(home.c_str(), W_OK | X_OK) == 0 ? home : std::string{};
}
/// Settings of a workspace. The home folder is none: what lies there belongs to the account.
inline bool is_of_workspace(std::string const& path) {
    return !path.empty() && lies_here(path) && !path.starts_with(listed_home() + "/.config/");
}
/// The folder that an XDG variable names, else the usual one in the home folder; empty if neither is known.
inline std::string user_folder(environment const& env, std::string const& variable, char const* in_home) {
    if (auto named = env.folder(variable); !named.empty()) return named;
    auto home = env.folder("HOME");
    if (home.empty()) home = listed_home();
    return home.empty() ? home : home + in_home;
}
/// Never in the current folder, which is a workspace. Who uses it judges it by its descriptor (files/own_folder.hpp), for a name here
/// may be another's a moment later.
inline std::string default_data_dir(environment const& env) {
    if (auto const state = user_folder(env, "XDG_STATE_HOME", "/.local/state"); !state.empty()) return state + "/sandbench";
    auto const temporary = env.folder("TMPDIR");
    return cat(temporary.empty() ? "/tmp" : temporary, "/sandbench-", ::geteuid());
}

} // namespace sb::cli
