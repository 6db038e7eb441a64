// SPDX-License-Identifier: MIT
// The folders of a sandbox without a sandbox: a child makes them in memory of its own, where nobody else takes or frees a byte.
#include "support/sandbox_slot.hpp"
#include <ctime>
#include <functional>
#include <sb/files/mount.hpp>
#include <sb/process/tried.hpp>
#include <sb/sandbox/scratch_view.hpp>
#include <string>
#include <utility>

using namespace sb::sandbox;
using namespace sb::test;

namespace {

/// What a sandbox's supervisor makes, without a workspace.
struct space {
    sb::unique_fd root = sb::files::new_mount("tmpfs", {{"size", "1m"}, {"nr_inodes", "200"}, {"mode", "0755"}}, MOUNT_ATTR_NOATIME).value();
    scratch_view view;

    space() {
        for (auto const* name : {"upper", "index", "home", "tmp", "shm"}) (void)sb::files::make_folder(root.get(), name, "scratch").value();
        show();
    }
    void show() {
        struct { char const* name; supervisor_fd which; } const all[] = {{".", scratch_root}, {"upper", upper_folder}, {"index", work_folder}, {"home", home_folder}, {"tmp", tmp_folder}, {"shm", shm_folder}};
        for (auto const& [name, which] : all) view.take(which, sb::files::open_folder(root.get(), name));
    }
    bool make(char const* path, std::string_view text = "x") {
        sb::unique_fd const file{::openat(root.get(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
        return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    }
    bool has(char const* path) const { return ::faccessat(root.get(), path, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }
};

/// Before Linux 6.13 the times of files are those of the last tick: what happens within one cannot be told apart.
void wait_for_tick() {
    auto const now = [] {
        timespec t{};
        ::clock_gettime(CLOCK_REALTIME_COARSE, &t);
        return std::pair{t.tv_sec, t.tv_nsec};
    };
    for (auto const before = now(); now() == before;) {}
}

/// What the view says when a run has done this; "before" is there when it is told to remember.
std::string after(std::function<bool(space&)> const& run, std::function<bool(space&)> const& before = [](space&) { return true; }) {
    auto const said = sb::process::tried_inside(sb::process::choose_payload_user().value(), CLONE_NEWNS, [&]() -> sb::result<std::string> {
        space here;
        if (!before(here)) return sb::last_error("prepare");
        here.view.remember();
        if (!here.view.untouched()) return sb::system_error("touched before the run");
        wait_for_tick();
        if (!run(here)) return sb::last_error("run");
        if (here.view.untouched()) return std::string{"untouched"};
        if (!here.view.tidy()) return std::string{"neither"};
        return std::string{here.view.untouched() ? "tidied" : "tidied, and not as before"};
    });
    return said.has_error() ? said.error().what : *said;
}

} // namespace

TEST_CASE("folders that nobody touched are untouched, read or not", "[sandbox]") {
    NEEDS_ISOLATION();
    CHECK(after([](space&) { return true; }) == "untouched");
    CHECK(after([](space& s) { return sb::files::names_in(s.view.of(home_folder))->empty(); }) == "untouched");
    CHECK(after([](space& s) { return s.has("tmp/there"); }, [](space& s) { return s.make("tmp/there"); }) == "untouched");
}

TEST_CASE("a few new files directly in the folders are removed", "[sandbox]") {
    NEEDS_ISOLATION();
    CHECK(after([](space& s) { return s.make("home/new"); }) == "tidied");
    CHECK(after([](space& s) { return s.make("tmp/new") && s.make("shm/new") && s.make("home/.hidden", std::string(100'000, 'x')); }) == "tidied");
    CHECK(after([](space& s) { return s.make("tmp/new") && ::unlinkat(s.view.of(tmp_folder), "new", 0) == 0; }) == "tidied");
    CHECK(after([](space& s) { return ::symlinkat("/etc", s.view.of(tmp_folder), "link") == 0; }) == "tidied");
    CHECK(after([](space& s) {
        timespec const long_ago[2] = {{1, 0}, {1, 0}};
        return ::futimens(s.view.of(tmp_folder), long_ago) == 0;
    }) == "tidied");
}

TEST_CASE("thirty-two files are removed from a folder and not one more", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const make = [](int count) {
        return [count](space& s) {
            for (int i = 0; i < count; ++i)
                if (!s.make(sb::cat("tmp/new", i).c_str())) return false;
            return true;
        };
    };
    CHECK(after(make(32)) == "tidied");
    CHECK(after(make(33)) == "neither");
    CHECK(after(make(150)) == "neither");
}

TEST_CASE("what is more than a few files is not removed one by one", "[sandbox]") {
    NEEDS_ISOLATION();
    CHECK(after([](space& s) { return ::mkdirat(s.view.of(tmp_folder), "folder", 0700) == 0; }) == "neither");
    CHECK(after([](space& s) { return ::fchmod(s.view.of(home_folder), 0777) == 0; }) == "neither");
    CHECK(after([](space& s) { return s.make("index/new"); }) == "neither");
    CHECK(after([](space& s) { return s.make("new"); }) == "neither");
    CHECK(after([](space& s) { return s.make("upper/new"); }) == "neither"); // no overlay through which it could be removed
}

TEST_CASE("what was there before must be there unchanged, at any depth", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const before = [](space& s) { return ::mkdirat(s.view.of(tmp_folder), "way", 0755) == 0 && s.make("tmp/way/place") && s.make("home/place"); };
    CHECK(after([](space& s) { return s.make("tmp/new"); }, before) == "tidied");
    CHECK(after([](space& s) { return s.make("home/place", "other"); }, before) == "neither");
    CHECK(after([](space& s) { return s.make("tmp/way/place", "other"); }, before) == "neither");
    CHECK(after([](space& s) { return s.make("tmp/way/new"); }, before) == "neither");
    CHECK(after([](space& s) { return ::fchmodat(s.view.of(tmp_folder), "way", 0700, 0) == 0; }, before) == "neither");
    CHECK(after([](space& s) { return ::unlinkat(s.view.of(home_folder), "place", 0) == 0; }, before) == "neither");
    CHECK(after([](space& s) { return ::renameat(s.view.of(home_folder), "place", s.view.of(home_folder), "moved") == 0; }, before) == "neither");
}

TEST_CASE("bytes and files that are held by nobody's name are noticed", "[sandbox]") {
    NEEDS_ISOLATION();
    CHECK(after([](space& s) {
        static sb::unique_fd held;
        held = sb::unique_fd{::openat(s.view.of(tmp_folder), "x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
        return held && ::write(held.get(), "text", 4) == 4 && ::unlinkat(s.view.of(tmp_folder), "x", 0) == 0;
    }) == "neither");
}

TEST_CASE("a place is full when it has no byte or no file left", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const full = [](auto fill) {
        auto const said = sb::process::tried_inside(sb::process::choose_payload_user().value(), CLONE_NEWNS, [&]() -> sb::result<std::string> {
            space here;
            if (here.view.is_full()) return sb::system_error("full before");
            fill(here);
            return std::string{here.view.is_full() ? "full" : "room"};
        });
        return said.has_error() ? said.error().what : *said;
    };
    CHECK(full([](space& s) { (void)s.make("tmp/large", std::string(500'000, 'x')); }) == "room");
    CHECK(full([](space& s) { (void)s.make("tmp/large", std::string(2'000'000, 'x')); }) == "full");
    CHECK(full([](space& s) {
        for (int i = 0; s.make(sb::cat("tmp/", i).c_str(), ""); ++i) {}
    }) == "full");
}

TEST_CASE("a view without folders is neither full nor untouched, and cannot be tidied") {
    scratch_view view;
    CHECK_FALSE(view.is_full());
    CHECK_FALSE(view.untouched());
    CHECK_FALSE(view.tidy());
    CHECK(view.of(home_folder) == -1);
    folder const at;
    view.take(home_folder, sb::files::open_folder(AT_FDCWD, at.path().c_str()));
    int const fd = view.of(home_folder);
    CHECK(::fcntl(fd, F_GETFD) >= 0);
    CHECK_FALSE(view.untouched());
    view.let_go();
    CHECK(view.of(home_folder) == -1);
    CHECK(::fcntl(fd, F_GETFD) == -1);
}
