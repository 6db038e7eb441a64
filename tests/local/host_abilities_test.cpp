// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/local/host_abilities.hpp>
#include <sys/resource.h>

using namespace sb::local;

TEST_CASE("a key learns from this process what it may use, and keeps what it knew of the backend") {
    sb::key::host known;
    known.sandboxed = known.tree_pids = true, known.why_no_memory = "why", known.memory_bytes = 7, known.jobs = 3, known.files = 12345;
    auto const seen = as_seen_here(known);
    CHECK(seen.sandboxed);
    CHECK(seen.tree_pids);
    CHECK_FALSE(seen.tree_memory);
    CHECK(seen.why_no_memory == "why");
    CHECK(seen.memory_bytes == 7);
    CHECK(seen.jobs == 3);
    CHECK(seen.kept_files == 1234); // a tenth
    cpu_set_t mine;
    CPU_ZERO(&mine);
    REQUIRE(::sched_getaffinity(0, sizeof mine, &mine) == 0);
    CHECK(seen.cpus == CPU_COUNT(&mine));
    CHECK(seen.own_processes == 1);
    REQUIRE(seen.level_name);
    CHECK_FALSE(seen.level_name(default_level).empty());
    REQUIRE(seen.files_of);
    CHECK(seen.files_of(256 << 20, -1) == 65536);
    CHECK(seen.files_of(256 << 20, 64 << 20) == 8192);
    CHECK(seen.files_of(0, -1) == 1024);
}

TEST_CASE("nothing known of the machine's files leaves the part of them unknown") {
    CHECK(as_seen_here({}).kept_files == 0);
}

TEST_CASE("the most that a process may be given is its hard limit, and none is unlimited") {
    CHECK(sb::test::in_child([] {
        rlimit const files{32, 64};
        errno = EDOM;
        return ::setrlimit(RLIMIT_NOFILE, &files) == 0 && as_seen_here({}).most_open_files == 64 ? 0 : -1;
    }) == 0);
    rlimit now{};
    REQUIRE(::getrlimit(RLIMIT_AS, &now) == 0);
    auto const seen = as_seen_here({}).most_address_space;
    if (now.rlim_max == RLIM_INFINITY) CHECK(seen == sb::key::host::unlimited);
    else CHECK(seen == static_cast<std::int64_t>(now.rlim_max));
    CHECK(sb::test::in_child([] {
        rlimit const memory{std::size_t{1} << 40, std::size_t{1} << 40};
        if (::setrlimit(RLIMIT_AS, &memory) != 0) return 0; // where less is the most that we may have
        errno = EDOM;
        return as_seen_here({}).most_address_space == std::int64_t{1} << 40 ? 0 : -1;
    }) == 0);
}

TEST_CASE("every limit of a setup is one of the watcher") {
    auto const none = limits_of({});
    CHECK(none.wall_ns == -1);
    CHECK(none.tree_cores == -1);
    CHECK(none.file_shares == 1);
    CHECK(none.level == 0);
    sb::key::setup s;
    s.wall_ns = 1, s.output_bytes = 2, s.file_bytes = 3, s.open_files = 4, s.memory_bytes = 5, s.cpu_seconds = 6, s.cpus = 7, s.user_processes = 8;
    s.tree_memory_bytes = 9, s.all_files = 10, s.file_shares = 11, s.tree_pids = 12, s.numbered_pids = 13, s.tree_cores = 14.5, s.scratch_bytes = 15, s.scratch_inodes = 16, s.level = 5;
    auto const held = limits_of(s);
    CHECK(held.wall_ns == 1);
    CHECK(held.output_bytes == 2);
    CHECK(held.file_bytes == 3);
    CHECK(held.open_files == 4);
    CHECK(held.memory_bytes == 5);
    CHECK(held.cpu_seconds == 6);
    CHECK(held.cpus == 7);
    CHECK(held.user_processes == 8);
    CHECK(held.tree_memory_bytes == 9);
    CHECK(held.all_files == 10);
    CHECK(held.file_shares == 11);
    CHECK(held.tree_pids == 12);
    CHECK(held.numbered_pids == 13);
    CHECK(held.tree_cores == 14.5);
    CHECK(held.scratch_bytes == 15);
    CHECK(held.scratch_inodes == 16);
    CHECK(held.level == 5);
}
