// SPDX-License-Identifier: MIT
// Control groups of this host, made, held and removed. What the host lacks is said aloud and passed over.
#include "support/one_group.hpp"
#include <sb/cgroup/cgroup.hpp>
#include <sb/core/clock.hpp>
#include <sys/prctl.h>

using namespace sb::cgroup;
using namespace sb::test;

TEST_CASE("a group and all that is in it goes with its owner, and nothing of it stays") {
    std::string id;
    pid_t child = 0;
    {
        group_for_test t;
        if (lacks_all(t.host)) return;
        id = t.host.id();
        t.make();
        CHECK_FALSE(named("/sys/fs/cgroup", id).empty());
        child = start_in(*t.group, [] { return ::pause(); });
        auto const where = sb::read_file(sb::cat("/proc/", child, "/cgroup")).value();
        CHECK(where.find(t.group->name()) != std::string::npos);
        auto const removed = t.group->remove();
        INFO((removed.has_error() ? removed.error().what : std::string{}));
        CHECK_FALSE(removed.has_error());
    }
    CHECK(died_of(wait_for(child)) == SIGKILL);
    CHECK(named("/sys/fs/cgroup", id).empty());
}

TEST_CASE("a forked child's copy removes nothing") {
    group_for_test t;
    if (lacks_all(t.host)) return;
    t.make();
    auto const before = named("/sys/fs/cgroup", t.host.id());
    auto const child = ::fork();
    if (child == 0) {
        t.group.reset();
        (void)t.host.restore();
        ::_exit(0);
    }
    wait_for(child);
    CHECK(named("/sys/fs/cgroup", t.host.id()) == before);
}

TEST_CASE("everything in the group is killed, those that flee from each other too, and the group can be used again") {
    group_for_test t;
    if (lacks_all(t.host)) return;
    t.make();
    t.hold({sb::process::limits::none, t.host.has(controller::pids) ? 64 : sb::process::limits::none, sb::process::limits::none});
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto const child = start_in(*t.group, [] {
        for (auto const until = sb::monotonic_ns() + 20'000'000'000; sb::monotonic_ns() < until;)
            if (::fork() > 0) ::_exit(0); // the one that goes on is always another
        return 0;
    });
    wait_for(child);
    CHECK_FALSE(t.group->wait_empty(1'000'000));
    CHECK(t.group->kill_all());
    CHECK(t.group->wait_empty(1'000'000'000));
    while (::waitpid(-1, nullptr, 0) > 0) {}
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
    auto const again = start_in(*t.group, [] {
        auto const inner = ::fork();
        if (inner == 0) ::_exit(3);
        return inner < 0 ? 1 : WEXITSTATUS(wait_for(inner));
    });
    CHECK(WEXITSTATUS(wait_for(again)) == 3);
}

TEST_CASE("a limit is raised and lowered, and what is in force is what was asked") {
    group_for_test t;
    if (lacks(t.host, {controller::memory, controller::pids, controller::cpu})) return;
    t.make();
    for (auto const m : {64, 512, 32, 1024, 128}) {
        auto const now = t.hold({m * mib, m, m > 100 ? 1.0 : 0.25});
        CHECK(now.memory_bytes == m * mib);
        CHECK(now.pids == m);
        REQUIRE(now.cores);
        CHECK(*now.cores == Approx(m > 100 ? 1.0 : 0.25));
    }
    auto const lifted = t.hold({});
    CHECK_FALSE(lifted.memory_bytes);
    CHECK_FALSE(lifted.pids);
    CHECK_FALSE(lifted.cores);
    auto const wrong = t.group->hold({sb::process::limits::none, 0, sb::process::limits::none});
    REQUIRE(wrong.has_error());
    CHECK(wrong.error().on == sb::blame::caller);
}

TEST_CASE("no more processes start than may, and each refusal is counted") {
    group_for_test t;
    if (lacks(t.host, {controller::pids})) return;
    t.make();
    CHECK(t.hold({sb::process::limits::none, 8, sb::process::limits::none}).pids == 8);
    t.begin();
    auto const bomb = [] {
        int made = 1, refused = 0;
        std::vector<pid_t> all;
        for (int i = 0; i < 20; ++i) {
            auto const child = ::fork();
            if (child == 0) ::pause(), ::_exit(0);
            if (child > 0) ++made, all.push_back(child);
            else if (errno == EAGAIN) ++refused;
        }
        for (auto const child : all) ::kill(child, SIGKILL);
        while (::wait(nullptr) > 0) {}
        return made == 8 && refused == 13 ? 0 : 1;
    };
    CHECK(wait_for(start_in(*t.group, bomb)) == 0);
    auto const got = t.group->end();
    CHECK(got.fork_refusals == 13);
    if (got.max_pids) CHECK(*got.max_pids == 8);
    else skip_before(6, 1, "this kernel has no pids.peak");

    CHECK_FALSE(t.hold({}).pids);
    t.begin();
    auto const all_twenty = start_in(*t.group, [] {
        for (int i = 0; i < 20; ++i) {
            auto const child = ::fork();
            if (child < 0) return 1;
            if (child == 0) ::_exit(0);
        }
        while (::wait(nullptr) > 0) {}
        return 0;
    });
    CHECK(wait_for(all_twenty) == 0);
    CHECK(t.group->end().fork_refusals == 0);
}

TEST_CASE("a quarter of a processor is a quarter, however many processes share it") {
    group_for_test t;
    if (lacks(t.host, {controller::cpu, controller::cpuacct})) return;
    t.make();
    auto const in_force = t.hold({sb::process::limits::none, sb::process::limits::none, 0.25});
    REQUIRE(in_force.cores);
    CHECK(*in_force.cores == Approx(0.25));
    auto const work = [] {
        for (int i = 0; i < 2; ++i)
            if (::fork() == 0) burn(50'000'000), ::_exit(0);
        burn(50'000'000);
        while (::wait(nullptr) > 0) {}
        return 0;
    };
    t.begin();
    auto const from = sb::monotonic_ns();
    CHECK(wait_for(start_in(*t.group, work)) == 0);
    auto const wall = sb::monotonic_ns() - from;
    auto const got = t.group->end();
    REQUIRE((got.cpu_ns && got.throttled_ns && got.throttled_periods));
    CHECK(*got.throttled_ns > 0);
    CHECK(*got.throttled_periods > 0);
    CHECK(static_cast<double>(*got.cpu_ns) / static_cast<double>(wall) < 0.3); // a busy machine can only make it less
    CHECK(*got.cpu_ns >= 150'000'000);

    CHECK_FALSE(t.hold({}).cores);
    t.begin();
    CHECK(wait_for(start_in(*t.group, work)) == 0);
    CHECK(t.group->end().throttled_ns.value_or(0) == 0);
}

TEST_CASE("on v2 a process of another user clones its payload into its place, from a cgroup namespace of its own") {
    group_for_test t;
    if (!kernel::text_of("/proc/self/cgroup").starts_with("0::")) return skip("not a host of v2 alone");
    if (lacks_all(t.host)) return;
    if (::geteuid() != 0) return skip("only root can give a group away");
    auto made = cgroup::make(t.host, "test");
    REQUIRE_FALSE(made.has_error());
    t.group.emplace(std::move(*made));
    int in[2], out[2];
    REQUIRE(::pipe(in) == 0);
    REQUIRE(::pipe(out) == 0);
    clone_args shared{};
    shared.exit_signal = SIGCHLD, shared.flags = CLONE_FILES; // the leaf's number is to mean the same to both
    auto const supervisor = static_cast<pid_t>(::syscall(SYS_clone3, &shared, sizeof shared));
    if (supervisor == 0) {
        int leaf = -1;
        if (::read(in[0], &leaf, sizeof leaf) != sizeof leaf || ::unshare(CLONE_NEWCGROUP) != 0) ::_exit(9);
        if (::write(out[1], &leaf, sizeof leaf) != sizeof leaf || ::read(in[0], &leaf, sizeof leaf) != sizeof leaf) ::_exit(9);
        if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) ::_exit(8);
        clone_args how{};
        how.exit_signal = SIGCHLD, how.flags = CLONE_INTO_CGROUP, how.cgroup = static_cast<unsigned>(leaf);
        auto const payload = static_cast<pid_t>(::syscall(SYS_clone3, &how, sizeof how));
        if (payload == 0) {
            auto const text = sb::read_file("/proc/self/cgroup");
            ::_exit(!text.has_error() && *text == "0::/run\n" ? 0 : 1); // as seen from the slot's folder
        }
        ::_exit(payload < 0 ? 100 + errno : WEXITSTATUS(wait_for(payload)));
    }
    REQUIRE(supervisor > 0);
    int leaf = -1;
    REQUIRE_FALSE(t.group->enter(supervisor).has_error());
    REQUIRE(::write(in[1], &leaf, sizeof leaf) == sizeof leaf);
    REQUIRE(::read(out[0], &leaf, sizeof leaf) == sizeof leaf);
    REQUIRE_FALSE(t.group->settle(supervisor).has_error());
    REQUIRE_FALSE(t.group->give_to(65534).has_error());
    leaf = t.group->run_leaf();
    REQUIRE(::write(in[1], &leaf, sizeof leaf) == sizeof leaf);
    CHECK(WEXITSTATUS(wait_for(supervisor)) == 0);
    for (int const fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
}
