// SPDX-License-Identifier: MIT
// Probes that take what the kernel has only so much of for the whole host and charges to no group, or change what all share: the
// page cache, the disk's queue, files that outlive the run.
#include "probe.hpp"
#include <array>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

namespace probes {
namespace {

// newer than the headers that this is built with may be
constexpr int attach_reuseport_cbpf = 51, attach_reuseport_ebpf = 52, attach_bpf = 50;
constexpr int netns_cookie = 71, mfd_hugetlb = 4, map_hugetlb = 0x40000, shm_hugetlb = 04000, shm_noreserve = 010000;
constexpr int rwf_nowait = 8, rwf_dontcache = 0x80, madv_cold = 20, madv_pageout = 21, rename_whiteout = 4;
constexpr long call_fchmodat2 = 452, call_cachestat = 451;

/// A small file of the host that is seen from inside too and that nobody has mapped: to drop it from memory harms nobody.
std::string host_file() {
    for (char const* const each : {"/usr/share/common-licenses/GPL-3", "/usr/share/common-licenses/GPL-2", "/usr/bin/factor", "/usr/bin/env"})
        if (::access(each, R_OK) == 0) return each;
    return "/proc/self/exe";
}

/// A list of rights that takes so many bytes, with one user over and over.
std::vector<char> long_list(std::size_t bytes) {
    struct entry {
        std::uint16_t tag, rights;
        std::uint32_t id;
    };
    constexpr std::uint16_t owner = 1, user = 2, group = 4, mask = 0x10, other = 0x20;
    std::vector<char> text(bytes);
    std::uint32_t const version = 2;
    std::memcpy(text.data(), &version, sizeof version);
    auto const count = (bytes - sizeof version) / sizeof(entry);
    for (std::size_t i = 0; i < count; ++i) {
        auto const tag = i == 0 ? owner : i + 3 == count ? group : i + 2 == count ? mask : i + 1 == count ? other : user;
        entry const each{tag, 7, tag == user ? ::getuid() : ~std::uint32_t{0}};
        std::memcpy(text.data() + sizeof version + i * sizeof each, &each, sizeof each);
    }
    text.resize(sizeof version + count * sizeof(entry));
    return text;
}

/// A program that lets all pass, after so many instructions.
std::vector<sock_filter> program_of(std::size_t length) {
    std::vector<sock_filter> code(length - 1, sock_filter{BPF_ALU | BPF_XOR | BPF_K, 0, 0, 0x5a5a5a5a});
    code.push_back({BPF_RET | BPF_K, 0, 0, 0x7fff0000}); // SECCOMP_RET_ALLOW; for a socket, all bytes pass
    return code;
}

} // namespace

void jit_budget(words const&, attempts& tried) {
    constexpr unsigned short longest = 4096, longest_before_6_8 = 2048; // of a socket, which has 20 KiB for all options
    auto code = program_of(longest_before_6_8), calls = program_of(longest);
    sock_fprog const program{longest_before_6_8, code.data()}, calls_program{longest, calls.data()};
    constexpr int most = 32; // some 2 MB of 528
    std::vector<int> sockets;
    int refused = 0, attached = 0;
    for (int pair[2]; attached < most && refused == 0;) {
        if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) {
            refused = errno;
            break;
        }
        sockets.insert(sockets.end(), pair, pair + 2);
        if (::setsockopt(pair[0], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) refused = errno;
        else ++attached;
    }
    tried.add("32 socket filters of 2048 instructions", attached == most, refused);
    for (auto const fd : sockets) ::close(fd);
    int const shared = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), yes = 1, none = -1;
    ::setsockopt(shared, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
    tried.call("a filter that chooses among sockets", ::setsockopt(shared, SOL_SOCKET, attach_reuseport_cbpf, &program, sizeof program));
    // they want a program's descriptor; that -1 is none is said to whoever may use one
    tried.reach("an eBPF program on a socket", ::setsockopt(shared, SOL_SOCKET, attach_bpf, &none, sizeof none));
    tried.reach("an eBPF program that chooses among sockets", ::setsockopt(shared, SOL_SOCKET, attach_reuseport_ebpf, &none, sizeof none));
    ::close(shared);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (bool const new_way : {true, false}) {
        int const code_of_end = in_child([&] {
            int filters = 0; // a process may have seven of this size
            while (filters < 7 && (new_way ? ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &calls_program) : ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &calls_program)) == 0) ++filters;
            return filters == 7 ? 0 : errno;
        });
        tried.add(new_way ? "7 system-call filters of 4096 instructions, by seccomp" : "7 system-call filters, by prctl", code_of_end == 0, code_of_end);
    }
}

void attributes(words const& given, attempts& tried) {
    constexpr char const *rights = "system.posix_acl_access", *rights_below = "system.posix_acl_default";
    if (given.does("size")) {
        auto const all = long_list(65532);
        int const fd = ::open("attributed", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        tried.call("64 KiB of rights by setxattr", ::setxattr("attributed", rights, all.data(), all.size(), 0));
        tried.call("64 KiB of rights by lsetxattr", ::lsetxattr("attributed", rights, all.data(), all.size(), 0));
        tried.call("64 KiB of rights by fsetxattr", ::fsetxattr(fd, rights, all.data(), all.size(), 0));
        int const memory = ::memfd_create("sb-probe", MFD_CLOEXEC);
        tried.call("64 KiB of rights on a file in memory", ::fsetxattr(memory, rights, all.data(), all.size(), 0));
        ::close(fd), ::close(memory), ::unlink("attributed");
    }
    if (given.does("number")) { // what a folder can carry within the size: two lists, for which the kernel takes 4 KiB
        auto const most = given.number("count", 20000);
        auto const list = long_list(1020);
        char const* const named = std::getenv("TMPDIR");
        auto const top = std::string{named ? named : "/tmp"} + "/attributed";
        long made = 0;
        int refused = 0;
        if (::mkdir(top.c_str(), 0700) != 0 || ::chdir(top.c_str()) != 0) refused = errno;
        for (; made < most && refused == 0; ++made) {
            auto const name = std::to_string(made);
            if (::mkdir(name.c_str(), 0700) != 0 || ::setxattr(name.c_str(), rights, list.data(), list.size(), 0) != 0 ||
                ::setxattr(name.c_str(), rights_below, list.data(), list.size(), 0) != 0)
                refused = errno;
        }
        tried.add(std::to_string(most) + " folders with 4 KiB that no group counts", refused == 0, refused);
        for (long i = 0; i <= made; ++i) ::rmdir(std::to_string(i).c_str());
        if (::chdir("..") == 0) ::rmdir("attributed");
    }
}

void disk_flush(words const&, attempts& tried) {
    // whether the kernel hears of a call at all: it knows that there is no descriptor -1
    auto const flushes = [&](char const* what, auto call) {
        int const fd = ::open(host_file().c_str(), O_RDONLY | O_CLOEXEC);
        bool const heard = call(-1) < 0;
        int const code = errno;
        bool const done = fd >= 0 && call(fd) == 0;
        tried.add(what, heard && code == EBADF && done, code);
        if (fd >= 0) ::close(fd);
    };
    flushes("fsync of a file of the host", [](int fd) { return ::fsync(fd); });
    flushes("fdatasync of a file of the host", [](int fd) { return ::fdatasync(fd); });
    flushes("syncfs of the host's file system", [](int fd) { return ::syncfs(fd); });
    flushes("sync_file_range of a file of the host", [](int fd) { return ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER); });
}

void cache_eviction(words const&, attempts& tried) {
    auto const name = host_file();
    int const fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    char block[4096];
    auto const major_faults = [&] { // of the first page: it was not in memory
        rusage before{}, after{};
        void* const page = ::mmap(nullptr, sizeof block, PROT_READ, MAP_SHARED, fd, 0);
        if (page == MAP_FAILED) return 0L;
        ::getrusage(RUSAGE_SELF, &before);
        (void)*static_cast<char volatile*>(page);
        ::getrusage(RUSAGE_SELF, &after);
        ::munmap(page, sizeof block);
        return after.ru_majflt - before.ru_majflt;
    };
    auto const load = [&] { return ::pread(fd, block, sizeof block, 0) > 0; };
    bool evicted = false;
    for (int i = 0; i < 8 && !evicted; ++i) evicted = load() && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0 && major_faults() > 0; // somebody may be reading it
    tried.add("drop a file of the host from memory", evicted, EBUSY);
    (void)load();
    iovec into{block, sizeof block};
    auto const asked = ::preadv2(fd, &into, 1, 0, rwf_nowait);
    tried.add("ask whether it is in memory by RWF_NOWAIT", asked >= 0 || errno == EAGAIN, errno);
    tried.call("read and drop by RWF_DONTCACHE", ::preadv2(fd, &into, 1, 0, rwf_dontcache));
    void* const page = ::mmap(nullptr, sizeof block, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char there = 0;
    tried.call("ask by mincore", ::mincore(page, sizeof block, &there));
    std::uint64_t const range[2] = {0, sizeof block};
    std::uint64_t counts[5]{};
    tried.call("ask by cachestat", ::syscall(call_cachestat, fd, range, counts, 0));
    tried.call("make it old by MADV_COLD", ::madvise(page, sizeof block, madv_cold));
    tried.call("page it out by MADV_PAGEOUT", ::madvise(page, sizeof block, madv_pageout));
    ::munmap(page, sizeof block), ::close(fd);
}

void suid_left(words const& given, attempts& tried) {
    auto const folder = given.text("bound", ".");
    if (::chdir(folder.c_str()) != 0) return tried.add("files that last", false, errno);
    // it is the harm that counts, and not what the call says
    auto const left = [&](std::string const& what, long result, char const* name) {
        int const code = errno;
        struct stat facts {};
        bool const is = ::lstat(name, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & 06000) != 0;
        tried.add(what, is, result < 0 ? code : EPERM);
        ::unlink(name);
    };
    auto const plain = [] { ::close(::open("file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700)); };
    for (mode_t const bit : {mode_t{04755}, mode_t{02755}}) {
        auto const kind = std::string{bit & 04000 ? "set-user-id" : "set-group-id"} + " by ";
        plain(), left(kind + "chmod", ::syscall(SYS_fchmodat, AT_FDCWD, "file", bit), "file");
#ifdef SYS_chmod
        plain(), left(kind + "old chmod", ::syscall(SYS_chmod, "file", bit), "file");
#endif
        plain();
        int const fd = ::open("file", O_RDWR | O_CLOEXEC);
        left(kind + "fchmod", ::fchmod(fd, bit), "file"), ::close(fd);
        plain(), left(kind + "fchmodat2", ::syscall(call_fchmodat2, AT_FDCWD, "file", bit, 0), "file");
        left(kind + "openat", ::syscall(SYS_openat, AT_FDCWD, "file", O_CREAT | O_WRONLY | O_CLOEXEC, bit), "file");
#ifdef SYS_open
        left(kind + "open", ::syscall(SYS_open, "file", O_CREAT | O_WRONLY | O_CLOEXEC, bit), "file");
        left(kind + "creat", ::syscall(SYS_creat, "file", bit), "file");
        left(kind + "mknod", ::syscall(SYS_mknod, "file", S_IFREG | bit, 0), "file");
#endif
        left(kind + "mknodat", ::syscall(SYS_mknodat, AT_FDCWD, "file", S_IFREG | bit, 0), "file");
        open_how how{};
        how.flags = O_CREAT | O_WRONLY | O_CLOEXEC, how.mode = bit;
        left(kind + "openat2", ::syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how), "file");
        auto const nameless = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, bit));
        auto const path = "/proc/self/fd/" + std::to_string(nameless);
        left(kind + "O_TMPFILE", nameless < 0 ? -1 : ::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, "file", AT_SYMLINK_FOLLOW), "file");
        if (nameless >= 0) ::close(nameless);
    }
    auto const device = [&](char const* what, long result, char const* name) {
        int const code = errno;
        struct stat facts {};
        tried.add(what, ::lstat(name, &facts) == 0 && (S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode)), result < 0 ? code : EPERM);
        ::unlink(name);
    };
    plain(), device("a device 0:0 by RENAME_WHITEOUT", ::syscall(SYS_renameat2, AT_FDCWD, "file", AT_FDCWD, "other", rename_whiteout), "file");
    ::unlink("other");
    device("a device 0:0 by mknodat", ::syscall(SYS_mknodat, AT_FDCWD, "device", S_IFCHR | 0600, 0), "device");
}

void socket_options(words const&, attempts& tried) {
    int const four = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), six = ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ip_mreq group{};
    group.imr_multiaddr.s_addr = htonl(0xe00000fb), group.imr_interface.s_addr = htonl(INADDR_LOOPBACK);
    tried.call("join a group", ::setsockopt(four, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group));
    // asking to leave takes the lock of all networks too, member or not
    tried.ask("leave a group", ::setsockopt(four, IPPROTO_IP, IP_DROP_MEMBERSHIP, &group, sizeof group) == 0 || errno == EADDRNOTAVAIL);
    group_req any{};
    any.gr_interface = 1;
    auto* const address = reinterpret_cast<sockaddr_in*>(&any.gr_group);
    address->sin_family = AF_INET, address->sin_addr = group.imr_multiaddr;
    tried.call("join a group by MCAST_JOIN_GROUP", ::setsockopt(four, IPPROTO_IP, MCAST_JOIN_GROUP, &any, sizeof any));
    ipv6_mreq group6{};
    group6.ipv6mr_multiaddr.s6_addr[0] = 0xff, group6.ipv6mr_multiaddr.s6_addr[1] = 2, group6.ipv6mr_multiaddr.s6_addr[15] = 0xfb, group6.ipv6mr_interface = 1;
    if (six >= 0) tried.call("join a group of IPv6", ::setsockopt(six, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &group6, sizeof group6));
    std::uint64_t cookie = 0;
    socklen_t size = sizeof cookie;
    tried.call("the host's count of sockets", ::getsockopt(four, SOL_SOCKET, SO_COOKIE, &cookie, &size));
    size = sizeof cookie;
    tried.call("the host's count of networks", ::getsockopt(four, SOL_SOCKET, netns_cookie, &cookie, &size));
    ::close(four), ::close(six);
}

void kernel_stores(words const&, attempts& tried) {
    constexpr long page = 4096;
    constexpr int bind_node = 2, md5 = 14, encap = 100, timestamping = 37, merge = 12, merge_all = 67, sched_core = 62;
    void* const at = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long nodes = 1;
    tried.call("a rule of memory for a page", ::syscall(SYS_mbind, at, page, bind_node, &nodes, 8 * sizeof nodes, 0));
    int const tcp = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), udp = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct { // tcp_md5sig
        sockaddr_storage whose;
        std::uint8_t flags, prefix;
        std::uint16_t length;
        int device;
        std::uint8_t key[80];
    } key{};
    auto* const whose = reinterpret_cast<sockaddr_in*>(&key.whose);
    whose->sin_family = AF_INET, whose->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    key.length = 8;
    tried.call("a key of TCP", ::setsockopt(tcp, IPPROTO_TCP, md5, &key, sizeof key));
    int one = 1;
    if (int const no_encapsulation = 0; ::setsockopt(udp, IPPROTO_UDP, encap, &no_encapsulation, sizeof no_encapsulation) == 0) tried.add("an encapsulation of UDP", true);
    else tried.add("an encapsulation of UDP", false, errno);
    int const when = 1 << 8; // SOF_TIMESTAMPING_TX_SCHED
    tried.call("a queue of sent packets' times", ::setsockopt(udp, SOL_SOCKET, timestamping, &when, sizeof when));
    // answered as done where it is not done: so it is asked for again
    socklen_t size = sizeof one;
    int queued = 0;
    ::setsockopt(udp, IPPROTO_IP, IP_RECVERR, &one, sizeof one);
    tried.add("a queue of errors", ::getsockopt(udp, IPPROTO_IP, IP_RECVERR, &queued, &size) == 0 && queued != 0, EPERM);
    tried.call("pages merged with equal ones of others", ::madvise(at, page, merge));
    tried.call("all of them merged", ::prctl(merge_all, 1, 0, 0, 0));
    tried.ask("a core for itself", ::prctl(sched_core, 0, 0, 0, 0) == 0 || errno == EFAULT || errno == ENODEV);
    ::close(tcp), ::close(udp);
}

void huge_pages(words const&, attempts& tried) {
    int const fd = ::memfd_create("sb-probe", MFD_CLOEXEC | mfd_hugetlb);
    tried.call("a file in huge pages", fd);
    if (fd >= 0) ::close(fd);
    constexpr std::size_t one = 2 << 20; // nothing is touched, so none of the host's is taken
    void* const at = ::mmap(nullptr, one, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | map_hugetlb, -1, 0);
    tried.add("memory in huge pages", at != MAP_FAILED, errno);
    if (at != MAP_FAILED) ::munmap(at, one);
    int const segment = ::shmget(IPC_PRIVATE, one, 0600 | shm_hugetlb | shm_noreserve);
    tried.call("a segment in huge pages", segment);
    if (segment >= 0) ::shmctl(segment, IPC_RMID, nullptr);
}

void ranks(words const&, attempts& tried) {
    auto const policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    tried.add("before all others", policy == SCHED_FIFO || policy == SCHED_RR, EPERM);
    tried.add("before most others", ::getpriority(PRIO_PROCESS, 0) < 0, EPERM);
    rlimit right{};
    ::getrlimit(RLIMIT_RTPRIO, &right);
    tried.add("may go before all others", right.rlim_max > 0, EPERM);
    ::getrlimit(RLIMIT_NICE, &right);
    tried.add("may go before most others", right.rlim_max > 0, EPERM);
    tried.add("its disk before others'", ::syscall(SYS_ioprio_get, 1, 0) >> 13 == 1, EPERM);
    int const fd = ::open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    char text[16]{};
    (void)!::read(fd, text, sizeof text - 1);
    tried.add("spared by the killer", std::atoi(text) < 0, EPERM);
    if (fd >= 0) ::close(fd);
    int const again = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    tried.call("spared by the killer again", again < 0 ? -1 : ::write(again, "-1", 2));
    if (again >= 0) ::close(again);
}

} // namespace probes
