// SPDX-License-Identifier: MIT
#include "support/sandbox_slot.hpp"
#include <regex>

using namespace sb::sandbox;
using namespace sb::test;

TEST_CASE("a made-up boot id looks like one of the kernel's, and each is another", "[root]") {
    std::regex const form{"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"};
    auto const first = random_uuid(), second = random_uuid();
    REQUIRE(std::regex_match(first, form));
    REQUIRE(std::regex_match(second, form));
    REQUIRE(first != second);
}

TEST_CASE("a payload is told a boot id that is not the host's, and the same one again", "[sandbox][root]") {
    NEEDS_ISOLATION();
    slot one;
    auto const host = sb::read_file("/proc/sys/kernel/random/boot_id").value();
    auto const told = one.shell("cat /proc/sys/kernel/random/boot_id");
    REQUIRE(told.size() == host.size());
    REQUIRE(told != host);
    REQUIRE(one.shell("cat /proc/sys/kernel/random/boot_id") == told);
    REQUIRE(one.shell("{ echo x >/proc/sys/kernel/random/boot_id; chmod 777 /proc/sys/kernel/random/boot_id; } 2>/dev/null; cat /proc/sys/kernel/random/boot_id") == told);
}
