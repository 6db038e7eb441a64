// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/fd.hpp>
#include <sb/files/mount_list.hpp>
#include <algorithm>

using namespace sb::files;

TEST_CASE("mounts are read as the kernel writes them", "[mount_list]") {
    auto const all = read_mounts("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n" // of proc(5)
                                 "no mount\n"
                                 "37 36 98:0 / /a\\040b\\134 ro - ext3 /dev/root rw\n"
                                 "38 36 0:5 /\\ /x rodeo - tmpfs none rw\n");
    REQUIRE(all.size() == 3);
    CHECK((all[0].id == 36 && all[0].device == "98:0" && all[0].root == "/mnt1" && all[0].point == "/mnt2" && all[0].writable));
    CHECK((all[1].root == "/" && all[1].point == "/a b\\" && !all[1].writable));
    CHECK((all[2].root == "/\\" && all[2].writable));
}

TEST_CASE("a mount covers what shows the same file system from there on or further down, and says where", "[mount_list]") {
    listed_mount const whole{1, "8:1", "/", "/all", false}, top{2, "8:1", "/", "/", false}, part{3, "8:1", "/home/one", "/part", false}, deep{4, "8:1", "/home/one/x/y", "/deep", false},
        beside{5, "8:1", "/home/one-more", "/beside", false}, other{6, "8:2", "/home/one/x", "/other", false};
    CHECK((whole.covers(part) && part.covers(deep) && part.covers(part)));
    CHECK_FALSE((part.covers(whole) || deep.covers(part) || part.covers(beside) || part.covers(other)));
    CHECK(whole.point_of(deep) == "/all/home/one/x/y");
    CHECK(top.point_of(deep) == "/home/one/x/y");
    CHECK(part.point_of(deep) == "/part/x/y");
    CHECK(part.point_of(part) == "/part");
    CHECK(whole.point_of(whole) == "/all");
    CHECK(top.point_of(top) == "/");
}

TEST_CASE("the mount that is seen at a path is one of those listed", "[mount_list]") {
    auto const all = read_mounts(sb::read_file("/proc/self/mountinfo").value());
    auto const id = mount_at("/proc");
    CHECK(std::any_of(all.begin(), all.end(), [&](listed_mount const& each) { return each.id == id && each.point == "/proc"; }));
    CHECK(mount_at("/proc/self/status") == id);
    CHECK(mount_at("/nonexistent") == 0);
}
