// SPDX-License-Identifier: MIT
// Probes that fill the tables which the kernel keeps for the whole machine, or for all that one user does.
#include "probe.hpp"
#include "support/send_copies.hpp"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <new>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

namespace probes {
namespace {

using sb::test::send_copies;

/// What all processes of a probe see.
struct common {
    std::atomic<long> files = 0, done = 0;
    long most = 0;
};
common* share() {
    void* const at = ::mmap(nullptr, sizeof(common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? nullptr : new (at) common;
}

/// Makes files by `make` until it says no or all together have enough, and then keeps them. Neither errno nor memory is used:
/// threads that share them do this side by side.
template <class Make>
void gather(common& all, long own, Make make) {
    constexpr long step = 32;
    long since = 0;
    for (long i = 0; i < own && all.files < all.most; ++i) {
        if (!make()) break;
        if (++since == step) all.files += std::exchange(since, 0);
    }
    all.files += since;
}
bool one_more() { return ::eventfd(0, EFD_CLOEXEC) >= 0; }
bool one_more_mapped() { return ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }

/// The soft limit on open files as high, or as low, as this.
void set_open_files(rlim_t most) {
    rlimit now{};
    ::getrlimit(RLIMIT_NOFILE, &now);
    now.rlim_cur = std::min(most, now.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &now);
}

/// Waits for all of `made` to have done what they do, or to have died; then ends them.
void until_done(common const& all, std::vector<pid_t> const& made) {
    auto const want = std::ssize(made);
    long dead = 0;
    while (all.done + dead < want && all.files < all.most) {
        if (::waitpid(-1, nullptr, WNOHANG) > 0) ++dead;
        else ::usleep(200);
    }
    for (auto const pid : made) ::kill(pid, SIGKILL);
    for (auto const pid : made) ::waitpid(pid, nullptr, 0);
}

/// A thread with a table of its own would have as many files as a process.
void own_tables(attempts& tried) {
    auto const in_a_thread = [&](char const* words, int (*take_table)()) {
        int code = 0, file = -1;
        std::thread{[&] {
            code = take_table() == 0 ? 0 : errno;
            file = ::eventfd(0, EFD_CLOEXEC);
        }}.join();
        tried.add(words, file >= 0 && ::fcntl(file, F_GETFD) < 0, code);
    };
    in_a_thread("a table by unshare", [] { return ::unshare(CLONE_FILES); });
    in_a_thread("a table by close_range", [] { return ::close_range(~0u, ~0u, CLOSE_RANGE_UNSHARE); });

    constexpr std::size_t stack = 64 << 10;
    void* const at = ::mmap(nullptr, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static std::atomic<int> file = -1;
    auto const work = [](void*) { // it has our errno
        file = ::eventfd(0, EFD_CLOEXEC);
        for (;;) ::pause();
        return 0;
    };
    if (at == MAP_FAILED || ::clone(work, static_cast<char*>(at) + stack, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, nullptr) < 0)
        return tried.add("a table by clone", false, errno);
    while (file < 0) ::usleep(200);
    tried.add("a table by clone", ::fcntl(file, F_GETFD) < 0);
}

/// All that a user may have of pipe pages, of descriptors under way, and with `full` of epoll watches, in processes that live on.
void hoard(bool full) {
    constexpr int pipes_each = 350, pipe_holders = 3, // few files: they are counted, too
         most_in_flight = 8192, in_one = sb::test::most_copies, in_a_queue = 8;
    auto* const all = share();
    if (!all) return;
    long holders = 0;
    auto const hold = [&](auto work) {
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            work();
            ++all->done;
            for (;;) ::pause();
        }
        ++holders;
    };
    for (int i = 0; i < pipe_holders; ++i)
        hold([] {
            for (int each = 0, ends[2]; each < pipes_each && ::pipe2(ends, O_CLOEXEC) == 0; ++each) {}
        });
    hold([] {
        int pair[2];
        for (int sent = 0; sent < most_in_flight && ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0;)
            for (int i = 0; i < in_a_queue; ++i) {
                if (!send_copies(pair[0], pair[0], in_one)) {
                    if (errno == EAGAIN) break;
                    return;
                }
                sent += in_one;
            }
    });
    // each instance watches each of the same files
    for (int i = 0; full && i < 2; ++i)
        hold([] {
            std::vector<int> watched;
            while (watched.size() < 490) watched.push_back(::eventfd(0, EFD_CLOEXEC));
            for (int instances = 0; instances < 500; ++instances) {
                int const by = ::epoll_create1(EPOLL_CLOEXEC);
                if (by < 0) return;
                for (int const each : watched) {
                    epoll_event none{};
                    if (::epoll_ctl(by, EPOLL_CTL_ADD, each, &none) != 0) return;
                }
            }
        });
    while (all->done < holders) ::usleep(1000);
}

/// What another session of the same caller needs. `whole`: nothing may be missing; else it is enough that pipes carry something.
void check_quotas(bool whole, attempts& tried) {
    int ends[2] = {-1, -1}, pair[2] = {-1, -1};
    bool const made = ::pipe2(ends, O_CLOEXEC) == 0 && ::write(ends[1], "x", 1) == 1;
    tried.add("no pipe for a sibling", !made, 0);
    int const size = ::fcntl(ends[0], F_GETPIPE_SZ);
    bool const sent = ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0 && send_copies(pair[0], 0, 1);
    int const code = errno;
    int const by = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event none{};
    bool const watches = ::epoll_ctl(by, EPOLL_CTL_ADD, ends[0], &none) == 0;
    if (whole) {
        tried.add(counted("a sibling's pipe of bytes", size), size < 65536);
        tried.add(std::string{"a sibling passes no descriptor"} + (sent ? "" : std::string{" "} + ::strerrorname_np(code)), !sent);
        tried.add("a sibling watches nothing with epoll", !watches);
    } else {
        tried.seen_outside(counted("a sibling's pipe of bytes", size));
        tried.seen_outside(sent ? "a sibling passes a descriptor" : "a sibling passes no descriptor");
        tried.seen_outside(watches ? "a sibling watches with epoll" : "a sibling watches nothing with epoll");
    }
}

} // namespace

void file_table(words const& given, attempts& tried) {
    auto* const all = share();
    if (!all) return;
    set_open_files(RLIM_INFINITY);
    std::vector<pid_t> made;
    auto const spread = [&](int processes, auto work) {
        for (int i = 0; i < processes && all->files < all->most; ++i) {
            auto const pid = ::fork();
            if (pid < 0) break;
            if (pid == 0) {
                ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                work();
                ++all->done;
                for (;;) ::pause();
            }
            made.push_back(pid);
        }
        until_done(*all, made);
        tried.add(counted("files", all->most), all->files >= all->most, ENFILE);
    };
    if (given.does("one")) {
        all->most = given.number("count", 4096);
        gather(*all, all->most, &one_more);
        tried.add(counted("open files of one process", all->most), all->files >= all->most, EMFILE);
        return;
    }
    if (given.does("threads")) return own_tables(tried);
    all->most = given.number("files", 4096);
    // by far not all that would be needed: what is to be seen is that they are counted
    constexpr long each_holds = 1 << 20;
    if (given.does("mapped")) spread(8, [&] { gather(*all, 60000, &one_more_mapped); });
    else spread(400, [&] { gather(*all, each_holds, &one_more); });
}

void sibling_quota(words const& given, attempts& tried) {
    set_open_files(1024);
    bool const full = given.number("full") != 0;
    if (given.does("hoard")) {
        hoard(full);
        ::prctl(PR_SET_NAME, "sb-hoards"); // the witness waits for it
        wait_for(60);
    } else if (given.does("check")) {
        check_quotas(given.number("whole") != 0, tried);
    } else { // both under one user
        if (::geteuid() == 0 && ::setresuid(1879100000, 1879100000, 1879100000) != 0) return;
        hoard(full);
        check_quotas(true, tried);
    }
}

} // namespace probes
