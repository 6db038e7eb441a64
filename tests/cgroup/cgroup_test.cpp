// SPDX-License-Identifier: MIT
// Control groups of this host, made and removed. What the host lacks is said aloud and passed over.
#include "support/group.hpp"
#include <sb/core/clock.hpp>
#include <sb/files/folder.hpp>
#include <sb/files/workspace.hpp>
#include <algorithm>
#include <linux/magic.h>
#include <set>
#include <sys/prctl.h>
#include <sys/vfs.h>

using namespace sb::cgroup;
using namespace sb::test;

namespace {

constexpr std::int64_t mib = 1 << 20;

void skip(char const* why) { WARN("SKIPPED: " << why); }
void skip_before(int major, int minor, char const* why) { // what newer kernels have, we have failed to read
    REQUIRE_FALSE(kernel::is_at_least(major, minor));
    skip(why);
}

/// One group, ready for its first run.
struct group_for_test {
    cgroup_host host = groups_here();
    std::optional<cgroup> group;
    void make() {
        auto made = cgroup::make(host, "test");
        INFO((made.has_error() ? made.error().what : std::string{}));
        REQUIRE_FALSE(made.has_error());
        group.emplace(std::move(*made));
        auto const settled = settle(*group);
        INFO((settled.has_error() ? settled.error().what : std::string{}));
        REQUIRE_FALSE(settled.has_error());
    }
    limits_in_force hold(group_limits const& l) {
        auto const got = group->hold(l);
        INFO((got.has_error() ? got.error().what : std::string{}));
        REQUIRE_FALSE(got.has_error());
        return *got;
    }
    void begin() {
        auto const began = group->begin();
        INFO((began.has_error() ? began.error().what : std::string{}));
        REQUIRE_FALSE(began.has_error());
    }
};

/// All folders of all hierarchies whose name has `id` in it.
std::vector<std::string> named(std::string const& folder, std::string const& id) {
    std::vector<std::string> found;
    auto const fd = sb::files::open_folder(AT_FDCWD, folder.c_str());
    if (!fd) return found;
    auto const groups = detail::child_groups(fd.get());
    for (auto const& name : groups ? *groups : std::vector<std::string>{}) {
        auto const path = sb::cat(folder, "/", name);
        if (name.find(id) != std::string::npos) found.push_back(path);
        auto const deeper = named(path, id);
        found.insert(found.end(), deeper.begin(), deeper.end());
    }
    return found;
}

int died_of(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

} // namespace

TEST_CASE("what this host's groups can do is told, and what they cannot has a reason") {
    auto const host = groups_here();
    std::string all = sb::cat("kind ", name_of(host.kind()));
    for (auto const c : all_controllers) {
        CHECK(host.has(c) == host.why_not(c).empty());
        CHECK(host.has(c) == (host.version(c) != 0));
        CHECK(host.has(c) == !host.base(c).empty());
        all += sb::cat("; ", name_of(c), " ", host.has(c) ? host.base(c) : host.why_not(c));
    }
    WARN(all);
    CHECK((host.kind() == cgroup_kind::none) == host.bases().empty());
}

TEST_CASE("looking leaves no group behind, and we are where we were") {
    auto const before = sb::read_file("/proc/self/cgroup").value();
    std::string id;
    {
        auto const host = groups_here();
        id = host.id();
        for (auto const& left : named("/sys/fs/cgroup", id)) CHECK(left.find(".supervisor") != std::string::npos);
    }
    CHECK(named("/sys/fs/cgroup", id).empty());
    CHECK(sb::read_file("/proc/self/cgroup").value() == before);
}

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

TEST_CASE("a session's host removes what its slots could not") {
    auto host = groups_here();
    if (lacks_all(host)) return;
    int told[2];
    REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
    auto const slot = ::fork();
    if (slot == 0) {
        auto group = cgroup::make(host, "slot0");
        if (group.has_error()) ::_exit(1);
        auto const payload = ::fork();
        if (payload == 0) ::pause(), ::_exit(0);
        if (group->enter(payload).has_error() || group->settle(payload).has_error()) ::_exit(1);
        (void)!::write(told[1], &payload, sizeof payload);
        ::pause();
    }
    pid_t payload = 0;
    ::close(told[1]);
    auto const n = ::read(told[0], &payload, sizeof payload);
    ::close(told[0]);
    REQUIRE(n == sizeof payload);
    ::kill(slot, SIGKILL);
    wait_for(slot);
    CHECK(::kill(payload, 0) == 0);
    auto const id = host.id();
    auto const restored = host.restore();
    INFO((restored.has_error() ? restored.error().what : std::string{}));
    CHECK_FALSE(restored.has_error());
    CHECK(named("/sys/fs/cgroup", id).empty());
    CHECK((::kill(payload, 0) == -1 || sb::read_file(sb::cat("/proc/", payload, "/stat")).value().find(") Z") != std::string::npos));
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
