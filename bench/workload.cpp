// SPDX-License-Identifier: MIT
// What the isolation benchmark runs: workload NAME [NUMBER…]. Each is bounded, so that a limit that fails does no harm.
//   flood BYTES            writes one block again and again
//   lines BYTES            writes lines that it makes, one number each
//   orphans MS LIFE_MS     leaves two daemons that take MS of processor time each, lives LIFE_MS, prints what each took (ns)
//   tree N MIB             N processes that hold MIB each at the same time
//   deaf SECONDS           hears no signal that can be ignored, nor do its two children, and spins
#include "support/payload.hpp"
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

long cpu_ns() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000'000L + used.tv_nsec;
}

bool write_all(char const* from, std::size_t left) {
    while (left > 0) {
        auto const n = ::write(1, from, left);
        if (n <= 0) return false;
        from += n, left -= static_cast<std::size_t>(n);
    }
    return true;
}

int flood(long bytes) {
    static std::array<char, 1 << 16> block;
    block.fill('x');
    for (long left = bytes; left > 0; left -= static_cast<long>(block.size()))
        if (!write_all(block.data(), static_cast<std::size_t>(left < long{1 << 16} ? left : long{1 << 16}))) return 1;
    return 0;
}

int lines(long bytes) {
    static std::array<char, 1 << 16> block;
    auto* at = block.data();
    auto* const end = at + block.size();
    for (long number = 0; bytes > 0; ++number) {
        if (end - at < 32) {
            if (!write_all(block.data(), static_cast<std::size_t>(at - block.data()))) return 1;
            bytes -= at - block.data(), at = block.data();
        }
        at = std::to_chars(at, end, number).ptr;
        *at++ = '\n';
    }
    return 0;
}

int orphans(long ms, long life_ms) {
    for (int i = 0; i < 2; ++i) {
        auto const child = ::fork();
        if (child < 0) return 1;
        if (child > 0) {
            ::waitpid(child, nullptr, 0);
            continue;
        }
        ::setsid();
        if (::fork() > 0) ::_exit(0);
        while (cpu_ns() < ms * 1'000'000L) {}
        char line[32];
        auto const n = std::snprintf(line, sizeof line, "%ld\n", cpu_ns());
        ::_exit(write_all(line, static_cast<std::size_t>(n)) ? 0 : 1);
    }
    timespec left{life_ms / 1000, life_ms % 1000 * 1'000'000L};
    while (::nanosleep(&left, &left) < 0 && errno == EINTR) {}
    return 0;
}

/// Mapped, not allocated: to the page what was asked for.
int tree(long processes, long mib) {
    auto const held = payload::processes_that_hold(processes, [bytes = static_cast<std::size_t>(mib) << 20] {
        void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) return false;
        std::memset(block, 1, bytes);
        asm volatile("" : : "r"(block) : "memory");
        return true;
    });
    return held == processes ? 0 : 1;
}

int deaf(long seconds) {
    for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_IGN);
    if (::fork() == 0) ::setsid(), (void)::fork();
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    for (auto const end = now.tv_sec + seconds; now.tv_sec < end;) ::clock_gettime(CLOCK_MONOTONIC, &now);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    std::string const name = argc > 1 ? argv[1] : "";
    long const first = argc > 2 ? std::atol(argv[2]) : 0, second = argc > 3 ? std::atol(argv[3]) : 0;
    if (name == "flood") return flood(first);
    if (name == "lines") return lines(first);
    if (name == "orphans") return orphans(first, second);
    if (name == "tree") return tree(first, second);
    if (name == "deaf") return deaf(first);
    std::fprintf(stderr, "workload: unknown name \"%s\"\n", name.c_str());
    return 2;
}
