// SPDX-License-Identifier: MIT
// Levels as documented steps: each takes something away, and what it says of a payload is so.
#include "support/catch.hpp"
#include "support/child.hpp"
#include <sb/core/fd.hpp>
#include <sb/filter/filter.hpp>
#include <sb/filter/levels.hpp>
#include <linux/netlink.h>
#include <map>
#include <set>
#include <string>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/socket.h>

using namespace sb::filter;
using namespace sb::test;

namespace {

long socket_of(int family, int type, int protocol) { return ::syscall(SYS_socket, family, type, protocol); }

/// A call that works where the permission is granted; made in a child.
std::map<std::string, long (*)()> const attempts{
    {"tracing", [] { return static_cast<long>(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }},
    {"own filters", [] {
         sock_filter all{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
         sock_fprog const program{1, &all};
         return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -1 : ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
     }},
    {"netlink", [] { return socket_of(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT); }},
    {"interfaces", [] { return socket_of(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE); }},
    {"ipc", [] { int const queue = ::msgget(IPC_PRIVATE, 0600); return static_cast<long>(queue < 0 ? queue : ::msgctl(queue, IPC_RMID, nullptr)); }},
    {"own programs", [] { return static_cast<long>(::memfd_create("program", 0)); }},
    {"code at run time", [] { return reinterpret_cast<long>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }},
    {"network", [] { return socket_of(AF_INET6, SOCK_STREAM, IPPROTO_TCP) < 0 ? -1 : socket_of(AF_INET, SOCK_DGRAM, 0); }},
    {"unix sockets", [] { return socket_of(AF_UNIX, SOCK_STREAM, 0); }},
};

} // namespace

TEST_CASE("the levels are numbered from one to five, three is the default, and each has a name of its own") {
    std::set<std::string> names;
    for (int number = 1; number <= 5; ++number) {
        CHECK(level_of(number).number == number);
        names.insert(level_of(number).name);
    }
    CHECK(names.size() == 5);
    CHECK(default_level == 3);
    CHECK(level_of(0).number == 1);
    CHECK(level_of(6).number == 5);
    CHECK(level_of(-2147483647).number == 1);
}

TEST_CASE("each level takes something away from the one before and gives nothing back") {
    for (int number = 2; number <= 5; ++number) {
        int lost = 0, gained = 0;
        for (auto const& each : permissions) {
            lost += level_of(number - 1).*each.granted && !(level_of(number).*each.granted);
            gained += !(level_of(number - 1).*each.granted) && level_of(number).*each.granted;
        }
        CAPTURE(number);
        CHECK(lost > 0);
        CHECK(gained == 0);
    }
}

TEST_CASE("the table has a row for every member of a level") {
    security_level marked{};
    for (auto const& each : permissions) marked.*each.granted = true;
    // a member more than these does not compile, and one without a row is false
    auto const& [number, name, traces, filters, netlink, route, ipc, runs, proc, code, network, unix_sockets] = marked;
    CHECK((number == 0 && !name && traces && filters && netlink && route && ipc && runs && proc && code && network && unix_sockets));
    auto const rows = level_rows();
    REQUIRE(rows.size() == permissions.size() + 1);
    for (auto const& row : rows) CHECK(row.size() == 7);
    CHECK(rows[0][3] == "3 standard");
    CHECK(rows[1][0] == "tracing");
    CHECK((rows[1][1] == "yes" && rows[1][2] == "no"));
}

TEST_CASE("the manual shows this table") {
    std::string table;
    for (auto const& row : level_rows()) {
        bool const heading = table.empty();
        table += "|";
        for (auto const& each : row) table += " " + each + " |";
        table += "\n";
        if (!heading) continue;
        table += "|";
        for (std::size_t i = 0; i < row.size(); ++i) table += " --- |";
        table += "\n";
    }
    auto const manual = sb::read_file(SB_SOURCE_DIR + "/tools/sb-exec.md");
    REQUIRE(manual.has_value());
    INFO("it should be, in tools/sb-exec.md:\n" << table);
    CHECK(manual->find("\n\n" + table + "\n") != std::string::npos);
}

TEST_CASE("what a level's row says the filter really does, and without the filter each attempt works") {
    for (auto const& each : permissions) {
        if (each.by == enforcer::mount) continue; // tested where mounts are made
        CAPTURE(each.name);
        REQUIRE(attempts.count(each.name) == 1);
        auto const attempt = attempts.at(each.name);
        if (int const code = in_child(attempt); code != 0) {
            WARN(each.name << ": skipped: this host refuses it by itself: " << std::strerror(code));
            continue;
        }
        for (auto const& level : security_levels) {
            auto const filter = make_filter(level);
            REQUIRE(filter.has_value());
            CAPTURE(level.number);
            auto const code = in_child([&] { return install(*filter); }, attempt);
            if (level.*each.granted) CHECK(code == 0);
            else CHECK((code == EPERM || code == ENOSYS || code == EACCES || code == EAFNOSUPPORT || code == EPROTONOSUPPORT || code == EINVAL));
        }
    }
}
