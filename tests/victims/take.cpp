// SPDX-License-Identifier: MIT
// Victims that take all they can get of one thing that a limit of the run holds.
#include "victims.hpp"
#include "../support/payload.hpp"
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace victims {

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

/// Allocates MiB by MiB, touching each, at most `most`. How many it got.
long take_mib(long most) {
    long got = 0;
    for (; got < most; ++got) {
        auto* const block = static_cast<char*>(std::malloc(1 << 20));
        if (!block) break;
        std::memset(block, 1, 1 << 20);
        asm volatile("" : : "r"(block) : "memory"); // a compiler may leave out memory that nobody looks at
    }
    return got;
}
int memory(long most) {
    auto const got = take_mib(most);
    std::printf("%ld\n", got);
    return got < most ? 1 : 0;
}

/// Pages of a file in memory, written MiB by MiB; who holds them is told by no process's size.
int fill(int fd, long most) {
    auto const written = payload::write_mib(fd, most);
    if (written < most) return std::printf("%ld %s\n", written, std::strerror(errno)), 1;
    std::printf("%ld\n", most);
    return 0;
}

int nameless_in(char const* folder) { return payload::nameless_file(folder); }

/// One that stays, for a disk is filled by what stays.
int named_in(char const* folder) {
    auto path = std::string{folder} + "/victim-XXXXXX";
    return ::mkstemp(path.data());
}

/// A tree of which no process is large: `most` MiB in eight.
int memory_tree(long most) {
    auto const held = payload::processes_that_hold(8, [most] { return take_mib(most / 8) == most / 8; });
    std::printf("%ld\n", held);
    return held == 8 ? 0 : 1;
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
    bool all_made = false;
    payload::with_threads(n, [&](long made, int refused) {
        std::printf("%ld %s\n", made, refused != 0 ? std::strerror(refused) : "");
        all_made = refused == 0;
    });
    return all_made ? 0 : 1;
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

} // namespace victims
