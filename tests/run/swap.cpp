// SPDX-License-Identifier: MIT
// swap ONE OTHER [--gone]: exchanges two names again and again, as an attacker does with what leads to somebody's folder, until
// standard input ends; then puts them back as they were. With --gone there is nothing under ONE for a moment before OTHER takes its place.
// Prints "ready" after the first exchange.
#include <cstdio>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4 || (argc == 4 && std::string_view{argv[3]} != "--gone")) return 2;
    std::string const one = argv[1], other = argv[2], away = one + ".away";
    bool there = true;
    auto const exchange = [&] {
        if (argc == 3) return ::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
        there = !there;
        auto const &from = there ? away : other, &to = there ? other : away;
        if (::rename(one.c_str(), to.c_str()) != 0) return false;
        for (int i = 0; i < 20; ++i) (void)::syscall(SYS_getppid); // for a moment
        return ::rename(from.c_str(), one.c_str()) == 0;
    };
    pollfd end{0, POLLIN, 0};
    bool said = false;
    do {
        if (!exchange() || !exchange()) {
            std::perror("swap");
            return 1;
        }
        if (!said) said = true, std::puts("ready"), std::fflush(stdout);
        for (int i = 0; i < 200; ++i) // between two it stays for a while, or every path would seem the same
            if (!exchange() || !exchange()) return 1;
    } while (::poll(&end, 1, 0) == 0);
    return 0;
}
