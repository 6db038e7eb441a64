// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include "support/child.hpp"
#include <algorithm>
#include <linux/fs.h>
#include <sb/files/pinned.hpp>
#include <sb/sandbox/view.hpp>

using namespace sb::files;
using namespace sb::test;

namespace {

constexpr uid_t somebody = 65533, nobody = 65534;

std::string text_in(pinned const& place, char const* name) {
    char text[64]{};
    sb::unique_fd const file{::openat(place.fd(), name, O_RDONLY | O_CLOEXEC)};
    auto const n = ::read(file.get(), text, sizeof text);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
}
void exchange(std::string const& one, std::string const& other) { REQUIRE(::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0); }
void own(std::string const& path, uid_t uid) { REQUIRE(::lchown(path.c_str(), uid, uid) == 0); }
void make(std::string const& path, mode_t mode = 0755) { REQUIRE((::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), mode) == 0)); }
std::string why(std::string const& path, uid_t trusted = 0) {
    auto const found = pinned::open_as(path, trusted);
    return found.has_error() ? found.error().what : "";
}

} // namespace

TEST_CASE("a pinned folder stays what it was when another takes its name", "[pinned]") {
    folder top;
    make(top / "a"), make(top / "b");
    put(top / "a/file", "first"), put(top / "b/file", "second");
    auto const place = pinned::open(top / "a").value();
    auto const copied = place;
    REQUIRE(copied.path() == real_path(top / "a").value());
    exchange(top / "a", top / "b");
    REQUIRE(text_in(copied, "file") == "first");
    REQUIRE(copied.here().has_error()); // by its name another is found, and that is said
    exchange(top / "a", top / "b");
    REQUIRE_FALSE(copied.here().has_error());
}

TEST_CASE("the current folder is pinned without its name", "[pinned]") {
    folder top;
    make(top / "a"), make(top / "b");
    put(top / "a/file", "first"), put(top / "b/file", "second");
    auto const told = in_child([&] {
        if (::chdir((top / "a").c_str()) != 0) return -1;
        exchange(top / "a", top / "b");
        auto const place = pinned::open(".");
        if (place.has_error() || text_in(*place, "file") != "first" || place->here().has_error()) return -1;
        return place->path().ends_with("/b") ? 0 : -1;
    });
    REQUIRE(told == 0);
}

TEST_CASE("what is removed, missing or no folder on the way cannot be pinned", "[pinned]") {
    folder top;
    REQUIRE(why(top / "none") == "No such file or directory");
    put(top / "file", "x");
    REQUIRE(why(top / "file/below") == "Not a directory");
    REQUIRE(why(top / "file").empty());
    REQUIRE(::symlink("loop", (top / "loop").c_str()) == 0);
    REQUIRE(why(top / "loop") == "Too many levels of symbolic links");
    auto const told = in_child([&] {
        make(top / "gone");
        if (::chdir((top / "gone").c_str()) != 0 || ::rmdir((top / "gone").c_str()) != 0) return -1;
        auto const place = pinned::open(".");
        return place.has_error() && place.error().what == "was removed" ? 0 : -1;
    });
    REQUIRE(told == 0);
}

TEST_CASE("a link of another user's leads to what is that user's alone", "[pinned]") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: only root can make files of others");
        return;
    }
    folder top;
    make(top / "theirs"), make(top / "root"), make(top / "others");
    own(top / "theirs", nobody), own(top / "others", somebody);
    auto const link = [&](char const* to, std::string const& name, uid_t owner) {
        REQUIRE(::symlink(to, (top / name).c_str()) == 0);
        own(top / name, owner);
    };
    link("root", "good", 0), link("../root", "theirs/bad", nobody), link("../others", "theirs/other", nobody), link(".", "theirs/self", nobody);
    link("good", "theirs/nested", nobody), link("theirs/bad", "over", 0), link("root", "trusted", somebody);
    make(top / "theirs/inner"), own(top / "theirs/inner", nobody);
    REQUIRE(why(top / "good").empty());
    REQUIRE(why(top / "theirs/self/inner").empty());
    REQUIRE(why(top / "theirs/inner/../../root").empty());
    REQUIRE(why(top / "theirs/bad") == "goes through a link of uid 65534 (\"bad\") to something that belongs to another user; name the folder itself");
    REQUIRE(why(top / "theirs/other") == "goes through a link of uid 65534 (\"other\") to something that belongs to another user; name the folder itself");
    REQUIRE(why(top / "theirs/bad/file").starts_with("goes through a link"));
    REQUIRE(why(top / "over").starts_with("goes through a link")); // by a link of root's
    REQUIRE(why(top / "trusted").starts_with("goes through a link"));
    REQUIRE(why(top / "trusted", somebody).empty());
    REQUIRE(pinned::open_as(top / "theirs/self/self/inner", 0).value().path() == real_path(top / "theirs/inner").value());
}

TEST_CASE("where a pinned folder lies is told by the folders above it", "[pinned]") {
    folder top;
    make(top / "a"), make(top / "a/b"), make(top / "ab");
    auto const at = [&](char const* name) { return pinned::open(top / name).value(); };
    REQUIRE(at("a/b").lies_in(at("a").facts()));
    REQUIRE(at("a").lies_in(at("a").facts()));
    REQUIRE_FALSE(at("a").lies_in(at("a/b").facts()));
    REQUIRE_FALSE(at("ab").lies_in(at("a").facts()));
    struct stat root {};
    REQUIRE(::stat("/", &root) == 0);
    REQUIRE(at("a").lies_in(root));
}

TEST_CASE("no workspace is the system, the kernel's, or what holds a home", "[pinned]") {
    auto const refused = [](std::string const& path) { return sb::sandbox::workspace_folder(path).has_error(); };
    for (auto const* const each : {"/", "/proc", "/proc/self", "/sys", "/dev", "/etc", "/etc/..", "/proc/self/root"}) {
        INFO(each);
        REQUIRE(refused(each));
    }
    folder top;
    make(top / "home"), make(top / "home/me"), make(top / "home/me/project");
    std::string const before = std::getenv("HOME") ? std::getenv("HOME") : "";
    ::setenv("HOME", (top / "home/me").c_str(), 1);
    REQUIRE(refused(top / "home/me"));
    REQUIRE(refused(top / "home"));
    REQUIRE_FALSE(refused(top / "home/me/project"));
    ::setenv("HOME", before.c_str(), 1);
    if (::geteuid() != 0) return;
    auto const told = in_child([&] { // the same under another name
        if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return -1;
        make(top / "again");
        if (::mount("/etc", (top / "again").c_str(), nullptr, MS_BIND, nullptr) != 0 || !refused(top / "again")) return -1;
        if (::mount("/", (top / "again").c_str(), nullptr, MS_BIND, nullptr) != 0 || !refused(top / "again")) return -1;
        return ::mount("proc", (top / "again").c_str(), "proc", 0, nullptr) == 0 && refused(top / "again") ? 0 : -1;
    });
    REQUIRE(told == 0);
}
