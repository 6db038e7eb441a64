// SPDX-License-Identifier: MIT
// A program run to its end and looked at from outside: bare, or in throw-away namespaces.
#pragma once
#include "../support/payload.hpp"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <functional>
#include <grp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace probes {

inline double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct order {
    std::vector<std::string> argv;
    std::vector<std::string> environment;
    std::string folder = ".";
    std::string in;                             ///< standard input; a file, so that nobody has to feed it
    std::vector<std::pair<int, int>> inherits;  ///< ours, and its number there
    std::string terminal;                       ///< becomes the controlling terminal
    double seconds = 90;                        ///< then its session is killed
    bool throw_away = false;                    ///< in namespaces of its own, as their root, over empty tmpfs folders
    bool ahead = false;                         ///< goes before all others, in everything, as far as we may
    bool core = false;                          ///< may dump core as far as we may
    std::vector<std::pair<int, rlim_t>> limits;
    std::vector<gid_t> groups;                  ///< supplementary ones, set where there are any
    std::function<void(pid_t)> meanwhile;       ///< called every 20 ms with the program's pid
};

struct ended {
    int status = 0;
    std::string out, err;       ///< the first MiB and the last
    bool out_raw = false;       ///< a control character other than a line end came out of it
    double wall_s = 0;          ///< until the first process ended
    double held_s = 0;          ///< the pipes were held open for so long after that
    long peak_kib = 0;
    bool overdue = false;
    bool no_space = false;      ///< no namespaces are to be had here
    bool exited(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
};

inline std::string status_words(int status) {
    return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : "status " + std::to_string(WEXITSTATUS(status));
}

namespace detail {

constexpr int no_space_status = 125;

inline void make_folders(std::string const& path) {
    for (std::size_t at = 1; at != std::string::npos;) {
        at = path.find('/', at + 1);
        ::mkdir(path.substr(0, at).c_str(), 0700);
    }
}

/// Goes on as the first process of a new set of namespaces; the process that called waits there for the end.
inline void enter_throw_away(std::string const& folder) {
    auto const uid = std::to_string(::geteuid()), gid = std::to_string(::getegid());
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) != 0) ::_exit(no_space_status);
    payload::write_whole("/proc/self/setgroups", "deny");
    if (!payload::write_whole("/proc/self/uid_map", "0 " + uid + " 1") || !payload::write_whole("/proc/self/gid_map", "0 " + gid + " 1")) ::_exit(no_space_status);
    auto const inner = ::fork();
    if (inner < 0) ::_exit(no_space_status);
    if (inner > 0) {
        int status = 0;
        while (::waitpid(inner, &status, 0) < 0 && errno == EINTR) {}
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // the folders are hidden under empty ones that go with the namespace
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(no_space_status);
    ::mount("proc", "/proc", "proc", 0, nullptr);
    ::mount("sysfs", "/sys", "sysfs", 0, nullptr);
    for (char const* const each : {"/tmp", "/var/tmp", "/dev/shm"})
        if (::mount("tmpfs", each, "tmpfs", 0, "size=256m,nr_inodes=100k") != 0) ::_exit(no_space_status);
    make_folders(folder);
    if (int const any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); any >= 0) {
        ifreq loopback{};
        loopback.ifr_name[0] = 'l', loopback.ifr_name[1] = 'o';
        loopback.ifr_flags = IFF_UP;
        ::ioctl(any, SIOCSIFFLAGS, &loopback);
        ::close(any);
    }
}

/// Real time, rank, disk, the rights to that, spared by the killer: as far as we may. False when we may not go before others.
inline bool go_ahead() {
    sched_param const first{1};
    constexpr int of_process = 1, disk_first = 1 << 13;
    rlimit const any{40, 40};
    bool const before_others = ::sched_setscheduler(0, SCHED_FIFO, &first) == 0 && ::setpriority(PRIO_PROCESS, 0, -5) == 0;
    ::setrlimit(RLIMIT_RTPRIO, &any), ::setrlimit(RLIMIT_NICE, &any);
    ::syscall(SYS_ioprio_set, of_process, 0, disk_first);
    payload::write_whole("/proc/self/oom_score_adj", "-500");
    return before_others;
}

/// Tried in a child, for it is not to be had back.
inline bool may_go_ahead() {
    return payload::in_child([] { return go_ahead() ? 0 : 1; }) == 0;
}

/// Whoever started us may have had signals ignored or blocked.
inline void default_signals() {
    for (int each = 1; each < NSIG; ++each) std::signal(each, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] inline void become(order const& what, int in, int out, int err) {
    default_signals();
    ::setsid();
    if (!what.terminal.empty()) {
        int const terminal = ::open(what.terminal.c_str(), O_RDWR | O_CLOEXEC);
        ::ioctl(terminal, TIOCSCTTY, 0);
    }
    // first to numbers that nobody wants, then to those that are wanted
    std::vector<int> high;
    for (auto const& each : what.inherits) high.push_back(::fcntl(each.first, F_DUPFD_CLOEXEC, 300));
    int const streams[] = {::fcntl(in, F_DUPFD_CLOEXEC, 300), ::fcntl(out, F_DUPFD_CLOEXEC, 300), ::fcntl(err, F_DUPFD_CLOEXEC, 300)};
    for (int i = 0; i < 3; ++i) ::dup2(streams[i], i);
    int const program = ::fcntl(::open(what.argv[0].c_str(), O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 300);
    for (std::size_t i = 0; i < high.size(); ++i) ::dup2(high[i], what.inherits[i].second);
    for (auto const& [which, most] : what.limits) {
        rlimit const to{most, most};
        ::setrlimit(which, &to);
    }
    if (!what.groups.empty() && ::setgroups(what.groups.size(), what.groups.data()) != 0) ::_exit(126);
    std::vector<std::string> environment = what.environment;
    if (what.ahead) go_ahead();
    if (what.throw_away) enter_throw_away(what.folder);
    if (what.core) {
        rlimit all{};
        ::getrlimit(RLIMIT_CORE, &all);
        all.rlim_cur = all.rlim_max;
        ::setrlimit(RLIMIT_CORE, &all);
    }
    if (::chdir(what.folder.c_str()) != 0) ::_exit(126);
    std::vector<char*> argv, variables;
    for (auto const& each : what.argv) argv.push_back(const_cast<char*>(each.c_str()));
    for (auto& each : environment) variables.push_back(each.data());
    argv.push_back(nullptr), variables.push_back(nullptr);
    ::syscall(SYS_execveat, program, "", argv.data(), variables.data(), AT_EMPTY_PATH);
    ::_exit(127);
}

/// Keeps the first MiB and the last of what comes; false at the end of it.
inline bool drain(int fd, std::string& into, bool& raw) {
    char block[65536];
    auto const n = ::read(fd, block, sizeof block);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    if (n == 0) return false;
    for (ssize_t i = 0; i < n && !raw; ++i) {
        auto const c = static_cast<unsigned char>(block[i]);
        bool const high = i > 0 && static_cast<unsigned char>(block[i - 1]) == 0xc2 && c >= 0x80 && c < 0xa0; // U+0080 to U+009F
        raw = (c < 0x20 && c != '\n') || c == 0x7f || high || c == 0xc0 || c == 0xc1 || c >= 0xf5;
    }
    into.append(block, static_cast<std::size_t>(n));
    if (into.size() > 3u << 20) into.erase(1 << 20, into.size() - (2u << 20));
    return true;
}

} // namespace detail

inline ended run(order const& what) {
    ended result;
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return result;
    int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (!what.in.empty()) {
        ::close(in);
        in = ::memfd_create("stdin", MFD_CLOEXEC);
        for (std::size_t at = 0; at < what.in.size();) {
            auto const n = ::write(in, what.in.data() + at, what.in.size() - at);
            if (n <= 0) break;
            at += static_cast<std::size_t>(n);
        }
        ::lseek(in, 0, SEEK_SET);
    }
    auto const begin = now_s();
    auto const pid = ::fork();
    if (pid == 0) detail::become(what, in, out[1], err[1]);
    ::close(in), ::close(out[1]), ::close(err[1]);
    bool gone = false, out_open = true, err_open = true;
    double end = 0;
    while (out_open || err_open || !gone) {
        pollfd ready[] = {{out_open ? out[0] : -1, POLLIN, 0}, {err_open ? err[0] : -1, POLLIN, 0}};
        ::poll(ready, 2, 20);
        bool err_raw = false;
        if (ready[0].revents != 0) out_open = detail::drain(out[0], result.out, result.out_raw);
        if (ready[1].revents != 0) err_open = detail::drain(err[0], result.err, err_raw);
        result.out_raw = result.out_raw || err_raw;
        if (!gone) {
            if (what.meanwhile) what.meanwhile(pid);
            rusage used{};
            if (auto const which = ::wait4(pid, &result.status, WNOHANG, &used); which == pid || (which < 0 && errno == ECHILD)) {
                gone = true, end = now_s();
                result.peak_kib = used.ru_maxrss;
            }
        }
        if (auto const now = now_s(); now - begin > what.seconds) {
            if (gone) break; // somebody holds the pipes; that is for the caller to judge
            result.overdue = true;
            ::kill(-pid, SIGKILL), ::kill(pid, SIGKILL);
        }
    }
    ::close(out[0]), ::close(err[0]);
    result.wall_s = end - begin;
    result.held_s = now_s() - end;
    result.no_space = what.throw_away && result.exited(detail::no_space_status);
    return result;
}

} // namespace probes
