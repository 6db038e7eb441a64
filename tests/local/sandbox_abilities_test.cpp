// SPDX-License-Identifier: MIT
#include "support/bare_root.hpp"
#include "support/group.hpp"
#include "support/victim.hpp"
#include <sb/local/sandbox_abilities.hpp>
#include <string>
#include <unistd.h>

using namespace sb::local;
using sb::cgroup::controller;
using sb::test::kernel::text_of;

namespace {
std::int64_t number_in(char const* path) { return std::stoll(text_of(path)); }
} // namespace

TEST_CASE("a sandbox knows the size of the machine from the kernel") {
    sb::key::host can;
    learn_machine(can);
    CHECK(can.sandboxed);
    CHECK(can.memory_bytes == std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE));
    CHECK(can.pids == number_in("/proc/sys/kernel/pid_max"));
    CHECK(can.files == number_in("/proc/sys/fs/file-max"));
    CHECK(can.mappings == number_in("/proc/sys/vm/max_map_count"));
}

TEST_CASE("what control groups hold is held for the tree, and what they do not has its reason") {
    auto const groups = sb::test::groups_here();
    sb::key::host can;
    learn_groups(can, groups, sb::process::choose_payload_user().value());
    struct row {
        controller of;
        bool holds;
        std::string const& why;
    };
    for (auto const& [of, holds, why] : {row{controller::memory, can.tree_memory, can.why_no_memory}, {controller::pids, can.tree_pids, can.why_no_pids}, {controller::cpu, can.tree_cores, can.why_no_cores}}) {
        INFO(name_of(of) << ": " << why);
        CHECK(holds == groups.has(of));
        if (sb::test::kernel::gives_group(std::string{name_of(of)})) CHECK(holds);
        CHECK(holds == why.empty());
    }
    CHECK(can.tree_time == groups.has(controller::cpuacct));
    if (can.tree_pids) CHECK_FALSE(can.numbered_pids);
}

TEST_CASE("where there is no control group nothing is held for the tree, and namespaces count processes if they can", "[sandbox]") {
    NEEDS_ISOLATION();
    auto const user = sb::process::choose_payload_user().value(); // as root, before Linux 6.14, the trial would set the limit of the whole machine
    auto const learned = sb::test::in_bare_root([&] {
        auto const groups = sb::cgroup::cgroup_host::find();
        if (groups.has_error()) return groups.error().what;
        sb::key::host can;
        learn_groups(can, *groups, user);
        if (can.holds_trees()) return std::string{"holds trees"};
        if (can.numbered_pids != can.why_no_numbers.empty()) return "numbers without a reason: " + can.why_no_numbers;
        if (can.numbered_pids && !sb::test::kernel::is_at_least(6, 14)) return std::string{"numbers that this kernel cannot limit"};
        return can.why_no_memory + "|" + can.why_no_pids + "|" + can.why_no_cores;
    });
    CHECK(learned == "no control group hierarchy is mounted|no control group hierarchy is mounted|no control group hierarchy is mounted");
}
