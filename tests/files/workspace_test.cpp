// SPDX-License-Identifier: MIT
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/files/folder.hpp>
#include <sb/files/session_folder.hpp>
#include <sb/files/workspace.hpp>
#include <atomic>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

using namespace sb::test;
using sb::files::session_folder;

TEST_CASE("HOME and TMPDIR are used again when nothing touched them, and renewed when something did") {
    folder base;
    auto session = session_folder::make(base.path());
    auto work = sb::files::workspace::make(*session, "slot0");
    REQUIRE_FALSE(work.has_error());
    struct stat first {}, second {}, third {};
    REQUIRE(::stat(work->home().c_str(), &first) == 0);
    CHECK((first.st_mode & 07777) == 0700);
    REQUIRE_FALSE(work->clean().has_error());
    REQUIRE(::stat(work->home().c_str(), &second) == 0);
    CHECK(first.st_ino == second.st_ino);

    ::close(::open((work->home() + "/left").c_str(), O_WRONLY | O_CREAT, 0600));
    REQUIRE_FALSE(work->clean().has_error());
    CHECK_FALSE(exists(work->home() + "/left"));

    REQUIRE(::chmod(work->tmp().c_str(), 0777) == 0);
    REQUIRE_FALSE(work->clean().has_error());
    REQUIRE(::stat(work->tmp().c_str(), &third) == 0);
    CHECK((third.st_mode & 07777) == 0700);
}

TEST_CASE("a folder that was swapped for a link is replaced, and what the link names is not touched") {
    folder base, elsewhere;
    ::close(::open((elsewhere / "precious").c_str(), O_WRONLY | O_CREAT, 0600));
    auto session = session_folder::make(base.path());
    auto work = sb::files::workspace::make(*session, "slot0");
    REQUIRE(::rmdir(work->home().c_str()) == 0);
    REQUIRE(::symlink(elsewhere.path().c_str(), work->home().c_str()) == 0);
    REQUIRE_FALSE(work->clean().has_error());
    struct stat facts {};
    REQUIRE(::lstat(work->home().c_str(), &facts) == 0);
    CHECK(S_ISDIR(facts.st_mode));
    CHECK(exists(elsewhere / "precious"));
}

TEST_CASE("another folder that took the name is neither used nor removed") {
    folder base;
    auto made = session_folder::make(base.path()).value();
    auto const path = made.path(), moved = base / "moved";
    REQUIRE((::rename(path.c_str(), moved.c_str()) == 0 && ::mkdir(path.c_str(), 0755) == 0));
    ::close(::open((path + "/precious").c_str(), O_WRONLY | O_CREAT, 0600));
    REQUIRE_FALSE(sb::files::workspace::make(made, "slot0").has_error());
    CHECK(exists(moved + "/slot0/home"));
    CHECK_FALSE(exists(path + "/slot0"));
    (void)made.remove();
    CHECK_FALSE(exists(moved + "/slot0"));
    CHECK((exists(path + "/precious") || exists(path + ".new/precious")));
}

TEST_CASE("what is hard to remove is removed: depth, closed folders, links, pipes") {
    folder base;
    auto session = session_folder::make(base.path());
    auto work = sb::files::workspace::make(*session, "slot0");
    auto job = victim({"litter", "1500"});
    job.held.wall_ns = 60'000'000'000;
    job.environment = {"HOME=" + work->home(), "TMPDIR=" + work->tmp()};
    auto const got = run(job);
    REQUIRE(got.copies.at(0).status == 0);
    REQUIRE_FALSE(work->clean().has_error());
    auto look = victim({"look"});
    look.environment = job.environment;
    CHECK(run(look).out.head == "0\n");
}
