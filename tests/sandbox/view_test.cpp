// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/victim.hpp"
#include <sb/files/path.hpp>
#include <sb/sandbox/view.hpp>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace sb::sandbox;

TEST_CASE("a run may put another in the place of what lies in its own places, in writable bindings, and deeper than right in one of those", "[view]") {
    view shown;
    shown.work = "/srv/work";
    shown.bindings = {{"/a", "/out", true}, {"/b", "/tools", false}, {"/c", "/srv/work/top", false}, {"/d", "/srv/work/one/two", false},
                      {"/e", "/out/top", false}, {"/f", "/out/one/two", false}, {"/g", "/tools/out", true}, {"/h", "/out/top/deep/one", false}};
    auto const changed = [&](char const* path) { return sb::sandbox::detail::may_be_changed(shown, path); };
    for (char const* each : {"/srv/work", "/srv/work/x", "/srv/work/topmost", "/tmp/x", "/var/tmp", "/dev/shm/x", "/home/sandbox/x", "/out", "/out/x", "/tools/out/x"}) {
        INFO(each);
        CHECK(changed(each));
    }
    for (char const* each : {"/usr/bin", "/srv", "/srv/workshop", "/outer", "/tools/x", "/srv/work/top", "/srv/work/top/x", "/out/top/x", "/out/top/deep/one/x"}) {
        INFO(each);
        CHECK_FALSE(changed(each));
    }
    for (char const* each : {"/srv/work/one/two/x", "/out/one/two"}) { // "one" can be renamed
        INFO(each);
        CHECK(changed(each));
    }
    shown.work = "/tmp/some/work"; // and here "some"
    shown.bindings = {{"/c", "/tmp/some/work/top", false}, {"/d", "/tmp/top", false}};
    CHECK(changed("/tmp/some/work/top/x"));
    CHECK_FALSE(changed("/tmp/top/x"));
}

TEST_CASE("a link to where a run may write does not outlast it, nor what is written by its other name, nor what is not there", "[view]") {
    sb::test::folder here;
    for (char const* each : {"work", "out", "tools", "tools/sub"}) REQUIRE(::mkdir((here / each).c_str(), 0755) == 0);
    REQUIRE(::symlink((here / "out").c_str(), (here / "tools/out").c_str()) == 0);
    REQUIRE(::symlink("/dev/shm", (here / "tools/own").c_str()) == 0);
    view shown;
    auto const real = sb::files::real_path(here.path()).value();
    shown.bindings = {{real + "/tools", "/tools", false}, {real + "/out", "/out", true}};
    CHECK(outlasts_a_run(shown, "/usr/bin"));
    CHECK(outlasts_a_run(shown, "/tools"));
    CHECK(outlasts_a_run(shown, "/tools/sub"));
    CHECK_FALSE(outlasts_a_run(shown, "/tools/out"));
    CHECK_FALSE(outlasts_a_run(shown, "/tools/own"));
    CHECK_FALSE(outlasts_a_run(shown, "/tools/none"));
    CHECK_FALSE(outlasts_a_run(shown, "/nonexistent"));
    CHECK_FALSE(outlasts_a_run(shown, "/out"));
    shown.bindings = {{real + "/tools", "/tools", false}, {real + "/tools/sub", "/out", true}};
    CHECK(outlasts_a_run(shown, "/tools"));
    CHECK_FALSE(outlasts_a_run(shown, "/tools/sub"));
}
