// SPDX-License-Identifier: MIT
// Folders that cannot be listed are not empty: with a descriptor too few, what is there is neither lost nor passed over.
#include "support/child.hpp"
#include "support/victim.hpp"
#include <csignal>
#include <linux/fs.h>
#include <sb/cgroup/cgroup_remove.hpp>
#include <sb/files/copy_tree.hpp>
#include <sb/files/remove_tree.hpp>
#include <sb/files/session_folder.hpp>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

using namespace sb::files;
using namespace sb::test;

namespace {

void put(std::string const& path) { ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600)); }
sb::unique_fd opened(std::string const& path) { return open_folder(AT_FDCWD, path.c_str()); }

/// What `attempt` says, in a child that may open so many files more; in_child's answer to its exit status.
template <class Attempt>
int with_descriptors(rlim_t more, Attempt attempt) {
    return in_child([&] {
        int const next = ::dup(0);
        ::close(next);
        rlimit const few{static_cast<rlim_t>(next) + more, static_cast<rlim_t>(next) + more};
        ::setrlimit(RLIMIT_NOFILE, &few);
        ::_exit(attempt() ? 0 : 1);
        return 0;
    });
}

bool says(sb::error const& e, std::string_view part) { return e.what.find(part) != std::string::npos && e.what.find("Too many open files") != std::string::npos; }

} // namespace

TEST_CASE("a folder that cannot be listed is an error, and nothing is taken for removed") {
    folder at;
    put(at / "one"), put(at / "two");
    auto const fd = opened(at.path());
    CHECK(with_descriptors(1, [&] { return names_in(fd.get())->size() == 2; }) == 0);
    CHECK(with_descriptors(0, [&] { return says(names_in(fd.get(), "here").error(), "list here"); }) == 0);
    CHECK(with_descriptors(0, [&] { return says(empty_folder(fd.get(), "here").error(), "list here"); }) == 0);
    CHECK(names_in(fd.get())->size() == 2);
    CHECK(with_descriptors(1, [&] { return !empty_folder(fd.get(), "here").has_error(); }) == 0);
    CHECK(names_in(fd.get())->empty());
}

TEST_CASE("a folder within that cannot be listed keeps the others from being called empty") {
    folder at;
    REQUIRE(::mkdir((at / "inner").c_str(), 0700) == 0);
    put(at / "inner/file");
    auto const fd = opened(at.path());
    CHECK(with_descriptors(1, [&] { return says(empty_folder(fd.get(), "here").error(), "list here/inner"); }) == 0);
    CHECK(::access((at / "inner/file").c_str(), F_OK) == 0);
}

TEST_CASE("what cannot be listed is not copied without a word") {
    folder from, to;
    REQUIRE(::mkdir((from / "inner").c_str(), 0700) == 0);
    put(from / "inner/file");
    auto const source = opened(from.path()), target = opened(to.path());
    CHECK(with_descriptors(0, [&] { return copy_tree(source.get(), target.get()).has_error(); }) == 0);
    CHECK(with_descriptors(2, [&] {
              auto const told = copy_tree(source.get(), target.get());
              return told.has_value() && told->skipped_count == 1 && told->skipped.front().starts_with("inner: ") && told->files == 0;
          }) == 0);
}

TEST_CASE("a place that cannot be searched for what the dead left is named") {
    folder at;
    CHECK(with_descriptors(1, [&] {
              std::vector<std::string> stuck;
              return sweep_dead_folders(at.path(), stuck) == 0 && stuck.size() == 1 && stuck[0].starts_with(sb::cat("cannot examine ", at.path(), ": ")) && stuck[0].ends_with("Too many open files");
          }) == 0);
}

TEST_CASE("groups that cannot be listed are neither gone nor without need") {
    folder at;
    REQUIRE(::mkdir((at / "inner").c_str(), 0700) == 0);
    auto const fd = opened(at.path());
    CHECK(with_descriptors(0, [&] { return says(sb::cgroup::detail::child_groups(fd.get(), "here").error(), "list here"); }) == 0);
    CHECK(with_descriptors(0, [&] { return !sb::cgroup::detail::kill_group(fd.get(), "sandbench"); }) == 0);
    CHECK(with_descriptors(2, [&] { return sb::cgroup::detail::kill_group(fd.get(), "sandbench"); }) == 0);
}

TEST_CASE("a folder that becomes a link while it is unlocked leaves what the link names as it was", "[remove_tree]") {
    folder at;
    CHECK(in_child([&] { // without root's way past permissions
              if (::geteuid() == 0 && (::chown(at.path().c_str(), 65534, 65534) != 0 || ::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0)) return -1;
              auto const victim = at / "victim", name = at / "soil/inner";
              put(victim);
              if (::chmod(victim.c_str(), 0400) != 0 || ::mkdir((at / "soil").c_str(), 0700) != 0) return -1;
              auto const soil = opened(at / "soil");
              auto const link = at / "soil/link";
              if (::mkdir(name.c_str(), 0000) != 0 || ::symlink("../victim", link.c_str()) != 0) return -1;
              sb::unique_fd const inner{::open(name.c_str(), O_PATH | O_CLOEXEC)};
              auto const by_descriptor = sb::cat("/proc/self/fd/", inner.get());
              auto const racer = ::fork();
              if (racer == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
              while (racer == 0) { // now a folder that nobody may enter, now a link
                  ::syscall(SYS_renameat2, AT_FDCWD, name.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
                  ::chmod(by_descriptor.c_str(), 0000);
              }
              struct stat facts {};
              bool same = true;
              int unlocked = 0;
              for (int i = 0; i < 100'000 && same; ++i) {
                  if (unlock_folder(soil.get(), "inner")) ++unlocked;
                  same = ::stat(victim.c_str(), &facts) == 0 && (facts.st_mode & 0777) == 0400;
              }
              ::kill(racer, SIGKILL);
              ::waitpid(racer, nullptr, 0);
              errno = unlocked == 0 ? EAGAIN : EPERM;
              return same && unlocked > 0 ? 0 : -1;
          }) == 0);
}
