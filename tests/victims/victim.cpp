// SPDX-License-Identifier: MIT
// Small programs that try to break limits, one a name: victim NAME [ARGUMENT]. Every attempt is bounded, so that a
// limit that fails does no harm to the machine it fails on.
#include "victims.hpp"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

using namespace victims;

namespace {

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

/// Has it still, for who looks.
int stay(int status) {
    std::fflush(stdout);
    ::sleep(long_time_s);
    return status;
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
    if (name == "keep_files") return keep_files(number, argc > 3 ? argv[3] : "");
    bool const stays = argc > 3 && std::strcmp(argv[3], "stay") == 0;
    int status = -1;
    if (name == "hoard_files") status = hoard_files(number);
    if (name == "hoard_user") status = hoard_user(number);
    if (name == "hoard_tcp") status = hoard_tcp(number);
    if (name == "hoard_filters") status = hoard_filters(number);
    if (name == "hoard_attributes") status = hoard_attributes(number);
    if (status >= 0) return stays ? stay(status) : status;
    if (name == "quota") return quota();
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
