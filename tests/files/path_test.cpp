// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/victim.hpp"
#include <sb/files/path.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace sb::files;

TEST_CASE("a path is below a folder by whole names", "[path]") {
    CHECK(is_below("/a/b", "/a"));
    CHECK(is_below("/a/b/c", "/a"));
    CHECK(is_below("/a", "/a"));
    CHECK_FALSE(is_below("/ab", "/a"));
    CHECK_FALSE(is_below("/a", "/a/b"));
    CHECK_FALSE(is_below("/b/a", "/a"));
    CHECK_FALSE(is_below("", "/a"));
}

TEST_CASE("everything is below the root", "[path]") {
    CHECK(is_below("/", "/"));
    CHECK(is_below("/a", "/"));
    CHECK(is_below("/a/b", "/"));
    CHECK_FALSE(is_below("a", "/"));
}

TEST_CASE("a real path has no link, no dot and no blank part", "[path]") {
    sb::test::folder const at;
    auto const here = real_path(at.path()).value();
    REQUIRE(::mkdir((at / "inner").c_str(), 0700) == 0);
    REQUIRE(::symlink("inner", (at / "link").c_str()) == 0);
    REQUIRE(::symlink("link/..//inner", (at / "far").c_str()) == 0);
    CHECK(real_path(at / "inner").value() == here + "/inner");
    CHECK(real_path(at / "link").value() == here + "/inner");
    CHECK(real_path(at / "far").value() == here + "/inner");
    CHECK(real_path(at / "./link/.././/inner/").value() == here + "/inner");
    CHECK(real_path("/..").value() == "/");
}

TEST_CASE("what leads nowhere has no real path, and the error names it", "[path]") {
    sb::test::folder const at;
    REQUIRE(::symlink("nowhere", (at / "dead").c_str()) == 0);
    REQUIRE(::symlink("round", (at / "round").c_str()) == 0);
    auto const error = [](std::string const& path) {
        auto const real = real_path(path);
        REQUIRE(real.has_error());
        return real.error().what;
    };
    CHECK(error(at / "missing") == sb::cat("find ", at / "missing", ": No such file or directory"));
    CHECK(error(at / "dead") == sb::cat("find ", at / "dead", ": No such file or directory"));
    CHECK(error(at / "round") == sb::cat("find ", at / "round", ": Too many levels of symbolic links"));
    CHECK(error("/etc/passwd/x") == "find /etc/passwd/x: Not a directory");
    CHECK(real_path("").has_error());
}
