// SPDX-License-Identifier: MIT
// A zygote: a reaper that has walled itself in. Process 1 of the payload's namespace, with the payload's root and none
// of the keeper's rights; every wall is put up once, before it takes its first order, and holds for all it starts.
#pragma once
#include <sb/isolate/filter.hpp>
#include <sb/isolate/mount.hpp>
#include <sb/isolate/reaper.hpp>
#include <sb/isolate/security_level.hpp>
#include <csignal>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <utility>

namespace sb::isolate {

struct zygote_plan {
    security_level const* level = &level_of(default_level);
    syscall_filter const* filter = nullptr; ///< null: none
    unique_fd sockets4 = unique_fd{}, sockets6 = unique_fd{}, devices = unique_fd{}; ///< counts of the sandbox's network
};

/// Descriptors that the zygote's first word brings: to see without asking it whether its namespaces are as they were.
enum zygote_fd : std::size_t { mounts_changed, queues_folder, socket_counts4, socket_counts6, device_counts, zygote_fds };

namespace detail {

/// No capability, now or after any exec.
inline result<void> drop_rights() {
    for (int cap = 0; ::prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; ++cap)
        if (::prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) return last_error("drop a capability");
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return last_error("drop ambient capabilities");
    if (::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                       SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED) < 0)
        return last_error("lock secure bits");
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    if (::syscall(SYS_capset, &header, none) < 0) return last_error("drop capabilities");
    return {};
}

/// A /proc of its own, where the host's knobs are read-only and what tells of the host's kernel is empty.
inline result<unique_fd> new_proc(security_level const& level) {
    constexpr unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    return level.whole_proc ? new_mount("proc", {}, attributes) : new_mount("proc", {{"subset", "pid"}}, attributes);
}
inline result<void> put_proc(int made, security_level const& level) {
    SB_CHECK(attach(made, "/proc"));
    if (!level.whole_proc) return {};
    for (auto const* knobs : {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"}) {
        if (::access(knobs, F_OK) != 0) continue;
        SB_TRY(auto const copy, copy_mount(AT_FDCWD, knobs));
        SB_CHECK(change_mount(copy.get(), MOUNT_ATTR_RDONLY));
        SB_CHECK(attach(copy.get(), knobs));
    }
    for (auto const* secret : {"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/kmsg", "/proc/timer_list", "/proc/sysrq-trigger", "/proc/latency_stats",
                               "/proc/sched_debug", "/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup", "/proc/vmallocinfo", "/proc/slabinfo"}) {
        if (::access(secret, F_OK) != 0) continue;
        SB_TRY(auto const nothing, copy_mount(AT_FDCWD, "/dev/null", false));
        SB_CHECK(attach(nothing.get(), secret));
    }
    return {};
}

inline result<void> read_only_root() {
    struct mount_attr change {};
    change.attr_set = MOUNT_ATTR_RDONLY;
    if (::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &change, sizeof change) < 0) return last_error("make the root read-only");
    return {};
}

inline void close_all_but(int kept) noexcept {
    if (kept > 3) ::syscall(SYS_close_range, 3u, static_cast<unsigned>(kept) - 1, 0u);
    ::syscall(SYS_close_range, static_cast<unsigned>(std::max(kept, 2)) + 1, ~0u, 0u);
}

/// In the zygote; when it returns, the walls stand.
inline result<void> wall_in(zygote_plan const& plan, int socket, int keeper) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // should the keeper be dead already, the closed socket says so
    ::prctl(PR_SET_NAME, "sb-exec zygote");
    ::setsid();
    SB_TRY(auto const proc, new_proc(*plan.level));
    SB_CHECK(change_root("/root"));
    SB_CHECK(put_proc(proc.get(), *plan.level));
    SB_CHECK(read_only_root());
    SB_TRY(auto const mounts, open_file("/proc/self/mountinfo", O_RDONLY));
    unique_fd queues;
    if (auto made = new_mount("mqueue", {}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC); !made.has_error()) queues = std::move(*made);
    int const first[] = {mounts.get(), queues ? queues.get() : mounts.get(), plan.sockets4.get(), plan.sockets6.get(), plan.devices.get()};
    if (!send_word(socket, {word::done, queues ? 1 : 0}, first, zygote_fds)) return last_error("greet the watcher");
    SB_TRY(auto const tree, open_file("/proc/self/ns/mnt", O_RDONLY)); // nobody can open it once we cannot be looked into
    int const mine[] = {tree.get()};
    if (!send_word(keeper, {word::done, 0}, mine, 1)) return last_error("greet the keeper");
    SB_CHECK(drop_rights());
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return last_error("prctl");
    return {};
}

} // namespace detail

struct zygote {
    pid_t pid = -1; ///< as the keeper sees it
    unique_fd mounts = unique_fd{}; ///< its mount namespace
};

/// Clones the zygote off the keeper. When a wall cannot be put up, the zygote says so in its first word and ends.
inline result<zygote> start_zygote(zygote_plan& plan, int socket, order_room& room) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return last_error("socketpair");
    unique_fd const ours{ends[0]};
    unique_fd theirs{ends[1]};
    auto const pid = static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid < 0) return last_error("clone");
    if (pid > 0) {
        theirs.reset();
        zygote made{pid};
        message text;
        int fds[detail::most_passed];
        std::size_t count = 0;
        if (detail::receive_word(ours.get(), text, fds, count) && count == 1) made.mounts = unique_fd{fds[0]};
        return made;
    }
    auto const walls = detail::wall_in(plan, socket, theirs.get());
    if (walls.has_error()) {
        room.clear();
        (void)room.put(walls.error().what);
        (void)detail::send_word(socket, {word::stop, 0});
        ::_exit(1);
    }
    auto const* const filter = plan.filter;
    detail::close_all_but(socket);
    auto mine = reaper::make(unique_fd{socket}, room, true);
    if (mine.has_error() || (filter && install(*filter) < 0)) ::_exit(1);
    mine->serve();
    ::_exit(0);
}

} // namespace sb::isolate
