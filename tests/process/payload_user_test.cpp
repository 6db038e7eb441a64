// SPDX-License-Identifier: MIT
#include "support/kernel.hpp"
#include "support/catch.hpp"
#include <sb/process/payload_user.hpp>
#include <set>

using namespace sb::process;

TEST_CASE("of the users that are mapped here those of the documented range are taken, and else the last one") {
    auto const range = [](std::string_view map) {
        auto const got = mapped_payload_ids(map);
        return std::pair{got.first, got.count};
    };
    CHECK(range("         0          0 4294967295\n") == std::pair<std::int64_t, std::int64_t>{1'879'100'000, 1'000'000});
    CHECK(range("0 0 2000000000\n") == std::pair<std::int64_t, std::int64_t>{1'879'100'000, 1'000'000});
    CHECK(range("0 0 1879100010\n") == std::pair<std::int64_t, std::int64_t>{1'879'100'000, 10});
    CHECK(range("0 0 1000\n1880099990 5 100\n") == std::pair<std::int64_t, std::int64_t>{1'880'099'990, 10});
    CHECK(range("0 100000 65536\n") == std::pair<std::int64_t, std::int64_t>{65535, 1});
    CHECK(range("0 1000 1\n1 100000 500\n") == std::pair<std::int64_t, std::int64_t>{500, 1});
    CHECK(range("0 0 1\n").second == 0);
    CHECK(range("").second == 0);
}

TEST_CASE("the caller's payloads are the caller, and each session of root's has a user that nobody else is") {
    auto const first = choose_payload_user(), second = choose_payload_user(), shared = choose_payload_user({true, {}});
    if (::geteuid() != 0) {
        REQUIRE_FALSE(first.has_error());
        CHECK(first->uid == ::geteuid());
        CHECK(first->gid == ::getegid());
        return;
    }
    if (sb::test::kernel::users() < 2) {
        WARN("SKIPPED: no user but root is mapped here");
        return;
    }
    REQUIRE_FALSE(first.has_error());
    auto const map = sb::read_file("/proc/self/uid_map").value();
    if (!sb::test::kernel::maps_user(1'879'100'000) || !sb::test::kernel::maps_user(1'880'099'999)) {
        WARN("SKIPPED: the range is not mapped here");
        return;
    }
    CHECK(shared->uid == 1'879'100'000);
    CHECK(shared->gid == 1'879'100'000);
    std::set<uid_t> seen;
    for (int i = 0; i < 20; ++i) {
        auto const each = choose_payload_user().value();
        CHECK(all_payload_ids.contains(each.uid));
        CHECK(each.uid != 1'879'100'000);
        CHECK(each.gid == each.uid);
        seen.insert(each.uid);
    }
    CHECK(seen.size() > 15); // twenty of a million, by chance
    user_wish all_but_one; // of what is taken none is given, as long as another can be found
    all_but_one.taken = {first->uid, second->uid};
    for (int i = 0; i < 20; ++i) CHECK(choose_payload_user(all_but_one)->uid != first->uid);
}
