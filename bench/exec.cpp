// SPDX-License-Identifier: MIT
// The peer of sb-exec: the same command, as often, by posix_spawn and waitpid alone: exec_peer N CMD [ARG…]
#include <cstdio>
#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: exec_peer N CMD [ARG...]\n", stderr), 2;
    for (long left = std::atol(argv[1]); left > 0; --left) {
        pid_t pid = 0;
        int status = 0;
        if (::posix_spawnp(&pid, argv[2], nullptr, nullptr, argv + 2, environ) != 0) return 4;
        if (::waitpid(pid, &status, 0) < 0 || status != 0) return 4;
    }
    return 0;
}
