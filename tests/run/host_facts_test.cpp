// SPDX-License-Identifier: MIT
#include "support/kernel.hpp"
#include "support/victim.hpp"
#include <sb/files/path.hpp>
#include <sb/run/host_facts.hpp>
#include <fstream>
#include <string>

using namespace sb::run;

namespace {
/// A /sys with these files and folders (a name that ends in /) alone.
struct fake_sys : sb::test::folder {
    fake_sys(std::initializer_list<char const*> names) {
        for (std::string const name : names) {
            auto const whole = *this / name;
            REQUIRE_FALSE(sb::make_folders(whole.substr(0, whole.rfind('/')), 0755).has_error());
            if (!name.ends_with('/')) std::ofstream{whole} << "performance\n";
        }
    }
};
std::string groups(std::initializer_list<char const*> names) { return this_host(fake_sys{names}.path()).cgroup; }
} // namespace

TEST_CASE("the kind of control groups follows from what is mounted in the usual places") {
    CHECK(groups({}) == "none");
    CHECK(groups({"fs/cgroup/"}) == "none");
    CHECK(groups({"fs/cgroup/cgroup.controllers"}) == "v2");
    CHECK(groups({"fs/cgroup/memory/"}) == "v1");
    CHECK(groups({"fs/cgroup/cpu/"}) == "v1");
    CHECK(groups({"fs/cgroup/memory/", "fs/cgroup/unified/cgroup.controllers"}) == "hybrid");
    CHECK(groups({"fs/cgroup/pids/", "fs/cgroup/unified/cgroup.controllers"}) == "hybrid");
    CHECK(groups({"fs/cgroup/cgroup.controllers", "fs/cgroup/memory/"}) == "v2");
}

TEST_CASE("the governor is that of the first processor, and unknown where there is none") {
    CHECK(this_host(fake_sys{"devices/system/cpu/cpu0/cpufreq/scaling_governor"}.path()).governor == "performance");
    CHECK_FALSE(this_host(fake_sys{}.path()).governor);
}

TEST_CASE("the facts of this machine are those of the kernel") {
    auto const facts = this_host();
    CHECK(facts.kernel + "\n" == sb::test::kernel::text_of("/proc/sys/kernel/osrelease"));
    cpu_set_t mine;
    CPU_ZERO(&mine);
    REQUIRE(::sched_getaffinity(0, sizeof mine, &mine) == 0);
    CHECK(facts.cpus == CPU_COUNT(&mine));
    REQUIRE(facts.load);
    CHECK(*facts.load >= 0);
}
