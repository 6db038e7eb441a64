// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/clock.hpp>
#include <sb/machine/home_cpu.hpp>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace sb::machine;

namespace {

cpu_set_t cpus_of(pid_t pid) {
    cpu_set_t its;
    CPU_ZERO(&its);
    REQUIRE(::sched_getaffinity(pid, sizeof its, &its) == 0);
    return its;
}
bool same(cpu_set_t const& a, cpu_set_t const& b) { return CPU_EQUAL(&a, &b); }

/// A process that only sleeps.
struct sleeper {
    pid_t pid = ::fork();
    sleeper() {
        if (pid == 0)
            for (;;) ::pause();
    }
    ~sleeper() {
        if (pid > 0) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0); // -1 would be everybody
    }
};

} // namespace

TEST_CASE("a process and its helper keep to one processor until others want it") {
    auto const all = cpus_of(0);
    if (CPU_COUNT(&all) < 2) {
        WARN("SKIPPED: there is one processor only");
        return;
    }
    auto const neighbours = CPU_COUNT(&all) - 1;
    machine_noise const calm{0.1, 0, 0.1 * neighbours}, busy{0.1, 0, 0.1 * (neighbours + 0.6)};
    home_cpu home{1, neighbours};
    auto const one = choose_cpus(1, 1);
    sleeper helper, another;
    auto const at_home = [&] { return same(cpus_of(0), one) && same(cpus_of(helper.pid), one); };
    auto const away = [&] { return same(cpus_of(0), all) && same(cpus_of(helper.pid), all); };
    auto const calm_looks = [&] { // until it is at home again
        int looks = 0;
        for (; away() && looks < 100; ++looks) home.saw(calm), home.settle(helper.pid);
        return looks;
    };

    home.settle(helper.pid);
    CHECK(at_home());
    CHECK(usable_cpus() == CPU_COUNT(&all)); // for whatever we start
    CHECK(same(allowed_cpus(), all));
    CHECK(same(choose_cpus(1, 0), choose_cpus(1, static_cast<std::size_t>(CPU_COUNT(&all)))));
    for (int i = 0; i < 20; ++i) home.saw(calm), home.settle(helper.pid);
    CHECK(at_home());

    SECTION("and come back later each time") {
        home.saw(busy), home.settle(helper.pid);
        CHECK(away());
        home.saw(busy), home.settle(helper.pid);
        CHECK(away());
        auto const first = calm_looks();
        CHECK(first > 1);
        CHECK(at_home());
        home.saw(busy), home.settle(helper.pid);
        CHECK(calm_looks() > first);
    }
    SECTION("and a little more work than the neighbours' keeps them away") {
        machine_noise const near{0.1, 0, 0.1 * (neighbours + 0.2)};
        home.saw(near), home.settle(helper.pid);
        CHECK(at_home());
        home.saw(busy);
        for (int i = 0; i < 100; ++i) home.saw(near), home.settle(helper.pid);
        CHECK(away());
    }
    SECTION("and another helper is sent there too") {
        home.settle(another.pid);
        CHECK(same(cpus_of(another.pid), one));
        home.saw(busy), home.settle(another.pid);
        CHECK(same(cpus_of(another.pid), all));
        home.settle(helper.pid);
        CHECK(away());
    }
    SECTION("and a child with other work leaves") {
        auto const child = ::fork();
        if (child == 0) {
            home_cpu::leave();
            cpu_set_t mine;
            CPU_ZERO(&mine);
            ::_exit(::sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_EQUAL(&mine, &all) ? 0 : 1);
        }
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
        CHECK(at_home());
    }
    home_cpu::leave();
    CHECK(same(cpus_of(0), all));
    home_cpu{}.settle(helper.pid); // no home, no change
    CHECK(same(cpus_of(0), all));
}
