// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/victim.hpp"
#include <sb/core/clock.hpp>
#include <sb/core/fd.hpp>
#include <sb/watch/polled_limits.hpp>
#include <fcntl.h>

using namespace sb::watch;

TEST_CASE("a run without such limits is never looked at") {
    polled_limits watches;
    watches.begin({}, -1, 1000);
    CHECK(watches.due_ns() == -1);
    CHECK(watches.look(1'000'000'000) == killer::nobody);
    watches.look_at_disk(1'000'000'000);
    CHECK_FALSE(watches.disk_was_full());
}

TEST_CASE("a run with a disk of its own is looked at in time, and a full disk ends no run") {
    sb::test::folder const at;
    auto const here = sb::open_file(at.path(), O_RDONLY | O_DIRECTORY).value();
    job what;
    what.scratch = here.get();
    what.held.scratch_bytes = 64 << 20;
    what.held.scratch_inodes = 1000;
    polled_limits watches;
    auto const now = sb::monotonic_ns();
    watches.begin(what, -1, now);
    auto const due = watches.due_ns();
    REQUIRE(due >= now);
    watches.look_at_disk(due - 1);
    CHECK(watches.due_ns() == due);
    CHECK(watches.look(due + 1) == killer::nobody);
    watches.begin({}, -1, now);
    CHECK(watches.due_ns() == -1);
}
