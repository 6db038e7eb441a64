// SPDX-License-Identifier: MIT
// Probes that take all they can get of one thing, up to a bound.
#include "probe.hpp"
#include "support/send_copies.hpp"
#include <csignal>
#include <cstdint>
#include <ctime>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace probes {
namespace {

void touch(void* pages, std::size_t bytes) {
    auto* const at = static_cast<volatile char*>(pages);
    for (std::size_t i = 0; i < bytes; i += 4096) at[i] = 1;
}

/// Each limit that is ours to raise, raised: a limit must hold against that too.
void raise_soft_limits() {
    for (auto const which : {RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_SIGPENDING, RLIMIT_MEMLOCK}) {
        rlimit now{};
        if (::getrlimit(which, &now) == 0) now.rlim_cur = now.rlim_max, ::setrlimit(which, &now);
    }
}

} // namespace

void fork_bomb(words const& given, attempts& tried) {
    auto const most = given.number("count", 500);
    std::vector<pid_t> made;
    int refused = 0;
    while (std::ssize(made) < most) {
        auto const pid = ::fork();
        if (pid < 0) {
            refused = errno;
            break;
        }
        if (pid == 0) ::sleep(30), ::_exit(0);
        made.push_back(pid);
    }
    tried.add(counted("processes", most), std::ssize(made) == most, refused);
    for (auto const pid : made) ::kill(pid, SIGKILL);
    for (auto const pid : made) ::waitpid(pid, nullptr, 0);
}

void thread_bomb(words const& given, attempts& tried) {
    auto const most = given.number("count", 500);
    payload::with_threads(most, [&](long made, int refused) { tried.add(counted("threads", most), made == most, refused); });
}

void memory_bomb(words const& given, attempts& tried) {
    auto const mib = given.number("mib", 128);
    auto const bytes = static_cast<std::size_t>(mib) << 20;
    auto const fill = [&](char const* what, int fd) { tried.ask(counted(what, mib), fd >= 0 && write_mib(fd, mib)); };
    if (given.does("anon")) {
        void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        int const refused = errno;
        if (pages != MAP_FAILED) touch(pages, bytes);
        tried.add(counted("anonymous MiB", mib), pages != MAP_FAILED, refused);
    }
    if (given.does("memfd")) fill("memfd MiB", ::memfd_create("sb-probe", MFD_CLOEXEC));
    if (given.does("shm")) fill("/dev/shm MiB", nameless_file("/dev/shm"));
    if (given.does("tmpfs")) fill("/tmp MiB", nameless_file("/tmp"));
    if (given.does("tree")) { // no process of it is large
        int ready[2], hold[2];
        if (::pipe(ready) != 0 || ::pipe(hold) != 0) return;
        std::vector<pid_t> children;
        for (int i = 0; i < 8; ++i) {
            auto const pid = ::fork();
            if (pid < 0) break;
            if (pid == 0) {
                ::close(hold[1]), ::close(ready[0]);
                void* const pages = ::mmap(nullptr, bytes / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (pages == MAP_FAILED) ::_exit(1);
                touch(pages, bytes / 8);
                char go = 1;
                bool const said = ::write(ready[1], &go, 1) == 1;
                ::close(ready[1]); // so that the parent sees the end of those that were killed
                if (said) (void)!::read(hold[0], &go, 1);
                ::_exit(0);
            }
            children.push_back(pid);
        }
        ::close(ready[1]), ::close(hold[0]);
        int held = 0;
        for (char one = 0; ::read(ready[0], &one, 1) == 1;) // ends when all are ready or gone
            if (++held == 8) break;
        for (auto const pid : children) held -= ::waitpid(pid, nullptr, WNOHANG) == pid; // whom the kernel killed after it was ready
        tried.add(counted("MiB in 8 processes", mib), held == 8, ENOMEM);
        ::close(hold[1]);
        for (auto const pid : children) ::waitpid(pid, nullptr, 0);
    }
}

void cache_pressure(words const& given, attempts& tried) {
    auto const mib = given.number("mib", 128);
    auto const bytes = static_cast<std::size_t>(mib) << 20;
    raise_soft_limits();
    if (given.does("lock")) {
        void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        tried.ask(counted("lock MiB", mib), pages != MAP_FAILED && ::mlock(pages, bytes) == 0);
    }
    if (given.does("cache")) {
        int const fd = nameless_file(".");
        if (fd < 0 || !write_mib(fd, mib)) return tried.add(counted("cached MiB", mib), false, errno);
        ::fsync(fd);
        void* const pages = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
        if (pages == MAP_FAILED) return tried.add(counted("cached MiB", mib), false, errno);
        // what is mapped at once after all of it was read: a page that had to go is in no map any more
        for (std::size_t i = 0; i < bytes; i += 4096) (void)static_cast<char volatile*>(pages)[i];
        std::vector<std::uint64_t> entries(bytes / 4096);
        int const map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        auto const size = static_cast<ssize_t>(entries.size() * sizeof(std::uint64_t));
        auto const at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(pages) / 4096 * sizeof(std::uint64_t));
        long there = 0;
        if (::pread(map, entries.data(), static_cast<std::size_t>(size), at) == size)
            for (auto const entry : entries) there += static_cast<long>(entry >> 63);
        else return tried.add("read /proc/self/pagemap", true); // then nothing was shown
        tried.add(counted("cached MiB", mib), there >= static_cast<long>(entries.size()) * 9 / 10, ENOMEM);
    }
}

void disk_fill(words const& given, attempts& tried) {
    auto const mib = given.number("mib", 64);
    auto const folder = [](char const* variable) {
        char const* const named = std::getenv(variable);
        return std::string{named ? named : "."};
    };
    if (given.does("bytes"))
        for (auto const& where : {std::string{"."}, folder("HOME"), folder("TMPDIR"), std::string{"/tmp"}, std::string{"/dev/shm"}, std::string{"/var/tmp"}}) {
            int const fd = nameless_file(where);
            tried.ask(counted("MiB", mib) + " in " + where, fd >= 0 && write_mib(fd, mib));
            if (fd >= 0) ::close(fd);
        }
    if (given.does("sparse")) {
        int const fd = nameless_file(".");
        bool whole = fd >= 0;
        for (long i = 0; whole && i < mib; ++i) whole = ::lseek(fd, i << 30, SEEK_SET) >= 0 && write_mib(fd, 1);
        tried.add(counted("MiB, one in each GiB,", mib), whole, errno);
    }
    if (given.does("inodes")) {
        auto const most = given.number("count", 50000);
        if (::mkdir("many", 0700) != 0 || ::chdir("many") != 0) return tried.add(counted("files", most), false, errno);
        long made = 0;
        for (; made < most; ++made) {
            int const fd = ::open(std::to_string(made).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            if (fd < 0) break;
            ::close(fd);
        }
        tried.add(counted("files", most), made == most, errno);
        for (long i = 0; i < made; ++i) ::unlink(std::to_string(i).c_str());
        if (::chdir("..") == 0) ::rmdir("many");
    }
}

void file_limit(words const& given, attempts& tried) {
    auto const mib = given.number("mib", 4);
    tried.add(counted("MiB in one file", mib), in_child([&] {
        int const fd = nameless_file(".");
        return fd >= 0 && write_mib(fd, mib) ? 0 : errno;
    }) == 0, EFBIG);
    std::signal(SIGXFSZ, SIG_IGN);
    int const fd = nameless_file(".");
    if (fd < 0) return tried.add("deaf to SIGXFSZ", false, errno);
    tried.ask("deaf to SIGXFSZ", write_mib(fd, mib));
    tried.call("ftruncate", ::ftruncate(fd, mib << 20));
    if (int const refused = ::posix_fallocate(fd, 0, mib << 20)) tried.add("fallocate", false, refused);
    else tried.add("fallocate", true);
    rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    tried.call("raise RLIMIT_FSIZE", ::setrlimit(RLIMIT_FSIZE, &all));
}

void descriptors(words const& given, attempts& tried) {
    auto const most = given.number("count", 4096);
    raise_soft_limits();
    std::vector<int> open;
    int refused = 0;
    while (std::ssize(open) < most) {
        int const fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            refused = errno;
            break;
        }
        open.push_back(fd);
    }
    tried.add(counted("open files", most), std::ssize(open) == most, refused);
    for (auto const fd : open) ::close(fd);

    // a descriptor that is under way in a socket is in nobody's table
    constexpr int in_one = sb::test::most_copies;
    long queued = 0;
    refused = 0;
    for (int pair[2]; queued < most && refused == 0;) {
        if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) {
            refused = errno;
            break;
        }
        for (int messages = 0; messages < 8 && queued < most; ++messages) {
            if (!sb::test::send_copies(pair[0], pair[0], in_one)) {
                if (errno != EAGAIN) refused = errno;
                break;
            }
            queued += in_one;
        }
    }
    tried.add(counted("descriptors in sockets", most), queued >= most, refused);
}

void cpu_spin(words const& given, attempts& tried) {
    auto const seconds = given.number("seconds", 4);
    for (int const each : {SIGXCPU, SIGTERM, SIGINT, SIGALRM, SIGPROF}) std::signal(each, SIG_IGN);
    timespec begin{}, now{}, used{};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    do ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), ::clock_gettime(CLOCK_MONOTONIC, &now);
    while (used.tv_sec < seconds && now.tv_sec - begin.tv_sec < 6 * seconds + 10);
    tried.add(counted("seconds of processor time", seconds), used.tv_sec >= seconds, ETIME);
}

void kernel_objects(words const& given, attempts& tried) {
    auto const most = given.number("count", 4096);
    raise_soft_limits();
    auto const gather = [&](char const* what, long n, auto make) {
        std::vector<int> all;
        int refused = 0;
        while (std::ssize(all) < n) {
            int const fd = make();
            if (fd < 0) {
                refused = errno;
                break;
            }
            all.push_back(fd);
        }
        tried.add(counted(what, n), std::ssize(all) == n, refused);
        for (auto const fd : all) ::close(fd);
    };
    gather("inotify instances", most, [] { return ::inotify_init1(IN_CLOEXEC); });
    gather("epoll instances", most, [] { return ::epoll_create1(EPOLL_CLOEXEC); });
    gather("pipes of 1 MiB", most / 8, [] {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
        ::close(ends[1]);
        return ::fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) < 0 ? (::close(ends[0]), -1) : ends[0];
    });
    gather("a pipe of 1 MiB", 1, [] {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
        ::close(ends[1]);
        return ::fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) < 0 ? (::close(ends[0]), -1) : ends[0];
    });
    long timers = 0;
    std::vector<timer_t> made;
    int refused = 0;
    for (long const wanted = given.number("timers", 200000); timers < wanted; ++timers) {
        timer_t timer{};
        sigevent quiet{};
        quiet.sigev_notify = SIGEV_SIGNAL, quiet.sigev_signo = SIGURG;
        if (::timer_create(CLOCK_MONOTONIC, &quiet, &timer) != 0) {
            refused = errno;
            break;
        }
    }
    tried.add(counted("timers", given.number("timers", 200000)), refused == 0, refused);
}

} // namespace probes
