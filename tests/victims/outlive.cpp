// SPDX-License-Identifier: MIT
// Victims that do not end when they should.
#include "victims.hpp"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace victims {

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

} // namespace victims
