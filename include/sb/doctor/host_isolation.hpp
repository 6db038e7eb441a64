// SPDX-License-Identifier: MIT
// What this host lets a sandbox be built of: namespaces, mounts, a workspace over the current folder, filters.
#pragma once
#include <sb/core/text.hpp>
#include <sb/doctor/finding.hpp>
#include <sb/files/copy_tree.hpp>
#include <sb/files/mount.hpp>
#include <sb/filter/filter.hpp>
#include <sb/filter/landlock.hpp>
#include <sb/process/tried.hpp>
#include <sb/sandbox/sandbox_init.hpp>
#include <sb/sandbox/tcp_leftovers.hpp>
#include <array>
#include <netinet/in.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/xattr.h>
#include <vector>

namespace sb::doctor {

namespace detail {

struct namespace_kind {
    char const* name;
    char const* knob; ///< /proc/sys/user/max_…_namespaces
    int flag;
};
inline constexpr std::array<namespace_kind, 6> namespace_kinds{{{"pid", "pid", CLONE_NEWPID},
                                                                {"mount", "mnt", CLONE_NEWNS},
                                                                {"network", "net", CLONE_NEWNET},
                                                                {"ipc", "ipc", CLONE_NEWIPC},
                                                                {"uts", "uts", CLONE_NEWUTS},
                                                                {"cgroup", "cgroup", CLONE_NEWCGROUP}}};

/// In a chroot the kernel makes no user namespace. Root finds out by leaving it; others see it where the chroot is no mount.
inline bool is_chroot() {
    if (::geteuid() == 0) {
        auto const outside = process::tried([]() -> result<std::string> {
            SB_TRY(auto const tree, open_file("/proc/self/ns/mnt", O_RDONLY));
            if (::setns(tree.get(), CLONE_NEWNS) < 0) return last_error("setns"); // it begins at the root of the mounts
            if (::unshare(CLONE_NEWUSER) < 0) return last_error("unshare");
            return std::string{};
        });
        return !outside.has_error();
    }
    auto const mounts = read_file("/proc/self/mountinfo");
    bool seen = mounts.has_error();
    if (!seen) split(*mounts, '\n', [&](std::string_view line) {
        auto const fields = words(line);
        seen = seen || (fields.size() > 4 && fields[4] == "/");
    });
    return !seen;
}
/// A system-call filter of somebody else's holds us: a container's, as a rule.
inline bool is_filtered() {
    auto const status = read_file("/proc/self/status");
    return !status.has_error() && status->find("\nSeccomp:\t2") != std::string::npos;
}

inline constexpr std::string_view container_advice = "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined";
/// What helps where a filter of the host's refuses calls, or else this.
inline std::string out_of_filter_or(std::string_view otherwise) { return std::string{is_filtered() ? container_advice : otherwise}; }

/// `root` comes before the paths of the files that are read.
inline void mend_user_namespace(finding& f, std::string const& root = {}) {
    if (first_line(root + "/proc/sys/user/max_user_namespaces") == "0") f.mend = as_root("sysctl -w user.max_user_namespaces=10000");
    else if (first_line(root + "/proc/sys/kernel/unprivileged_userns_clone") == "0") f.mend = as_root("sysctl -w kernel.unprivileged_userns_clone=1");
    else if (first_line(root + "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") f.mend = as_root("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
    else if (is_chroot()) f.advice = "a chroot forbids it; enter DIR by pivot_root: unshare --mount sh -c 'mount --rbind DIR DIR && cd DIR && pivot_root . . && umount -l . && exec COMMAND'";
    else if (is_filtered()) f.advice = container_advice;
    else f.advice = "use a kernel with CONFIG_USER_NS";
}

/// Detached, with its owners as the payload is to see them.
inline result<unique_fd> mapped_copy(std::string const& folder, process::payload_user const& user) {
    struct stat owner {};
    if (::stat(folder.c_str(), &owner) != 0) return last_error("stat", folder);
    SB_TRY(auto const map, process::owner_map(owner, user));
    SB_TRY(auto copy, files::copy_mount(AT_FDCWD, folder, false));
    SB_CHECK(files::map_owners(copy.get(), map.get()));
    return copy;
}

/// In a mount namespace of our own: a workspace over `folder`, or over the mount `given`, is made and written to. Empty,
/// or what it lacks.
inline result<std::string> lay_overlay(std::string const& folder, int given) {
    unique_fd taken;
    if (given < 0) {
        SB_TRY(taken, files::copy_mount(AT_FDCWD, folder));
        given = taken.get();
    }
    SB_TRY(auto const base, files::new_mount("tmpfs", {{"size", "1m"}, {"mode", "0755"}}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
    SB_CHECK(files::attach(base.get(), "/proc"));
    for (auto const* name : {"/proc/lower", "/proc/upper", "/proc/index"})
        if (::mkdir(name, 0755) != 0) return last_error("make folder", std::string_view{name});
    SB_CHECK(files::attach(given, "/proc/lower"));
    SB_TRY(auto const made, files::new_mount("overlay", {{"lowerdir", "/proc/lower"}, {"upperdir", "/proc/upper"}, {"workdir", "/proc/index"}, {"userxattr", ""}}, MOUNT_ATTR_NOSUID));
    unique_fd const file{::openat(made.get(), ".sb-doctor", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    if (!file && errno != EACCES) return last_error("make a file in the workspace"); // EACCES: a folder that is not ours to write
    // what hides a folder that lies below is an attribute of the one above; a tmpfs keeps those of users since Linux 6.6
    return std::string{::setxattr("/proc/upper", "user.sb-doctor", "y", 1, 0) == 0 ? "" : "cannot store overlay marks"};
}

} // namespace detail

inline finding find_proc(process::payload_user const& user) {
    finding f{"proc", finding_status::ok, "a /proc of its own can be mounted", {}};
    if (::access("/proc/self/mountinfo", R_OK) != 0) {
        f.fails(finding_status::missing, "/proc is not mounted, so processes that a payload leaves cannot be found").mend = as_root("mount -t proc proc /proc");
        return f;
    }
    auto const done = process::tried_inside(user, CLONE_NEWNS | CLONE_NEWPID, [] {
        return process::tried([]() -> result<std::string> {
            SB_TRY([[maybe_unused]] auto const made, sandbox::new_proc(filter::level_of(filter::default_level)));
            return std::string{};
        });
    });
    if (!done.has_error()) return f;
    if (process::never_began(done.error())) return f.what = "mounted; a sandbox's own /proc can only be tested when namespaces can be made", f;
    f.fails(finding_status::missing, cat("a sandbox cannot have a /proc of its own: ", done.error().what));
    // the kernel mounts no new one for who sees the old one only in part
    std::string over;
    if (auto const mounts = read_file("/proc/self/mountinfo"); !mounts.has_error()) split(*mounts, '\n', [&](std::string_view line) {
        auto const fields = words(line);
        if (fields.size() > 4 && fields[4].starts_with("/proc/") && fields[4] != "/proc/sys/fs/binfmt_misc") over += " " + fields[4];
    });
    if (!over.empty()) f.what += cat("; covered by mounts:", over), f.mend = as_root("umount -l" + over), f.advice = cat("in a container: ", detail::container_advice);
    else if (detail::is_filtered()) f.advice = detail::container_advice;
    return f;
}

inline finding find_pidfd() {
    unique_fd const fd{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))};
    if (fd) return {"pidfd", finding_status::ok, "process ends are noticed without polling", {}};
    return {"pidfd", finding_status::missing, cat("pidfd_open: ", std::strerror(errno)), {}, "use a kernel 5.3 or newer"};
}

/// Each kind by itself, for a host may forbid one of them.
inline finding find_namespaces(process::payload_user const& user) {
    finding f{"namespaces", finding_status::ok, "user, pid, mount, network, ipc, uts and cgroup", {}};
    auto const got = process::tried_inside(user, 0, []() -> result<std::string> { // errno of each kind, in order
        std::string codes;
        for (auto const& kind : detail::namespace_kinds) codes += cat(::unshare(kind.flag) == 0 ? 0 : errno, " ");
        return codes;
    });
    if (got.has_error()) {
        detail::mend_user_namespace(f.fails(finding_status::missing, cat("none: ", got.error().what)));
        return f;
    }
    std::string lacking, knobs;
    auto const codes = words(*got);
    for (std::size_t i = 0; i < detail::namespace_kinds.size() && i < codes.size(); ++i) {
        if (codes[i] == "0") continue;
        auto const& kind = detail::namespace_kinds[i];
        int code = 0;
        std::from_chars(codes[i].data(), codes[i].data() + codes[i].size(), code);
        lacking += cat(lacking.empty() ? "" : ", ", std::string_view{kind.name}, " (", std::string_view{std::strerror(code)}, ")");
        if (first_line(cat("/proc/sys/user/max_", std::string_view{kind.knob}, "_namespaces")) == "0") knobs += cat(" user.max_", std::string_view{kind.knob}, "_namespaces=10000");
    }
    if (lacking.empty()) return f;
    f.fails(finding_status::missing, cat("user namespaces work, but not ", lacking));
    if (!knobs.empty()) f.mend = as_root("sysctl -w" + knobs);
    else if (first_line("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1") f.mend = as_root("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
    else f.advice = detail::out_of_filter_or("use a kernel with CONFIG_NAMESPACES and all kinds of namespaces");
    return f;
}

/// open_tree, fsopen, mount_setattr, move_mount: Linux 5.12.
inline finding find_mounts(process::payload_user const& user) {
    finding f{"mounts", finding_status::ok, "open_tree, fsopen, mount_setattr and move_mount", {}};
    auto const done = process::tried_inside(user, CLONE_NEWNS, []() -> result<std::string> {
        SB_TRY(auto const made, files::new_mount("tmpfs", {{"size", "1m"}}, MOUNT_ATTR_NOSUID));
        SB_CHECK(files::attach(made.get(), "/proc"));
        SB_TRY(auto const copy, files::copy_mount(AT_FDCWD, "/proc"));
        SB_CHECK(files::change_mount(copy.get(), MOUNT_ATTR_RDONLY));
        return std::string{};
    });
    if (!done.has_error()) return f;
    auto const& why = done.error().what;
    f.fails(finding_status::missing, why);
    if (process::never_began(done.error())) f.advice = "see namespaces";
    else f.advice = detail::out_of_filter_or("use a kernel 5.12 or newer");
    return f;
}

/// Root's own: a payload that is not root sees root's files as its own.
inline finding find_owners(process::payload_user const& user, std::string const& folder) {
    finding f{"owners", finding_status::ok, cat("files in ", folder, " can be shown as the payload's"), {}};
    if (::geteuid() != 0) return f.what = "a payload runs as the caller, so no owner needs mapping", f;
    auto const done = process::tried([&]() -> result<std::string> {
        SB_TRY([[maybe_unused]] auto const copy, detail::mapped_copy(folder, user));
        return std::string{};
    });
    if (!done.has_error()) return f;
    f.fails(finding_status::limited, cat("the file system of ", folder, " cannot show files under another owner (", done.error().what, "), so a workspace on it is copied before the first run"));
    for (auto const* other : {"/var/tmp", "/tmp", "/srv", "/home"}) {
        auto const there = process::tried([&]() -> result<std::string> {
            SB_TRY([[maybe_unused]] auto const copy, detail::mapped_copy(other, user));
            return std::string{};
        });
        if (there.has_error()) continue;
        f.advice = cat("keep large workspaces below ", std::string_view{other}, ", whose file system can");
        return f;
    }
    f.advice = "keep large workspaces on ext4, xfs or btrfs, with a kernel 5.19 or newer";
    return f;
}

/// The copy-on-write workspace, over what it would be laid over: the folder, or its copy in `temp` where root's is one.
inline finding find_overlay(process::payload_user const& user, std::string const& folder, std::string const& temp) {
    finding f{"overlay", finding_status::ok, cat("a copy-on-write view of ", folder, " works"), {}};
    unique_fd below;
    auto place = folder;
    if (::geteuid() == 0) {
        auto made = detail::mapped_copy(folder, user);
        if (made.has_error()) {
            place = temp;
            f.what = cat("a copy-on-write view of a copy in ", temp, " works");
            made = files::copy_mount(AT_FDCWD, temp, false);
        }
        if (made.has_error()) return f.fails(finding_status::missing, made.error().what);
        below = std::move(*made);
    }
    auto const done = process::tried_inside(user, CLONE_NEWNS, [&] { return detail::lay_overlay(place, below.get()); });
    if (!done.has_error()) {
        if (done->empty()) return f;
        f.fails(finding_status::limited, f.what + "; folders that existed before a run can be emptied, but not removed or replaced (Input/output error)").advice = "use sb-exec --work-copy, or Linux 6.6 or newer, whose tmpfs stores user attributes";
        return f;
    }
    auto const& why = done.error().what;
    f.fails(finding_status::missing, cat("no copy-on-write view of ", place, ": ", why));
    if (process::never_began(done.error())) f.advice = "see namespaces";
    else if (why.starts_with("fsopen overlay: No such device")) f.mend = as_root("modprobe overlay");
    else {
        for (auto const& other : {temp, std::string{"/var/tmp"}}) {
            if (process::tried_inside(user, CLONE_NEWNS, [&] { return detail::lay_overlay(other, -1); }).has_error()) continue;
            f.what += "; an overlay cannot use its file system, but can use a copy";
            f.mend = cat("cp -a . ", other, "/work && cd ", other, "/work");
            return f;
        }
        f.advice = "use a kernel 5.11 or newer with CONFIG_OVERLAY_FS";
    }
    return f;
}

/// The filter itself is installed, in a child.
inline finding find_seccomp() {
    finding f{"seccomp", finding_status::ok, "the system-call filter can be installed", {}};
    auto const done = process::tried([]() -> result<std::string> {
        SB_TRY(auto const filter, filter::make_filter(filter::level_of(filter::default_level)));
        if (filter::install(filter) < 0) return last_error("install the system-call filter");
        return cat(filter.program.size());
    });
    if (!done.has_error()) return f.what = cat("a filter of ", *done, " instructions can be installed"), f;
    f.fails(finding_status::missing, done.error().what);
    f.advice = detail::out_of_filter_or("use a kernel with CONFIG_SECCOMP_FILTER");
    return f;
}

inline finding find_landlock() {
    auto const version = filter::landlock_version();
    int const code = errno;
    finding f{"landlock", finding_status::ok, cat("version ", version, ": ", version >= 6 ? "files, signals and abstract unix sockets" : "files"), {}};
    if (version >= filter::landlock_rules::oldest) {
        auto const done = process::tried([]() -> result<std::string> {
            SB_TRY(auto const rules, filter::landlock_rules::make({{"/", filter::file_right::executing}}));
            if (rules.restrict_self() < 0) return last_error("landlock_restrict_self");
            return std::string{};
        });
        if (!done.has_error()) return f;
        f.fails(finding_status::limited, done.error().what);
    } else if (version > 0) {
        f.fails(finding_status::limited, "version 1, which is not used because it forbids every rename between folders");
        f.advice = "use a kernel 5.19 or newer";
    } else if (code == EOPNOTSUPP) {
        f.fails(finding_status::limited, "switched off");
        auto const now = first_line("/sys/kernel/security/lsm");
        f.advice = cat("boot with lsm=landlock", now.empty() ? "" : ",", now);
    } else {
        f.fails(finding_status::limited, std::strerror(code));
        f.advice = detail::out_of_filter_or("use a kernel 5.19 or newer with CONFIG_SECURITY_LANDLOCK");
    }
    f.what += "; only the mounts protect files";
    return f;
}

/// Ports that a run leaves in time-wait are freed for the next.
inline finding find_sockets(process::payload_user const& user) {
    finding f{"sockets", finding_status::ok, "TCP sockets that a run leaves can be closed (SOCK_DESTROY)", {}};
    auto const done = process::tried_inside(user, CLONE_NEWNET, []() -> result<std::string> {
        unique_fd const open{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in any{};
        any.sin_family = AF_INET;
        if (!open || ::bind(open.get(), reinterpret_cast<sockaddr const*>(&any), sizeof any) < 0 || ::listen(open.get(), 1) < 0) return last_error("listen");
        SB_TRY(auto ends, sandbox::tcp_leftovers::open());
        SB_TRY(auto const ended, ends.destroy_all());
        if (ended != 1) return system_error("a listening socket was not found");
        return std::string{};
    });
    if (!done.has_error()) return f;
    f.fails(finding_status::limited, cat(done.error().what, "; a sandbox in which a run leaves TCP sockets is replaced by a new one"));
    if (process::never_began(done.error())) f.advice = "see namespaces";
    else f.mend = as_root("modprobe tcp_diag"), f.advice = "or use a kernel with CONFIG_INET_DIAG_DESTROY";
    return f;
}

} // namespace sb::doctor
