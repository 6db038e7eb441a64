// SPDX-License-Identifier: MIT
// What the kernel gives here, found without any of our own code: only this may decide that a test about isolation is skipped.
// Were our code asked, a test would be skipped because what it tests is broken. tests/meta/skips.sh holds it.
#pragma once
#include "payload.hpp"
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sb::test::kernel {

inline std::string text_of(std::string const& path) {
    std::ostringstream all;
    all << std::ifstream{path}.rdbuf();
    return all.str();
}

namespace detail {

struct step {
    char const* what;
    int code;
};

/// The first process of new namespaces: a root of its own in memory with a copy-on-write view and a /proc, then a filter.
/// What fails first; nothing when all went well.
inline step build_root() {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return {"make mounts private", errno};
    if (::mount("none", "/tmp", "tmpfs", 0, nullptr) != 0) return {"mount a tmpfs", errno};
    for (char const* const folder : {"/tmp/upper", "/tmp/work", "/tmp/view", "/tmp/proc", "/tmp/old"})
        if (::mkdir(folder, 0755) != 0) return {"make a folder in a tmpfs", errno};
    if (::mount("none", "/tmp/view", "overlay", 0, "lowerdir=/usr,upperdir=/tmp/upper,workdir=/tmp/work,userxattr") != 0) return {"mount an overlay", errno};
    if (::mount("proc", "/tmp/proc", "proc", 0, nullptr) != 0) return {"mount a /proc", errno};
    if (::syscall(SYS_fsopen, "tmpfs", 0) < 0) return {"fsopen", errno};
    if (::syscall(SYS_pivot_root, "/tmp", "/tmp/old") != 0) return {"change the root", errno};
    std::array<sock_filter, 1> allow{{{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
    sock_fprog const program{1, allow.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return {"install a filter of system calls", errno};
    return {nullptr, 0};
}

inline step make_namespaces() {
    auto const user = std::to_string(::geteuid()), group = std::to_string(::getegid());
    if (::unshare(CLONE_NEWUSER) != 0) return {"make a user namespace", errno};
    (void)payload::write_whole("/proc/self/setgroups", "deny");
    if (!payload::write_whole("/proc/self/uid_map", "0 " + user + " 1") || !payload::write_whole("/proc/self/gid_map", "0 " + group + " 1")) return {"map a user", errno};
    if (::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) != 0) return {"make namespaces", errno};
    return {nullptr, 0};
}

/// What `work` says in a process of its own; nothing when that is gone before it has said a word.
template <class Work>
step in_process(Work work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {"make a pipe", errno};
    auto const child = ::fork();
    if (child == 0) {
        auto const said = work();
        (void)!::write(ends[1], &said, sizeof said);
        ::_exit(0);
    }
    step said{child < 0 ? "fork" : "look: the child said nothing", errno};
    ::close(ends[1]);
    (void)!::read(ends[0], &said, sizeof said); // the addresses of words are the same in both
    ::close(ends[0]);
    for (int status = 0; child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR;) {}
    return said;
}

} // namespace detail

/// So many users are mapped here, and whether that one is.
inline long users() {
    std::istringstream map{text_of("/proc/self/uid_map")};
    long first = 0, outside = 0, count = 0, all = 0;
    while (map >> first >> outside >> count) all += count;
    return all;
}
inline bool maps_user(long id) {
    std::istringstream map{text_of("/proc/self/uid_map")};
    for (long first = 0, outside = 0, count = 0; map >> first >> outside >> count;)
        if (first <= id && id < first + count) return true;
    return false;
}

/// Why a command cannot be isolated here; empty when the kernel has all that it takes.
inline std::string const& cannot_isolate() {
    static std::string const why = [] {
        if (::geteuid() == 0 && users() < 2) return std::string{"no user but root is mapped here"};
        auto const failed = detail::in_process([] {
            auto const made = detail::make_namespaces();
            return made.what ? made : detail::in_process(detail::build_root);
        });
        return failed.what ? std::string{failed.what} + ": " + std::strerror(failed.code) : std::string{};
    }();
    return why;
}

/// Whether a control group with this controller is surely ours: on v1 the one that we are in; on v2 what SANDBOX_CGROUP names, or
/// the root of the hierarchy when we are in it.
inline bool gives_group(std::string const& controller) {
    auto const writable = [](std::string const& folder) { return ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0; };
    std::istringstream groups{text_of("/proc/self/cgroup")};
    std::string alone;
    for (std::string line; std::getline(groups, line);) {
        auto const first = line.find(':'), second = line.find(':', first + 1);
        auto const named = line.substr(first + 1, second - first - 1);
        if (("," + named + ",").find("," + controller + ",") != std::string::npos) return writable("/sys/fs/cgroup/" + named + line.substr(second + 1));
        if (named.empty()) alone = line;
    }
    char const* const named = std::getenv("SANDBOX_CGROUP");
    bool const is_named = named && *named;
    std::string const folder = is_named ? named : "/sys/fs/cgroup";
    if (!is_named && (alone != "0::/" || ::access("/sys/fs/cgroup/cgroup.type", F_OK) == 0)) return false;
    std::istringstream controllers{text_of(folder + "/cgroup.controllers")};
    for (std::string each; controllers >> each;)
        if (each == controller) return writable(folder);
    return false;
}

/// The version of the kernel's Landlock; 0 without.
inline int landlock() {
    auto const version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1u /* LANDLOCK_CREATE_RULESET_VERSION */);
    return version > 0 ? static_cast<int>(version) : 0;
}

/// Whether TCP connections can be listed and ended: a socket that is not there is told apart from a request that is not known.
inline bool ends_tcp() {
    auto const answer_to = [](unsigned short type, unsigned short flags) {
        struct {
            nlmsghdr head;
            inet_diag_req_v2 what;
        } request{};
        request.head.nlmsg_len = sizeof request, request.head.nlmsg_type = type;
        request.head.nlmsg_flags = static_cast<unsigned short>(NLM_F_REQUEST | flags);
        request.what.sdiag_family = AF_INET, request.what.sdiag_protocol = IPPROTO_TCP;
        request.what.id.idiag_cookie[0] = request.what.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
        int const fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        alignas(nlmsghdr) char answer[8192];
        auto const n = fd >= 0 && ::send(fd, &request, sizeof request, 0) == sizeof request ? ::recv(fd, answer, sizeof answer, 0) : -1;
        if (fd >= 0) ::close(fd);
        nlmsghdr head{};
        nlmsgerr error{};
        if (n < static_cast<ssize_t>(sizeof head)) return EIO;
        std::memcpy(&head, answer, sizeof head);
        if (head.nlmsg_type == NLMSG_ERROR && n >= static_cast<ssize_t>(sizeof head + sizeof error)) std::memcpy(&error, answer + sizeof head, sizeof error);
        return -error.error;
    };
    return answer_to(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP) == 0 && answer_to(SOCK_DESTROY, NLM_F_ACK) != EOPNOTSUPP;
}

/// Whether this is Linux major.minor or newer.
inline bool is_at_least(int major, int minor) {
    std::istringstream release{text_of("/proc/sys/kernel/osrelease")};
    int has_major = 0, has_minor = 0;
    char dot = 0;
    release >> has_major >> dot >> has_minor;
    return has_major > major || (has_major == major && has_minor >= minor);
}

} // namespace sb::test::kernel

/// In a test case: it needs isolation. In CI (SB_MUST_ISOLATE) that is there, or the test has failed.
#define NEEDS_ISOLATION() \
    if (auto const& sb_why = sb::test::kernel::cannot_isolate(); !sb_why.empty()) { \
        if (std::getenv("SB_MUST_ISOLATE")) FAIL("isolation must be had here: " << sb_why); \
        WARN("SKIPPED: no isolation here: " << sb_why); \
        return; \
    }
