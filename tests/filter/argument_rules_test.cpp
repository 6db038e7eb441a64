// SPDX-License-Identifier: MIT
// Calls whose arguments decide, by the answers that the whole program gives to them.
#include "support/child.hpp"
#include "support/filter.hpp"
#include <sb/filter/argument_rules.hpp>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

using namespace sb::filter;
using namespace sb::test;

TEST_CASE("no payload compiles filters into the host's budget for them") {
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        CAPTURE(level);
        auto const own = level < 3 ? allow : no(EINVAL);
        for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
            for (std::uint64_t const option : {26u, 50u, 51u, 52u}) { // <asm-generic/socket.h>
                CHECK(answered(filter, SYS_setsockopt, {3, high | SOL_SOCKET, high | option}) == no(EPERM));
                CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_UDP, high | option}) == allow);
                CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_TCP, high | option}) == allow); // TCP_FASTOPEN_NO_COOKIE and others
            }
            for (std::uint64_t const option : {2u, 15u, 20u, 25u, 27u, 44u, 49u, 53u}) CHECK(answered(filter, SYS_setsockopt, {3, high | SOL_SOCKET, high | option}) == allow);
            CHECK(answered(filter, SYS_seccomp, {high | 1, 0, 64}) == own); // SECCOMP_SET_MODE_FILTER
            for (std::uint64_t const other : {0u, 2u, 3u}) CHECK(answered(filter, SYS_seccomp, {high | other, 0, 64}) == allow);
            CHECK(answered(filter, SYS_prctl, {high | 22, high | 2, 64}) == own); // PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            CHECK(answered(filter, SYS_prctl, {high | 22, high | 1, 64}) == allow);
            CHECK(answered(filter, SYS_prctl, {high | 21, high | 2}) == allow);
            CHECK(answered(filter, SYS_prctl, {high | 15, high | 2}) == allow);
        }
    }
}

TEST_CASE("a thread has the open files of its process, and no others") {
    constexpr std::uint64_t thread = 0x10000, files = 0x400; // <linux/sched.h>
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
            CHECK(answered(filter, SYS_clone, {high | 0x3d0f00}) == allow); // as glibc makes one
            CHECK(answered(filter, SYS_clone, {high | (0x3d0f00 & ~files)}) == no(EPERM));
            CHECK(answered(filter, SYS_clone, {high | thread}) == no(EPERM));
            CHECK(answered(filter, SYS_clone, {high | files | SIGCHLD}) == allow);
            CHECK(answered(filter, SYS_unshare, {high | files}) == no(EPERM));
            CHECK(answered(filter, SYS_unshare, {high | files | 0x200}) == no(EPERM));
            CHECK(answered(filter, SYS_close_range, {3, ~0u, high | 2}) == no(EINVAL)); // CLOSE_RANGE_UNSHARE
            CHECK(answered(filter, SYS_close_range, {3, ~0u, high | 6}) == no(EINVAL));
            for (std::uint64_t const usual : {0u, 4u}) CHECK(answered(filter, SYS_close_range, {3, ~0u, high | usual}) == allow); // CLOSE_RANGE_CLOEXEC
        }
    }
}

TEST_CASE("groups of receivers are not joined, left or asked for, and counts of the host's are not told") {
    auto const filter = filter_of(default_level);
    for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
        for (std::uint64_t option = 0; option < 80; ++option) {
            CAPTURE(option);
            CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_IP, high | option}) == (option >= 35 && option <= 48 ? no(ENODEV) : option == 11 ? no(0) : allow)); // <linux/in.h>
            bool const group6 = option == 20 || option == 21 || option == 27 || option == 28 || (option >= 42 && option <= 48); // <linux/in6.h>
            bool const shared = option == 1 || option == 32;
            bool const errors = option == 25; // IPV6_RECVERR
            CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_IPV6, high | option}) == (group6 ? no(ENODEV) : shared ? no(EPERM) : errors ? no(0) : allow));
            CHECK(answered(filter, SYS_getsockopt, {3, high | SOL_SOCKET, high | option}) == (option == 57 || option == 71 ? no(ENOPROTOOPT) : allow));
            CHECK(answered(filter, SYS_getsockopt, {3, high | IPPROTO_IP, high | option}) == (option == 41 || option == 48 ? no(EADDRNOTAVAIL) : allow));
            CHECK(answered(filter, SYS_getsockopt, {3, high | IPPROTO_TCP, high | option}) == allow);
        }
    }
}

TEST_CASE("what a socket keeps where no group counts is not asked for, and errors are answered as asked for") {
    auto const filter = filter_of(default_level);
    for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32})
        for (std::uint64_t option = 0; option < 120; ++option) {
            CAPTURE(option);
            bool const keys = option == 14 || option == 31 || option == 32 || (option >= 38 && option <= 42); // <linux/tcp.h>
            CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_TCP, high | option}) == (keys ? no(ENOPROTOOPT) : allow));
            CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_UDP, high | option}) == (option == 100 || option == 104 ? no(ENOPROTOOPT) : allow)); // <linux/udp.h>
            CHECK(answered(filter, SYS_setsockopt, {3, high | 136, high | option}) == (option == 100 || option == 104 ? no(ENOPROTOOPT) : allow)); // SOL_UDPLITE
            bool const queued = option == 37 || option == 60 || option == 65, programs = option == 26 || (option >= 50 && option <= 52);
            CHECK(answered(filter, SYS_setsockopt, {3, high | SOL_SOCKET, high | option}) == (queued ? no(ENOPROTOOPT) : programs ? no(EPERM) : allow));
            CHECK(answered(filter, SYS_prctl, {high | option, 0}) == (option == 62 || option == 67 ? no(EINVAL) : allow)); // <linux/prctl.h>
        }
    CHECK(answered(filter, SYS_mbind) == no(ENOSYS));
    CHECK(answered(filter, SYS_set_mempolicy) == allow);
    CHECK(answered(filter, SYS_ioctl, {3, beyond | 0xc020660b}) == no(EOPNOTSUPP)); // FS_IOC_FIEMAP
    CHECK(answered(filter, SYS_ioctl, {3, beyond | 0xc020662a}) == no(EOPNOTSUPP)); // EXT4_IOC_GET_ES_CACHE
    CHECK(answered(filter_of(default_level, {0, true}), SYS_ioctl, {3, 0xc020660b}) == allow);
}

TEST_CASE("attributes are short, by all bits of their size") {
    auto const filter = filter_of(default_level);
    for (long const number : {SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr}) {
        for (std::uint64_t const size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1023}, std::uint64_t{1024}}) CHECK(answered(filter, number, {0, 0, 0, size, ~0ull}) == allow);
        for (std::uint64_t const size : {std::uint64_t{1025}, std::uint64_t{65536}, beyond - 1, beyond, beyond | 4, ~std::uint64_t{0}, std::uint64_t{1} << 63})
            CHECK(answered(filter, number, {0, 0, 0, size, 0}) == no(E2BIG));
    }
    CHECK(answered(filter, 463) == no(ENOSYS)); // setxattrat, whose size lies in memory
    CHECK(answered(filter, SYS_getxattr, {0, 0, 0, 65536}) == allow);
}

TEST_CASE("a disk of the host's is flushed where something there is writable, and nowhere else") {
    for (int level = 1; level <= 5; ++level) {
        auto const closed = filter_of(level), open = filter_of(level, {0, true});
        for (long const number : {SYS_fsync, SYS_fdatasync, SYS_sync_file_range}) {
            CHECK(answered(closed, number, {3}) == no(0));
            CHECK(answered(open, number, {3}) == allow);
        }
        for (auto const* const filter : {&closed, &open}) {
            CHECK(answered(*filter, SYS_sync) == no(EPERM));
            CHECK(answered(*filter, SYS_syncfs) == no(ENOSYS));
            CHECK(answered(*filter, SYS_msync, {0, 4096, MS_SYNC}) == allow); // flushes what was mapped to be written to, and no more
        }
    }
    auto const filter = filter_of(default_level);
    CHECK(in_child([&] { return install(filter); }, [] { return call(SYS_fsync, -1); }) == 0); // the kernel never hears of it
    CHECK(in_child([] { return call(SYS_fsync, -1); }) == EBADF);
}

TEST_CASE("files of the host stay in memory, and whether they are there is not told") {
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        CAPTURE(level);
        for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
            for (std::uint64_t advice = 0; advice < 8; ++advice) CHECK(answered(filter, SYS_fadvise64, {3, 0, 0, high | advice}) == (advice == 4 ? no(0) : allow));
            for (std::uint64_t advice = 0; advice < 26; ++advice) {
                bool const evicts = advice == 20 || advice == 21 || advice == 12; // <asm-generic/mman-common.h>; 12 tells of others' pages
                CHECK(answered(filter, SYS_madvise, {0, 4096, high | advice}) == (evicts ? no(EINVAL) : allow));
                CHECK(answered(filter, SYS_process_madvise, {3, 0, 1, high | advice, 0}) == (level > 1 ? no(EPERM) : evicts ? no(EINVAL) : allow));
            }
            for (int bit = 0; bit < 32; ++bit)
                for (long const number : {SYS_preadv2, SYS_pwritev2}) {
                    bool const usual = bit < 6 && bit != 3; // <linux/fs.h>: 8 is RWF_NOWAIT, 0x80 is RWF_DONTCACHE
                    CHECK(answered(filter, number, {3, 0, 1, 0, 0, high | (std::uint64_t{1} << bit)}) == (usual ? allow : no(EOPNOTSUPP)));
                }
            CHECK(answered(filter, SYS_preadv2, {3, 0, 1, ~0ull, ~0ull, high}) == allow);
        }
    }
    auto const filter = filter_of(default_level);
    CHECK(in_child([&] { return install(filter); }, [] { return call(SYS_fadvise64, -1, 0, 0, POSIX_FADV_DONTNEED); }) == 0);
    CHECK(in_child([] { return call(SYS_fadvise64, -1, 0, 0, POSIX_FADV_DONTNEED); }) == EBADF);
}

TEST_CASE("pipes stay small and pages usual") {
    auto const filter = filter_of(default_level), tracing = filter_of(1), compute = filter_of(5);
    for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
        for (std::uint64_t const size : {0u, 4096u, 65536u}) CHECK(answered(filter, SYS_fcntl, {3, high | F_SETPIPE_SZ, size}) == allow);
        for (std::uint64_t const size : {65537u, 1u << 20, 1u << 31, ~0u}) {
            CHECK(answered(filter, SYS_fcntl, {3, high | F_SETPIPE_SZ, high | size}) == no(EPERM));
            CHECK(answered(filter, SYS_fcntl, {3, high | F_DUPFD, high | size}) == allow);
        }
        CHECK(answered(filter, SYS_memfd_create, {0, high | 4}) == no(EINVAL));
        CHECK(answered(filter, SYS_memfd_create, {0, high | 4 | 1 | (21u << 26)}) == no(EINVAL));
        for (std::uint64_t const flags : {0u, 1u, 2u, 3u, 8u, 16u}) CHECK(answered(filter, SYS_memfd_create, {0, high | flags}) == allow);
        for (std::uint64_t const other : {0u, 0x20000u, 0x100000u, 0x8000u, 0x2000u}) {
            CHECK(answered(filter, SYS_mmap, {0, 4096, 3, high | 0x22 | other}) == allow);
            CHECK(answered(filter, SYS_mmap, {0, 4096, 3, high | 0x40022 | other}) == no(ENOMEM)); // MAP_HUGETLB
            CHECK(answered(compute, SYS_mmap, {0, 4096, 3, high | 0x40022 | other}) == no(ENOMEM));
        }
        CHECK(answered(tracing, SYS_shmget, {0, 4096, high | 04600}) == no(EPERM)); // SHM_HUGETLB
        CHECK(answered(filter, SYS_shmget, {0, 4096, high | 04600}) == no(EPERM));
        CHECK(answered(filter, SYS_shmget, {0, 4096, high | 03600}) == allow);
        CHECK(answered(compute, SYS_shmget, {0, 4096, 0600}) == no(ENOSYS));
    }
}

TEST_CASE("the limit of cores stays what it is") {
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
            CHECK(answered(filter, SYS_setrlimit, {high | 4, 64}) == no(0));
            for (std::uint64_t const where : {std::uint64_t{64}, beyond, ~std::uint64_t{0}}) CHECK(answered(filter, SYS_prlimit64, {0, high | 4, where, 0}) == no(0));
            CHECK(answered(filter, SYS_prlimit64, {0, high | 4, 0, 64}) == allow); // only asks
            for (std::uint64_t const other : {0u, 3u, 5u, 7u, 15u}) {
                CHECK(answered(filter, SYS_setrlimit, {high | other, 64}) == allow);
                CHECK(answered(filter, SYS_prlimit64, {0, high | other, 64, 0}) == allow);
            }
        }
    }
}

TEST_CASE("devices are not made, and where files last none that changes who runs it") {
    constexpr unsigned suid = 04000, sgid = 02000, file = S_IFREG, creat = 0100, nameless = 020000000;
    for (bool const lasts : {false, true}) {
        auto const filter = filter_of(default_level, {0, lasts});
        CAPTURE(lasts);
        for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
            CHECK(answered(filter, SYS_renameat2, {3, 0, 3, 0, high | 4}) == no(EPERM));
            for (std::uint64_t const flag : {0u, 1u, 2u}) CHECK(answered(filter, SYS_renameat2, {3, 0, 3, 0, high | flag}) == allow);
            for (std::uint64_t const type : {S_IFCHR + 0u, S_IFBLK + 0u}) CHECK(answered(filter, SYS_mknodat, {3, 0, high | type | 0600, 0}) == no(EPERM));
            for (std::uint64_t const type : {0u, file, S_IFIFO + 0u, S_IFSOCK + 0u}) CHECK(answered(filter, SYS_mknodat, {3, 0, high | type | 0600, 0}) == allow);
            auto const set = lasts ? no(EPERM) : allow;
            for (std::uint64_t const bits : {suid, sgid, suid | sgid}) {
                for (std::uint64_t const rest : {0u, 0755u, 01777u}) {
                    auto const mode = high | bits | rest;
                    CHECK(answered(filter, SYS_fchmod, {3, mode}) == set);
                    CHECK(answered(filter, SYS_fchmodat, {3, 0, mode}) == set);
                    CHECK(answered(filter, SYS_mknodat, {3, 0, mode | file, 0}) == set);
                    for (std::uint64_t const makes : {creat, creat | 1, nameless | 0200000 | 2}) CHECK(answered(filter, SYS_openat, {3, 0, high | makes, mode}) == set);
                    for (std::uint64_t const looks : {0u, 1u, 2u, 02000000u, 0200000u}) CHECK(answered(filter, SYS_openat, {3, 0, high | looks, mode}) == allow); // not looked at
#ifdef SYS_open
                    CHECK(answered(filter, SYS_chmod, {0, mode}) == set);
                    CHECK(answered(filter, SYS_creat, {0, mode}) == set);
                    CHECK(answered(filter, SYS_mknod, {0, mode | file, 0}) == set);
                    CHECK(answered(filter, SYS_open, {0, high | creat, mode}) == set);
                    CHECK(answered(filter, SYS_open, {0, high, mode}) == allow);
#endif
                }
            }
            for (std::uint64_t const mode : {0u, 0755u, 01777u}) {
                CHECK(answered(filter, SYS_fchmod, {3, high | mode}) == allow);
                CHECK(answered(filter, SYS_fchmodat, {3, 0, high | mode}) == allow);
                CHECK(answered(filter, SYS_openat, {3, 0, creat, high | mode}) == allow);
            }
            if (lasts) CHECK(answered(filter, 452, {3, 0, high | suid | 0755, 0}) == no(EPERM)); // fchmodat2
        }
        CHECK(answered(filter, SYS_openat2, {3, 0, 0, 24}) == (lasts ? no(ENOSYS) : allow));
    }
}

TEST_CASE("process 1 is nobody's to change, and one's own processes are") {
    for (int level = 1; level <= 5; ++level) {
        auto const filter = filter_of(level);
        CAPTURE(level);
        for (std::uint64_t const high : {std::uint64_t{0}, beyond, ~std::uint64_t{0} << 32}) {
            for (long const call : {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr}) {
                CHECK(answered(filter, call, {high | 1}) == no(EPERM));
                for (std::uint64_t const own : {0u, 2u, 0x10001u}) CHECK(answered(filter, call, {high | own, 1}) == allow);
            }
            CHECK(answered(filter, SYS_setpgid, {0, high | 1}) == no(EPERM));
            CHECK(answered(filter, SYS_setpgid, {high | 1, 0}) == allow); // the kernel knows better
            constexpr std::uint64_t a_process = 0, a_group = 1, a_user = 2; // for setpriority; one more for ioprio_set
            for (auto const which : {a_process, a_group}) {
                CHECK(answered(filter, SYS_setpriority, {which, high | 1, 19}) == no(EPERM));
                CHECK(answered(filter, SYS_setpriority, {which, high, 19}) == allow);
                CHECK(answered(filter, SYS_ioprio_set, {which + 1, high | 1, 0}) == no(EPERM));
                CHECK(answered(filter, SYS_ioprio_set, {which + 1, high, 0}) == allow);
            }
            CHECK(answered(filter, SYS_setpriority, {high | a_user, 0, 19}) == no(EPERM));
            CHECK(answered(filter, SYS_ioprio_set, {high | (a_user + 1), 0, 0}) == no(EPERM));
            CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_IPV6, high | 32}) == no(EPERM)); // a flow label
            CHECK(answered(filter, SYS_setsockopt, {3, high | IPPROTO_IPV6, high | 26}) == allow); // IPV6_V6ONLY
            CHECK(answered(filter, SYS_setsockopt, {3, high | SOL_SOCKET, high | 32}) == allow);
        }
    }
}

TEST_CASE("comparisons look at the bits that the kernel looks at") {
    auto const filter = filter_of(default_level);
    for (std::uint64_t const high : {std::uint64_t{0}, beyond, beyond << 7, beyond << 31, ~std::uint64_t{0} << 32}) {
        for (std::uint64_t const request : {0x5412u, 0x541cu, 0x5423u}) CHECK(answered(filter, SYS_ioctl, {0, high | request}) == no(EPERM));
        for (std::uint64_t const request : {0x5401u, 0x5413u, 0x541bu, 0x541du, 0x5411u, 0x5410u, 0x540eu}) CHECK(answered(filter, SYS_ioctl, {0, high | request}) == allow);
        CHECK(answered(filter, SYS_personality, {high}) == allow);
        CHECK(answered(filter, SYS_personality, {high | 0x0040000}) == allow);
        CHECK(answered(filter, SYS_personality, {high | 0xffffffff}) == allow);
        for (std::uint64_t const persona : {0x0400000ull, 0x0440000ull, 0x0001ull, 0x0008ull, 0x8000000ull, 0xfffffffeull, 0x7fffffffull})
            CHECK(answered(filter, SYS_personality, {high | persona}) == no(EPERM));
        for (std::uint64_t family = 0; family < 300; ++family) {
            CAPTURE(family);
            bool const usual = family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
            CHECK(answered(filter, SYS_socket, {high | family, high | SOCK_STREAM, high}) == (usual ? allow : no(EAFNOSUPPORT)));
            CHECK(answered(filter, SYS_socketpair, {high | family, SOCK_STREAM, 0}) == (family == AF_UNIX ? allow : no(EAFNOSUPPORT)));
        }
        for (std::uint64_t const family : {2u, 10u})
            for (std::uint64_t type = 0; type < 16; ++type)
                for (std::uint64_t protocol = 0; protocol < 300; ++protocol) {
                    bool const plain = protocol == 0 || protocol == 1 || protocol == 6 || protocol == 17 || protocol == 58;
                    auto const expected = type != SOCK_STREAM && type != SOCK_DGRAM ? no(EPERM) : plain ? allow : no(EPROTONOSUPPORT);
                    if (answered(filter, SYS_socket, {high | family, high | type | SOCK_CLOEXEC, high | protocol}) != expected) {
                        CAPTURE(family, type, protocol);
                        CHECK(answered(filter, SYS_socket, {high | family, high | type | SOCK_CLOEXEC, high | protocol}) == expected);
                    }
                }
        CHECK(answered(filter, SYS_socket, {high | AF_NETLINK, SOCK_RAW, high | NETLINK_ROUTE}) == allow);
        CHECK(answered(filter, SYS_socket, {high | AF_NETLINK, SOCK_RAW, high | NETLINK_NETFILTER}) == no(EPROTONOSUPPORT));
        CHECK(answered(filter, SYS_socket, {high | AF_UNIX, SOCK_DGRAM, 0}) == allow);
    }
}

TEST_CASE("code cannot be made where the level says so, in none of the ways") {
    auto const strict = filter_of(4), compute = filter_of(5);
    for (std::uint64_t const prot : {0u, 1u, 3u, 5u}) // nothing, read, read and write, read and execute
        CHECK(answered(compute, SYS_mmap, {0, 4096, prot}) == allow);
    CHECK(answered(compute, SYS_mmap, {0, 4096, PROT_WRITE | PROT_EXEC}) == no(EACCES));
    CHECK(answered(compute, SYS_mprotect, {0, 4096, PROT_READ | PROT_EXEC}) == no(EACCES));
    CHECK(answered(compute, SYS_mprotect, {0, 4096, PROT_READ}) == allow);
    CHECK(answered(compute, SYS_pkey_mprotect, {0, 4096, PROT_EXEC}) == no(EACCES));
    CHECK(answered(compute, SYS_memfd_create, {0, 8}) == no(EACCES));
    CHECK(answered(compute, SYS_shmat) == no(ENOSYS));
    CHECK(answered(strict, SYS_mprotect, {0, 4096, PROT_READ | PROT_EXEC}) == allow);
    CHECK(answered(strict, SYS_memfd_create, {0, 0}) == no(EACCES));
    CHECK(answered(strict, SYS_memfd_create, {0, 1 | 16}) == no(EACCES)); // MFD_EXEC
    CHECK(answered(strict, SYS_memfd_create, {0, 8}) == allow); // MFD_NOEXEC_SEAL

    auto const flip = [] {
        auto* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return page == MAP_FAILED ? -1 : ::mprotect(page, 4096, PROT_READ | PROT_EXEC);
    };
    CHECK(in_child([&] { return install(strict); }, flip) == 0);
    CHECK(in_child([&] { return install(compute); }, flip) == EACCES);
}

TEST_CASE("clone3 opens to who knows the key, and to nobody else") {
    std::uint64_t const key = 0x0123456789abcdef;
    auto const keyed = filter_of(default_level, {key, false}), plain = filter_of(default_level);
    CHECK(answered(keyed, SYS_clone3, {1, 88, 0, 0, 0, key}) == allow);
    for (int bit = 0; bit < 64; ++bit) CHECK(answered(keyed, SYS_clone3, {1, 88, 0, 0, 0, key ^ (std::uint64_t{1} << bit)}) == no(ENOSYS));
    CHECK(answered(keyed, SYS_clone3, {key, key, key, key, key, 0}) == no(ENOSYS));
    CHECK(answered(plain, SYS_clone3, {1, 88, 0, 0, 0, 0}) == no(ENOSYS));
    auto const ask = [](std::uint64_t with) { return call(SYS_clone3, nullptr, 0, 0, 0, 0, with); };
    CHECK(in_child([&] { return install(keyed); }, [&] { return ask(key); }) == EINVAL); // the kernel itself answers
    CHECK(in_child([&] { return install(keyed); }, [&] { return ask(key + 1); }) == ENOSYS);
}
