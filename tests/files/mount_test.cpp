// SPDX-License-Identifier: MIT
// Mounts in a mount namespace of the test's own, which a child makes and takes with it.
#include "support/kernel.hpp"
#include "support/catch.hpp"
#include "support/victim.hpp"
#include <sb/files/mount.hpp>
#include <sb/process/tried.hpp>
#include <string>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <utility>

using namespace sb::files;
using sb::test::folder;
namespace kernel = sb::test::kernel;

namespace {

/// What was not as it should be, line by line.
struct findings {
    std::string text;
    void operator()(bool well, std::string_view what) {
        if (!well) text += sb::cat(what, "\n");
    }
    template <class Value>
    Value const& of(sb::result<Value> const& made, std::string_view what) {
        if (made.has_error()) text += sb::cat(what, ": ", made.error().what, "\n");
        return made.value(); // throws without one
    }
    void done(sb::result<void> const& done, std::string_view what) {
        if (done.has_error()) text += sb::cat(what, ": ", done.error().what, "\n");
    }
    template <class Value>
    void refused(sb::result<Value> const& tried, std::string_view begin) {
        if (!tried.has_error()) text += sb::cat("not refused: ", begin, "\n");
        else if (!tried.error().what.starts_with(begin)) text += sb::cat("refused as: ", tried.error().what, "\n");
    }
};

/// What `work` finds in namespaces in which it may mount; empty when all is well.
template <class Work>
std::string inside(Work const& work) {
    auto const said = sb::process::tried_inside(sb::process::choose_payload_user().value(), CLONE_NEWNS, [&]() -> sb::result<std::string> {
        findings is;
        try {
            work(is);
        } catch (std::exception const& e) {
            is(false, e.what());
        }
        return is.text;
    });
    return said.has_error() ? said.error().what : *said;
}

bool makes(int at, char const* name, std::size_t bytes = 0) {
    sb::unique_fd const file{::openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    std::string const block(4096, 'x');
    if (!file) return false;
    for (; bytes > 0; bytes -= block.size())
        if (::write(file.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return false;
    return true;
}
bool has(int at, char const* name) { return ::faccessat(at, name, F_OK, 0) == 0; }
unsigned long flags_of(std::string const& path) {
    struct statvfs facts {};
    return ::statvfs(path.c_str(), &facts) == 0 ? facts.f_flag : ~0ul;
}
unsigned long flags_of(int fd) {
    struct statvfs facts {};
    return ::fstatvfs(fd, &facts) == 0 ? facts.f_flag : ~0ul;
}
sb::result<sb::unique_fd> memory(char const* size = "1m", unsigned attributes = 0) { return new_mount("tmpfs", {{"size", size}, {"mode", "0777"}}, attributes); }

/// A folder that the user inside may enter.
struct open_place : folder {
    open_place() { REQUIRE(::chmod(path().c_str(), 0777) == 0); }
};

/// A file system in memory, and in its folder `inner` another.
void lay_two(findings& is, open_place const& at) {
    auto const outer = memory(), inner = memory();
    is.done(attach(is.of(outer, "outer").get(), at.path()), "put outer in place");
    is(::mkdir((at / "inner").c_str(), 0777) == 0, "no folder");
    is.done(attach(is.of(inner, "inner").get(), at / "inner"), "put inner in place");
}

} // namespace

TEST_CASE("a new file system is seen by nobody before it is put in place, and then by everybody", "[mount]") {
    NEEDS_ISOLATION();
    open_place const at;
    CHECK(inside([&](findings& is) {
        auto const made = memory();
        int const fd = is.of(made, "new file system").get();
        is(::fcntl(fd, F_GETFD) == FD_CLOEXEC, "exec would not close it");
        is(makes(fd, "file"), "no file is made by descriptor");
        is(!has(AT_FDCWD, (at / "file").c_str()), "seen before it is put in place");
        is.done(attach(fd, at.path()), "put in place");
        is(has(AT_FDCWD, (at / "file").c_str()), "not seen in its place");
    }) == "");
    CHECK_FALSE(has(AT_FDCWD, (at / "file").c_str())); // nor outside
}

TEST_CASE("a file system has the size that was asked for, and gets another one", "[mount]") {
    NEEDS_ISOLATION();
    CHECK(inside([](findings& is) {
        auto const made = memory("64k");
        int const fd = is.of(made, "new file system").get();
        is(!makes(fd, "large", 128 << 10) && errno == ENOSPC, "takes more than its size");
        is.done(change_file_system(fd, {{"size", "1m"}}), "a greater size");
        is(makes(fd, "large", 128 << 10), "takes less than its size");
        is.refused(change_file_system(fd, {{"size", "4k"}}), "change file system: ");
        is.refused(change_file_system(fd, {{"size", "much"}}), "fsconfig size=much: ");
        is.refused(change_file_system(-1, {{"size", "1m"}}), "fspick: ");
    }) == "");
}

TEST_CASE("a file system that cannot be made is an error that names its type or its option", "[mount]") {
    NEEDS_ISOLATION();
    CHECK(inside([](findings& is) {
        is.refused(new_mount("no-such-type", {}, 0), "fsopen no-such-type: No such device");
        is.refused(new_mount("tmpfs", {{"no-such-option", "1"}}, 0), "fsconfig tmpfs no-such-option=1: ");
        is.refused(new_mount("tmpfs", {{"size", "much"}}, 0), "fsconfig tmpfs size=much: ");
        is.refused(new_mount("overlay", {{"lowerdir", "/no/such/folder"}}, 0), "");
        is.refused(new_mount("tmpfs", {}, ~0u), "fsmount tmpfs: ");
    }) == "");
}

TEST_CASE("an option that is a name alone is given as one, and attributes hold for the mount", "[mount]") {
    NEEDS_ISOLATION();
    CHECK(inside([](findings& is) {
        auto const read_only = new_mount("tmpfs", {{"ro", ""}}, 0);
        is(!makes(is.of(read_only, "a file system for reading").get(), "file") && errno == EROFS, "written in spite of its option");
        auto const attributes = memory("1m", MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSUID);
        auto const flags = flags_of(is.of(attributes, "a mount with attributes").get());
        is((flags & (ST_NOEXEC | ST_NOSUID)) == (ST_NOEXEC | ST_NOSUID) && (flags & (ST_RDONLY | ST_NODEV)) == 0, "other attributes");
    }) == "");
}

TEST_CASE("a copy of a mount shows the same files with attributes of its own, and what is below only where asked for", "[mount]") {
    NEEDS_ISOLATION();
    open_place const at;
    CHECK(inside([&](findings& is) {
        lay_two(is, at);
        is(makes(AT_FDCWD, (at / "file").c_str()) && makes(AT_FDCWD, (at / "inner/deep").c_str()), "no files");

        auto const whole = copy_mount(AT_FDCWD, at.path()), alone = copy_mount(AT_FDCWD, at.path(), false);
        int const all = is.of(whole, "copy").get(), one = is.of(alone, "copy without what is below").get();
        is(has(all, "file") && has(all, "inner/deep"), "the copy lacks a file");
        is(has(one, "file") && !has(one, "inner/deep"), "the copy without what is below shows it");
        is(::fcntl(all, F_GETFD) == FD_CLOEXEC, "exec would not close it");

        is.done(change_mount(all, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOATIME), "change the copy");
        is(!makes(all, "more") && errno == EROFS, "the copy is written");
        is(!makes(all, "inner/more") && errno == EROFS, "what is below in the copy is written");
        is((flags_of(all) & ST_NOATIME) != 0, "the copy notes when it was read");
        is(makes(AT_FDCWD, (at / "more").c_str()), "the original is not written any more");

        sb::unique_fd const place{::open((at / "inner").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
        auto const by_descriptor = copy_mount(place.get(), "");
        is(has(is.of(by_descriptor, "copy of an open folder").get(), "deep"), "the copy of an open folder is another's");
        is.refused(copy_mount(AT_FDCWD, at / "missing"), sb::cat("open_tree ", at / "missing", ": No such file"));
        is.refused(change_mount(place.get(), MOUNT_ATTR_RDONLY | (std::uint64_t{1} << 60)), "mount_setattr: ");
    }) == "");
}

TEST_CASE("attributes of what is mounted at a path are set and cleared, with those below or without", "[mount]") {
    NEEDS_ISOLATION();
    open_place const at;
    CHECK(inside([&](findings& is) {
        lay_two(is, at);
        auto const set = [&](unsigned long flag) { return std::pair{(flags_of(at.path()) & flag) != 0, (flags_of(at / "inner") & flag) != 0}; };

        is.done(change_mount_at(at.path(), MOUNT_ATTR_NOEXEC, 0, false), "set for one");
        is(set(ST_NOEXEC) == std::pair{true, false}, "not set for one alone");
        is.done(change_mount_at(at.path(), MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOEXEC, true), "set for both");
        is(set(ST_RDONLY) == std::pair{true, true} && set(ST_NOEXEC) == std::pair{false, false}, "not set and cleared for both");
        is.done(change_mount_at(at.path(), 0, MOUNT_ATTR_RDONLY, false), "clear for one");
        is(set(ST_RDONLY) == std::pair{false, true}, "not cleared for one alone");
        is.refused(change_mount_at(at / "missing", MOUNT_ATTR_RDONLY, 0, false), sb::cat("mount_setattr ", at / "missing", ": "));
    }) == "");
}

TEST_CASE("a mount is put at an open place, whatever has its name by then", "[mount]") {
    NEEDS_ISOLATION();
    open_place const at;
    CHECK(inside([&](findings& is) {
        is(::mkdir((at / "place").c_str(), 0777) == 0, "no folder");
        sb::unique_fd const place{::open((at / "place").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
        is(::rename((at / "place").c_str(), (at / "moved").c_str()) == 0 && ::mkdir((at / "place").c_str(), 0777) == 0, "not renamed");
        auto const made = memory();
        is(makes(is.of(made, "new file system").get(), "file"), "no file");
        is.done(attach(made->get(), place.get(), "the place"), "put in place");
        is(has(AT_FDCWD, (at / "moved/file").c_str()) && !has(AT_FDCWD, (at / "place/file").c_str()), "put in another place");
        auto const second = memory();
        is.refused(attach(is.of(second, "second").get(), -1, "nowhere"), "mount on nowhere: ");
        is.refused(attach(second->get(), at / "missing"), sb::cat("mount on ", at / "missing", ": No such file"));
        is.refused(attach(place.get(), at / "place"), sb::cat("mount on ", at / "place", ": ")); // no mount
        is(::umount2((at / "moved").c_str(), MNT_DETACH) == 0, "not unmounted");
    }) == "");
}

TEST_CASE("owners in a mount are shown as a user namespace maps them", "[mount]") {
    NEEDS_ISOLATION();
    if (!kernel::is_at_least(6, 3)) {
        WARN("SKIPPED: before Linux 6.3 owners in memory are not mapped");
        return;
    }
    CHECK(inside([](findings& is) {
        ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // else a child's files in /proc are not ours: the user was changed
        struct stat facts {};
        sb::process::payload_user const user{sb::process::sandbox_id, sb::process::sandbox_id};
        for (bool const same : {true, false}) {
            auto const made = memory();
            int const fd = is.of(made, "new file system").get();
            is(makes(fd, "file"), "no file");
            facts.st_uid = facts.st_gid = same ? sb::process::sandbox_id : 7;
            auto const map = sb::process::owner_map(facts, user);
            is.done(map_owners(fd, is.of(map, "user namespace").get()), "map owners");
            struct stat seen {};
            is(::fstatat(fd, "file", &seen, 0) == 0, "not seen");
            is((seen.st_uid == sb::process::sandbox_id) == same, sb::cat("the file belongs to ", seen.st_uid));
        }
        auto const made = memory();
        is.refused(map_owners(is.of(made, "new file system").get(), -1), "mount_setattr to map owners: ");
    }) == "");
}

TEST_CASE("a new root shows what is mounted there and nothing of the old one", "[mount]") {
    NEEDS_ISOLATION();
    open_place const at;
    CHECK(inside([&](findings& is) {
        is.refused(change_root(at / "missing"), sb::cat("change folder to ", at / "missing", ": "));
        is.refused(change_root(at.path()), sb::cat("pivot_root ", at.path(), ": ")); // nothing is mounted there
        is(::chdir("/") == 0, "no way back");
        auto const made = memory();
        is(makes(is.of(made, "new file system").get(), "only"), "no file");
        is.done(attach(made->get(), at.path()), "put in place");
        is.done(change_root(at.path()), "change the root");
        is(has(AT_FDCWD, "/only") && has(AT_FDCWD, "only"), "the new root is not seen");
        is(!has(AT_FDCWD, "/etc") && !has(AT_FDCWD, "/../etc"), "the old root is seen");
    }) == "");
}
