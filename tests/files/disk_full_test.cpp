// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/fd.hpp>
#include <sb/files/disk_full.hpp>
#include <fcntl.h>

using sb::files::disk_full_watch;

namespace {
constexpr std::int64_t ms = 1'000'000, mib = std::int64_t{1} << 20;
}

TEST_CASE("without a folder there is never a look") {
    disk_full_watch watch;
    watch.begin(-1, 16 * mib, 4096, 0);
    CHECK(watch.due_ns() == -1);
    watch.look(1000 * ms);
    CHECK_FALSE(watch.was_full());
}

TEST_CASE("the first look comes when memory can be full at the earliest, and never within the first millisecond") {
    disk_full_watch watch;
    watch.begin(0, 1 * mib, 1024, 5 * ms);
    CHECK(watch.due_ns() == 6 * ms);
    watch.begin(0, 1024 * mib, 1 << 20, 5 * ms); // 64 ms at 16 bytes a nanosecond
    CHECK(watch.due_ns() - 5 * ms == Approx(67.1 * ms).epsilon(0.01));
    watch.begin(0, 1024 * mib, 4096, 5 * ms); // files run out sooner
    CHECK(watch.due_ns() - 5 * ms == Approx(2.05 * ms).epsilon(0.01));
}

TEST_CASE("while nothing changes looks grow rare, and a change makes them frequent again") {
    disk_full_watch watch;
    watch.begin(0, mib, 1024, 0);
    std::int64_t now = 0;
    for (std::int64_t const rest : {2, 4, 8, 16, 16, 16}) {
        now = watch.due_ns();
        watch.learn(mib, 1024, now);
        CHECK(watch.due_ns() - now == rest * ms);
    }
    now = watch.due_ns();
    watch.learn(mib - 4096, 1024, now);
    CHECK(watch.due_ns() - now == 1 * ms);
    CHECK_FALSE(watch.was_full());
}

TEST_CASE("once full is enough, be it of bytes or of files") {
    for (bool const bytes : {true, false}) {
        disk_full_watch watch;
        watch.begin(0, mib, 1024, 0);
        watch.learn(bytes ? 0 : mib, bytes ? 1024 : 0, ms);
        CHECK(watch.was_full());
        CHECK(watch.due_ns() == -1);
        watch.learn(mib, 1024, 2 * ms);
        CHECK(watch.was_full());
        watch.begin(0, mib, 1024, 3 * ms);
        CHECK_FALSE(watch.was_full());
    }
}

TEST_CASE("a file system with room is not full, and a folder that cannot be asked is not asked again") {
    auto const root = sb::open_file("/", O_RDONLY | O_DIRECTORY);
    REQUIRE(!root.has_error());
    disk_full_watch watch;
    watch.begin(root->get(), mib, 1024, 0);
    watch.look(ms);
    CHECK_FALSE(watch.was_full());
    CHECK(watch.due_ns() > ms);
    watch.begin(12345, mib, 1024, 0);
    watch.look(ms);
    CHECK(watch.due_ns() == -1);
    CHECK_FALSE(watch.was_full());
}
