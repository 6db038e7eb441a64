// SPDX-License-Identifier: MIT
// Victims that take what the kernel has so much of for each user, or for the machine.
#include "victims.hpp"
#include "support/send_copies.hpp"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/filter.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <netinet/in.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace victims {
namespace {

using sb::test::most_copies, sb::test::send_copies;

void raise_open_files() {
    rlimit all{};
    ::getrlimit(RLIMIT_NOFILE, &all);
    all.rlim_cur = all.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &all);
}

} // namespace

/// Of what the kernel has so much only of for each user of the host, or for the host, all that can be had, for `ms`. Prints of each how much,
/// and whether there was an end to it.
int hoard(long ms) {
    constexpr long most = 400'000;
    long watches = 0, signals = 0, requests = 0;
    while (watches < most && ::inotify_init1(IN_CLOEXEC) >= 0) ++watches;
    std::printf("inotify %ld %d\n", watches, errno);
    sigset_t queued;
    sigemptyset(&queued), sigaddset(&queued, SIGRTMIN);
    ::sigprocmask(SIG_BLOCK, &queued, nullptr);
    while (signals < most && ::sigqueue(::getpid(), SIGRTMIN, sigval{}) == 0) ++signals;
    std::printf("signals %ld %d\n", signals, errno);
    for (unsigned long contexts[64]{}; requests < 64 && ::syscall(SYS_io_setup, 1024, &contexts[requests]) == 0;) ++requests;
    std::printf("requests %ld %d\n", requests, errno);
    std::fflush(stdout);
    timespec const while_it_looks{ms / 1000, ms % 1000 * 1'000'000};
    return ::nanosleep(&while_it_looks, nullptr);
}

/// `n` files that no descriptor names: each mapping keeps one.
int hoard_files(long n) {
    constexpr long in_one = 60000; // a process has no more mappings than 65530
    long got = 0, holders = 0, all = 0;
    int ready[2];
    if (::pipe(ready) != 0) return 1;
    for (; n > 0; n -= in_one) {
        auto const pid = ::fork();
        if (pid < 0) break;
        if (pid > 0) {
            ++holders;
            continue;
        }
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (got < std::min(n, in_one) && ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) ++got;
        (void)!::write(ready[1], &got, sizeof got);
        for (;;) ::pause();
    }
    for (; holders > 0 && ::read(ready[0], &got, sizeof got) == sizeof got; --holders) all += got;
    std::printf("%ld\n", all);
    return 0;
}

/// What the kernel counts for each user: descriptors under way in sockets, and pages of pipes.
int hoard_user(long pipes) {
    long sent = 0, made = 0;
    for (int pair[2]; sent < 8192 && ::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 && send_copies(pair[0], 0, most_copies); sent += most_copies) {}
    for (int ends[2]; made < pipes && ::pipe(ends) == 0;) ++made;
    std::printf("%ld %ld\n", sent, made);
    return 0;
}

/// What is left of that to this user: the least that is under way, or in use, can be seen.
int quota() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    auto few = files;
    few.rlim_cur = 16; // nobody may send a descriptor while more than so many are under way
    ::setrlimit(RLIMIT_NOFILE, &few);
    int pair[2] = {-1, -1}, ends[2] = {-1, -1};
    bool const sends = ::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 && send_copies(pair[0], 0, 1);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    for (int i = 0; i < 1000 && ::pipe(ends) == 0; ++i) {} // of 16 pages each, where a user may have 16384
    std::printf("%s\npipes of %d bytes\n", sends ? "descriptors can be sent" : "no descriptor can be sent", ::fcntl(ends[0], F_GETPIPE_SZ));
    return 0;
}

/// `n` connections to ourselves with all in them that they take.
int hoard_tcp(long n) {
    int const listener = ::socket(AF_INET, SOCK_STREAM, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    ::ioctl(listener, SIOCSIFFLAGS, &loopback); // where nobody has done so yet
    sockaddr_in here{};
    here.sin_family = AF_INET, here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const at = reinterpret_cast<sockaddr*>(&here);
    socklen_t size = sizeof here;
    if (::bind(listener, at, size) != 0 || ::listen(listener, 8) != 0 || ::getsockname(listener, at, &size) != 0) return 1;
    static char block[1 << 16];
    long bytes = 0;
    for (long i = 0; i < n; ++i) {
        int const one = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(one, at, size) != 0 || ::accept(listener, nullptr, nullptr) < 0) break;
        for (ssize_t sent = 0; (sent = ::send(one, block, sizeof block, MSG_DONTWAIT)) > 0;) bytes += sent;
    }
    std::printf("%ld\n", bytes);
    return 0;
}

/// `n` programs of 4096 instructions, which the kernel translates.
int hoard_filters(long n) {
    std::vector<sock_filter> code(4096, sock_filter{BPF_LD | BPF_IMM, 0, 0, 1});
    code.back() = {BPF_RET | BPF_K, 0, 0, 0xffff};
    sock_fprog const all{static_cast<unsigned short>(code.size()), code.data()};
    long got = 0;
    for (; got < n; ++got)
        if (int const one = ::socket(AF_UNIX, SOCK_DGRAM, 0); one < 0 || ::setsockopt(one, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) != 0) break;
    std::printf("%ld %s\n", got, std::strerror(errno));
    return 0;
}

/// `n` files with an attribute as large as the kernel takes one.
int hoard_attributes(long n) {
    std::string const text(65000, 'x');
    raise_open_files();
    long got = 0;
    for (; got < n; ++got) {
        auto const name = "attributes" + std::to_string(got);
        int const file = ::open(name.c_str(), O_WRONLY | O_CREAT, 0600);
        bool const taken = file >= 0 && (::fsetxattr(file, "user.victim", text.data(), text.size(), 0) == 0 || ::fsetxattr(file, "trusted.victim", text.data(), text.size(), 0) == 0);
        ::unlink(name.c_str());
        if (!taken) break;
    }
    std::printf("%ld %s\n", got, std::strerror(errno));
    return 0;
}

/// Keeps `n` files open, and as many by mappings; a thread says so in a file, and outlives the first one.
int keep_files(long n, char const* said) {
    raise_open_files();
    for (long i = 0; i < n; ++i)
        if (::eventfd(0, 0) < 0 || ::mmap(nullptr, 1, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 1;
    pthread_t thread{};
    auto const work = [](void* file) -> void* {
        ::close(::creat(static_cast<char const*>(file), 0600));
        ::sleep(long_time_s);
        return nullptr;
    };
    ::pthread_create(&thread, nullptr, work, const_cast<char*>(said));
    ::pthread_exit(nullptr);
}

} // namespace victims
