// SPDX-License-Identifier: MIT
#include "support/box_slot.hpp"
#include "support/child.hpp"
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sb/isolate/input_file.hpp>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

using namespace sb::isolate;
using namespace sb::test;

namespace {

std::string read_all(std::string const& name) { return sb::read_file(name).value(); }

} // namespace

TEST_CASE("what its owner may do to a file cannot be done to it as an input", "[box][input]") {
    NEEDS_A_BOX();
    folder here;
    auto const path = here / "input";
    put(path, "given");
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    struct stat before {}, after {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    input_file input;
    auto const name = input.name_of(path).value();
    REQUIRE(name != path);
    auto const in = sb::open_file(name, O_RDONLY).value();
    auto const again = sb::cat("/proc/self/fd/", in.get());
    timespec const old[2]{{1, 0}, {1, 0}};
    int flags = 0;
    auto const refused = [](long answer) { return answer < 0 ? errno : 0; };
    CHECK(refused(::fchmod(in.get(), 0777)) == EROFS);
    CHECK(refused(::chmod(again.c_str(), 0777)) == EROFS);
    CHECK(refused(::futimens(in.get(), old)) == EROFS);
    CHECK(refused(::utimensat(AT_FDCWD, again.c_str(), old, 0)) == EROFS);
    CHECK(refused(::fsetxattr(in.get(), "user.soil", "x", 1, 0)) == EROFS);
    CHECK(refused(::fchown(in.get(), ::geteuid(), ::getegid())) == EROFS);
    CHECK(refused(::truncate(again.c_str(), 0)) == EROFS);
    CHECK(refused(::open(again.c_str(), O_WRONLY | O_CLOEXEC)) == EROFS);
    if (::ioctl(in.get(), FS_IOC_GETFLAGS, &flags) == 0) CHECK(refused(::ioctl(in.get(), FS_IOC_SETFLAGS, &flags)) == EROFS);
    CHECK(read_all(name) == "given");
    REQUIRE(::stat(path.c_str(), &after) == 0);
    CHECK(after.st_mode == before.st_mode);
    CHECK(after.st_mtim.tv_sec == before.st_mtim.tv_sec);
    CHECK(after.st_ctim.tv_sec == before.st_ctim.tv_sec);
    CHECK(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
    CHECK(after.st_atim.tv_nsec == before.st_atim.tv_nsec);
}

TEST_CASE("an input is what its name leads to when a run begins, read from the start", "[box][input]") {
    NEEDS_A_BOX();
    folder here;
    auto const path = here / "input";
    put(path, "first");
    input_file input;
    auto const name = input.name_of(path).value();
    CHECK(read_all(name) == "first");
    CHECK(read_all(name) == "first");
    CHECK(input.name_of(path).value() == name);
    put(path, "written to");
    CHECK(read_all(input.name_of(path).value()) == "written to");
    put(here / "other", "another");
    REQUIRE(::rename((here / "other").c_str(), path.c_str()) == 0);
    CHECK(read_all(input.name_of(path).value()) == "another");
    REQUIRE(::unlink(path.c_str()) == 0);
    CHECK(input.name_of(path).value() == path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0); // to open it would wait for a writer
    CHECK(input.name_of(path).has_error());
}

TEST_CASE("a device is an input too, and no more can be done to it", "[box][input]") {
    NEEDS_A_BOX();
    input_file input;
    auto const name = input.name_of("/dev/zero").value();
    CHECK(name != "/dev/zero");
    auto const in = sb::open_file(name, O_RDONLY).value();
    char byte = 'x';
    CHECK(::read(in.get(), &byte, 1) == 1);
    CHECK(byte == '\0');
    timespec const old[2]{{1, 0}, {1, 0}};
    CHECK(::futimens(in.get(), old) < 0);
}

TEST_CASE("where no mount can be copied an input keeps its name", "[input]") {
    folder here;
    put(here / "input", "given");
    CHECK(in_child([&] { // a child without rights that may make no namespace
              ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              sock_filter const none[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_open_tree}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
              sock_fprog const all{4, const_cast<sock_filter*>(none)};
              if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) return -1;
              input_file input;
              return input.name_of(here / "input").value() == here / "input" ? 0 : -1;
          }) == 0);
}
