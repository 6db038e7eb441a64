// SPDX-License-Identifier: MIT
// Leases: what a killed session left is found and cleared away; nothing else is.
#include "support/group.hpp"
#include "support/files.hpp"
#include "support/victim.hpp"
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/local/held_lease.hpp>
#include <algorithm>
#include <csignal>
#include <sys/wait.h>

using namespace sb::test;
using sb::local::held_lease;
using sb::local::new_lease;
using sb::local::sweep_leases;

namespace {

std::vector<std::string> names(std::string const& path) {
    auto const fd = sb::files::open_folder(AT_FDCWD, path.c_str());
    auto all = sb::files::names_in(fd.get()).value();
    std::sort(all.begin(), all.end());
    return all;
}

/// A session in a process of its own: `work` runs with its lease and ends with the process.
template <class Work>
pid_t session(std::string const& data, std::string const& id, int& told, Work work) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    auto const child = ::fork();
    if (child == 0) {
        auto lease = held_lease::take(data, new_lease(id));
        if (lease.has_error()) ::_exit(1);
        work(*lease, ends[1]);
        ::pause();
        ::_exit(0);
    }
    ::close(ends[1]);
    told = ends[0];
    return child;
}
void tell(int to, std::int64_t what) { (void)!::write(to, &what, sizeof what); }
std::int64_t hear(int from) {
    std::int64_t what = -1;
    REQUIRE(::read(from, &what, sizeof what) == sizeof what);
    return what;
}

constexpr auto id = "0123456789ab";

/// As a dead session leaves it: a copy of the file, without its lock.
void leave(folder const& data, sb::lease_record const& terms) {
    {
        auto const lease = held_lease::take(data.path(), terms);
        put(data / "copy", sb::read_file(lease->path()).value());
    }
    REQUIRE(::rename((data / "copy").c_str(), (data / "leases/0123456789ab").c_str()) == 0);
}

} // namespace

TEST_CASE("a lease is one private line that names what is out, and goes with its owner") {
    folder data;
    auto const path = data / "deep/er/leases/0123456789ab";
    {
        auto terms = new_lease(id);
        terms.temp_folder = "/tmp/sb-exec-000000000000";
        terms.cgroups = {"/sys/fs/cgroup"};
        auto const lease = held_lease::take(data / "deep/er", terms);
        REQUIRE_FALSE(lease.has_error());
        struct stat facts {};
        REQUIRE(::stat(path.c_str(), &facts) == 0);
        CHECK((facts.st_mode & 07777) == 0600);
        REQUIRE(::stat((data / "deep/er/leases").c_str(), &facts) == 0);
        CHECK((facts.st_mode & 07777) == 0700);
        auto const text = sb::read_file(path).value();
        CHECK(text.starts_with("{\"kind\":\"lease\",\"v\":1,\"id\":\"0123456789ab\",\"pid\":" + std::to_string(::getpid()) + ",\"started\":\"20"));
        CHECK(text.find(",\"temp_folder\":\"/tmp/sb-exec-000000000000\",\"cgroups\":[\"/sys/fs/cgroup\"],\"switched_on\":[],\"uid\":null}\n") != std::string::npos);
        CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    }
    CHECK(names(data / "deep/er/leases").empty());
}

TEST_CASE("the users that leases name are known, and what is no lease names none") {
    folder data;
    CHECK(sb::local::leased_users(data.path()).empty());
    auto terms = new_lease(id), other = new_lease("ba9876543210"), silent = new_lease("aaaaaaaaaaaa");
    terms.uid = 1879100007, other.uid = 1879999999;
    auto const first = held_lease::take(data.path(), terms), second = held_lease::take(data.path(), other), third = held_lease::take(data.path(), silent);
    REQUIRE_FALSE((first.has_error() || second.has_error() || third.has_error()));
    put(data / "leases/bbbbbbbbbbbb", "not a lease\n");
    REQUIRE(::symlink("0123456789ab", (data / "leases/cccccccccccc").c_str()) == 0);
    auto users = sb::local::leased_users(data.path());
    std::sort(users.begin(), users.end());
    CHECK(users == std::vector<std::int64_t>{1879100007, 1879999999});
    for (auto const* const each : {"bbbbbbbbbbbb", "cccccccccccc"}) ::unlink((data / (std::string{"leases/"} + each)).c_str());
}

TEST_CASE("a lease stands while its owner or any forked worker lives") {
    folder data;
    int told = -1;
    auto const owner = session(data.path(), id, told, [](held_lease&, int to) {
        auto const worker = ::fork();
        if (worker == 0) ::pause(), ::_exit(0);
        tell(to, worker);
    });
    auto const worker = static_cast<pid_t>(hear(told));
    std::vector<std::string> stuck;
    CHECK(sweep_leases(data.path(), stuck) == 0);
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    CHECK(sweep_leases(data.path(), stuck) == 0);
    CHECK(exists(data / "leases/0123456789ab"));
    ::kill(worker, SIGKILL);
    char c;
    CHECK(::read(told, &c, 1) == 0); // the worker held the other end: now it is gone
    // its descriptors close one after the other: the pipe may go before the lock
    for (auto const until = sb::monotonic_ns() + 5'000'000'000; exists(data / "leases/0123456789ab") && sb::monotonic_ns() < until;) sweep_leases(data.path(), stuck);
    CHECK_FALSE(exists(data / "leases/0123456789ab"));
    CHECK(stuck.empty());
    ::close(told);
}

TEST_CASE("what a killed session left is killed and removed: processes, groups, folders") {
    folder data, temp;
    auto probe = sb::test::groups_here();
    bool const groups = !sb::test::lacks_all(probe); // without them, one part is skipped
    (void)probe.restore();
    auto const own = sb::cgroup::random_id();
    int told = -1;
    auto const owner = session(data.path(), own, told, [&](held_lease& lease, int to) {
        auto host = sb::test::groups_here(own);
        auto terms = new_lease(own);
        terms.cgroups = host.bases();
        terms.switched_on = host.switched_on();
        auto const folder_made = sb::files::session_folder::make(temp.path());
        terms.temp_folder = folder_made->path();
        if (lease.change(terms).has_error()) ::_exit(1);
        pid_t payload = 0;
        std::optional<sb::cgroup::cgroup> group;
        if (groups) {
            auto made = sb::cgroup::cgroup::make(host, "slot0");
            if (made.has_error()) ::_exit(1);
            group.emplace(std::move(*made));
            payload = ::fork();
            if (payload == 0) {
                // an orphan that holds nothing of the session's, as a payload after its exec
                for (int fd = 3; fd < 256; ++fd)
                    if (fd != to) ::close(fd);
                tell(to, 0);
                ::close(to);
                ::pause(), ::_exit(0);
            }
            if (group->enter(payload).has_error() || group->settle(payload).has_error()) ::_exit(1);
        } else tell(to, 0);
        tell(to, payload);
        ::pause();
    });
    auto const payload = static_cast<pid_t>(std::max(hear(told), hear(told))); // two tell, in either order
    REQUIRE(names(temp.path()).size() == 1);
    ::kill(owner, SIGKILL);
    ::waitpid(owner, nullptr, 0);
    auto const terms = sb::local::detail::read_lease(sb::open_file(data / "leases/" + own, O_RDONLY)->get(), own);
    REQUIRE_FALSE(terms.has_error());
    auto const left = [&] {
        int n = 0;
        for (auto const& base : terms->cgroups)
            for (auto const& name : names(base)) n += sb::cgroup::detail::is_group_of(name, own);
        return n;
    };
    if (groups) {
        CHECK(left() > 0);
        CHECK(::kill(payload, 0) == 0);
    }
    std::vector<std::string> stuck;
    CHECK(sweep_leases(data.path(), stuck) == 1);
    INFO((stuck.empty() ? std::string{} : stuck.front()));
    CHECK(stuck.empty());
    CHECK(left() == 0);
    CHECK(names(temp.path()).empty());
    CHECK(names(data / "leases").empty());
    if (groups) {
        auto const stat = sb::read_file(sb::cat("/proc/", payload, "/stat"));
        CHECK((stat.has_error() || stat->find(") Z") != std::string::npos));
    }
    ::close(told);
}

TEST_CASE("a lease of another boot loses its file alone") {
    folder data, temp;
    auto const dead = temp / "sb-exec-000000000000";
    REQUIRE(::mkdir(dead.c_str(), 0700) == 0);
    put(dead + "/owner", "sandbench run folder\n");
    auto terms = new_lease(id);
    terms.boot_id = "00000000-0000-0000-0000-000000000000";
    terms.temp_folder = dead;
    leave(data, terms);
    std::vector<std::string> stuck;
    CHECK(sweep_leases(data.path(), stuck) == 1);
    CHECK(names(data / "leases").empty());
    CHECK(exists(dead));
}

TEST_CASE("a lease of another machine is let be in silence, named or not, and those of this machine's earlier boots go") {
    folder data;
    { (void)held_lease::take(data.path(), new_lease(id)); }
    auto const lay = [&](char const* name, char const* boot, std::optional<std::string> machine) {
        auto terms = new_lease(name);
        terms.boot_id = boot, terms.machine = std::move(machine);
        put(data / "leases" + "/" + name, sb::json::line(terms));
    };
    auto const here = new_lease(id);
    REQUIRE((here.machine && sb::cgroup::is_session_id(*here.machine)));
    constexpr auto other_boot = "00000000-0000-0000-0000-000000000000";
    lay("aaaaaaaaaaaa", other_boot, "ffffffffffff"); // its session may live, and nobody here sees its lock
    lay("bbbbbbbbbbbb", other_boot, here.machine);
    lay("cccccccccccc", here.boot_id.c_str(), "ffffffffffff"); // another node name, as in a container: the same kernel, and its lock is seen
    lay("dddddddddddd", other_boot, std::nullopt); // an older version's
    put(data / "leases/.eeeeeeeeeeee.ffffffffffff.new", "");
    std::vector<std::string> stuck;
    CHECK(sweep_leases(data.path(), stuck) == 3);
    CHECK(stuck.empty());
    CHECK(names(data / "leases") == std::vector<std::string>{".eeeeeeeeeeee.ffffffffffff.new", "aaaaaaaaaaaa"});
}

TEST_CASE("files that are no lease are left alone and named") {
    folder data;
    { (void)held_lease::take(data.path(), new_lease(id)); }
    auto const good = sb::json::line(new_lease(id));
    put(data / "leases/notes", "mine");
    put(data / "leases/aaaaaaaaaaaa", "");
    put(data / "leases/bbbbbbbbbbbb", "{\"kind\":\"run\"}\n");
    put(data / "leases/cccccccccccc", good); // of another name
    REQUIRE(::symlink("/etc/passwd", (data / "leases/dddddddddddd").c_str()) == 0);
    REQUIRE(::mkfifo((data / "leases/eeeeeeeeeeee").c_str(), 0600) == 0);
    REQUIRE(::mkdir((data / "leases/ffffffffffff").c_str(), 0700) == 0);
    auto const before = names(data / "leases");
    std::vector<std::string> stuck;
    CHECK(sweep_leases(data.path(), stuck) == 0);
    CHECK(names(data / "leases") == before);
    CHECK(stuck.size() == 7);
    for (auto const& line : stuck) CHECK(line.ends_with("; not removed"));
    CHECK(std::any_of(stuck.begin(), stuck.end(), [&](auto const& l) { return l == data / "leases/notes: not a lease; not removed"; }));
}

TEST_CASE("a lease that names a folder which holds no control groups touches nothing there") {
    folder data, other;
    auto terms = new_lease(id);
    terms.cgroups = {other.path()};
    REQUIRE(::mkdir((other / "sandbench-0123456789ab").c_str(), 0700) == 0);
    leave(data, terms);
    std::vector<std::string> stuck;
    CHECK(sweep_leases(data.path(), stuck) == 0);
    CHECK(stuck == std::vector<std::string>{other.path() + ": not a control group folder, left alone"});
    CHECK(exists(other / "sandbench-0123456789ab"));
    CHECK(exists(data / "leases/0123456789ab")); // found again next time
    ::rmdir((other / "sandbench-0123456789ab").c_str());
}

TEST_CASE("a lease cut at any byte is left alone and named, and the whole one is done with") {
    folder data;
    auto const whole = sb::json::line(new_lease(id));
    { (void)held_lease::take(data.path(), new_lease(id)); }
    for (std::size_t n = 0; n + 1 < whole.size(); ++n) {
        put(data / "leases/0123456789ab", whole.substr(0, n));
        std::vector<std::string> stuck;
        CHECK(sweep_leases(data.path(), stuck) == 0);
        CHECK(stuck.size() == 1);
    }
    for (auto const cut : {whole.size() - 1, whole.size()}) {
        put(data / "leases/0123456789ab", whole.substr(0, cut));
        std::vector<std::string> stuck;
        CHECK(sweep_leases(data.path(), stuck) == 1);
        CHECK(stuck.empty());
    }
}

TEST_CASE("a lease that was never named is removed when its maker is dead, at whatever byte") {
    folder data;
    { (void)held_lease::take(data.path(), new_lease(id)); }
    for (auto const* text : {"", "{\"kind\":\"le"})
        for (auto const& name : {std::string{".0123456789ab.new"}, sb::cat(".0123456789ab.", *new_lease(id).machine, ".new")}) {
            put(data / "leases" + "/" + name, text);
            std::vector<std::string> stuck;
            CHECK(sweep_leases(data.path(), stuck) == 0);
            CHECK(stuck.empty());
            CHECK(names(data / "leases").empty());
        }
}

TEST_CASE("sessions killed at any time leave nothing that a sweep does not take away, while others sweep too") {
    folder data;
    for (int round = 0; round < 60; ++round) {
        auto const own = sb::cgroup::random_id();
        auto const owner = ::fork();
        if (owner == 0) {
            for (;;) {
                auto lease = held_lease::take(data.path(), new_lease(own));
                if (lease.has_error() || lease->give_back().has_error()) ::_exit(1);
            }
        }
        auto const sweeper = ::fork();
        if (sweeper == 0) {
            std::vector<std::string> stuck;
            while (stuck.empty()) sweep_leases(data.path(), stuck);
            ::_exit(1);
        }
        timespec const time{0, 100'000 + round * 37'000}; // what is tested is the kill at some moment or other
        ::nanosleep(&time, nullptr);
        int status = 0;
        ::kill(owner, SIGKILL), ::waitpid(owner, &status, 0);
        CHECK(WIFSIGNALED(status)); // it did not fail before
        ::kill(sweeper, SIGKILL), ::waitpid(sweeper, &status, 0);
        CHECK(WIFSIGNALED(status));
        std::vector<std::string> stuck;
        sweep_leases(data.path(), stuck);
        CHECK(stuck.empty());
        if (exists(data / "leases")) CHECK(names(data / "leases").empty());
    }
}

TEST_CASE("a lease is taken in no folder that others could exchange, and nothing that lies there is believed") {
    folder top;
    auto const data = top / "data", open = top / "open";
    auto terms = new_lease(id);
    terms.uid = 12345;
    {
        auto lease = held_lease::take(data, terms);
        REQUIRE_FALSE(lease.has_error());
        lease->leave();
    }
    CHECK(sb::local::leased_users(data).size() == 1);
    REQUIRE((::mkdir(open.c_str(), 0700) == 0 && ::chmod(open.c_str(), 0777) == 0));
    auto const refused = held_lease::take(open, terms);
    REQUIRE(refused.has_error());
    CHECK(refused.error().on == sb::blame::caller);
    CHECK(refused.error().what == "data folder " + open + ": is writable by everybody and is not sticky; choose another with --data-dir DIR or SANDBOX_DATA_DIR=DIR");
    CHECK(names(open).empty());
    REQUIRE(::rename((data + "/leases").c_str(), (open + "/leases").c_str()) == 0);
    std::vector<std::string> stuck;
    CHECK(sb::local::leased_users(open).empty());
    CHECK(sweep_leases(open, stuck) == 0);
    CHECK(exists(open + "/leases/0123456789ab"));
    REQUIRE(::chmod(open.c_str(), 0700) == 0);
    CHECK(sweep_leases(open, stuck) == 1);
    CHECK(stuck.empty());
}
