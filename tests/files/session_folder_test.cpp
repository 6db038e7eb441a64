// SPDX-License-Identifier: MIT
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/files/folder.hpp>
#include <sb/files/session_folder.hpp>
#include <atomic>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

using namespace sb::test;
using sb::files::session_folder;

TEST_CASE("a session's folder is private and goes with it") {
    folder base;
    std::string path;
    {
        auto const made = session_folder::make(base.path());
        REQUIRE_FALSE(made.has_error());
        path = made->path();
        struct stat facts {};
        REQUIRE(::stat(path.c_str(), &facts) == 0);
        CHECK((facts.st_mode & 07777) == 0700);
    }
    CHECK_FALSE(exists(path));
}

TEST_CASE("only folders with our label, our user and a dead owner are swept") {
    folder base;
    auto const alive = session_folder::make(base.path()); // holds its lock
    REQUIRE_FALSE(alive.has_error());
    auto const dead = base / "sb-exec-00000000dead", foreign = base / "sb-exec-of-somebody", other = base / "other";
    for (auto const& each : {dead, foreign, other}) REQUIRE(::mkdir(each.c_str(), 0700) == 0);
    auto const label = [](std::string const& path, std::string_view text) {
        auto const file = sb::open_file(path + "/owner", O_WRONLY | O_CREAT, 0600);
        REQUIRE(::write(file->get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    };
    label(dead, "sandbench run folder\n");
    label(other, "sandbench run folder\n");
    label(foreign, "something else\n");
    REQUIRE(::mkdir((dead + "/slot0").c_str(), 0700) == 0);

    std::vector<std::string> stuck;
    CHECK(sb::files::sweep_dead_folders(base.path(), stuck) == 1);
    CHECK(stuck.empty());
    CHECK_FALSE(exists(dead));
    CHECK(exists(alive->path()));
    CHECK(exists(foreign));
    CHECK(exists(other));
}

TEST_CASE("a folder that is kept loses its label, so that nobody sweeps it") {
    folder base;
    std::string path;
    {
        auto made = session_folder::make(base.path());
        path = made->path();
        made->keep();
    }
    std::vector<std::string> stuck;
    CHECK(sb::files::sweep_dead_folders(base.path(), stuck) == 0);
    CHECK(exists(path));
}

TEST_CASE("a folder that was being made, or removed, when its owner died is swept") {
    folder base;
    auto const bare = base / "sb-exec-0000000000aa.new", labelled = base / "sb-exec-0000000000bb.new", emptied = base / "sb-exec-0000000000cc.new",
               held = base / "sb-exec-0000000000dd.new", foreign = base / "sb-exec-somebody.new";
    for (auto const& each : {bare, labelled, emptied, held, foreign}) REQUIRE(::mkdir(each.c_str(), 0700) == 0);
    REQUIRE_FALSE(sb::open_file(labelled + "/owner", O_WRONLY | O_CREAT, 0600).has_error()); // not written yet
    REQUIRE(::mkdir((emptied + "/slot0").c_str(), 0700) == 0); // its label went first
    auto const owner = sb::files::open_folder(AT_FDCWD, held.c_str());
    REQUIRE(::flock(owner.get(), LOCK_EX) == 0);
    std::vector<std::string> stuck;
    CHECK(sb::files::sweep_dead_folders(base.path(), stuck) == 3);
    CHECK(stuck.empty());
    for (auto const& each : {bare, labelled, emptied}) CHECK_FALSE(exists(each));
    CHECK(exists(held));
    CHECK(exists(foreign));
}

TEST_CASE("folders are made while others sweep, and each keeps its own") {
    folder base;
    std::atomic<bool> over{false};
    std::thread sweeper{[&] {
        std::vector<std::string> stuck;
        while (!over) sb::files::sweep_dead_folders(base.path(), stuck);
    }};
    int wrong = 0;
    std::string why;
    for (int i = 0; i < 2000; ++i) {
        auto const made = session_folder::make(base.path());
        if (made.has_error()) why = made.error().what;
        wrong += made.has_error() || !exists(made->path() + "/owner");
    }
    over = true;
    sweeper.join();
    CAPTURE(why);
    CHECK(wrong == 0);
}
