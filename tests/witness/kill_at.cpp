// SPDX-License-Identifier: MIT
// kill_at NAME N CMD…: runs CMD and kills the process called NAME (its comm), with SIGKILL, as it is about to make its Nth
// system call. Exit 0: it was killed there; 1: it made fewer; 2: called wrongly; 3: after 20 s something still ran.
//
// How it works: CMD is traced with all that it forks, so the end of kill_at is the end of the last of them: what a dead
// owner leaves running makes it fail. The calls of several processes of one name are counted together.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <set>
#include <string>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::string name_of(pid_t pid) {
    char path[64], text[32];
    std::snprintf(path, sizeof path, "/proc/%d/comm", pid);
    int const fd = ::open(path, O_RDONLY | O_CLOEXEC);
    auto const n = fd < 0 ? -1 : ::read(fd, text, sizeof text);
    if (fd >= 0) ::close(fd);
    return n > 1 ? std::string(text, static_cast<std::size_t>(n - 1)) : std::string{};
}

/// At the entry of a system call, not at its end.
bool is_entry(pid_t pid, unsigned long long& number) {
    __ptrace_syscall_info info{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0) return false;
    number = info.entry.nr;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

void too_long(int) { ::_exit(3); }

} // namespace

int main(int argc, char** argv) {
    long const n = argc > 3 ? std::atol(argv[2]) : 0;
    if (n < 1) return std::fputs("kill_at NAME N CMD…\n", stderr), 2;
    std::string const name = argv[1];
    auto const first = ::fork();
    if (first == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::raise(SIGSTOP);
        ::execvp(argv[3], argv + 3);
        std::perror(argv[3]);
        ::_exit(127);
    }
    if (first < 0) return 2;
    std::signal(SIGALRM, too_long);
    ::alarm(20);
    std::set<pid_t> known;
    long made = 0;
    bool killed = false;
    for (;;) {
        int status = 0;
        auto const pid = ::waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) break;
        if (!WIFSTOPPED(status)) {
            known.erase(pid);
            continue;
        }
        int pass = 0;
        int const signal = WSTOPSIG(status);
        if (known.insert(pid).second) {
            if (pid == first) ::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD);
            if (signal != SIGSTOP) pass = signal; // it begins its life as a tracee stopped
        } else if (signal == (SIGTRAP | 0x80)) {
            unsigned long long number = 0;
            if (!killed && name_of(pid) == name && is_entry(pid, number) && ++made == n) {
                ::kill(pid, SIGKILL);
                killed = true;
                std::printf("%s: killed at call %ld, number %llu\n", name.c_str(), n, number);
                continue;
            }
        } else if (status >> 16 == 0) {
            pass = signal;
        }
        // what is no process of ours runs on at its own speed
        bool const watched = !killed && (made == 0 || name_of(pid).rfind("sb-exec", 0) == 0);
        ::ptrace(watched ? PTRACE_SYSCALL : PTRACE_CONT, pid, nullptr, pass);
    }
    if (!killed) std::printf("%s: %ld calls\n", name.c_str(), made);
    return killed ? 0 : 1;
}
