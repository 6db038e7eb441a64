// SPDX-License-Identifier: MIT
// The init of a sandbox: a reaper that has confined itself. It is process 1 of the payload's namespace, with the payload's
// root and none of the supervisor's rights. It sets up every restriction once, before it takes its first order. The
// restrictions hold for all processes that it starts.
//
// How it works: the supervisor clones the init into new process and mount namespaces (start_init). The init builds its root
// and its /proc. Then it sends its mount namespace to the supervisor, through a socket that both share. It sends its first
// message to the sandbox's owner, through the socket that later brings its orders. Last it drops its rights, installs the
// filter, and serves as a reaper. If something fails, it sends `stop` and the reason to the owner instead, and ends.
#pragma once
#include <sb/core/channel.hpp>
#include <sb/files/mount.hpp>
#include <sb/filter/filter.hpp>
#include <sb/filter/levels.hpp>
#include <sb/process/close_all_but.hpp>
#include <sb/process/payload_user.hpp>
#include <sb/process/reaper.hpp>
#include <sb/process/signals.hpp>
#include <sb/process/task_limit.hpp>
#include <sb/sandbox/view.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <utility>

namespace sb::sandbox {

struct init_plan {
    filter::security_level const* level = &filter::level_of(filter::default_level);
    filter::syscall_filter const* filter = nullptr; ///< null: none
    std::int64_t most_tasks = -1; ///< limit on the number of processes it starts, where only namespaces enforce it (task_limit.hpp); -1: they enforce none
    std::string boot_id = {}; ///< file that is shown instead of the host's; empty: the host's is shown
    unique_fd sockets4 = unique_fd{}, netlinks = unique_fd{}, kinds = unique_fd{}, devices = unique_fd{}; ///< counts of the sandbox's network
};

/// Descriptors that come with the init's first message: they show without asking the init whether its namespaces are
/// unchanged.
enum init_fd : std::size_t { mounts_changed, queues_folder, socket_counts4, netlink_sockets, socket_kind_counts, device_counts, init_fds };

/// A /proc of its own, where the host's knobs are read-only and files about the host's kernel are empty. The init is not
/// visible in it ("hidepid" hides processes that one cannot trace), because its times, faults and switches add up from run
/// to run.
inline result<unique_fd> new_proc(filter::security_level const& level) {
    constexpr unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    return level.whole_proc ? files::new_mount("proc", {{"hidepid", "2"}}, attributes) : files::new_mount("proc", {{"hidepid", "2"}, {"subset", "pid"}}, attributes);
}

namespace detail {

/// Drops all capabilities, now and after any exec.
inline result<void> drop_rights() {
    int cap = 0;
    while (::prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0) ++cap;
    if (errno != EINVAL || cap == 0) return last_error("drop a capability"); // the first number that is not a capability
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return last_error("drop ambient capabilities");
    if (::prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                       SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED) < 0)
        return last_error("lock secure bits");
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    if (::syscall(SYS_capset, &header, none) < 0) return last_error("drop capabilities");
    return {};
}

/// Where the kernel finds our command line, once `forget_words` has looked.
inline std::span<char>& command_line() noexcept {
    static std::span<char> one;
    return one;
}
/// Overwrites our command line and environment where the kernel shows them: they belong to the caller and may contain what
/// payloads must not see. Nothing may read `environ` or `argv` afterwards, here and in children.
inline result<void> forget_words() {
    SB_TRY(auto const text, read_file("/proc/self/stat"));
    constexpr int arguments_begin = 48, environment_end = 51; // field numbers, counted from 1; no ")" follows the name
    int field = 2;
    std::uintptr_t at[environment_end - arguments_begin + 1]{};
    split(std::string_view{text}.substr(std::min(text.rfind(')') + 2, text.size())), ' ', [&](std::string_view word) {
        if (++field >= arguments_begin && field <= environment_end) (void)std::from_chars(word.data(), word.data() + word.size(), at[field - arguments_begin]);
    });
    for (int i = 0; i < 4; i += 2) {
        if (at[i] == 0 || at[i + 1] < at[i]) return system_error("/proc/self/stat does not say where the command line is");
        std::memset(reinterpret_cast<void*>(at[i]), 0, at[i + 1] - at[i]);
    }
    command_line() = {reinterpret_cast<char*>(at[0]), at[1] - at[0]};
    return {};
}
/// The name that is seen in lists of processes. After `forget_words` it is also the command line, cut where that ends.
inline void take_name(std::string_view name) noexcept {
    ::prctl(PR_SET_NAME, name.data());
    auto const room = command_line();
    if (room.empty()) return; // the caller may have none
    std::fill(room.begin(), room.end(), '\0');
    name.copy(room.data(), room.size() - 1);
}

/// A blocked signal would stay pending, and the next run would see it. A signal with its default action never reaches process
/// 1, and the template has set no other (sandbox_template.hpp): a handler of the caller would run.
inline void unblock_signals() noexcept {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Folders of /proc that are shown empty: devices, and files that show in detail what the host and other processes do.
/// Opening a file of `pressure` for writing also makes the host's kernel monitor work.
inline constexpr char const* hidden_folders[] = {"/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/pressure", "/proc/irq", "/proc/fs"};
/// Files of /proc that are shown empty. Files that only root may read are closed already, because no payload is root.
inline constexpr char const* hidden_files[] = {
    "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/modules", "/proc/iomem", "/proc/ioports", "/proc/latency_stats", "/proc/sched_debug", // about the kernel
    "/proc/interrupts", "/proc/softirqs", "/proc/schedstat", "/proc/locks", "/proc/diskstats", "/proc/vmstat", "/proc/zoneinfo", "/proc/buddyinfo", // about its work
    "/proc/cmdline"}; // the host's

inline result<void> put_proc(int made, int boot_id, filter::security_level const& level) {
    SB_CHECK(files::attach(made, "/proc"));
    if (!level.whole_proc) return {};
    SB_TRY(auto const knobs, files::copy_mount(AT_FDCWD, "/proc/sys"));
    SB_CHECK(files::change_mount(knobs.get(), MOUNT_ATTR_RDONLY));
    SB_CHECK(files::attach(knobs.get(), "/proc/sys"));
    if (boot_id >= 0) SB_CHECK(files::attach(boot_id, "/proc/sys/kernel/random/boot_id"));
    // a bind mount keeps its attributes: one mount is made read-only, and the others are copies of it
    char const* empty = nullptr;
    for (auto const* const folder : hidden_folders) {
        if (empty) {
            if (::mount(empty, folder, nullptr, MS_BIND, nullptr) < 0 && errno != ENOENT) return last_error("mount on", std::string_view{folder});
            continue;
        }
        if (::access(folder, F_OK) != 0) continue;
        SB_TRY(auto const first, files::copy_mount(AT_FDCWD, "/dev/shm", false)); // an empty folder of the root, on which nothing is mounted yet
        SB_CHECK(files::change_mount(first.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)); // all runs see it
        SB_CHECK(files::attach(first.get(), folder));
        empty = folder;
    }
    for (auto const* const file : hidden_files)
        if (::mount("/dev/null", file, nullptr, MS_BIND, nullptr) < 0 && errno != ENOENT) return last_error("mount on", std::string_view{file});
    return {};
}

inline result<void> read_only_root() {
    struct mount_attr change {};
    change.attr_set = MOUNT_ATTR_RDONLY;
    if (::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &change, sizeof change) < 0) return last_error("make the root read-only");
    return {};
}

/// Enters a user namespace below the supervisor's, which owns all the other namespaces: whatever right a payload got there,
/// it would have none over them. In it the kernel refuses further user namespaces, and allows only a part of what each user
/// of the host may have. `knobs` is /proc/sys/user.
inline result<void> step_down(int knobs) {
    if (::unshare(CLONE_NEWUSER) < 0) return last_error("make the payload's user namespace");
    auto const one = cat(process::sandbox_id, " ", process::sandbox_id, " 1\n");
    for (auto const& [file, text] : {std::pair{"/proc/self/setgroups", std::string_view{"deny"}}, {"/proc/self/uid_map", one}, {"/proc/self/gid_map", one}})
        SB_CHECK(write_once(std::string{file}, text));
    for (auto const& [name, most] : {std::pair{"max_user_namespaces", std::string_view{"0"}}, {"max_inotify_instances", "16"}, {"max_inotify_watches", "8192"}}) {
        unique_fd const knob{knobs < 0 ? -1 : ::openat(knobs, name, O_WRONLY | O_CLOEXEC)};
        if (knob) (void)!::write(knob.get(), most.data(), most.size());
    }
    return {};
}

/// The filter sees what a program asks for, but not how the kernel maps the program's file before it begins. So we forbid a
/// segment that is writable and executable; Linux supports this from 6.3 on. It does not refuse an executable stack, which a
/// file may also ask for.
inline void refuse_writable_code() noexcept {
    constexpr int set_memory_rules = 65; // PR_SET_MDWE
    constexpr unsigned long no_gain_of_exec = 1; // PR_MDWE_REFUSE_EXEC_GAIN
    (void)::prctl(set_memory_rules, no_gain_of_exec, 0, 0, 0);
}

/// Runs in the init. On success all restrictions are in force. On failure `supervisor` is still open. Closing it ends the
/// supervisor, and the init with it, so the error must be reported first.
inline result<void> wall_in(init_plan const& plan, std::string const& root, int socket, unique_fd& supervisor, process::reaper_files& files) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL); // if the supervisor is dead already, the closed socket shows it
    take_name("sb-exec init");
    ::setsid();
    SB_TRY(auto const proc, new_proc(*plan.level));
    unique_fd const knobs{::open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    unique_fd boot_id;
    if (plan.level->whole_proc && !plan.boot_id.empty()) {
        SB_TRY(boot_id, files::copy_mount(AT_FDCWD, plan.boot_id, false));
        SB_CHECK(files::change_mount(boot_id.get(), MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)); // all runs see it
    }
    SB_CHECK(files::change_root(root));
    SB_CHECK(put_proc(proc.get(), boot_id.get(), *plan.level));
    SB_CHECK(read_only_root());
    unblock_signals();
    SB_TRY(auto const mounts, open_file("/proc/self/mountinfo", O_RDONLY));
    unique_fd queues;
    if (auto made = files::new_mount("mqueue", {}, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC); !made.has_error()) queues = std::move(*made);
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // the change of user took away access to our own files in /proc; no payload exists yet that could look into us
    files = process::reaper_files::open();
    SB_TRY(auto const tree, open_file("/proc/self/ns/mnt", O_RDONLY)); // later, when nobody may look into us, it cannot be opened
    int const mine[] = {tree.get()};
    if (!process::send_message(supervisor.get(), {process::word::done, 0}, mine)) return last_error("greet the supervisor");
    supervisor.reset(); // from here on the number of the sandbox's sockets is final
    int const first[init_fds] = {mounts.get(), queues ? queues.get() : mounts.get(), plan.sockets4.get(), plan.netlinks.get(), plan.kinds.get(), plan.devices.get()};
    if (!process::send_message(socket, {process::word::done, queues ? 1 : 0}, first)) return last_error("send the first message to the watcher");
    SB_CHECK(step_down(knobs.get()));
    SB_CHECK(drop_rights());
    if (!plan.level->makes_code) refuse_writable_code();
    if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return last_error("prctl");
    return {};
}

} // namespace detail

struct sandbox_init {
    pid_t pid = -1; ///< as the supervisor sees it
    unique_fd mounts = unique_fd{}; ///< its mount namespace, known after `hear`
    unique_fd greeting = unique_fd{};

    /// Waits until its root is in place.
    result<void> hear() {
        if (mounts) return {};
        process::message text;
        passed_files came;
        if (!process::receive_message(greeting.get(), text, came) || came.left() != 1) return system_error("the first process of a sandbox died");
        mounts = came.take();
        greeting.reset();
        return {};
    }
};

/// Clones the init from the supervisor. If a restriction cannot be set up, the init's first message is `stop` with the
/// reason, and it ends.
inline result<sandbox_init> start_init(init_plan& plan, std::string const& root, int socket, process::order_room& room) {
    SB_TRY(auto between, make_channel());
    auto& [ours, theirs] = between;
    auto const pid = plan.most_tasks >= 0 ? process::clone_limited(plan.most_tasks, CLONE_NEWNS)
                                          : static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid < 0) return last_error("clone");
    if (pid > 0) {
        return sandbox_init{pid, unique_fd{}, std::move(ours)};
    }
    ours.reset();
    process::reaper_files files;
    auto const enclosed = detail::wall_in(plan, root, socket, theirs, files);
    if (enclosed.has_error()) {
        pollfd supervisor{theirs.get(), 0, 0};
        if (::poll(&supervisor, 1, 0) > 0) ::_exit(1); // it ended before the restrictions were in force, and has reported the reason itself
        (void)process::send_message(socket, {process::word::stop, 0});
        (void)!::send(socket, enclosed.error().what.data(), enclosed.error().what.size(), MSG_NOSIGNAL);
        ::_exit(1);
    }
    auto const* const filter = plan.filter;
    process::close_all_but(std::array{socket, files.io.get(), files.last_pid.get()});
    auto mine = process::reaper::make(unique_fd{socket}, room, true, std::move(files));
    if (mine.has_error() || (filter && filter::install(*filter) < 0)) ::_exit(1);
    mine->serve();
    ::_exit(0);
}

} // namespace sb::sandbox
