// SPDX-License-Identifier: MIT
// What an allowed system call may not ask for, instruction by instruction.
//
// Each rule names a call and looks at one 32-bit half of one argument. It either answers with an errno (0: success, although
// nothing was done) or lets the call go on to the next rule. What the kernel takes as 32 bits is compared as 32 bits: a
// program could evade a comparison of 64 bits by setting a bit that the kernel ignores (CVE-2019-10063). A size has 64 bits,
// and both halves are compared.
#pragma once
#include <sb/filter/levels.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <endian.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/in6.h>
#include <linux/seccomp.h>
#include <map>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <vector>

namespace sb::filter {

/// What a filter depends on besides the level.
struct filter_place {
    std::uint64_t clone_key = 0; ///< see make_filter
    bool host_writable = false; ///< the payload sees something of the host that it may write to
};

namespace detail {

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

/// Rules on their way to instructions, separately for each call.
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
    /// Answers `code` if the argument is one of the values.
    void none_of(long call, argument which, std::vector<std::uint32_t> const& values, int code, std::vector<only> const& when = {}) {
        begin(call, when, cost_of(which) + values.size() + 1);
        load(which);
        auto const last = values.size() - 1;
        for (std::size_t i = 0; i < last; ++i) emit(BPF_JMP | BPF_JEQ | BPF_K, values[i], last - i, 0);
        emit(BPF_JMP | BPF_JEQ | BPF_K, values[last], 0, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Answers `code` if any of the bits is set.
    void no_bit_of(long call, unsigned index, std::uint32_t bits, int code, std::vector<only> const& when = {}) {
        begin(call, when, cost_of({index}) + 2);
        load({index});
        emit(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Answers `code` if the argument is from `first` to `last`.
    void none_from(long call, argument which, std::uint32_t first, std::uint32_t last, int code, std::vector<only> const& when = {}) {
        begin(call, when, cost_of(which) + 3);
        load(which);
        emit(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2);
        emit(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Answers `code` if an argument that the kernel takes as 64 bits is more than `most`.
    void at_most(long call, unsigned index, std::uint64_t most, int code) {
        begin(call, {}, 6);
        load({index, ~std::uint32_t{0}, true});
        emit(BPF_JMP | BPF_JGT | BPF_K, static_cast<std::uint32_t>(most >> 32), 3, 0);
        emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(most >> 32), 0, 3);
        load({index});
        emit(BPF_JMP | BPF_JGT | BPF_K, static_cast<std::uint32_t>(most), 0, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }
    /// Always answers `code`.
    void never(long call, int code) {
        begin(call, {}, 1);
        emit(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code));
    }

    /// The calls that have rules, with the instructions that decide on them. A call that passes continues behind the last
    /// instruction.
    std::map<std::uint32_t, std::vector<sock_filter>> const& of_calls() const noexcept { return code_; }

private:
    /// A rule's first instructions, which skip its other `length` instructions when it does not apply.
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
    std::vector<sock_filter>* at_ = nullptr; // of the current rule
};

// Older headers may not have these numbers; they are the same for all architectures that we are built for.
inline constexpr long call_fchmodat2 = 452;
inline constexpr std::uint32_t so_attach_bpf = 50, so_attach_reuseport_cbpf = 51, so_attach_reuseport_ebpf = 52, so_cookie = 57, so_netns_cookie = 71,
                               so_timestamping = 37, so_timestamping_64 = 65, so_zerocopy = 60, udp_encap = 100, udp_gro = 104;
inline constexpr std::uint32_t tcp_md5sig = 14, tcp_ulp = 31, tcp_md5sig_ext = 32, tcp_ao_first = 38, tcp_ao_last = 42;
inline constexpr std::uint32_t madv_mergeable = 12, pr_sched_core = 62, pr_set_memory_merge = 67, f_setdeleg = 1040, fs_ioc_fiemap = 0xc020660b, ext4_ioc_es_cache = 0xc020662a;
inline constexpr std::uint32_t mfd_noexec_seal = 8, mfd_hugetlb = 4, madv_cold = 20, madv_pageout = 21, rename_whiteout = 4;

/// Refuses what uses up resources of the whole host, or reads facts about it, that no control group counts or hides.
inline void hold_what_all_share(argument_rules& rules, security_level const& level) {
    // Programs of socket filters are compiled into a pool of memory for the whole host; when it is used up, nobody can
    // filter anything. System-call filters come from that pool too: seven of the longest in each of 1024 processes take a
    // quarter of it. The answer is that of a kernel without filters. Programs that only want to be safer accept it.
    rules.none_of(SYS_setsockopt, {2}, {SO_ATTACH_FILTER, so_attach_bpf, so_attach_reuseport_cbpf, so_attach_reuseport_ebpf}, EPERM, {{{1}, SOL_SOCKET}});
    if (!level.filters_calls) {
        rules.none_of(SYS_seccomp, {0}, {SECCOMP_SET_MODE_FILTER}, EINVAL);
        rules.none_of(SYS_prctl, {1}, {SECCOMP_MODE_FILTER}, EINVAL, {{{0}, PR_SET_SECCOMP}});
    }

    // Joining a multicast group, leaving one and asking for its sources takes the lock of all networks of the host, for
    // members and for others. So does IPV6_ADDRFORM.
    rules.none_from(SYS_setsockopt, {2}, IP_ADD_MEMBERSHIP, MCAST_MSFILTER, ENODEV, {{{1}, IPPROTO_IP}});
    rules.none_from(SYS_setsockopt, {2}, MCAST_JOIN_GROUP, MCAST_MSFILTER, ENODEV, {{{1}, IPPROTO_IPV6}});
    rules.none_of(SYS_setsockopt, {2}, {IPV6_ADD_MEMBERSHIP, IPV6_DROP_MEMBERSHIP, IPV6_JOIN_ANYCAST, IPV6_LEAVE_ANYCAST}, ENODEV, {{{1}, IPPROTO_IPV6}});
    for (std::uint32_t const family : {std::uint32_t{IPPROTO_IP}, std::uint32_t{IPPROTO_IPV6}})
        rules.none_of(SYS_getsockopt, {2}, {IP_MSFILTER, MCAST_MSFILTER}, EADDRNOTAVAIL, {{{1}, family}});
    // A flow label stays with the network for a minute after its socket is closed, and the next run would find it taken.
    rules.none_of(SYS_setsockopt, {2}, {IPV6_ADDRFORM, IPV6_FLOWLABEL_MGR}, EPERM, {{{1}, IPPROTO_IPV6}});
    // TCP keys and ciphers are kept in memory that no group counts, and may load modules. UDP encapsulation and joined
    // packets make the kernel patch its own code on all processors.
    rules.none_of(SYS_setsockopt, {2}, {tcp_md5sig, tcp_ulp, tcp_md5sig_ext}, ENOPROTOOPT, {{{1}, IPPROTO_TCP}});
    rules.none_from(SYS_setsockopt, {2}, tcp_ao_first, tcp_ao_last, ENOPROTOOPT, {{{1}, IPPROTO_TCP}});
    for (std::uint32_t const family : {std::uint32_t{IPPROTO_UDP}, std::uint32_t{IPPROTO_UDPLITE}}) rules.none_of(SYS_setsockopt, {2}, {udp_encap, udp_gro}, ENOPROTOOPT, {{{1}, family}});
    // What waits in a socket's error queue is counted for no protocol, and can be as much as a whole buffer. Resolvers ask
    // for errors and give up if they are refused, so the answer is success.
    rules.none_of(SYS_setsockopt, {2}, {so_timestamping, so_timestamping_64, so_zerocopy}, ENOPROTOOPT, {{{1}, SOL_SOCKET}});
    rules.none_of(SYS_setsockopt, {2}, {IP_RECVERR}, 0, {{{1}, IPPROTO_IP}});
    rules.none_of(SYS_setsockopt, {2}, {IPV6_RECVERR}, 0, {{{1}, IPPROTO_IPV6}});
    // Numbers that the kernel counts for the whole host.
    rules.none_of(SYS_getsockopt, {2}, {so_cookie, so_netns_cookie}, ENOPROTOOPT, {{{1}, SOL_SOCKET}});

    // An access control list is an attribute, and the kernel keeps it in memory that no group counts: up to 64 KiB per file.
    // A file system with less room for attributes gives the same answer.
    constexpr std::uint64_t longest_attribute = 1024;
    for (long const call : {SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr}) rules.at_most(call, 3, longest_attribute, E2BIG);

    // A user has a limited number of pages for pipes. When they are used up, the user's new pipes are small. The answer is
    // that for exceeding this quota.
    constexpr std::uint32_t usual_pipe = 64 << 10;
    rules.none_from(SYS_fcntl, {2}, usual_pipe + 1, ~std::uint32_t{0}, EPERM, {{{1}, F_SETPIPE_SZ}});

    // Huge pages are a pool of the host, separate from its memory.
    rules.no_bit_of(SYS_memfd_create, 1, mfd_hugetlb, EINVAL);
    rules.no_bit_of(SYS_mmap, 3, MAP_HUGETLB, ENOMEM);
    if (level.ipc_objects) {
        constexpr std::uint32_t shm_hugetlb = 04000;
        rules.no_bit_of(SYS_shmget, 2, shm_hugetlb, EPERM);
    }

    // All processes share the cache of the host's files: when one drops pages, all others must read them again, and the
    // cached pages show what was read. The kernel may ignore advice. Reading only what is cached, or dropping it afterwards,
    // is something that not every file system supports.
    rules.none_of(SYS_fadvise64, {3}, {POSIX_FADV_DONTNEED}, 0);
    constexpr std::uint32_t usual_flags = 0x37; // RWF_HIPRI, DSYNC, SYNC, APPEND, NOAPPEND
    for (long const call : {SYS_preadv2, SYS_pwritev2}) rules.no_bit_of(call, 5, ~usual_flags, EOPNOTSUPP);
    // Merging pages with equal pages of others shows, by timing, that such pages exist.
    rules.none_of(SYS_madvise, {2}, {madv_cold, madv_pageout, madv_mergeable}, EINVAL);
    if (level.traces) rules.none_of(SYS_process_madvise, {3}, {madv_cold, madv_pageout, madv_mergeable}, EINVAL);
    // No payload may reserve a core of the host for itself either (PR_SCHED_CORE).
    rules.none_of(SYS_prctl, {0}, {pr_sched_core, pr_set_memory_merge}, EINVAL);
}

/// Refuses what would outlive the run as more than a plain file.
inline void leave_plain_files(argument_rules& rules, bool host_writable) {
    // a device 0:0 needs no right, and hides what is below it when the folder becomes part of an overlay
    rules.no_bit_of(SYS_renameat2, 4, rename_whiteout, EPERM);
    auto const plain = [&](long call, unsigned index) { rules.none_of(call, {index, S_IFMT}, {S_IFCHR, S_IFBLK}, EPERM); };
    plain(SYS_mknodat, 2);
#ifdef SYS_mknod
    plain(SYS_mknod, 1);
#endif
    // In the workspace those bits disappear with it, and builds need them. In a binding the files belong to the caller, or
    // to the payload's user.
    if (!host_writable) return;
    constexpr std::uint32_t set_ids = S_ISUID | S_ISGID, nameless = O_TMPFILE & ~O_DIRECTORY;
    auto const harmless = [&](long call, unsigned index) { rules.no_bit_of(call, index, set_ids, EPERM); };
    auto const opens = [&](long call, unsigned index) { // a mode that the kernel ignores may be anything
        for (std::uint32_t const makes : {std::uint32_t{O_CREAT}, std::uint32_t{nameless}}) rules.no_bit_of(call, index, set_ids, EPERM, {{{index - 1, makes}, makes}});
    };
    harmless(SYS_fchmod, 1), harmless(SYS_fchmodat, 2), harmless(call_fchmodat2, 2), harmless(SYS_mknodat, 2);
    opens(SYS_openat, 3);
#ifdef SYS_open
    harmless(SYS_chmod, 1), harmless(SYS_creat, 1), harmless(SYS_mknod, 1);
    opens(SYS_open, 2);
#endif
    rules.never(SYS_openat2, ENOSYS); // its mode is in memory
}

/// The rules of a level.
inline argument_rules rules_for_arguments(security_level const& level, filter_place const& at) {
    argument_rules rules;
    auto const key = at.clone_key;

    // No new namespaces. 0x80 is CLONE_NEWTIME; in clone it is a bit of the signal number that no signal needs.
    constexpr std::uint32_t new_namespaces =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80;
    rules.no_bit_of(SYS_clone, 0, new_namespaces, EPERM);
    rules.no_bit_of(SYS_unshare, 0, new_namespaces, EPERM);
    // A thread shares its process's table of open files, so one look shows everything that the process has open.
    rules.one_of(SYS_clone, {0, CLONE_THREAD | CLONE_FILES}, {0, CLONE_FILES, CLONE_THREAD | CLONE_FILES}, EPERM);
    rules.no_bit_of(SYS_unshare, 0, CLONE_FILES, EPERM);
    rules.no_bit_of(SYS_close_range, 2, CLOSE_RANGE_UNSHARE, EINVAL);
    if (key != 0) {
        rules.one_of(SYS_clone3, {5}, {static_cast<std::uint32_t>(key)}, ENOSYS);
        rules.one_of(SYS_clone3, {5, ~std::uint32_t{0}, true}, {static_cast<std::uint32_t>(key >> 32)}, ENOSYS);
    }

    // Process 1 belongs to the sandbox and runs as the payload's user, and the next run inherits its state. So no payload
    // sets its limits, processors and priorities. "All processes of a user" would include it, and "group 1" is its group,
    // which nobody joins.
    for (long const call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr}) rules.none_of(call, {0}, {1}, EPERM);
    for (long const call : {SYS_setpriority, SYS_ioprio_set, SYS_setpgid}) rules.none_of(call, {1}, {1}, EPERM);
    constexpr std::uint32_t ioprio_who_user = 3;
    rules.none_of(SYS_setpriority, {0}, {PRIO_USER}, EPERM);
    rules.none_of(SYS_ioprio_set, {0}, {ioprio_who_user}, EPERM);

    // Typing at a terminal (TIOCSTI, and TIOCLINUX's paste), and line disciplines, which are drivers loaded on demand.
    // TIOCSCTTY stays allowed: the kernel lets nobody take a terminal of another session, and pty programs need it for their
    // own.
    rules.none_of(SYS_ioctl, {1}, {TIOCSTI, TIOCLINUX, TIOCSETD}, EPERM);
    // Asking where a file lies can write the file to the disk first.
    if (!at.host_writable) rules.none_of(SYS_ioctl, {1}, {fs_ioc_fiemap, ext4_ioc_es_cache}, EOPNOTSUPP);

    // A lease on a file makes other processes wait when they open it, also outside. A notice of changes reports changes made
    // outside too.
    rules.none_of(SYS_fcntl, {1}, {F_SETLEASE, F_NOTIFY, f_setdeleg}, EPERM);

    // Fixed addresses weaken only the payload, and debuggers and thread sanitizers ask for them. All else (readable means
    // executable, other calls' tables) is refused. The last value only reads the setting.
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

    // If a program of the host receives cores, it gets them whatever the limit is, unless the limit is 1. So the limit stays
    // 1. A program with secrets asks for no core, and gets what it meant.
    rules.none_of(SYS_setrlimit, {0}, {RLIMIT_CORE}, 0);
    for (bool const high : {false, true}) rules.one_of(SYS_prlimit64, {2, ~std::uint32_t{0}, high}, {0}, 0, {{{1}, RLIMIT_CORE}}); // no new limit

    hold_what_all_share(rules, level);
    leave_plain_files(rules, at.host_writable);

    if (!level.makes_code) {
        rules.none_of(SYS_mmap, {2, PROT_WRITE | PROT_EXEC}, {PROT_WRITE | PROT_EXEC}, EACCES);
        rules.no_bit_of(SYS_mprotect, 2, PROT_EXEC, EACCES);
        rules.no_bit_of(SYS_pkey_mprotect, 2, PROT_EXEC, EACCES);
        rules.never(SYS_memfd_create, EACCES); // written through one mapping, executed through another
    } else if (!level.runs_what_it_made) { // a file in memory is on no mount whose flag could forbid it; MFD_NOEXEC_SEAL does
        rules.one_of(SYS_memfd_create, {1, mfd_noexec_seal}, {mfd_noexec_seal}, EACCES);
    }
    return rules;
}

} // namespace detail
} // namespace sb::filter
