// SPDX-License-Identifier: MIT
// A payload that leaves something behind for the next one, in the way it is told: soiler WAY, in its workspace. It says
// "done", or why it could not. `soiler look` prints what a payload can see of its sandbox and of itself, numbers that
// the kernel hands out in order and moments left out: two runs that know nothing of each other print the same.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <linux/fs.h>
#include <linux/in6.h>
#include <map>
#include <netinet/in.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace {

constexpr int tcp_port = 20'777, udp_port = 20'778;
constexpr key_t ipc_key = 0x5b0b;
constexpr char abstract_name[] = "\0soil";
constexpr char queue_name[] = "soil";

/// What is left behind is there for this long at most, should nobody take it away.
[[noreturn]] void stay() {
    ::sleep(600);
    ::_exit(0);
}

bool write_to(char const* path, char const* text, int flags = O_WRONLY | O_CREAT) {
    int const fd = ::open(path, flags | O_CLOEXEC, 0644);
    bool const good = fd >= 0 && ::write(fd, text, std::strlen(text)) == static_cast<ssize_t>(std::strlen(text));
    int const code = errno;
    if (fd >= 0) ::close(fd);
    errno = code;
    return good;
}
std::string read_of(std::string const& path) {
    std::string text;
    int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::string{"("} + std::strerror(errno) + ")";
    char block[4096];
    for (ssize_t n; (n = ::read(fd, block, sizeof block)) > 0;) text.append(block, static_cast<std::size_t>(n));
    ::close(fd);
    return text;
}

int socket_at(int family, int kind, int port, bool any = false) {
    int const fd = ::socket(family, kind | SOCK_CLOEXEC, 0);
    int bound = -1;
    if (family == AF_INET) {
        sockaddr_in at{};
        at.sin_family = AF_INET, at.sin_port = htons(static_cast<std::uint16_t>(port)), at.sin_addr.s_addr = htonl(any ? INADDR_ANY : INADDR_LOOPBACK);
        bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
    } else {
        sockaddr_in6 at{};
        at.sin6_family = AF_INET6, at.sin6_port = htons(static_cast<std::uint16_t>(port)), at.sin6_addr = IN6ADDR_LOOPBACK_INIT;
        bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
    }
    if (bound == 0 && (kind != SOCK_STREAM || ::listen(fd, 8) == 0)) return fd;
    int const code = errno;
    ::close(fd);
    errno = code;
    return -1;
}
int abstract_socket() {
    int const fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, abstract_name, sizeof abstract_name - 1);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&at), offsetof(sockaddr_un, sun_path) + sizeof abstract_name - 1) == 0) return fd;
    return -1;
}

/// A child that goes on when we are gone, in a session of its own; its `work` gives false when it cannot begin.
template <class Work>
bool daemon_with(Work work) {
    int ready[2];
    if (::pipe(ready) != 0) return false;
    if (::fork() == 0) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
        for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_IGN);
        if (work()) (void)!::write(ready[1], "y", 1);
        ::close(ready[1]);
        stay();
    }
    ::close(ready[1]);
    char said = 0;
    return ::read(ready[0], &said, 1) == 1;
}

bool time_wait(int family) {
    int const server = socket_at(family, SOCK_STREAM, tcp_port);
    if (server < 0) return false;
    int const client = ::socket(family, SOCK_STREAM, 0);
    sockaddr_storage at{};
    socklen_t length = sizeof at;
    ::getsockname(server, reinterpret_cast<sockaddr*>(&at), &length);
    if (::connect(client, reinterpret_cast<sockaddr*>(&at), length) != 0) return false;
    int const peer = ::accept(server, nullptr, nullptr);
    ::close(peer); // this end, at our port, waits its minute
    char c;
    (void)!::read(client, &c, 1);
    ::close(client);
    ::close(server);
    return true;
}

/// Descriptors in sockets that only they themselves hold: nobody's, until the kernel collects them.
bool in_flight() {
    int const held[] = {socket_at(AF_INET, SOCK_STREAM, tcp_port), socket_at(AF_INET, SOCK_DGRAM, udp_port), abstract_socket()};
    if (held[0] < 0 || held[1] < 0 || held[2] < 0) return false;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0) return false;
    int const passed[] = {held[0], held[1], held[2], ends[0], ends[1]};
    char byte = 0;
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof passed)]{};
    msghdr all{};
    all.msg_iov = &io, all.msg_iovlen = 1, all.msg_control = control, all.msg_controllen = sizeof control;
    auto* const head = CMSG_FIRSTHDR(&all);
    head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(head), passed, sizeof passed);
    return ::sendmsg(ends[0], &all, 0) == 1 && ::sendmsg(ends[1], &all, 0) == 1;
}

bool flow_label() {
    int const fd = ::socket(AF_INET6, SOCK_DGRAM, 0);
    in6_flowlabel_req ask{};
    ask.flr_dst = IN6ADDR_LOOPBACK_INIT;
    ask.flr_label = htonl(0x12345), ask.flr_action = IPV6_FL_A_GET, ask.flr_share = IPV6_FL_S_EXCL, ask.flr_flags = IPV6_FL_F_CREATE;
    ask.flr_expires = 60, ask.flr_linger = 60;
    return ::setsockopt(fd, SOL_IPV6, IPV6_FLOWLABEL_MGR, &ask, sizeof ask) == 0;
}

bool fill() {
    int const fd = ::open("full", O_WRONLY | O_CREAT, 0600);
    static char const block[1 << 16]{};
    while (::write(fd, block, sizeof block) > 0) {}
    return errno == ENOSPC;
}
bool deep() {
    for (int i = 0; i < 1000; ++i)
        if (::mkdir("deeper", 0700) != 0 || ::chdir("deeper") != 0) return false;
    return true;
}
bool closed_folder() { return ::mkdir("closed", 0700) == 0 && write_to("closed/file", "x") && ::chmod("closed", 0) == 0; }

bool set_acl(char const* path) {
    struct __attribute__((packed)) {
        std::uint32_t version = 2;
        struct __attribute__((packed)) { std::uint16_t tag, rights; std::uint32_t id; } entries[5] = {{1, 7, ~0u}, {2, 7, 1000}, {4, 7, ~0u}, {16, 7, ~0u}, {32, 7, ~0u}};
    } const acl;
    return ::setxattr(path, "system.posix_acl_access", &acl, sizeof acl, 0) == 0;
}
bool set_flag(char const* path) {
    int const fd = ::open(path, O_RDONLY);
    int flags = 0;
    if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return false;
    flags |= FS_NODUMP_FL;
    return ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}
bool list(char const* path) {
    auto* const all = ::opendir(path);
    if (!all) return false;
    while (::readdir(all)) {}
    ::closedir(all);
    return true;
}

/// `call` on process 1 in the shape of `prlimit` and its kin.
bool lower(pid_t pid) {
    rlimit const less{1 << 20, 1 << 20};
    return ::prlimit(pid, RLIMIT_STACK, &less, nullptr) == 0;
}
bool bind_to_one(pid_t pid) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return ::sched_setaffinity(pid, sizeof one, &one) == 0;
}
bool idle(pid_t pid) {
    sched_param const none{};
    return ::sched_setscheduler(pid, SCHED_IDLE, &none) == 0;
}
bool rare_io(int which, pid_t pid) { return ::syscall(SYS_ioprio_set, which, pid, (3 << 13)) == 0; }

bool join_group_of_first() { return ::setpgid(0, 1) == 0 && ::setpriority(PRIO_PGRP, 0, 10) == 0; }
bool signals_to_first() {
    bool any = false;
    for (int s = 1; s < NSIG; ++s) any |= s != SIGKILL && s != SIGSTOP && ::kill(1, s) == 0;
    return any;
}
bool queue_to_first() {
    sigval value{};
    value.sival_int = 42;
    return ::sigqueue(1, SIGRTMIN + 3, value) == 0;
}

/// A child that the parent shares its memory with and waits for, and that never execs.
bool stay_in_vfork() {
    if (::fork() == 0) {
        static char stack[1 << 14];
        ::clone([](void*) -> int { stay(); }, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
    }
    return true;
}
bool sibling() {
    auto const pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) stay();
    return pid > 0;
}
bool silent_child() { // its end is no SIGCHLD
    auto const pid = ::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) stay();
    return pid > 0;
}
bool stopped_ones() {
    for (int i = 0; i < 20; ++i)
        if (auto const pid = ::fork(); pid == 0) ::raise(SIGSTOP), stay();
    return true;
}
bool traced_one() {
    auto const pid = ::fork();
    if (pid == 0) stay();
    if (::ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT) != 0) return false;
    ::kill(pid, SIGTERM);
    return ::waitpid(pid, nullptr, __WALL) == pid;
}
bool many() {
    for (int i = 0; i < 100; ++i)
        if (::fork() == 0) stay();
    return true;
}

bool shared_memory() {
    int const id = ::shmget(ipc_key, 4096, IPC_CREAT | 0600);
    return id >= 0 && std::strcpy(static_cast<char*>(::shmat(id, nullptr, 0)), "secret") != nullptr;
}
bool message() {
    struct {
        long kind = 1;
        char text[8] = "secret";
    } const one;
    int const id = ::msgget(ipc_key, IPC_CREAT | 0600);
    return id >= 0 && ::msgsnd(id, &one, sizeof one.text, 0) == 0;
}
bool queue() { return ::syscall(SYS_mq_open, queue_name, O_CREAT | O_RDWR, 0600, nullptr) >= 0; }
bool key() { return ::syscall(SYS_add_key, "user", "soil", "secret", 6, -3) >= 0; }
bool lease() {
    int const fd = ::open("file", O_RDONLY);
    return ::fcntl(fd, F_SETLEASE, F_RDLCK) == 0 && daemon_with([] { return true; });
}
/// A program of the host, the same one for all runs in this folder. A lock on it is one for all of the host, and whoever
/// runs this beside us, in a folder of its own, locks another.
std::string a_program() {
    char folder[PATH_MAX] = "";
    (void)!::getcwd(folder, sizeof folder);
    std::vector<std::string> all;
    if (auto* const listed = ::opendir("/usr/bin")) {
        while (auto const* const each = ::readdir(listed))
            if (each->d_type == DT_REG && ::faccessat(::dirfd(listed), each->d_name, R_OK, 0) == 0) all.push_back(std::string{"/usr/bin/"} + each->d_name);
        ::closedir(listed);
    }
    std::sort(all.begin(), all.end());
    return all.empty() ? "/usr/bin/env" : all[std::hash<std::string_view>{}(folder) % all.size()];
}
bool lock(std::string const& path) {
    int const fd = ::open(path.c_str(), O_RDONLY);
    return ::flock(fd, LOCK_EX) == 0 && daemon_with([] { return true; });
}
bool timer_and_watch() {
    int const watch = ::inotify_init();
    itimerspec const soon{{0, 1'000'000}, {0, 1'000'000}};
    int const clock = ::timerfd_create(CLOCK_MONOTONIC, 0), memory = ::memfd_create("soil", 0);
    timer_t timer;
    return ::inotify_add_watch(watch, ".", IN_ALL_EVENTS) >= 0 && ::timerfd_settime(clock, 0, &soon, nullptr) == 0 && memory >= 0 && ::ftruncate(memory, 4096) == 0 &&
           ::timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0 && daemon_with([] { return true; });
}
bool change_pipes() {
    for (int const fd : {1, 2})
        if (::fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) != 0 || ::fcntl(fd, F_SETPIPE_SZ, 4096) < 0 || ::fcntl(fd, F_SETOWN, 1) == -12345) return false;
    return true;
}
bool mark_pipes() { // what stays with a pipe, or with an end that is shared
    bool all = true;
    for (int const fd : {1, 2, 3}) {
        timespec const old[2]{{7, 0}, {7, 0}};
        struct flock whole {};
        whole.l_type = F_WRLCK;
        std::uint64_t hint = 3;
        bool const good[] = {::fchmod(fd, 07755) == 0, ::futimens(fd, old) == 0, ::flock(fd, LOCK_EX) == 0, ::fcntl(fd, F_OFD_SETLK, &whole) == 0, ::fcntl(fd, F_SET_RW_HINT, &hint) == 0};
        all = std::all_of(std::begin(good), std::end(good), [](bool each) { return each; }) && all;
    }
    return all;
}
bool touch_pipes() {
    timespec const old[2]{{7, 0}, {7, 0}};
    return ::futimens(1, old) == 0 && ::futimens(2, old) == 0 && ::futimens(3, old) == 0;
}
bool lock_pipes() {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    return ::flock(1, LOCK_EX) == 0 && ::flock(2, LOCK_EX) == 0 && ::fcntl(1, F_OFD_SETLK, &whole) == 0 && ::fcntl(2, F_OFD_SETLK, &whole) == 0;
}
bool own_ways() { // all that a process can do to itself
    ::umask(0777);
    rlimit const few{8, 8};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int s = 1; s < NSIG; ++s) std::signal(s, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::personality(ADDR_NO_RANDOMIZE);
    ::prctl(PR_SET_TIMERSLACK, 1'000'000'000);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    return ::setpriority(PRIO_PROCESS, 0, 19) == 0 && bind_to_one(0) && idle(0) && rare_io(1, 0) && write_to("/proc/self/oom_score_adj", "1000", O_WRONLY);
}
bool lose_folder() { return ::mkdir("gone", 0700) == 0 && ::chdir("gone") == 0 && ::rmdir("../gone") == 0; }
bool touch(char const* path) { return ::utimensat(AT_FDCWD, path, nullptr, 0) == 0; }
bool shared_write() { // through memory, no write call
    int const fd = ::open("file", O_RDWR);
    auto* const at = static_cast<char*>(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    return at != MAP_FAILED && (std::memcpy(at, "SOIL", 4), ::msync(at, 4096, MS_SYNC)) == 0;
}
bool exchange() {
    return write_to("other", "soil") && ::syscall(SYS_renameat2, AT_FDCWD, "other", AT_FDCWD, "file", RENAME_EXCHANGE) == 0;
}

std::map<std::string, std::function<bool()>> const ways{
    {"nothing", [] { return true; }},
    // files
    {"file-new", [] { return write_to("new", "soil"); }},
    {"file-changed", [] { return write_to("file", "soil"); }},
    {"file-truncated", [] { return ::truncate("file", 0) == 0; }},
    {"file-mapped", shared_write},
    {"file-exchanged", exchange},
    {"file-deleted", [] { return ::unlink("file") == 0; }},
    {"file-renamed", [] { return ::rename("file", "renamed") == 0; }},
    {"file-linked", [] { return ::link("file", "linked") == 0 && write_to("linked", "soil"); }},
    {"file-mode", [] { return ::chmod("file", 0777) == 0; }},
    {"file-times", [] { return touch("file"); }},
    {"file-xattr", [] { return ::setxattr("file", "user.soil", "x", 1, 0) == 0; }},
    {"folder-below", [] { return write_to("folder/new", "soil"); }},
    {"folder-removed", [] { return ::unlink("folder/inner") == 0 && ::rmdir("folder") == 0; }},
    {"root-mode", [] { return ::chmod(".", 0700) == 0; }},
    {"root-xattr", [] { return ::setxattr(".", "user.soil", "x", 1, 0) == 0; }},
    {"root-acl", [] { return set_acl("."); }},
    {"root-removed", [] { char path[PATH_MAX]; return ::getcwd(path, sizeof path) && ::chdir("/") == 0 && ::rmdir(path) == 0; }},
    {"made-and-removed", [] { return write_to("new", "soil") && ::unlink("new") == 0; }},
    {"home", [] { return write_to("/home/sandbox/new", "soil"); }},
    {"home-acl", [] { return set_acl("/home/sandbox"); }},
    {"home-flag", [] { return set_flag("/home/sandbox"); }},
    {"home-mode", [] { return ::chmod("/home/sandbox", 0777) == 0; }},
    {"tmp", [] { return write_to("/tmp/new", "soil"); }},
    {"tmp-acl", [] { return set_acl("/tmp"); }},
    {"tmp-removed", [] { return write_to("/tmp/new", "soil") && ::unlink("/tmp/new") == 0; }},
    {"tmp-times", [] { timespec const old[2]{{1, 0}, {1, 0}}; return ::utimensat(AT_FDCWD, "/tmp", old, 0) == 0; }},
    {"looked-at", [] { return list(".") && list("folder") && list("/tmp") && list("/home/sandbox") && list("/dev/shm") && list("/usr/bin") && !read_of("file").empty(); }},
    {"shm-file", [] { return write_to("/dev/shm/new", "soil"); }},
    {"var-tmp", [] { return write_to("/var/tmp/new", "soil"); }},
    {"deep", deep},
    {"closed-folder", closed_folder},
    {"full", fill},
    {"link-out", [] { return ::symlink("/etc/shadow", "out") == 0 && ::unlink("file") == 0 && ::symlink("/usr/bin/env", "file") == 0; }},
    {"read-only-bind", [] { return write_to("/opt/read/soil", "soil"); }},
    {"read-only-bind-times", [] { return touch("/opt/read"); }},
    {"system-file", [] { return write_to("/usr/soil", "soil"); }},
    {"masked-folder", [] { return touch("/proc/bus"); }},
    {"device-times", [] { return touch("/dev/null"); }},
    {"device-made", [] { return ::mknod("/tmp/null", S_IFCHR | 0666, 0x103) == 0; }},
    // ipc
    {"shm", shared_memory},
    {"semaphore", [] { return ::semget(ipc_key, 1, IPC_CREAT | 0600) >= 0; }},
    {"message", message},
    {"queue", queue},
    {"key", key},
    // network
    {"time-wait", [] { return time_wait(AF_INET); }},
    {"time-wait6", [] { return time_wait(AF_INET6); }},
    {"listening", [] { return daemon_with([] { return socket_at(AF_INET, SOCK_STREAM, tcp_port) >= 0; }); }},
    {"listening6", [] { return daemon_with([] { return socket_at(AF_INET6, SOCK_STREAM, tcp_port) >= 0; }); }},
    {"datagram", [] { return daemon_with([] { return socket_at(AF_INET, SOCK_DGRAM, udp_port, true) >= 0; }); }},
    {"abstract", [] { return daemon_with([] { return abstract_socket() >= 0; }); }},
    {"in-flight", in_flight},
    {"flow-label", flow_label},
    // processes
    {"daemon", [] { return daemon_with([] { return true; }); }},
    {"many", many},
    {"stopped", stopped_ones},
    {"traced", traced_one},
    {"vfork", stay_in_vfork},
    {"sibling", sibling},
    {"silent-child", silent_child},
    {"own-ways", own_ways},
    {"folder-lost", lose_folder},
    {"pipes", change_pipes},
    {"pipes-marked", mark_pipes},
    {"pipes-touched", touch_pipes},
    {"pipes-locked", lock_pipes},
    {"timers", timer_and_watch},
    {"lock", [] { return lock("file") && lock(a_program()); }},
    {"lease", lease},
    {"session-priority", [] { return write_to("/proc/self/autogroup", "5", O_WRONLY); }},
    // whoever starts the next run
    {"first-limit", [] { return lower(1); }},
    {"first-processor", [] { return bind_to_one(1); }},
    {"first-policy", [] { return idle(1); }},
    {"first-priority", [] { return ::setpriority(PRIO_PROCESS, 1, 10) == 0; }},
    {"first-priority-group", [] { return ::setpriority(PRIO_PGRP, 1, 10) == 0; }},
    {"first-priority-user", [] { return ::setpriority(PRIO_USER, 0, 10) == 0; }},
    {"first-joined", join_group_of_first},
    {"first-io", [] { return rare_io(1, 1); }},
    {"first-io-group", [] { return rare_io(2, 1); }},
    {"first-io-user", [] { return rare_io(3, 0); }},
    {"first-signals", signals_to_first},
    {"first-queue", queue_to_first},
    {"first-traced", [] { return ::ptrace(PTRACE_SEIZE, 1, 0, 0) == 0; }},
    {"first-memory", [] { return ::open("/proc/1/mem", O_RDWR) >= 0; }},
    {"first-files", [] { return list("/proc/1/fd"); }},
    {"first-words", [] { return read_of("/proc/1/cmdline").find("hush") != std::string::npos || read_of("/proc/1/environ").find("hush") != std::string::npos; }},
    {"first-oom", [] { return write_to("/proc/1/oom_score_adj", "1000", O_WRONLY); }},
    {"kill-all", [] { return daemon_with([] { return ::kill(-1, SIGKILL) == 0; }); }},
    // what is not a payload's to change
    {"host-name", [] { return ::sethostname("soil", 4) == 0; }},
    {"mount", [] { return ::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0; }},
    {"namespace", [] { return ::unshare(CLONE_NEWUSER) == 0; }},
    {"kernel-knob", [] { return ::open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0 || ::open("/proc/sys/net/ipv4/ip_forward", O_WRONLY) >= 0; }},
    {"last-pid", [] { return write_to("/proc/sys/kernel/ns_last_pid", "1000", O_WRONLY); }},
    {"control-group", [] { return ::access("/sys/fs/cgroup", F_OK) == 0; }},
};

void show(char const* name, std::string const& text) { std::printf("%s: %s\n", name, text.c_str()); }
void show(char const* name, long number) { std::printf("%s: %ld\n", name, number); }

void show_tree(std::string const& path, bool top) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) return show(path.c_str(), std::strerror(errno));
    std::printf("%s: %o %u %u", path.c_str(), facts.st_mode, facts.st_uid, facts.st_gid);
    // a folder's own size and links follow from what is in it
    if (!S_ISDIR(facts.st_mode)) std::printf(" %lu links, %ld bytes, of %ld", static_cast<unsigned long>(facts.st_nlink), static_cast<long>(facts.st_size), static_cast<long>(facts.st_mtime));
    if (top) std::printf(", touched %s", facts.st_mtim.tv_sec == 1 || facts.st_atim.tv_sec > facts.st_ctim.tv_sec ||
                                                 (facts.st_atim.tv_sec == facts.st_ctim.tv_sec && facts.st_atim.tv_nsec > facts.st_ctim.tv_nsec) ? "yes" : "no");
    char names[512];
    auto const n = ::llistxattr(path.c_str(), names, sizeof names);
    for (ssize_t i = 0; i < n; i += static_cast<ssize_t>(std::strlen(names + i)) + 1) std::printf(" %s", names + i);
    if (S_ISREG(facts.st_mode)) std::printf(" \"%.20s\"", read_of(path).c_str());
    std::printf("\n");
    if (!S_ISDIR(facts.st_mode)) return;
    int const fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int flags = 0;
    if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_NODUMP_FL)) show(path.c_str(), "is flagged");
    auto* const all = ::fdopendir(fd);
    std::vector<std::string> inside;
    while (auto const* each = all ? ::readdir(all) : nullptr)
        if (std::string_view{each->d_name} != "." && std::string_view{each->d_name} != "..") inside.emplace_back(each->d_name);
    if (all) ::closedir(all);
    std::sort(inside.begin(), inside.end());
    for (auto const& each : inside) show_tree(path + "/" + each, false);
}

void look() {
    char folder[PATH_MAX];
    if (!::getcwd(folder, sizeof folder)) std::strcpy(folder, ".");
    for (std::string const& tree : {std::string{folder}, std::string{"/home/sandbox"}, std::string{"/tmp"}, std::string{"/dev/shm"}}) {
        // a workspace below /tmp is seen there too
        if (tree == "/tmp" && std::string_view{folder}.starts_with("/tmp/")) {
            auto* const all = ::opendir("/tmp");
            long n = 0;
            while (::readdir(all)) ++n;
            show("names in /tmp", n);
            continue;
        }
        show_tree(tree, true);
    }
    for (auto const* device : {"/dev/null", "/dev/zero"}) {
        struct stat facts {};
        ::stat(device, &facts);
        std::printf("%s: %o of %ld\n", device, facts.st_mode, static_cast<long>(facts.st_mtime));
    }
    auto* const processes = ::opendir("/proc");
    long others = 0;
    while (auto const* each = ::readdir(processes))
        if (each->d_name[0] >= '0' && each->d_name[0] <= '9') others += std::atoi(each->d_name) != ::getpid();
    ::closedir(processes);
    show("other processes", others);
    show("parent", ::getppid());
    show("parent is seen", read_of("/proc/1/stat"));
    for (auto const& [name, family, kind, port] : {std::tuple{"tcp", AF_INET, SOCK_STREAM, tcp_port}, {"tcp6", AF_INET6, SOCK_STREAM, tcp_port}, {"udp", AF_INET, SOCK_DGRAM, udp_port}, {"udp6", AF_INET6, SOCK_DGRAM, udp_port}})
        show(name, socket_at(family, kind, port) >= 0 ? "free" : std::strerror(errno));
    show("abstract name", abstract_socket() >= 0 ? "free" : std::strerror(errno));
    for (auto const* table : {"tcp", "tcp6", "udp", "udp6", "unix", "ip6_flowlabel"}) {
        auto const text = read_of(std::string{"/proc/net/"} + table);
        show(table, std::count(text.begin(), text.end(), '\n')); // our own are in it, each time the same
    }
    show("metrics", read_of("/proc/sys/net/ipv4/tcp_no_metrics_save"));
    for (auto const* table : {"shm", "sem", "msg"}) {
        auto const text = read_of(std::string{"/proc/sysvipc/"} + table);
        show(table, std::count(text.begin(), text.end(), '\n'));
    }
    show("queue", ::syscall(SYS_mq_open, queue_name, O_RDONLY, 0, nullptr) >= 0 ? "there" : std::strerror(errno));
    char host[65]{};
    ::gethostname(host, 64);
    show("host", host);
    for (int r = 0; r < 16; ++r) {
        rlimit at{};
        ::getrlimit(static_cast<__rlimit_resource>(r), &at);
        std::printf("limit %d: %lu %lu\n", r, static_cast<unsigned long>(at.rlim_cur), static_cast<unsigned long>(at.rlim_max));
    }
    cpu_set_t processors;
    CPU_ZERO(&processors);
    ::sched_getaffinity(0, sizeof processors, &processors);
    show("processors", CPU_COUNT(&processors));
    show("nice", ::getpriority(PRIO_PROCESS, 0));
    show("policy", ::sched_getscheduler(0));
    show("io priority", ::syscall(SYS_ioprio_get, 1, 0));
    show("umask", ::umask(022));
    show("personality", ::personality(0xffffffff));
    show("timer slack", ::prctl(PR_GET_TIMERSLACK));
    show("oom", read_of("/proc/self/oom_score_adj"));
    auto const session = read_of("/proc/self/autogroup");
    show("session's priority", session.substr(std::min(session.find(" nice "), session.size())));
    sigset_t blocked;
    ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
    for (int s = 1; s < NSIG; ++s) {
        struct sigaction now {};
        if (sigismember(&blocked, s) == 1) show("blocked", s);
        if (::sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) show("ignored", s);
    }
    for (int fd = 0; fd < 64; ++fd)
        if (int const flags = ::fcntl(fd, F_GETFL); flags >= 0 && fd < 3) std::printf("descriptor %d: %o, room %d\n", fd, flags, ::fcntl(fd, F_GETPIPE_SZ));
    for (int fd = 1; fd <= 3; ++fd) {
        struct stat facts {};
        std::uint64_t hint = 0;
        (void)::fstat(fd, &facts), (void)::fcntl(fd, F_GET_RW_HINT, &hint);
        std::printf("pipe %d: %o of %u and %u, hint %lu, touched %s\n", fd, facts.st_mode, facts.st_uid, facts.st_gid, static_cast<unsigned long>(hint), facts.st_mtim.tv_sec == 7 ? "yes" : "no");
        int const again = ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_WRONLY | O_CLOEXEC);
        struct flock whole {};
        whole.l_type = F_WRLCK;
        show("its lock", again < 0 || ::flock(again, LOCK_EX | LOCK_NB) == 0 ? "free" : std::strerror(errno));
        show("its other lock", again < 0 || ::fcntl(again, F_OFD_SETLK, &whole) == 0 ? "free" : std::strerror(errno));
        ::close(again);
    }
    int const first = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (auto const& file : {std::string{"file"}, a_program()}) {
        int const fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
        show("lock", ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? "free" : std::strerror(errno));
        ::close(fd);
    }
    ::close(first);
    auto const* const page = static_cast<char const*>(::mmap(nullptr, 1 << 22, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    show("memory is empty", std::all_of(page, page + (1 << 22), [](char c) { return c == 0; }));
    auto const mounts = read_of("/proc/self/mountinfo");
    show("mounts", std::count(mounts.begin(), mounts.end(), '\n'));
    show("groups", read_of("/proc/self/cgroup"));
    for (auto** each = environ; *each; ++each) show("variable", *each);
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 2) return 2;
    if (argc < 2) {
        for (auto const& each : ways) std::puts(each.first.c_str());
        return 0;
    }
    if (std::string_view{argv[1]} == "look") {
        look();
        return 0;
    }
    auto const way = ways.find(argv[1]);
    if (way == ways.end()) return std::fprintf(stderr, "soiler: no way %s\n", argv[1]), 2;
    errno = 0;
    bool const done = way->second();
    std::string const answer = done ? "done" : std::string{"refused: "} + std::strerror(errno);
    (void)!::write(1, (answer + "\n").c_str(), answer.size() + 1);
    return 0;
}
