// SPDX-License-Identifier: MIT
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/doctor/trial.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace sb::doctor;

namespace {

/// A current folder for a moment.
class current_folder {
public:
    explicit current_folder(std::string const& path) : before_{::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)} { REQUIRE(::chdir(path.c_str()) == 0); }
    current_folder(current_folder const&) = delete;
    current_folder& operator=(current_folder const&) = delete;
    ~current_folder() { (void)!::fchdir(before_.get()); }

private:
    sb::unique_fd before_;
};
finding tried(std::string const& data_dir, std::string const& search = "/usr/local/bin:/usr/bin:/bin") {
    char const* const below = std::getenv("SANDBOX_CGROUP");
    return try_isolation(data_dir, {{"PATH", search}}, below ? below : "");
}
bool has(std::string const& path) { return ::access(path.c_str(), F_OK) == 0; }
using list = std::vector<std::string>;

} // namespace

TEST_CASE("folders that are not there are listed with the deepest first") {
    sb::test::folder const here;
    CHECK(detail::missing_folders(here / "a/b/c") == list{here / "a/b/c", here / "a/b", here / "a"});
    CHECK(detail::missing_folders(here.path()).empty());
    CHECK(detail::missing_folders("/").empty());
    CHECK(detail::missing_folders("").empty());
    CHECK(detail::missing_folders("/sb-none/at/all") == list{"/sb-none/at/all", "/sb-none/at", "/sb-none"});
}

TEST_CASE("where the kernel isolates a run behind all walls ends well, and leaves no folder that was not there", "[sandbox]") {
    NEEDS_ISOLATION();
    sb::test::folder const here;
    REQUIRE((::chmod(here.path().c_str(), 0755) == 0 && ::mkdir((here / "work").c_str(), 0755) == 0));
    current_folder const in{here / "work"};
    auto const f = tried(here / "data/deep");
    INFO(f.what);
    CHECK(f.status == finding_status::ok);
    CHECK(f.what.starts_with("`true` ran isolated by "));
    CHECK_FALSE(has(here / "data"));
    REQUIRE(::mkdir((here / "data").c_str(), 0700) == 0);
    CHECK(tried(here / "data").status == finding_status::ok);
    CHECK(has(here / "data"));
    CHECK_FALSE(has(here / "data/leases"));
}

TEST_CASE("in a folder that can be no workspace the host is tried in another, and the folder is what is limited", "[sandbox]") {
    NEEDS_ISOLATION();
    sb::test::folder const here;
    current_folder const in{"/"};
    auto const f = tried(here / "data");
    INFO(f.what);
    CHECK(f.status == finding_status::limited);
    CHECK(f.what.starts_with("possible, but not in this folder: workspace /: the whole system cannot be the workspace"));
    CHECK(f.advice == "change to the folder of the project");
}

TEST_CASE("a run that sb-exec would refuse is missed, with its reason", "[sandbox]") {
    NEEDS_ISOLATION();
    sb::test::folder const here;
    REQUIRE((::chmod(here.path().c_str(), 0755) == 0 && ::mkdir((here / "work").c_str(), 0755) == 0));
    current_folder const in{here / "work"};
    auto const f = tried(here / "data", here.path());
    CHECK(f.status == finding_status::missing);
    CHECK(f.what == sb::cat("sb-exec would refuse: command true: not found in PATH (", here.path(), ")"));
}
