// SPDX-License-Identifier: MIT
// What an allowed system call may not be asked, instruction by instruction.
//
// Each rule names a call, looks at one 32-bit half of one argument, and either answers with an errno or lets the call go
// on to the next rule. What the kernel takes as 32 bits is compared as 32 bits: a comparison of 64 would be evaded by
// setting a bit that the kernel does not look at (CVE-2019-10063).
#pragma once
#include <sb/isolate/security_level.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <endian.h>
#include <fcntl.h>
#include <linux/in6.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <vector>

namespace sb::isolate::detail {

/// One half of an argument, under a mask.
struct argument {
    unsigned index;
    std::uint32_t mask = ~std::uint32_t{0};
    bool high = false;

    std::uint32_t offset() const noexcept {
        bool const second = high == (__BYTE_ORDER == __LITTLE_ENDIAN);
        return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * index + (second ? 4 : 0);
    }
};

/// Rules on their way to instructions, those of each call by themselves.
class argument_rules {
public:
    /// Applies a rule only where an argument has this value.
    struct only {
        argument where;
        std::uint32_t is;
    };

    /// Answers `code` unless the argument is one of the values.
    void one_of(long call, argument which, std::vector<std::uint32_t> const& values, int code, std::vector<only> const& when = {}) {
        begin(call, when, cost_of(which) + values.size() + 1);
        load(which);
        for (std::size_t i = 0; i < values.size(); ++i) emit(BPF_JMP | BPF_JEQ | BPF_K, values[i], values.size() - i, 0);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Answers `code` where the argument is one of the values.
    void none_of(long call, argument which, std::vector<std::uint32_t> const& values, int code, std::vector<only> const& when = {}) {
        begin(call, when, cost_of(which) + values.size() + 2);
        load(which);
        for (std::size_t i = 0; i < values.size(); ++i) emit(BPF_JMP | BPF_JEQ | BPF_K, values[i], values.size() - i, 0);
        emit(BPF_JMP | BPF_JA, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Answers `code` where any of the bits is set.
    void no_bit_of(long call, unsigned index, std::uint32_t bits, int code) {
        begin(call, {}, cost_of({index}) + 2);
        load({index});
        emit(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Answers `code` always.
    void never(long call, int code) {
        begin(call, {}, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }

    /// The calls that have rules, with what decides on them; what passes goes on behind the last instruction.
    std::map<std::uint32_t, std::vector<sock_filter>> const& of_calls() const noexcept { return code_; }

private:
    /// A rule's first lines, which jump over its `length` others when it does not apply.
    void begin(long call, std::vector<only> const& when, std::size_t length) {
        at_ = &code_[static_cast<std::uint32_t>(call)];
        for (auto const& each : when) length += cost_of(each.where) + 1;
        for (auto const& each : when) {
            load(each.where);
            emit(BPF_JMP | BPF_JEQ | BPF_K, each.is, 0, length -= cost_of(each.where) + 1);
        }
    }
    static std::size_t cost_of(argument const& which) noexcept { return which.mask == ~std::uint32_t{0} ? 1 : 2; }
    void load(argument const& which) {
        emit(BPF_LD | BPF_W | BPF_ABS, which.offset());
        if (which.mask != ~std::uint32_t{0}) emit(BPF_ALU | BPF_AND | BPF_K, which.mask);
    }
    void emit(int code, std::uint32_t k, std::size_t yes = 0, std::size_t no = 0) { // rules are short: a jump has 8 bits
        at_->push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(yes), static_cast<std::uint8_t>(no), k});
    }
    std::map<std::uint32_t, std::vector<sock_filter>> code_;
    std::vector<sock_filter>* at_ = nullptr; // of the rule at hand
};

/// The rules of a level. `key`: see make_filter.
inline argument_rules rules_for_arguments(security_level const& level, std::uint64_t key) {
    argument_rules rules;

    // New namespaces: none. 0x80 is CLONE_NEWTIME; in clone it is a part of the signal's number that no signal needs.
    constexpr std::uint32_t new_namespaces =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80;
    rules.no_bit_of(SYS_clone, 0, new_namespaces, EPERM);
    rules.no_bit_of(SYS_unshare, 0, new_namespaces, EPERM);
    if (key != 0) {
        rules.one_of(SYS_clone3, {5}, {static_cast<std::uint32_t>(key)}, ENOSYS);
        rules.one_of(SYS_clone3, {5, ~std::uint32_t{0}, true}, {static_cast<std::uint32_t>(key >> 32)}, ENOSYS);
    }

    // Process 1 is the sandbox's, of the payload's user, and the next run inherits what it has: nobody else sets its limits,
    // processors and priorities. "All processes of a user" would be it too, and "group 1" is its group, which nobody joins.
    for (long const call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr}) rules.none_of(call, {0}, {1}, EPERM);
    for (long const call : {SYS_setpriority, SYS_ioprio_set, SYS_setpgid}) rules.none_of(call, {1}, {1}, EPERM);
    constexpr std::uint32_t ioprio_who_user = 3;
    rules.none_of(SYS_setpriority, {0}, {PRIO_USER}, EPERM);
    rules.none_of(SYS_ioprio_set, {0}, {ioprio_who_user}, EPERM);

    // Typing at a terminal (TIOCSTI, and TIOCLINUX's paste), and line disciplines: drivers loaded on demand. TIOCSCTTY stays:
    // the kernel lets nobody take a terminal that another session has, and pty programs need it for their own.
    rules.none_of(SYS_ioctl, {1}, {TIOCSTI, TIOCLINUX, TIOCSETD}, EPERM);

    // A lease on a file makes whoever opens it wait, outside too; a notice of changes tells of them, outside too.
    rules.none_of(SYS_fcntl, {1}, {F_SETLEASE, F_NOTIFY}, EPERM);

    // Fixed addresses weaken the payload alone, and debuggers and thread sanitizers ask for them; all else (readable means
    // executable, other calls' tables) is refused. The last value only asks.
    rules.one_of(SYS_personality, {0}, {0, ADDR_NO_RANDOMIZE, ~std::uint32_t{0}}, EPERM);

    std::vector<std::uint32_t> families;
    if (level.unix_sockets) families.push_back(AF_UNIX);
    if (level.network) families.insert(families.end(), {AF_INET, AF_INET6});
    if (level.netlink || level.route_netlink) families.push_back(AF_NETLINK);
    rules.one_of(SYS_socket, {0}, families, EAFNOSUPPORT);
    rules.one_of(SYS_socketpair, {0}, {AF_UNIX}, EAFNOSUPPORT);
    // Streams and datagrams of the protocols that everyone needs: no raw socket, no module loaded on demand.
    constexpr std::uint32_t type_bits = 0xf; // the rest are flags
    for (std::uint32_t const family : {std::uint32_t{AF_INET}, std::uint32_t{AF_INET6}}) {
        rules.one_of(SYS_socket, {1, type_bits}, {SOCK_STREAM, SOCK_DGRAM}, EPERM, {{{0}, family}});
        rules.one_of(SYS_socket, {2}, {0, IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6}, EPROTONOSUPPORT, {{{0}, family}});
    }
    if (!level.netlink) rules.one_of(SYS_socket, {2}, {0}, EPROTONOSUPPORT, {{{0}, AF_NETLINK}}); // NETLINK_ROUTE
    // A flow label stays with the network for a minute after its socket, and the next run would find it taken.
    rules.none_of(SYS_setsockopt, {2}, {IPV6_FLOWLABEL_MGR}, EPERM, {{{1}, IPPROTO_IPV6}});

    if (!level.makes_code) {
        rules.none_of(SYS_mmap, {2, PROT_WRITE | PROT_EXEC}, {PROT_WRITE | PROT_EXEC}, EACCES);
        rules.no_bit_of(SYS_mprotect, 2, PROT_EXEC, EACCES);
        rules.no_bit_of(SYS_pkey_mprotect, 2, PROT_EXEC, EACCES);
        rules.never(SYS_memfd_create, EACCES); // written through one mapping, executed through another
    } else if (!level.runs_what_it_made) { // a file in memory lies on no mount whose flag could say no; MFD_NOEXEC_SEAL does
        constexpr std::uint32_t noexec_seal = 8;
        rules.one_of(SYS_memfd_create, {1, noexec_seal}, {noexec_seal}, EACCES);
    }
    return rules;
}

} // namespace sb::isolate::detail
