// SPDX-License-Identifier: MIT
// Five levels of strictness. Each takes something away from the one before.
//
// Things that no level grants are in no table: other namespaces, mounts, keys, modules, bpf, raw sockets, io_uring and the
// rest of syscall_list.hpp. Only the table below grants a permission; filter, mounts and Landlock read it.
#pragma once
#include <array>
#include <string>
#include <vector>

namespace sb::filter {

/// What a payload may do at one level.
struct security_level {
    int number;
    char const* name;
    bool traces; ///< ptrace and similar calls, within the run's own tree
    bool filters_calls; ///< seccomp filters of its own
    bool netlink; ///< AF_NETLINK of every protocol
    bool route_netlink; ///< AF_NETLINK of protocol 0: lists interfaces and addresses
    bool ipc_objects; ///< System V ipc and POSIX message queues
    bool runs_what_it_made; ///< files that the run wrote may be executed
    bool whole_proc; ///< /proc with more than the run's own processes (still masked and read-only)
    bool makes_code; ///< memory that was writable may become executable
    bool network; ///< AF_INET and AF_INET6, on the interfaces that the run has
    bool unix_sockets; ///< AF_UNIX by name; socketpair is always allowed
};

inline constexpr int lowest_level = 1, default_level = 3, highest_level = 5;

inline constexpr std::array<security_level, 5> security_levels{{
    // traces filter netlink route  ipc    runs   proc   code   network unix
    {1, "debug", true, true, true, true, true, true, true, true, true, true},
    {2, "build", false, true, true, true, true, true, true, true, true, true},
    {3, "standard", false, false, false, true, true, true, true, true, true, true},
    {4, "strict", false, false, false, false, false, false, false, true, true, true},
    {5, "compute", false, false, false, false, false, false, false, false, false, false},
}};

/// The level of this number; a number out of range gives the nearest level.
constexpr security_level const& level_of(int number) noexcept {
    auto const inside = number < lowest_level ? lowest_level : number > highest_level ? highest_level : number;
    return security_levels[static_cast<std::size_t>(inside - lowest_level)];
}

/// What enforces a missing permission: the filter of system calls, the flags of a mount, the rules of Landlock.
enum class enforcer { filter, mount, filter_and_mount, filter_and_landlock };

struct permission {
    bool security_level::*granted;
    enforcer by;
    char const* name;
    char const* what; ///< for the manual
};

inline constexpr std::array<permission, 10> permissions{{
    {&security_level::traces, enforcer::filter, "tracing", "ptrace, process_vm_readv and _writev, kcmp, pidfd_getfd, process_madvise on processes of the same run: debuggers, strace, leak checkers"},
    {&security_level::filters_calls, enforcer::filter, "own filters", "system-call filters of a program's own (seccomp): sandboxes inside the sandbox"},
    {&security_level::netlink, enforcer::filter, "netlink", "AF_NETLINK sockets of every protocol"},
    {&security_level::route_netlink, enforcer::filter, "interfaces", "AF_NETLINK sockets of NETLINK_ROUTE: listing interfaces, addresses and routes"},
    {&security_level::ipc_objects, enforcer::filter, "ipc", "System V shared memory, semaphores and messages; POSIX message queues"},
    {&security_level::runs_what_it_made, enforcer::filter_and_mount, "own programs", "executing files that the run wrote (not: giving them to an interpreter)"},
    {&security_level::whole_proc, enforcer::mount, "whole /proc", "/proc/cpuinfo, meminfo, sys and the like beside the run's own processes"},
    {&security_level::makes_code, enforcer::filter_and_landlock, "code at run time", "memory that is writable and executable, or becomes executable: just-in-time compilers"},
    {&security_level::network, enforcer::filter, "network", "AF_INET and AF_INET6 sockets: TCP, UDP, ping"},
    {&security_level::unix_sockets, enforcer::filter, "unix sockets", "AF_UNIX sockets with a name; a socketpair is always allowed"},
}};

/// One row per permission: its name, "yes" or "no" for each level in order, its meaning. The first row is the heading.
inline std::vector<std::vector<std::string>> level_rows() {
    std::vector<std::vector<std::string>> rows;
    auto& head = rows.emplace_back(std::vector<std::string>{"allows"});
    for (auto const& level : security_levels) head.push_back(std::to_string(level.number) + " " + level.name);
    head.emplace_back("what it is");
    for (auto const& each : permissions) {
        auto& row = rows.emplace_back(std::vector<std::string>{each.name});
        for (auto const& level : security_levels) row.emplace_back(level.*each.granted ? "yes" : "no");
        row.emplace_back(each.what);
    }
    return rows;
}

} // namespace sb::filter
