// SPDX-License-Identifier: MIT
// Small programs that try to break limits, one a name: victim NAME [ARGUMENT]. Every attempt is bounded, so that a
// limit that fails does no harm to the machine it fails on.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <initializer_list>
#include <pthread.h>
#include <string>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace {

constexpr unsigned long_time_s = 600; // nothing here outlives a broken sandbox for longer

void ignore(std::initializer_list<int> signals) {
    for (int const s : signals) std::signal(s, SIG_IGN);
}

/// Processes that sleep, `n` in all.
int fork_bomb(long n) {
    for (long i = 1; i < n; ++i) {
        auto const pid = ::fork();
        if (pid < 0) return std::printf("%ld\n", i), std::fflush(stdout), ::sleep(long_time_s), 0;
        if (pid == 0) ::sleep(long_time_s), ::_exit(0);
    }
    std::printf("%ld\n", n);
    std::fflush(stdout);
    ::sleep(long_time_s);
    return 0;
}

/// Leaves the session, the group and the parent, hears no signal, and writes its pid to a file.
int daemon(char const* file) {
    if (::fork() > 0) ::_exit(0);
    ::setsid();
    if (::fork() > 0) ::_exit(0);
    ignore({SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE});
    if (auto* const out = std::fopen(file, "w")) std::fprintf(out, "%d\n", static_cast<int>(::getpid())), std::fclose(out);
    ::sleep(long_time_s);
    return 0;
}

/// The first process waits until its daemon has written its pid, then ends.
int daemon_and_leave(char const* file) {
    if (::fork() == 0) return daemon(file);
    struct stat there {};
    while (::stat(file, &there) != 0 || there.st_size == 0) ::usleep(1000);
    return 0;
}

/// Each generation makes the next in a session of its own and dies, `n` times.
int hydra(long n) {
    for (long i = 0; i < n; ++i) {
        auto const pid = ::fork();
        if (pid < 0) return 1;
        if (pid > 0) ::_exit(0);
        ::setsid();
    }
    return 0;
}

int flood(long bytes) {
    static char block[1 << 16];
    std::memset(block, 'x', sizeof block);
    for (long left = bytes; left > 0;) {
        auto const n = ::write(1, block, static_cast<std::size_t>(left < long{sizeof block} ? left : long{sizeof block}));
        if (n < 0) return 1;
        left -= n;
    }
    return 0;
}

/// The same to standard error.
int flood_err(long bytes) {
    ::dup2(2, 1);
    return flood(bytes);
}

/// Several processes take back what they write, between the two calls with which whoever is at the other end sees it and reads
/// it, until that one takes nothing of standard error any more: it sleeps in a read that nothing ends. Then they stay.
int steal_back(long seconds) {
    int const back = ::open("/proc/self/fd/1", O_RDONLY | O_NONBLOCK);
    if (back < 0) return static_cast<int>(::sleep(long_time_s)); // the pipe is another user's
    auto const untaken = [] {
        int n = 0;
        return ::ioctl(2, FIONREAD, &n) == 0 && n > 0;
    };
    auto const end = std::time(nullptr) + seconds;
    for (int i = 1; i < 4; ++i)
        if (::fork() == 0) break;
    while (std::time(nullptr) < end) {
        char byte = 'x';
        for (int i = std::rand() % 1000; i >= 0; --i) (void)!::write(1, &byte, 1), (void)!::read(back, &byte, 1);
        (void)!::write(2, ".", 1);
        for (int i = 0; i < 100 && untaken(); ++i) ::usleep(1000);
        if (untaken()) ::sleep(long_time_s);
    }
    return 0;
}

int stop_itself() {
    ::raise(SIGSTOP);
    return 0;
}

/// Ends at once; a child keeps standard output open.
int orphan_with_pipe() {
    if (::fork() == 0) ::sleep(long_time_s), ::_exit(0);
    std::puts("gone");
    return 0;
}

/// Spins, deaf to all that can be ignored.
int stubborn(long seconds) {
    ignore({SIGTERM, SIGINT, SIGHUP, SIGXCPU, SIGQUIT, SIGUSR1, SIGALRM});
    rusage used{};
    do ::getrusage(RUSAGE_SELF, &used);
    while (used.ru_utime.tv_sec + used.ru_stime.tv_sec < seconds);
    return 0;
}

int big_file(long bytes) {
    int const out = ::open("big", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char const block[4096]{};
    for (long at = 0; at < bytes; at += long{sizeof block})
        if (::write(out, block, sizeof block) != long{sizeof block}) return 1;
    return 0;
}

/// Opens files until it may not, and prints how many were open at once.
int open_files() {
    long open = 0;
    for (int fd = 0; fd < 4096; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) ++open;
    while (open < 100000 && ::open("/dev/null", O_RDONLY) >= 0) ++open;
    std::printf("%ld %s\n", open, std::strerror(errno));
    return 0;
}

int descriptors() {
    for (int fd = 0; fd < 65536; ++fd)
        if (::fcntl(fd, F_GETFD) >= 0) std::printf("%d ", fd);
    std::puts("");
    return 0;
}

int variables() {
    for (auto** each = environ; *each; ++each) std::puts(*each);
    return 0;
}

/// Allocates MiB by MiB, touching each, at most `most`; prints how many it got.
int memory(long most) {
    long got = 0;
    for (; got < most; ++got) {
        auto* const block = static_cast<char*>(std::malloc(1 << 20));
        if (!block) break;
        std::memset(block, 1, 1 << 20);
        asm volatile("" : : "r"(block) : "memory"); // a compiler may leave out memory that nobody looks at
    }
    std::printf("%ld\n", got);
    return got < most ? 1 : 0;
}

/// Pages of a file in memory, written MiB by MiB; who holds them is told by no process's size.
int fill(int fd, long most) {
    static char block[1 << 20];
    std::memset(block, 'x', sizeof block);
    for (long i = 0; i < most; ++i)
        for (std::size_t at = 0; at < sizeof block;) {
            auto const n = ::write(fd, block + at, sizeof block - at);
            if (n <= 0) return std::printf("%ld %s\n", i, std::strerror(errno)), 1;
            at += static_cast<std::size_t>(n);
        }
    std::printf("%ld\n", most);
    return 0;
}

int nameless_in(char const* folder) {
    auto path = std::string{folder} + "/victim-XXXXXX";
    int const fd = ::mkstemp(path.data());
    if (fd >= 0) ::unlink(path.c_str());
    return fd;
}

/// One that stays, for a disk is filled by what stays.
int named_in(char const* folder) {
    auto path = std::string{folder} + "/victim-XXXXXX";
    return ::mkstemp(path.data());
}

/// A tree of which no process is large: `most` MiB in eight.
int memory_tree(long most) {
    int ready[2], hold[2];
    if (::pipe(ready) != 0 || ::pipe(hold) != 0) return 1;
    for (int i = 0; i < 8; ++i) {
        if (::fork() != 0) continue;
        ::close(ready[0]), ::close(hold[1]);
        char go = 1;
        for (long got = 0; got < most / 8; ++got) {
            auto* const block = static_cast<char*>(std::malloc(1 << 20));
            if (!block) ::_exit(1);
            std::memset(block, 1, 1 << 20);
            asm volatile("" : : "r"(block) : "memory");
        }
        bool const said = ::write(ready[1], &go, 1) == 1;
        ::close(ready[1]); // so that the parent sees the end of those that were killed
        ::_exit(said && ::read(hold[0], &go, 1) == 0 ? 0 : 1);
    }
    ::close(ready[1]), ::close(hold[0]);
    int said = 0, held = 0;
    for (char one = 0; said < 8 && ::read(ready[0], &one, 1) == 1;) ++said;
    ::close(hold[1]);
    for (int status = 0; ::wait(&status) > 0;) held += status == 0; // who is killed to make room for another may have said so already
    std::printf("%d\n", held);
    return held == 8 ? 0 : 1;
}

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

/// `n` processes at once, or as many as it may; they end with it.
int processes(long n) {
    int hold[2];
    if (::pipe(hold) != 0) return 1;
    long made = 0;
    for (; made < n; ++made) {
        auto const pid = ::fork();
        if (pid < 0) break;
        if (pid == 0) {
            char end = 0;
            ::close(hold[1]);
            ::_exit(::read(hold[0], &end, 1) == 0 ? 0 : 1);
        }
    }
    std::printf("%ld %s\n", made, made < n ? std::strerror(errno) : "");
    ::close(hold[1]);
    while (::wait(nullptr) > 0) {}
    return made < n ? 1 : 0;
}

int threads(long n) {
    static int hold[2];
    if (::pipe(hold) != 0) return 1;
    pthread_attr_t small;
    ::pthread_attr_init(&small);
    ::pthread_attr_setstacksize(&small, 64 << 10);
    std::vector<pthread_t> made;
    int refused = 0;
    while (static_cast<long>(made.size()) < n) {
        pthread_t one{};
        refused = ::pthread_create(&one, &small, [](void*) -> void* {
            char end = 0;
            while (::read(hold[0], &end, 1) < 0) {}
            return nullptr;
        }, nullptr);
        if (refused != 0) break;
        made.push_back(one);
    }
    std::printf("%zu %s\n", made.size(), refused != 0 ? std::strerror(refused) : "");
    ::close(hold[1]);
    for (auto const each : made) ::pthread_join(each, nullptr);
    return refused != 0 ? 1 : 0;
}

/// Files of no bytes, until no more can be made.
int inodes(long n) {
    if (::mkdir("many", 0700) != 0 || ::chdir("many") != 0) return 1;
    long made = 0;
    for (; made < n; ++made) {
        int const fd = ::open(std::to_string(made).c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd < 0) break;
        ::close(fd);
    }
    std::printf("%ld %s\n", made, made < n ? std::strerror(errno) : "");
    return made < n ? 1 : 0;
}

/// As much of all processors as four threads get in so many seconds; prints the share in hundredths of one processor.
int share(long seconds) {
    timespec begin{}, now{}, used{};
    static std::atomic<bool> enough{false};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_t helpers[3];
    for (auto& each : helpers)
        ::pthread_create(&each, nullptr, [](void*) -> void* {
            while (!enough.load(std::memory_order_relaxed)) {}
            return nullptr;
        }, nullptr);
    auto const since = [&](timespec const& from) {
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<double>(now.tv_sec - from.tv_sec) + static_cast<double>(now.tv_nsec - from.tv_nsec) / 1e9;
    };
    while (since(begin) < static_cast<double>(seconds)) {}
    enough = true;
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    auto const wall = since(begin);
    for (auto const each : helpers) ::pthread_join(each, nullptr);
    std::printf("%.0f\n", 100 * (static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9) / wall);
    return 0;
}

/// Deaf to all, with a daemon that left it, both asleep for so many seconds.
int daemon_and_stay(long seconds) {
    ignore({SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU});
    if (::fork() == 0) {
        ::setsid();
        if (::fork() == 0) ::sleep(static_cast<unsigned>(seconds));
        ::_exit(0);
    }
    ::sleep(static_cast<unsigned>(seconds));
    return 0;
}

int report(char const* line) {
    char const* const fd = std::getenv("SB_REPORT_FD");
    if (!fd) return 1;
    return ::dprintf(std::atoi(fd), "%s\n", line) > 0 ? 0 : 1;
}

/// Leaves behind what is hard to remove: depth, folders without permission, links out, odd names.
int litter(long depth) {
    for (char const* const name : {"HOME", "TMPDIR"}) {
        char const* const folder = std::getenv(name);
        if (!folder || ::chdir(folder) != 0) return 1;
        ::close(::open("file\nwith a line end", O_WRONLY | O_CREAT, 0600));
        if (::symlink("/etc", "link") != 0 || ::mkfifo("fifo", 0600) != 0) return 1;
        if (::mkdir("closed", 0700) != 0 || ::mkdir("closed/inner", 0700) != 0 || ::chmod("closed", 0) != 0) return 1;
        for (long i = 0; i < depth; ++i)
            if (::mkdir("deep", 0700) != 0 || ::chdir("deep") != 0) return 1;
        ::close(::open("bottom", O_WRONLY | O_CREAT, 0600));
    }
    return 0;
}

/// Prints how many names its HOME and TMPDIR hold.
int look() {
    long names = 0;
    for (char const* const name : {"HOME", "TMPDIR"}) {
        DIR* const all = ::opendir(std::getenv(name));
        if (!all) return 1;
        while (auto const* const entry = ::readdir(all))
            if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) ++names;
        ::closedir(all);
    }
    std::printf("%ld\n", names);
    return 0;
}

/// A child acts after the parent's end: makes the file a second later.
int time_bomb(char const* file) {
    if (::fork() == 0) {
        ::setsid();
        ::sleep(1);
        ::close(::open(file, O_WRONLY | O_CREAT, 0600));
        ::_exit(0);
    }
    return 0;
}

int signals() {
    for (int s = 1; s < 32; ++s) {
        struct sigaction now {};
        ::sigaction(s, nullptr, &now);
        if (now.sa_handler == SIG_IGN) std::printf("ignored %d\n", s);
    }
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    for (int s = 1; s < 32; ++s)
        if (sigismember(&blocked, s) == 1) std::printf("blocked %d\n", s);
    std::printf("session %s, group %s\n", ::getsid(0) == ::getpid() ? "own" : "shared", ::getpgrp() == ::getpid() ? "own" : "shared");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::string const name = argc > 1 ? argv[1] : "";
    char const* const text = argc > 2 ? argv[2] : "";
    long const number = std::atol(text);
    if (name == "fork_bomb") return fork_bomb(number);
    if (name == "daemon") return daemon(text);
    if (name == "daemon_and_leave") return daemon_and_leave(text);
    if (name == "hydra") return hydra(number);
    if (name == "flood") return flood(number);
    if (name == "flood_err") return flood_err(number);
    if (name == "steal_back") return steal_back(number);
    if (name == "stop_itself") return stop_itself();
    if (name == "orphan_with_pipe") return orphan_with_pipe();
    if (name == "stubborn") return stubborn(number);
    if (name == "big_file") return big_file(number);
    if (name == "open_files") return open_files();
    if (name == "descriptors") return descriptors();
    if (name == "variables") return variables();
    if (name == "memory") return memory(number);
    if (name == "memory_shm") return fill(nameless_in("/dev/shm"), number);
    if (name == "memory_tmp") return fill(nameless_in("/tmp"), number);
    if (name == "memory_memfd") return fill(::memfd_create("victim", MFD_CLOEXEC), number);
    if (name == "memory_tree") return memory_tree(number);
    if (name == "processes") return processes(number);
    if (name == "threads") return threads(number);
    if (name == "fill") return fill(named_in("."), number);
    if (name == "inodes") return inodes(number);
    if (name == "share") return share(number);
    if (name == "daemon_and_stay") return daemon_and_stay(number);
    if (name == "hoard") return hoard(number);
    if (name == "report") return report(text);
    if (name == "litter") return litter(number);
    if (name == "look") return look();
    if (name == "time_bomb") return time_bomb(text);
    if (name == "signals") return signals();
    if (name == "exit") return static_cast<int>(number);
    if (name == "kill_itself") return ::raise(static_cast<int>(number));
    if (name == "sleep") return static_cast<int>(::sleep(static_cast<unsigned>(number)));
    std::fprintf(stderr, "victim: unknown name \"%s\"\n", name.c_str());
    return 2;
}
