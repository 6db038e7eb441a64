// SPDX-License-Identifier: MIT
// What groups of this host count, and what is read from files that a test has written.
#include "support/made_up_group.hpp"
#include "support/one_group.hpp"
#include "support/victim.hpp"
#include <sb/cgroup/cgroup_figures.hpp>
#include <sb/core/clock.hpp>
#include <sb/files/session_folder.hpp>
#include <linux/magic.h>
#include <sys/prctl.h>
#include <sys/vfs.h>

using namespace sb::cgroup;
using namespace sb::test;

TEST_CASE("who takes more memory than the limit is killed and counted, and the next run without a limit is not") {
    group_for_test t;
    if (lacks(t.host, {controller::memory})) return;
    t.make();
    auto const in_force = t.hold({64 * mib, sb::process::limits::none, sb::process::limits::none});
    CHECK(in_force.memory_bytes == 64 * mib);
    CHECK_FALSE(in_force.pids);
    CHECK_FALSE(in_force.cores);
    auto const hog = [] { return touched(128 * mib) ? 0 : 1; };
    t.begin();
    CHECK(died_of(wait_for(start_in(*t.group, hog))) == SIGKILL);
    auto const got = t.group->end();
    CHECK(got.oom_kills == 1);
    if (got.memory_limit_hits) CHECK(*got.memory_limit_hits > 0);
    else {
        REQUIRE_FALSE(kernel::text_of("/proc/self/cgroup").starts_with("0::"));
        skip("v1 does not count here how often the limit was met");
    }
    REQUIRE(got.memory_peak_bytes);
    CHECK(*got.memory_peak_bytes <= 64 * mib);
    CHECK(*got.memory_peak_bytes > 62 * mib);

    CHECK_FALSE(t.hold({}).memory_bytes);
    t.begin();
    CHECK(wait_for(start_in(*t.group, hog)) == 0);
    auto const free = t.group->end();
    CHECK(free.oom_kills == 0);
    CHECK(free.memory_limit_hits.value_or(0) == 0);
    CHECK(*free.memory_peak_bytes > 128 * mib);
}

TEST_CASE("three processes with 64 MiB each peak at 192 MiB, and the next run has a peak of its own") {
    group_for_test t;
    if (lacks(t.host, {controller::memory})) return;
    t.make();
    t.hold({});
    t.begin();
    auto const tree = start_in(*t.group, [] {
        int ready[2], go[2];
        if (::pipe(ready) != 0 || ::pipe(go) != 0) return 1;
        for (int i = 0; i < 3; ++i)
            if (::fork() == 0) {
                ::close(go[1]);
                char c = 0;
                bool const good = touched(64 * mib) && ::write(ready[1], &c, 1) == 1 && ::read(go[0], &c, 1) == 0; // all hold at once
                ::_exit(good ? 0 : 1);
            }
        char c;
        for (int i = 0; i < 3; ++i)
            if (::read(ready[0], &c, 1) != 1) return 1;
        ::close(go[1]);
        int all = 0;
        for (int status = 0; ::wait(&status) > 0;) all |= status;
        return all;
    });
    CHECK(wait_for(tree) == 0);
    auto const got = t.group->end();
    REQUIRE((got.memory_peak_bytes && got.memory_base_bytes));
    CHECK(static_cast<double>(*got.memory_peak_bytes - *got.memory_base_bytes) == Approx(192.0 * mib).epsilon(sanitized ? 0.1 : 0.02));

    t.begin();
    CHECK(wait_for(start_in(*t.group, [] { return touched(16 * mib) ? 0 : 1; })) == 0);
    auto const small = t.group->end();
    CHECK(*small.memory_peak_bytes - *small.memory_base_bytes > (sanitized ? 8 : 15) * mib); // what the kernel keeps charged in stock is in the base
    CHECK(*small.memory_peak_bytes - *small.memory_base_bytes < 18 * mib);
}

TEST_CASE("what a run leaves in memory that others may use is told apart") {
    group_for_test t;
    if (lacks(t.host, {controller::memory})) return;
    t.make();
    t.begin();
    int const file = ::memfd_create("left", MFD_CLOEXEC);
    CHECK(wait_for(start_in(*t.group, [&] {
        if (::ftruncate(file, 32 * mib) != 0) return 1;
        void* const at = ::mmap(nullptr, 32 * mib, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) return 1;
        for (std::int64_t i = 0; i < 32 * mib; i += 4096) static_cast<char volatile*>(at)[i] = 1;
        return 0;
    })) == 0);
    auto const left = t.group->charged();
    REQUIRE((left.shmem_bytes && left.anon_bytes));
    CHECK(*left.shmem_bytes == Approx(32.0 * mib).epsilon(0.02));
    CHECK(*left.anon_bytes < 2 * mib);
    ::close(file);
}

TEST_CASE("page cache that a run leaves is no part of the next") {
    group_for_test t;
    if (lacks(t.host, {controller::memory})) return;
    auto name = sb::files::temporary_folder() + "/sandbench-XXXXXX";
    sb::unique_fd const file{::mkstemp(name.data())};
    ::unlink(name.c_str());
    struct statfs kind {};
    REQUIRE(::fstatfs(file.get(), &kind) == 0);
    if (kind.f_type == TMPFS_MAGIC) {
        WARN("SKIPPED: files in the temporary folder are memory");
        return;
    }
    t.make();
    auto const cached_by = [&](std::int64_t written) {
        t.begin();
        CHECK(wait_for(start_in(*t.group, [&] {
            std::string const block(mib, 'x');
            for (std::int64_t i = 0; i < written; ++i)
                if (::write(file.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size())) return 1;
            return 0;
        })) == 0);
        (void)t.group->end();
        return t.group->charged().file_bytes.value_or(-1);
    };
    CHECK(static_cast<double>(cached_by(16)) == Approx(16.0 * mib).epsilon(0.1));
    CHECK(cached_by(0) < mib);
    CHECK(static_cast<double>(cached_by(8)) == Approx(8.0 * mib).epsilon(0.1));
}

TEST_CASE("the most processes of a run are unknown when the kernel remembers a greater run") {
    group_for_test t;
    if (lacks(t.host, {controller::pids})) return;
    t.make();
    auto const together = [](int n) {
        return [n] {
            std::vector<pid_t> all;
            for (int i = 1; i < n; ++i)
                if (all.push_back(::fork()); all.back() == 0) ::pause(), ::_exit(0);
            for (auto const child : all) ::kill(child, SIGKILL);
            while (::wait(nullptr) > 0) {}
            return 0;
        };
    };
    auto const most = [&](int n) {
        t.begin();
        wait_for(start_in(*t.group, together(n)));
        return t.group->end().max_pids;
    };
    auto const first = most(10);
    if (!first) return skip_before(6, 1, "this kernel has no pids.peak");
    CHECK(first == 10);
    auto const fewer = most(4);
    if (fewer) CHECK(*fewer == 4); // a group of its own for each run
    CHECK(most(12) == 12);
}

TEST_CASE("processor time of orphans is counted") {
    group_for_test t;
    if (lacks(t.host, {controller::cpuacct})) return;
    t.make();
    // each process says itself what it used until just before its end: clock_gettime is the witness
    auto* const own = static_cast<std::int64_t*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    auto const two_orphans = [&](std::int64_t ns) {
        auto const say = [own](int i) {
            timespec used{};
            ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
            own[i] = std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
        };
        t.begin();
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        auto const parent = start_in(*t.group, [ns, say] {
            for (int i = 0; i < 2; ++i)
                if (::fork() == 0) ::setsid(), burn(ns), say(i), ::_exit(0);
            say(2);
            return 0;
        });
        CHECK(wait_for(parent) == 0);
        while (::waitpid(-1, nullptr, 0) > 0) {}
        ::prctl(PR_SET_CHILD_SUBREAPER, 0);
        return t.group->end();
    };
    auto const said = [own] { return own[0] + own[1] + own[2]; };
    auto const idle = two_orphans(0);
    REQUIRE(idle.cpu_ns);
    auto const ending = *idle.cpu_ns - said(); // what nobody can say of himself
    auto const got = two_orphans(300'000'000);
    REQUIRE((got.cpu_ns && got.cpu_user_ns && got.cpu_system_ns));
    CHECK(*got.cpu_ns >= 600'000'000);
    CHECK(static_cast<double>(*got.cpu_ns - ending) == Approx(static_cast<double>(said())).epsilon(0.03));
    ::munmap(own, 4096);
    CHECK(static_cast<double>(*got.cpu_user_ns + *got.cpu_system_ns) == Approx(static_cast<double>(*got.cpu_ns)).epsilon(0.01));
    CHECK(*got.cpu_user_ns > *got.cpu_system_ns / 4); // sampled: no more can be said
}

namespace {

/// With figures as the kernel has them in a group.
struct v2_group : made_up_group {
    v2_group() {
        write("memory.peak", "8000\n");
        write("memory.stat", "anon 100\nfile 900\nkernel 50\nshmem 300\n");
        write("pids.events", "max 2\n");
        use(1000, 5, 1, 700, 400, 3, 250);
        processes(2, 4);
    }
    void use(int bytes, int hits, int kills, int cpu_us, int user_us, int periods, int throttled_us) {
        write("memory.current", sb::cat(bytes, "\n"));
        write("memory.events", sb::cat("low 0\nhigh 0\nmax ", hits, "\noom 9\noom_kill ", kills, "\n"));
        write("cpu.stat", sb::cat("usage_usec ", cpu_us, "\nuser_usec ", user_us, "\nsystem_usec ", cpu_us - user_us, "\nnr_periods 99\nnr_throttled ", periods, "\nthrottled_usec ", throttled_us, "\n"));
    }
    void processes(int now, int peak) {
        write("pids.current", sb::cat(now, "\n"));
        write("pids.peak", sb::cat(peak, "\n"));
    }
};

} // namespace

TEST_CASE("figures of a v2 group are what was added between begin and end") {
    v2_group group;
    group_meter meter{group.places(2)};
    meter.watch(true, true);
    meter.begin();
    CHECK(meter.base() == 1000);
    group.use(5000, 12, 3, 1700, 900, 8, 1250);
    group.write("pids.events", "max 7\n");
    group.processes(2, 9);
    auto const got = meter.end();
    CHECK(got.cpu_ns == 1'000'000);
    CHECK(got.cpu_user_ns == 500'000);
    CHECK(got.cpu_system_ns == 500'000);
    CHECK(got.memory_base_bytes == 1000);
    CHECK(got.memory_limit_hits == 7);
    CHECK(got.oom_kills == 2);
    CHECK(got.fork_refusals == 5);
    CHECK(got.max_pids == 7); // without the two that were there
    CHECK(got.throttled_periods == 5);
    CHECK(got.throttled_ns == 1'000'000);
    CHECK_FALSE(got.socket_peak_bytes);
}

TEST_CASE("the next run's figures begin where the last one's ended") {
    v2_group group;
    group_meter meter{group.places(2)};
    meter.watch(true, true);
    meter.begin();
    group.use(5000, 12, 3, 1700, 900, 8, 1250);
    group.processes(2, 9);
    (void)meter.end();
    meter.begin();
    group.use(6000, 13, 3, 1900, 1000, 8, 1250);
    auto const got = meter.end();
    CHECK(got.cpu_ns == 200'000);
    CHECK(got.memory_base_bytes == 5000);
    CHECK(got.memory_limit_hits == 1);
    CHECK(got.oom_kills == 0);
    CHECK(got.throttled_periods == 0);
    CHECK_FALSE(got.max_pids); // the most was reached by the run before
}

TEST_CASE("what is not limited is not counted as throttled") {
    v2_group group;
    group_meter meter{group.places(2)};
    meter.watch(false, false);
    meter.begin();
    group.use(5000, 12, 3, 1700, 900, 8, 1250);
    auto const got = meter.end();
    CHECK_FALSE(got.throttled_ns);
    CHECK_FALSE(got.throttled_periods);
    CHECK(got.cpu_ns == 1'000'000);
}

TEST_CASE("residents are counted once, and anew when others came or went") {
    v2_group group;
    group_meter meter{group.places(2)};
    CHECK(meter.residents() == 2);
    group.processes(5, 5);
    CHECK(meter.residents() == 2);
    meter.forget();
    CHECK(meter.residents() == 5);
}

TEST_CASE("figures of a v1 group are read from its own files, and its user time is shared out by ticks") {
    made_up_group group;
    auto const use = [&](int bytes, int hits, int swap_hits, int kills, int cpu_ns, int user, int system) {
        group.write("memory.usage_in_bytes", sb::cat(bytes, "\n"));
        group.write("memory.failcnt", sb::cat(hits, "\n"));
        group.write("memory.memsw.failcnt", sb::cat(swap_hits, "\n"));
        group.write("memory.oom_control", sb::cat("oom_kill_disable 0\nunder_oom 0\noom_kill ", kills, "\n"));
        group.write("cpuacct.usage", sb::cat(cpu_ns, "\n"));
        group.write("cpuacct.usage_user", sb::cat(user, "\n"));
        group.write("cpuacct.usage_sys", sb::cat(system, "\n"));
    };
    use(1000, 0, 0, 0, 5'000, 4'000, 4'000);
    group.write("memory.kmem.usage_in_bytes", "77\n");
    group.write("cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time 111\n");
    group_meter meter{group.places(1)};
    meter.watch(true, true);
    meter.begin();
    use(9000, 3, 4, 1, 15'000, 7'000, 5'000);
    group.write("cpu.stat", "nr_periods 12\nnr_throttled 4\nthrottled_time 511\n");
    auto const got = meter.end();
    CHECK(got.memory_base_bytes == 1000);
    CHECK(got.memory_limit_hits == 7);
    CHECK(got.oom_kills == 1);
    CHECK(got.cpu_ns == 10'000);
    CHECK(got.cpu_user_ns == 7'500); // three ticks of four
    CHECK(got.cpu_system_ns == 2'500);
    CHECK(got.throttled_periods == 2);
    CHECK(got.throttled_ns == 400);
    CHECK(meter.kernel_now() == 77);
    CHECK(meter.charged_now() == 9000);
    CHECK(meter.peak_begins_anew());
}

TEST_CASE("a v1 group that never counts hits says nothing about them") {
    made_up_group group;
    group.write("memory.failcnt", "0\n");
    group_meter meter{group.places(1)};
    meter.watch(true, false);
    meter.begin();
    CHECK_FALSE(meter.end().memory_limit_hits);
}

TEST_CASE("without a tick nobody knows whose the processor time was") {
    made_up_group group;
    group.write("cpuacct.usage", "5000\n"), group.write("cpuacct.usage_user", "10\n"), group.write("cpuacct.usage_sys", "20\n");
    group_meter meter{group.places(1)};
    meter.begin();
    group.write("cpuacct.usage", "9000\n");
    auto const got = meter.end();
    CHECK(got.cpu_ns == 4000);
    CHECK_FALSE(got.cpu_user_ns);
    CHECK_FALSE(got.cpu_system_ns);
}

TEST_CASE("what the kernel gives no file for has no value") {
    made_up_group const nothing;
    for (int const version : {0, 1, 2}) {
        INFO(version);
        group_meter meter{nothing.places(version)};
        meter.watch(true, true);
        meter.begin();
        auto const got = meter.end();
        CHECK_FALSE((got.cpu_ns || got.cpu_user_ns || got.memory_peak_bytes || got.memory_base_bytes || got.memory_limit_hits || got.oom_kills || got.fork_refusals ||
                     got.max_pids || got.throttled_ns));
        auto const charged = meter.charged();
        CHECK_FALSE((charged.anon_bytes || charged.file_bytes || charged.shmem_bytes || charged.kernel_bytes));
        CHECK(meter.charged_now() == 0);
        CHECK_FALSE(meter.residents());
        CHECK_FALSE(meter.socket_peak());
        CHECK(meter.socket_count() == -1);
    }
}

TEST_CASE("memory that is shared is told apart from files, and what a run before left is not the next one's") {
    v2_group group;
    group_meter meter{group.places(2)};
    meter.begin();
    auto const first = meter.charged();
    CHECK(first.anon_bytes == 100);
    CHECK(first.file_bytes == 600);
    CHECK(first.shmem_bytes == 300);
    CHECK(first.kernel_bytes == 50);
    group.write("memory.stat", "anon 100\nfile 1100\nkernel 50\nshmem 300\n");
    meter.begin();
    CHECK(meter.charged().file_bytes == 200);
    group.write("memory.stat", "anon 100\nfile 400\nkernel 50\nshmem 300\n"); // reclaimed
    meter.begin();
    CHECK(meter.charged().file_bytes == 0);
}

TEST_CASE("sockets count from what the last run's still hold") {
    made_up_group group;
    group.write("memory.kmem.tcp.usage_in_bytes", "400\n");
    group.write("memory.kmem.tcp.max_usage_in_bytes", "400\n");
    group_meter meter{group.places(1)};
    CHECK(meter.socket_count() >= 0);
    meter.begin();
    group.write("memory.kmem.tcp.max_usage_in_bytes", "1000\n");
    CHECK(meter.socket_peak() == 600);
    group.write("memory.kmem.tcp.usage_in_bytes", "0\n");
    meter.begin();
    group.write("memory.kmem.tcp.max_usage_in_bytes", "50\n");
    CHECK(meter.socket_peak() == 50);
}
