// SPDX-License-Identifier: MIT
// tests/files/remove_tree_test.cpp has what happens with a descriptor too few.
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/victim.hpp"
#include <sb/files/folder.hpp>
#include <linux/openat2.h>
#include <algorithm>
#include <string>
#include <vector>

using namespace sb::files;
using sb::test::folder;

namespace {

struct place : folder {
    sb::unique_fd fd = open_folder(AT_FDCWD, path().c_str());
    place() { REQUIRE(fd); }
    mode_t mode(char const* name) const {
        struct stat facts {};
        REQUIRE(::fstatat(fd.get(), name, &facts, AT_SYMLINK_NOFOLLOW) == 0);
        return facts.st_mode & 07777;
    }
    bool has(char const* name) const { return ::faccessat(fd.get(), name, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }
};
std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
}
// as a user whom a mode keeps out, whoever runs the test
template <class Attempt>
int without_rights(Attempt attempt) {
    return sb::test::in_child([] { return ::geteuid() == 0 ? ::setresuid(65534, 65534, 65534) : 0; }, attempt);
}

} // namespace

TEST_CASE("a folder is opened by its name, and neither a link to it nor a file is one", "[folder]") {
    place const at;
    REQUIRE(::mkdir((at / "inner").c_str(), 0700) == 0);
    REQUIRE(::symlink("inner", (at / "link").c_str()) == 0);
    REQUIRE_FALSE(make_file(at.fd.get(), "file", "here").has_error());
    auto const inner = open_folder(at.fd.get(), "inner");
    CHECK(inner);
    CHECK(::fcntl(inner.get(), F_GETFD) == FD_CLOEXEC);
    auto const fails = [&](char const* name) {
        CHECK_FALSE(open_folder(at.fd.get(), name));
        return errno;
    };
    CHECK(fails("link") == ENOTDIR);
    CHECK(fails("file") == ENOTDIR);
    CHECK(fails("missing") == ENOENT);
}

TEST_CASE("a folder that keeps its owner out is opened, and is open to the owner afterwards", "[folder]") {
    place const at;
    REQUIRE(::chmod(at.path().c_str(), 0777) == 0);
    CHECK(without_rights([&] {
        if (::mkdirat(at.fd.get(), "closed", 0) != 0) return -1;
        if (open_folder(at.fd.get(), "closed") || errno != EACCES) return -1;
        auto const inner = unlock_folder(at.fd.get(), "closed");
        bool const lists = inner && names_in(inner.get())->empty();
        errno = EDOM;
        return lists && at.mode("closed") == 0700 ? 0 : -1;
    }) == 0);
}

TEST_CASE("what a link names is not unlocked, nor is a file", "[folder]") {
    place const at;
    REQUIRE(::mkdir((at / "inner").c_str(), 0500) == 0);
    REQUIRE(::symlink("inner", (at / "link").c_str()) == 0);
    REQUIRE_FALSE(make_file(at.fd.get(), "file", "here").has_error());
    CHECK_FALSE(unlock_folder(at.fd.get(), "link"));
    CHECK_FALSE(unlock_folder(at.fd.get(), "file"));
    CHECK_FALSE(unlock_folder(at.fd.get(), "missing"));
    CHECK(at.mode("inner") == 0500);
    CHECK(at.mode("file") == 0600);
}

TEST_CASE("somebody else's folder is not unlocked", "[folder]") {
    place const at;
    REQUIRE(::chmod(at.path().c_str(), 0755) == 0);
    REQUIRE(::mkdir((at / "inner").c_str(), 0) == 0);
    if (::geteuid() == 0) CHECK(without_rights([&] { return unlock_folder(at.fd.get(), "inner") ? 0 : -1; }) == EPERM);
    else CHECK_FALSE(unlock_folder(AT_FDCWD, "/root"));
    CHECK(at.mode("inner") == 0);
    REQUIRE(::chmod((at / "inner").c_str(), 0700) == 0);
}

TEST_CASE("a folder and a file are made new, for their owner alone", "[folder]") {
    place const at;
    ::umask(0);
    auto const made = make_folder(at.fd.get(), "inner", "here");
    auto const file = make_file(at.fd.get(), "file", "here");
    ::umask(022);
    REQUIRE_FALSE(made.has_error());
    REQUIRE_FALSE(file.has_error());
    CHECK(at.mode("inner") == 0700);
    CHECK(at.mode("file") == 0600);
    CHECK_FALSE(make_file(made->get(), "below", "here/inner").has_error());
    CHECK(at.has("inner/below"));
    CHECK(::write(file->get(), "x", 1) == 1);
}

TEST_CASE("what has the name already is neither opened nor changed, and the error names the place as it is called", "[folder]") {
    place const at;
    REQUIRE_FALSE(make_file(at.fd.get(), "file", "here").has_error());
    REQUIRE(::symlink("elsewhere", (at / "link").c_str()) == 0);
    CHECK(make_folder(at.fd.get(), "file", "here").error().what == "make folder here/file: File exists");
    CHECK(make_folder(at.fd.get(), "link", "here").error().what == "make folder here/link: File exists");
    CHECK(make_file(at.fd.get(), "file", "here").error().what == "make here/file: File exists");
    CHECK(make_file(at.fd.get(), "link", "here").error().what == "make here/link: File exists");
    CHECK(make_file(at.fd.get(), "none/file", "here").error().what == "make here/none/file: No such file or directory");
    CHECK(make_folder(-1, "x", "here").has_error());
    CHECK_FALSE(at.has("elsewhere"));
}

TEST_CASE("a folder that was renamed is the one in which things are made", "[folder]") {
    place const at;
    auto const inner = make_folder(at.fd.get(), "inner", "here").value();
    REQUIRE(::rename((at / "inner").c_str(), (at / "moved").c_str()) == 0);
    REQUIRE(::mkdir((at / "inner").c_str(), 0700) == 0);
    REQUIRE_FALSE(make_file(inner.get(), "file", "here/inner").has_error());
    CHECK(at.has("moved/file"));
    CHECK_FALSE(at.has("inner/file"));
}

TEST_CASE("all names of a folder are listed, hidden ones and links too, and none of those below", "[folder]") {
    place const at;
    CHECK(names_in(at.fd.get()).value().empty());
    auto const inner = make_folder(at.fd.get(), "inner", "here").value();
    REQUIRE_FALSE(make_file(inner.get(), "below", "here").has_error());
    for (auto const* name : {".hidden", "...", "a b", "line\nbreak"}) REQUIRE_FALSE(make_file(at.fd.get(), name, "here").has_error());
    REQUIRE(::symlink("nowhere", (at / "link").c_str()) == 0);
    CHECK(sorted(names_in(at.fd.get()).value()) == std::vector<std::string>{"...", ".hidden", "a b", "inner", "line\nbreak", "link"});
}

TEST_CASE("a folder with more names than one read holds is listed whole, again and again", "[folder]") {
    place const at;
    for (int i = 0; i < 3000; ++i) REQUIRE_FALSE(make_file(at.fd.get(), sb::cat("file-with-a-name-of-some-length-", i), "here").has_error());
    CHECK(names_in(at.fd.get())->size() == 3000);
    CHECK(names_in(at.fd.get())->size() == 3000); // no position is left behind
}

TEST_CASE("what is no folder cannot be listed", "[folder]") {
    place const at;
    auto const file = make_file(at.fd.get(), "file", "here").value();
    CHECK(names_in(file.get(), "here/file").error().what == "list here/file: Not a directory");
    CHECK(names_in(-1, "nothing").error().what == "list nothing: Bad file descriptor");
}

TEST_CASE("a place is found by the way that is allowed, and by no other", "[folder]") {
    folder top;
    REQUIRE(::mkdir((top / "inner").c_str(), 0700) == 0);
    REQUIRE(sb::open_file(top / "inner/file", O_WRONLY | O_CREAT, 0600).has_value());
    REQUIRE(::symlink("inner", (top / "link").c_str()) == 0);
    REQUIRE(::symlink("/etc", (top / "out").c_str()) == 0);
    auto const at = open_folder(AT_FDCWD, top.path().c_str());
    CHECK(place_at(at.get(), "inner/file", RESOLVE_NO_SYMLINKS));
    CHECK(place_at(at.get(), "link/file", RESOLVE_BENEATH));
    CHECK((!place_at(at.get(), "link/file", RESOLVE_NO_SYMLINKS) && errno == ELOOP));
    CHECK((!place_at(at.get(), "out/passwd", RESOLVE_BENEATH) && errno == EXDEV));
    CHECK((!place_at(at.get(), "out/passwd", RESOLVE_IN_ROOT) && errno == ENOENT)); // the root is the folder itself
    CHECK((!place_at(at.get(), "inner/file", 0, O_DIRECTORY) && errno == ENOTDIR));
}
