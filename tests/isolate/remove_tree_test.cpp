// SPDX-License-Identifier: MIT
// Folders that cannot be listed are not empty: with a descriptor too few, what is there is neither lost nor passed over.
#include "support/child.hpp"
#include "support/victim.hpp"
#include <sb/isolate/cgroup_remove.hpp>
#include <sb/isolate/copy_tree.hpp>
#include <sb/isolate/workspace.hpp>
#include <sys/resource.h>

using namespace sb::isolate;
using namespace sb::test;

namespace {

void put(std::string const& path) { ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600)); }
sb::unique_fd opened(std::string const& path) { return detail::open_folder(AT_FDCWD, path.c_str()); }

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
    CHECK(with_descriptors(1, [&] { return detail::names_in(fd.get())->size() == 2; }) == 0);
    CHECK(with_descriptors(0, [&] { return says(detail::names_in(fd.get(), "here").error(), "list here"); }) == 0);
    CHECK(with_descriptors(0, [&] { return says(empty_folder(fd.get(), "here").error(), "list here"); }) == 0);
    CHECK(detail::names_in(fd.get())->size() == 2);
    CHECK(with_descriptors(1, [&] { return !empty_folder(fd.get(), "here").has_error(); }) == 0);
    CHECK(detail::names_in(fd.get())->empty());
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
              return sweep_dead_folders(at.path(), stuck) == 0 && stuck.size() == 1 && stuck[0] == sb::cat("what ", at.path(), " may hold: list ", at.path(), ": Too many open files");
          }) == 0);
}

TEST_CASE("groups that cannot be listed are neither gone nor without need") {
    folder at;
    REQUIRE(::mkdir((at / "inner").c_str(), 0700) == 0);
    auto const fd = opened(at.path());
    CHECK(with_descriptors(0, [&] { return says(detail::child_groups(fd.get(), "here").error(), "list here"); }) == 0);
    CHECK(with_descriptors(0, [&] { return !detail::kill_group(fd.get(), "sandbench"); }) == 0);
    CHECK(with_descriptors(2, [&] { return detail::kill_group(fd.get(), "sandbench"); }) == 0);
}
