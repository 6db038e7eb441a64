// SPDX-License-Identifier: MIT
#include "support/one_group.hpp"
#include "support/victim.hpp"
#include <sb/cgroup/cgroup_host.hpp>
#include <algorithm>
#include <set>

using namespace sb::cgroup;
using namespace sb::test;

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

TEST_CASE("ids are twelve hexadecimal digits, and each is another") {
    std::set<std::string> all;
    for (int i = 0; i < 1000; ++i) {
        auto const id = random_id();
        REQUIRE(is_session_id(id));
        all.insert(id);
    }
    CHECK(all.size() == 1000);
}

TEST_CASE("a place that the caller names and that is none is the caller's error") {
    folder const at;
    auto const error = [](std::string const& below) {
        auto const found = cgroup_host::find(random_id(), below);
        REQUIRE(found.has_error());
        CHECK(found.error().on == sb::blame::caller);
        return found.error().what;
    };
    CHECK(error("relative/path") == "--cgroup relative/path: must be an absolute path");
    CHECK(error(at / "missing") == sb::cat("--cgroup ", at / "missing", ": No such file or directory"));
    CHECK(error("/etc/passwd") == "--cgroup /etc/passwd: Not a directory");
    CHECK(error(at.path()) == sb::cat("--cgroup ", at.path(), ": not a control group of version 2"));
}

TEST_CASE("what is about to be used is announced before, and who cannot note it down gets no groups") {
    std::vector<std::string> places;
    {
        auto const host = cgroup_host::announced(random_id(), "", [&](auto const& bases, auto const&) -> sb::result<void> {
            for (auto const& base : bases) places.push_back(base);
            return {};
        });
        REQUIRE_FALSE(host.has_error());
        if (lacks_all(*host)) return;
        for (auto const& base : host->bases()) {
            INFO(base);
            CHECK(std::find(places.begin(), places.end(), base) != places.end());
        }
    }
    auto const id = random_id();
    auto const refused = cgroup_host::announced(id, "", [](auto const&, auto const&) -> sb::result<void> { return sb::system_error("cannot note it down"); });
    REQUIRE(refused.has_error());
    CHECK(refused.error().what == "cannot note it down");
    CHECK(named("/sys/fs/cgroup", id).empty());
}

TEST_CASE("a host that was moved restores once, and its groups carry its id") {
    auto first = groups_here();
    auto const id = first.id();
    CHECK(first.group_name("slot3") == sb::cat(group_prefix, id, ".slot3"));
    CHECK(detail::is_group_of(first.group_name("slot3"), id));
    auto second = std::move(first);
    CHECK(second.id() == id);
    if (!lacks_all(second)) {
        auto const group = sb::cat(second.bases().front(), "/", second.group_name("slot0"));
        REQUIRE(::mkdir(group.c_str(), 0755) == 0);
        CHECK_FALSE(first.restore().has_error()); // it has nothing any more
        CHECK(::access(group.c_str(), F_OK) == 0);
        CHECK_FALSE(second.restore().has_error());
        CHECK(::access(group.c_str(), F_OK) != 0);
    }
    CHECK_FALSE(second.restore().has_error());
    CHECK(named("/sys/fs/cgroup", id).empty());
}

TEST_CASE("kinds of hosts have names, and the kind says which versions there are") {
    CHECK(name_of(cgroup_kind::none) == "none");
    CHECK(name_of(cgroup_kind::v1) == "v1");
    CHECK(name_of(cgroup_kind::v2) == "v2");
    CHECK(name_of(cgroup_kind::hybrid) == "hybrid");
    auto const host = groups_here();
    CHECK((host.kind() == cgroup_kind::v1 || host.kind() == cgroup_kind::hybrid) == !host.v1_bases().empty());
    CHECK((host.kind() == cgroup_kind::v2 || host.kind() == cgroup_kind::hybrid) == !host.v2_base().empty());
    CHECK(host.bases().size() == host.v1_bases().size() + (host.v2_base().empty() ? 0 : 1));
}
