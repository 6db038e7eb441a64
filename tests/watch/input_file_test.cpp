// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include "support/child.hpp"
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sb/watch/input_file.hpp>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

using namespace sb::watch;
using namespace sb::test;

namespace {

std::string read_all(std::string const& name) { return sb::read_file(name).value(); }

} // namespace

TEST_CASE("what its owner may do to a file cannot be done to it as an input", "[sandbox][input]") {
    NEEDS_ISOLATION();
    folder here;
    auto const path = here / "input";
    put(path, "given");
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    struct stat before {}, after {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    auto input = input_file::open(path).value();
    input.guard();
    auto const name = input.name();
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

TEST_CASE("an input is the file that had the name when it was opened, whatever is put there later", "[input]") {
    folder here;
    auto const path = here / "input";
    put(path, "first");
    auto const input = input_file::open(path).value();
    REQUIRE(input.was_named());
    CHECK(input.called() == path);
    CHECK(read_all(input.name()) == "first");
    put(path, "written to");
    CHECK(read_all(input.name()) == "written to"); // from its beginning
    REQUIRE(::rename(path.c_str(), (here / "moved").c_str()) == 0);
    CHECK(read_all(input.name()) == "written to"); // while there is nothing, and so much the more when there is a link or a fifo
    REQUIRE(::symlink("/etc/shadow", path.c_str()) == 0);
    CHECK(read_all(input.name()) == "written to");
    REQUIRE((::unlink(path.c_str()) == 0 && ::mkfifo(path.c_str(), 0600) == 0)); // to open it would wait for a writer
    CHECK(read_all(input.name()) == "written to");
    CHECK(input_file::open(here / "none").error().what == sb::cat("open ", here / "none", ": No such file or directory"));
}

TEST_CASE("nothing is the null device, and what never had a name is an input all the same", "[input]") {
    CHECK_FALSE(input_file{});
    CHECK(input_file{}.name() == "/dev/null");
    CHECK(input_file{}.called() == "/dev/null");
    CHECK_FALSE(input_file{}.was_named());
    sb::unique_fd const nameless{::memfd_create("input", MFD_CLOEXEC)};
    REQUIRE(::write(nameless.get(), "given", 5) == 5);
    auto const input = input_file::open(sb::cat("/dev/fd/", nameless.get())).value();
    CHECK_FALSE(input.was_named());
    CHECK(read_all(input.name()) == "given");
}

TEST_CASE("a link of another user's leads root to no other file", "[input]") {
    if (::geteuid() != 0) {
        WARN("SKIPPED: only root can make links of others");
        return;
    }
    folder here;
    put(here / "secret", "root's");
    REQUIRE((::symlink("secret", (here / "link").c_str()) == 0 && ::lchown((here / "link").c_str(), 65534, 65534) == 0));
    CHECK(input_file::open(here / "link").error().what.find("goes through a link of uid 65534") != std::string::npos);
    REQUIRE(::lchown((here / "link").c_str(), 0, 0) == 0);
    CHECK(read_all(input_file::open(here / "link").value().name()) == "root's");
}

TEST_CASE("a device is an input too, and no more can be done to it", "[sandbox][input]") {
    NEEDS_ISOLATION();
    auto input = input_file::open("/dev/zero").value();
    auto const open_name = input.name();
    input.guard();
    auto const name = input.name();
    CHECK(name != open_name);
    auto const in = sb::open_file(name, O_RDONLY).value();
    char byte = 'x';
    CHECK(::read(in.get(), &byte, 1) == 1);
    CHECK(byte == '\0');
    timespec const old[2]{{1, 0}, {1, 0}};
    CHECK(::futimens(in.get(), old) < 0);
}

TEST_CASE("where no mount can be copied an input is the file that was looked at", "[input]") {
    folder here;
    put(here / "input", "given");
    CHECK(in_child([&] { // a child without rights that may make no namespace
              ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
              sock_filter const none[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}, {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_open_tree}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
              sock_fprog const all{4, const_cast<sock_filter*>(none)};
              if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) return -1;
              auto input = input_file::open(here / "input").value();
              input.guard();
              auto const name = input.name();
              put(here / "other", "another");
              return ::rename((here / "other").c_str(), (here / "input").c_str()) == 0 && read_all(name) == "given" ? 0 : -1;
          }) == 0);
}
