// SPDX-License-Identifier: MIT
// What this host lets us isolate, limit and measure: each answer comes from trying, in a child that ends at once.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstdint>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace sb::isolate {

enum class finding_status { ok, limited, missing };

struct finding {
    std::string name;
    finding_status status = finding_status::ok;
    std::string what; ///< what was seen
    std::string mend; ///< the command that changes it; empty when there is nothing to mend
};

namespace detail {

/// errno of `attempt` in a child, 0 when it succeeded.
template <class Attempt>
int tried(Attempt attempt) {
    pid_t const child = ::fork();
    if (child < 0) return errno;
    if (child == 0) ::_exit(attempt() == 0 ? 0 : errno & 0xff);
    int status = 0;
    (void)retry([&] { return ::waitpid(child, &status, 0); });
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

inline std::string first_line(std::string const& path) {
    auto const text = read_file(path);
    return text.has_error() ? std::string{} : std::string{trim(std::string_view{*text}.substr(0, text->find('\n')))};
}

inline finding namespaces() {
    finding f{"namespaces", finding_status::ok, "user, pid, mount, network, ipc, uts and cgroup namespaces can be made", ""};
    int const all = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
    int const code = tried([] { return ::unshare(CLONE_NEWUSER | all); });
    if (code == 0) return f;
    f.status = finding_status::missing;
    f.what = cat("a user namespace cannot be made: ", std::strerror(code));
    if (first_line("/proc/sys/kernel/unprivileged_userns_clone") == "0") f.mend = "sysctl -w kernel.unprivileged_userns_clone=1";
    else if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") f.mend = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
    else if (first_line("/proc/sys/user/max_user_namespaces") == "0") f.mend = "sysctl -w user.max_user_namespaces=10000";
    else f.mend = "leave the chroot, or run the container with a seccomp profile that allows unshare(CLONE_NEWUSER)";
    return f;
}

inline finding cgroups() {
    finding f{"cgroup", finding_status::missing, "no cgroup is mounted: limits hold for single processes, not for the tree", "mount -t cgroup2 none /sys/fs/cgroup"};
    auto const mounts = read_file("/proc/self/mountinfo");
    if (mounts.has_error()) return f;
    std::string v2, v1;
    split(*mounts, '\n', [&](std::string_view line) {
        auto const dash = line.find(" - ");
        if (dash == std::string_view::npos) return;
        auto const type = line.substr(dash + 3);
        std::vector<std::string_view> fields;
        split(line.substr(0, dash), ' ', [&](std::string_view field) { fields.push_back(field); });
        if (fields.size() < 5) return;
        if (type.starts_with("cgroup2 ")) v2 = fields[4];
        else if (type.starts_with("cgroup ")) v1 += cat(v1.empty() ? "" : " ", fields[4].substr(fields[4].rfind('/') + 1));
    });
    auto const controllers = v2.empty() ? std::string{} : first_line(v2 + "/cgroup.controllers");
    bool const memory2 = (" " + controllers + " ").find(" memory ") != std::string::npos;
    bool const memory1 = (" " + v1 + " ").find(" memory ") != std::string::npos;
    if (memory2) f = {"cgroup", finding_status::ok, cat("v2 with ", controllers), ""};
    else if (memory1 && !v2.empty()) f = {"cgroup", finding_status::ok, cat("hybrid: v1 ", v1, "; v2 ", controllers.empty() ? "without controllers" : controllers), ""};
    else if (memory1) f = {"cgroup", finding_status::ok, cat("v1 ", v1), ""};
    else if (!v2.empty() || !v1.empty()) f = {"cgroup", finding_status::limited, "mounted without the memory controller", "boot with cgroup_enable=memory"};
    return f;
}

inline finding seccomp() {
    std::uint32_t action = SECCOMP_RET_ERRNO;
    if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) return {"seccomp", finding_status::ok, "system calls can be filtered", ""};
    return {"seccomp", finding_status::missing, cat("system calls cannot be filtered: ", std::strerror(errno)), "use a kernel with CONFIG_SECCOMP_FILTER"};
}

inline finding landlock() {
#ifdef SYS_landlock_create_ruleset
    auto const version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1u);
    if (version > 0) return {"landlock", finding_status::ok, cat("version ", version), ""};
#endif
    return {"landlock", finding_status::limited, "absent: the mount view alone guards files", "boot with lsm=landlock,… on a kernel 5.13 or newer"};
}

inline finding pidfd() {
    int const fd = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    if (fd >= 0) return ::close(fd), finding{"pidfd", finding_status::ok, "ends of processes are seen without polling", ""};
    return {"pidfd", finding_status::missing, cat("pidfd_open: ", std::strerror(errno)), "use a kernel 5.3 or newer"};
}

inline finding children_list() {
    if (::access("/proc/thread-self/children", R_OK) == 0 || ::access("/proc/self/task", R_OK) == 0)
        return {"proc", finding_status::ok, "/proc lists the children of a process", ""};
    return {"proc", finding_status::missing, "/proc is not mounted: what a payload leaves running cannot be found", "mount -t proc proc /proc"};
}

inline finding folder(std::string name, std::string const& path, bool create) {
    struct statvfs space {};
    std::string probe = path;
    while (create && probe.size() > 1 && ::access(probe.c_str(), F_OK) != 0) probe.resize(std::max<std::size_t>(probe.rfind('/'), 1));
    if (::access(probe.c_str(), W_OK | X_OK) != 0)
        return {std::move(name), finding_status::missing, cat(path, ": ", std::strerror(errno)), cat("mkdir -p ", path, " && chmod u+rwx ", path)};
    if (::statvfs(probe.c_str(), &space) != 0) return {std::move(name), finding_status::limited, cat(path, ": ", std::strerror(errno)), ""};
    auto const free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
    bool const little = free < (std::uint64_t{256} << 20);
    return {std::move(name), little ? finding_status::limited : finding_status::ok, cat(path, " has ", free >> 20, " MiB free"),
            little ? cat("free some space in ", path) : std::string{}};
}

} // namespace detail

/// All that a run may want of the host. `data_dir` need not exist yet.
inline std::vector<finding> examine_host(std::string const& data_dir, std::string const& temp_dir) {
    std::vector<finding> all;
    utsname kernel{};
    ::uname(&kernel);
    all.push_back({"kernel", finding_status::ok, cat(kernel.sysname, " ", kernel.release, " ", kernel.machine), ""});
    all.push_back({"cpus", finding_status::ok, cat(::sysconf(_SC_NPROCESSORS_ONLN), " online"), ""});
    all.push_back({"user", finding_status::ok, ::geteuid() == 0 ? "root" : cat("uid ", ::geteuid()), ""});
    all.push_back(detail::children_list());
    all.push_back(detail::pidfd());
    all.push_back(detail::namespaces());
    all.push_back(detail::cgroups());
    all.push_back(detail::seccomp());
    all.push_back(detail::landlock());
    all.push_back(detail::folder("temp", temp_dir, false));
    all.push_back(detail::folder("data", data_dir, true));
    return all;
}

} // namespace sb::isolate
