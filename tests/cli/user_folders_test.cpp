// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/cli/user_folders.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <pwd.h>
#include <string>
#include <unistd.h>

using namespace sb::cli;

namespace {

/// A variable as a test needs it, and as it was after that.
struct variable {
    std::string name;
    std::optional<std::string> before;
    variable(std::string called, char const* value) : name{std::move(called)} {
        if (auto const* const set = std::getenv(name.c_str())) before = set;
        if (value) ::setenv(name.c_str(), value, 1);
        else ::unsetenv(name.c_str());
    }
    variable(variable const&) = delete;
    ~variable() {
        if (before) ::setenv(name.c_str(), before->c_str(), 1);
        else ::unsetenv(name.c_str());
    }
};

} // namespace

TEST_CASE("histories are where the account keeps them: by its variable, in its home, else in the temporary folder by its number") {
    environment const env;
    variable const home{"HOME", "/home/ann"};
    {
        variable const state{"XDG_STATE_HOME", "/state"};
        CHECK(default_data_dir(env) == "/state/sandbench");
    }
    {
        variable const state{"XDG_STATE_HOME", "relative"}; // counts as none
        CHECK(default_data_dir(env) == "/home/ann/.local/state/sandbench");
    }
    variable const state{"XDG_STATE_HOME", nullptr}, nowhere{"HOME", "relative"}, temporary{"TMPDIR", "/scratch"};
    auto const listed = listed_home();
    CHECK(default_data_dir(env) == (listed.empty() ? sb::cat("/scratch/sandbench-", ::geteuid()) : listed + "/.local/state/sandbench"));
}

TEST_CASE("the home of the list of users is that which the system's library reads there, when it can be written") {
    std::string home;
    auto* const list = std::fopen("/etc/passwd", "re");
    while (auto const* const each = list ? ::fgetpwent(list) : nullptr)
        if (each->pw_uid == ::geteuid() && home.empty()) home = each->pw_dir;
    if (list) std::fclose(list);
    CHECK(listed_home() == (home.starts_with('/') && ::access(home.c_str(), W_OK | X_OK) == 0 ? home : ""));
}

TEST_CASE("settings below the current folder are those of a workspace, but not those of the account whose home it is") {
    sb::test::folder const here;
    auto const before = std::filesystem::current_path();
    std::filesystem::current_path(here.path());
    auto const put = [&](std::string const& name) { return sb::write_all(sb::open_file(here / name, O_WRONLY | O_CREAT, 0644)->get(), "a: 1\n", name); };
    REQUIRE_FALSE(put("settings.yaml").has_error());
    CHECK(is_of_workspace(here / "settings.yaml"));
    CHECK_FALSE(is_of_workspace(""));
    CHECK_FALSE(is_of_workspace("/etc/passwd"));
    if (auto const home = listed_home(); !home.empty()) {
        std::filesystem::current_path(home);
        CHECK_FALSE(is_of_workspace(home + "/.config/sandbench/settings.yaml"));
    }
    std::filesystem::current_path(before);
}
