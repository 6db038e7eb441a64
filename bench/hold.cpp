// SPDX-License-Identifier: MIT
// hold MIB N CMD [ARG…]: a program that embeds the sandbox and holds MIB of memory of its own runs CMD confined, N times.
// Prints a line a run: the peak memory that the sandbox tells, in bytes (unknown: it tells none); then "wait4" and what
// the kernel tells of CMD, spawned by this very process.
#include <sb/local/confine.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char** environ;

int main(int argc, char** argv) {
    if (argc < 4) return std::fputs("usage: hold MIB N CMD [ARG...]\n", stderr), 2;
    auto const bytes = static_cast<std::size_t>(std::atol(argv[1])) << 20;
    auto const held = std::make_unique<char[]>(bytes);
    std::memset(held.get(), 1, bytes);
    asm volatile("" : : "r"(held.get()) : "memory"); // a compiler may leave out memory that nobody looks at
    sb::local::confine_request what;
    what.argv.assign(argv + 3, argv + argc);
    for (long left = std::atol(argv[2]); left > 0; --left) {
        auto const got = sb::local::confine(what);
        if (got.has_error()) return std::fprintf(stderr, "hold: %s\n", got.error().what.c_str()), 4;
        if (!got->ok()) return std::fprintf(stderr, "hold: %s\n", got->how().c_str()), 4;
        if (got->peak_bytes) std::printf("%lld\n", static_cast<long long>(*got->peak_bytes));
        else std::puts("unknown");
    }
    pid_t child = -1;
    rusage used{};
    if (::posix_spawnp(&child, argv[3], nullptr, nullptr, argv + 3, environ) != 0 || ::wait4(child, nullptr, 0, &used) < 0) return 4;
    std::printf("wait4 %lld\n", static_cast<long long>(used.ru_maxrss) * 1024);
    return 0;
}
