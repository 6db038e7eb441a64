// SPDX-License-Identifier: MIT
#include "support/victim.hpp"
#include <sb/process/limits.hpp>

using sb::process::limits;

TEST_CASE("a workspace has so many files that what they can carry uncounted is half of the tree's memory") {
    using sb::process::scratch_files;
    constexpr std::int64_t mib = 1 << 20;
    CHECK(sb::process::scratch_files(256 * mib, limits::none) == 65536);
    CHECK(sb::process::scratch_files(256 * mib, 512 * mib) == 65536); // 4 KiB each
    CHECK(sb::process::scratch_files(512 * mib, 512 * mib) == 65536);
    CHECK(sb::process::scratch_files(256 * mib, 64 * mib) == 8192);
    CHECK(sb::process::scratch_files(1 * mib, 64 * mib) == 1024); // the least
    CHECK(sb::process::scratch_files(64 * mib, 0) == 1024);
}
