// SPDX-License-Identifier: MIT
// What a payload can see of its sandbox and of itself.
#include "soil.hpp"
#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <sched.h>
#include <string_view>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <tuple>
#include <vector>

extern char** environ;

namespace soil {

namespace {

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

} // namespace

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

} // namespace soil
