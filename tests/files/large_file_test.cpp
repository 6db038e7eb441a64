// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <sb/core/clock.hpp>
#include <sb/files/large_file.hpp>

using namespace sb::files;
using namespace sb::test;

namespace {
void make_file(std::string const& path, off_t size) {
    auto const file = sb::open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600).value();
    REQUIRE(::ftruncate(file.get(), size) == 0);
}
bool found(std::string const& in, std::int64_t bytes, std::int64_t since_ns, int most = 1000) {
    auto const place = sb::open_file(in, O_PATH).value();
    return large_file_search{bytes, since_ns, most}.is_at(place.get());
}
bool found(folder const& in, std::int64_t bytes, std::int64_t since_ns, int most = 1000) { return found(in.path(), bytes, since_ns, most); }
/// Does the file system tell when a file was made?
bool tells_births(std::string const& path) {
    struct statx facts {};
    return ::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME, &facts) == 0 && (facts.stx_mask & STATX_BTIME);
}
} // namespace

TEST_CASE("a file of the size is found wherever it is, a smaller one, a folder and a link are none", "[large_file]") {
    folder here;
    make_file(here / "small", 99);
    REQUIRE(::mkdir((here / "a").c_str(), 0700) == 0);
    REQUIRE(::mkdir((here / "a/b").c_str(), 0700) == 0);
    REQUIRE(::symlink("/proc/self/exe", (here / "link").c_str()) == 0);
    CHECK_FALSE(found(here, 100, 0));
    make_file(here / "a/b/large", 100);
    CHECK(found(here, 100, 0));
    CHECK_FALSE(found(here, 101, 0));
    CHECK(found(here / "a/b/large", 100, 0));
    CHECK_FALSE(found(here / "small", 100, 0));
}

TEST_CASE("a file that was there before is none, whatever was changed of it since, and one that was made since is", "[large_file]") {
    folder here;
    make_file(here / "old", 100);
    if (!tells_births(here / "old")) {
        CHECK_FALSE(found(here, 100, 1));
        return;
    }
    large_file_search::await_tick();
    auto const begun = large_file_search::now_ns();
    REQUIRE(::chmod((here / "old").c_str(), 0644) == 0);
    REQUIRE(::truncate((here / "old").c_str(), 200) == 0);
    timespec const later[] = {{begun / 1'000'000'000 + 60, 0}, {begun / 1'000'000'000 + 60, 0}};
    REQUIRE(::utimensat(AT_FDCWD, (here / "old").c_str(), later, 0) == 0);
    REQUIRE(::rename((here / "old").c_str(), (here / "other").c_str()) == 0);
    CHECK_FALSE(found(here, 100, begun));
    make_file(here / "new", 100);
    CHECK(found(here, 100, begun));
}

TEST_CASE("the search ends after so many names", "[large_file]") {
    folder here;
    for (int i = 0; i < 50; ++i) make_file(here / sb::cat("file", i), i == 49 ? 100 : 0);
    CHECK(found(here, 100, 0, 50));
    CHECK_FALSE(found(here, 100, 0, 0));
}
