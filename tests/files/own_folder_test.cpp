// SPDX-License-Identifier: MIT
#include "support/child.hpp"
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/files/folder.hpp>
#include <sb/files/own_folder.hpp>
#include <sb/files/session_folder.hpp>

using namespace sb::files;
using namespace sb::test;

namespace {

constexpr uid_t somebody = 65533, nobody = 65534;

void make(std::string const& path, mode_t mode, uid_t owner = ::geteuid()) {
    REQUIRE((::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), mode) == 0));
    if (owner != ::geteuid()) REQUIRE(::chown(path.c_str(), owner, owner) == 0);
}
std::string why(std::string const& path) {
    auto const found = own_folder::open(path, for_temporary);
    if (!found.has_error()) return {};
    return (found.error().on == sb::blame::caller ? "caller: " : "system: ") + found.error().what;
}
bool is_root() {
    if (::geteuid() == 0) return true;
    WARN("SKIPPED: only root can make folders of others");
    return false;
}
constexpr auto advice = "; choose another with TMPDIR=DIR";

} // namespace

TEST_CASE("a folder of ours below folders of ours and of root's is our own", "[own_folder]") {
    folder top;
    make(top / "a", 0755), make(top / "a/b", 0700), make(top / "sticky", 01777), make(top / "sticky/c", 0700);
    CHECK(why(top / "a/b").empty());
    CHECK(why(top / "sticky").empty());
    CHECK(why(top / "sticky/c").empty());
    REQUIRE(::symlink("a/b", (top / "link").c_str()) == 0);
    CHECK(own_folder::open(top / "link", for_temporary)->path() == own_folder::open(top / "a/b", for_temporary)->path());
    CHECK(why(top / "none") == sb::cat("system: temporary folder ", top / "none", ": No such file or directory"));
}

TEST_CASE("a folder that others may write, and one below it, are not", "[own_folder]") {
    folder top;
    make(top / "open", 0777), make(top / "open/inner", 0700), make(top / "grouped", 0775);
    CHECK(why(top / "open") == sb::cat("caller: temporary folder ", top / "open", ": is writable by everybody and is not sticky", advice));
    CHECK(why(top / "open/inner") == sb::cat("caller: temporary folder ", top / "open/inner", ": ", top / "open", " above it is writable by everybody and is not sticky", advice));
    if (::geteuid() != 0) CHECK(why(top / "grouped").empty()); // of the user's own group, as a rule
    else CHECK(why(top / "grouped") == sb::cat("caller: temporary folder ", top / "grouped", ": is writable by group ", ::getegid(), " and is not sticky", advice));
}

TEST_CASE("a folder of somebody else's, and root's or ours below it, are not", "[own_folder]") {
    if (!is_root()) return;
    folder top;
    REQUIRE(::chmod(top.path().c_str(), 0755) == 0);
    make(top / "theirs", 0755, nobody), make(top / "theirs/roots", 0755), make(top / "theirs/roots/deep", 0700), make(top / "theirs/sticky", 01777, nobody);
    CHECK(why(top / "theirs") == sb::cat("caller: temporary folder ", top / "theirs", ": belongs to uid 65534", advice));
    CHECK(why(top / "theirs/roots/deep") == sb::cat("caller: temporary folder ", top / "theirs/roots/deep", ": ", top / "theirs", " above it belongs to uid 65534", advice));
    CHECK(why(top / "theirs/sticky").starts_with("caller: ")); // its owner may move what is there
    REQUIRE((::symlink("theirs/roots", (top / "way").c_str()) == 0));
    CHECK(why(top / "way").starts_with("caller: "));
    CHECK(in_child([&] { return ::setresuid(nobody, nobody, nobody) == 0 && why(top / "theirs").empty() && why(top / "theirs/roots").empty() ? 0 : -1; }) == 0);
    CHECK(in_child([&] { return ::setresuid(somebody, somebody, somebody) == 0 && !why(top / "theirs").empty() ? 0 : -1; }) == 0);
}

TEST_CASE("a folder is made with those above it, and stays the one that was made", "[own_folder]") {
    folder top;
    auto const made = own_folder::make(top / "a/b//c/", for_data);
    REQUIRE_FALSE(made.has_error());
    struct stat facts {};
    REQUIRE(::stat((top / "a/b/c").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 07777) == 0700);
    CHECK(made->place().is_same_as(facts));
    REQUIRE((::rename((top / "a").c_str(), (top / "moved").c_str()) == 0 && ::mkdir((top / "a").c_str(), 0700) == 0));
    REQUIRE(::mkdirat(made->fd(), "ours", 0700) == 0);
    CHECK(exists(top / "moved/b/c/ours"));
    CHECK_FALSE(own_folder::make(top / "moved/b/c", for_data).has_error());
    CHECK(in_child([&] { return ::chdir(top.path().c_str()) == 0 && !own_folder::make("here/it", for_data).has_error() && exists(top / "here/it") ? 0 : -1; }) == 0);
    make(top / "open", 0777);
    CHECK(own_folder::make(top / "open/x/y", for_data).error().what.ends_with("choose another with --data-dir DIR or SANDBOX_DATA_DIR=DIR"));
    CHECK_FALSE(exists(top / "open/x"));
    REQUIRE(::symlink("nowhere", (top / "dangling").c_str()) == 0);
    CHECK(own_folder::make(top / "dangling/x", for_data).has_error());
    CHECK_FALSE(exists(top / "nowhere"));
}

TEST_CASE("private folders of runs are made nowhere else", "[own_folder]") {
    folder top;
    make(top / "open", 0777);
    CHECK(session_folder::make(top / "open").error().on == sb::blame::caller);
    CHECK(sb::files::names_in(sb::files::open_folder(AT_FDCWD, (top / "open").c_str()).get())->empty());
    make(top / "open/sb-exec-0000000000aa.new", 0700); // as if a dead session had left it
    std::vector<std::string> stuck;
    CHECK(sweep_dead_folders(top / "open", stuck) == 0);
    CHECK(stuck.size() == 1);
    CHECK(exists(top / "open/sb-exec-0000000000aa.new"));
    REQUIRE(::chmod((top / "open").c_str(), 01777) == 0);
    CHECK(sweep_dead_folders(top / "open", stuck) == 1);
}
