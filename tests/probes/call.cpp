// SPDX-License-Identifier: MIT
// Probes of system calls with power. The arguments are such that the kernel turns them down after it has looked at
// the caller's rights, or that the effect is on the probe alone.
#include "probe.hpp"
#include <csignal>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>

namespace probes {

void raise_limits(words const& given, attempts& tried) {
    for (auto const& [name, which] : {std::pair{"files", RLIMIT_NOFILE}, std::pair{"processor time", RLIMIT_CPU}, std::pair{"core", RLIMIT_CORE},
                                      std::pair{"file size", RLIMIT_FSIZE}}) {
        rlimit now{};
        auto const limit = which; // clang 14 lets no lambda have a structured binding
        if (::getrlimit(limit, &now) != 0 || now.rlim_max == RLIM_INFINITY) continue; // nothing to raise
        rlimit const more{now.rlim_cur, now.rlim_max + 1};
        tried.add(std::string{"raise the limit of "} + name, in_child([&] {
            rlimit is{};
            bool const raised = ::setrlimit(limit, &more) == 0 && ::getrlimit(limit, &is) == 0 && is.rlim_max > now.rlim_max;
            return raised ? 0 : EPERM;
        }) == 0, EPERM);
    }
    // others' limits and ranks, set to what they are: the right to do so is the harm
    auto const others = [&](std::string const& who, pid_t pid) {
        rlimit now{};
        if (::prlimit(pid, RLIMIT_NOFILE, nullptr, &now) != 0) tried.add("limits of " + who, false, errno);
        else tried.call("limits of " + who, ::prlimit(pid, RLIMIT_NOFILE, &now, nullptr));
        errno = 0;
        int const nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
        if (nice == -1 && errno != 0) tried.add("rank of " + who, false, errno);
        else tried.call("rank of " + who, ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), nice));
        cpu_set_t usable;
        if (::sched_getaffinity(pid, sizeof usable, &usable) != 0) tried.add("processors of " + who, false, errno);
        else tried.call("processors of " + who, ::sched_setaffinity(pid, sizeof usable, &usable));
    };
    others("the parent", ::getppid());
    if (auto const canary = static_cast<pid_t>(given.number("canary")); canary > 0 && canary != ::getpid()) others("a host process", canary);
    tried.add("be spared by the killer", in_child([] {
        int const fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        return fd >= 0 && ::write(fd, "-1000", 5) == 5 ? 0 : errno;
    }) == 0, EACCES);
    tried.add("rank -20", in_child([] { return ::setpriority(PRIO_PROCESS, 0, -20) == 0 ? 0 : errno; }) == 0, EACCES);
    tried.add("real time", in_child([] {
        sched_param const first{1};
        return ::sched_setscheduler(0, SCHED_FIFO, &first) == 0 ? 0 : errno;
    }) == 0, EPERM);
    tried.add("disk before others", in_child([] { return ::syscall(SYS_ioprio_set, 1, 0, 1 << 13) == 0 ? 0 : errno; }) == 0, EPERM);
}

void mounts(words const&, attempts& tried) {
    auto const allowed = [&](char const* what, long result) {
        bool const refused = result < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES);
        tried.add(what, !refused, errno);
    };
    allowed("mount", ::mount("none", "/", "sb-no-such-file-system", 0, nullptr));
    allowed("bind", ::mount("/proc/self/sb-none", "/", nullptr, MS_BIND, nullptr));
    allowed("remount for writing", ::mount(nullptr, "/proc/self", nullptr, MS_REMOUNT | MS_BIND, nullptr)); // no mount begins there
    allowed("unmount", ::umount2("/proc/self", MNT_DETACH));
    allowed("pivot_root", ::syscall(SYS_pivot_root, "/sb-no-such-folder", "/sb-no-such-folder"));
    allowed("fsopen", ::syscall(SYS_fsopen, "sb-no-such-file-system", 0));
    allowed("move_mount", ::syscall(SYS_move_mount, -1, "sb-none", -1, "sb-none", 0));
    long const tree = ::syscall(SYS_open_tree, AT_FDCWD, "/", 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC);
    allowed("open_tree", tree);
    if (tree >= 0) ::close(static_cast<int>(tree));
    tried.add("chroot", in_child([] { return ::chroot(".") == 0 ? 0 : errno; }) == 0, EPERM);
}

void namespaces(words const& given, attempts& tried) {
    struct kind {
        char const* name;
        int flag;
    };
    for (auto const& each : {kind{"user", CLONE_NEWUSER}, kind{"mount", CLONE_NEWNS}, kind{"pid", CLONE_NEWPID}, kind{"network", CLONE_NEWNET},
                             kind{"ipc", CLONE_NEWIPC}, kind{"uts", CLONE_NEWUTS}, kind{"cgroup", CLONE_NEWCGROUP}, kind{"time", CLONE_NEWTIME}}) {
        int const code = in_child([&] { return ::unshare(each.flag) == 0 ? 0 : errno; });
        tried.add(std::string{"unshare "} + each.name, code == 0, code);
    }
    for (auto const& [name, flags] : {std::pair{"clone user", CLONE_NEWUSER}, std::pair{"clone user, mount, pid", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID}}) {
        auto const pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
        if (pid == 0) ::_exit(0);
        tried.call(name, pid);
        if (pid > 0) ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
    }
    clone_args args{};
    args.flags = CLONE_NEWUSER, args.exit_signal = SIGCHLD;
    auto const pid = ::syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0) ::_exit(0);
    tried.call("clone3", pid);
    if (pid > 0) ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
    for (auto const* const own : {"net", "mnt", "pid_for_children"}) {
        int const code = in_child([&] {
            int const fd = ::open((std::string{"/proc/self/ns/"} + own).c_str(), O_RDONLY | O_CLOEXEC);
            return fd >= 0 && ::setns(fd, 0) == 0 ? 0 : errno;
        });
        tried.add(std::string{"setns own "} + own, code == 0, code);
    }
    int const leaked = static_cast<int>(given.number("namespace", -1));
    int const code = in_child([&] { return ::setns(leaked, 0) == 0 ? 0 : errno; });
    tried.add("setns a leaked one", code == 0, code);
}

void keyrings(words const&, attempts& tried) {
    // the process's own keyring goes with it
    tried.call("add_key", ::syscall(SYS_add_key, "user", "sb-probe", "x", 1, KEY_SPEC_PROCESS_KEYRING));
    tried.call("request_key", ::syscall(SYS_request_key, "user", "sb-probe", nullptr, 0));
    tried.call("session keyring", ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
    tried.call("user keyring", ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0));
    tried.add("join another session", in_child([] { return ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0 ? 0 : errno; }) == 0, EPERM);
    tried.call("persistent keyring", ::syscall(SYS_keyctl, KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING));
}

void rare_calls(words const&, attempts& tried) {
    tried.reach("bpf", ::syscall(SYS_bpf, 5 /* BPF_PROG_LOAD */, nullptr, 0));
    perf_event_attr counter{};
    counter.type = PERF_TYPE_SOFTWARE, counter.size = sizeof counter, counter.config = PERF_COUNT_SW_CPU_CLOCK, counter.exclude_kernel = 1, counter.disabled = 1;
    tried.reach("perf_event_open", ::syscall(SYS_perf_event_open, &counter, 0, -1, -1, 0));
    tried.reach("userfaultfd", ::syscall(SYS_userfaultfd, 1 /* of user mode */ | O_CLOEXEC));
    io_uring_params ring{};
    tried.reach("io_uring_setup", ::syscall(SYS_io_uring_setup, 1, &ring));
    tried.reach("kexec_load", ::syscall(SYS_kexec_load, 0, 1000 /* more than there may be */, nullptr, 0));
    tried.reach("kexec_file_load", ::syscall(SYS_kexec_file_load, -1, -1, 0, nullptr, 0xff00));
    tried.reach("init_module", ::syscall(SYS_init_module, nullptr, 0, ""));
    tried.reach("finit_module", ::syscall(SYS_finit_module, -1, "", 0));
    tried.reach("delete_module", ::syscall(SYS_delete_module, "sb_no_such_module", O_NONBLOCK));
    alignas(8) char handle[136]{};
    *reinterpret_cast<unsigned*>(handle) = 8;
    int mount_id = 0;
    tried.reach("open_by_handle_at", ::syscall(SYS_open_by_handle_at, AT_FDCWD, handle, O_RDONLY));
    *reinterpret_cast<unsigned*>(handle) = 128;
    tried.reach("name_to_handle_at", ::syscall(SYS_name_to_handle_at, AT_FDCWD, ".", handle, &mount_id, 0));
    tried.reach("quotactl", ::quotactl(QCMD(Q_GETINFO, USRQUOTA), "/sb-no-such-device", 0, nullptr));
    tried.reach("acct", ::acct("/sb-no-such-folder/file"));
    tried.reach("swapon", ::swapon("/sb-no-such-file", 0));
    tried.reach("swapoff", ::swapoff("/sb-no-such-file"));
    tried.reach("reboot", ::syscall(SYS_reboot, 0, 0, 0, nullptr)); // the magic numbers are missing
    tried.add("iopl", in_child([] { return ::iopl(3) == 0 ? 0 : errno; }) == 0, EPERM);
    tried.add("ioperm", in_child([] { return ::ioperm(0x80, 1, 1) == 0 ? 0 : errno; }) == 0, EPERM);
    tried.add("personality", in_child([] { return ::personality(READ_IMPLIES_EXEC) >= 0 ? 0 : errno; }) == 0, EPERM);
    tried.reach("fanotify_init", ::syscall(SYS_fanotify_init, 0, 0));
    tried.reach("lookup_dcookie", ::syscall(SYS_lookup_dcookie, 0, nullptr, 0));
    tried.reach("move_pages of process 1", ::syscall(SYS_move_pages, 1, 0, nullptr, nullptr, nullptr, 0));
    tried.reach("migrate_pages of process 1", ::syscall(SYS_migrate_pages, 1, 0, nullptr, nullptr));
    tried.reach("sethostname", ::syscall(SYS_sethostname, nullptr, 1));
}

void set_clock(words const&, attempts& tried) {
    // a zone of 10,000 minutes and a tick of 0 are wrong, which is said to those alone who may set the clock
    struct timezone const zone { 10000, 0 };
    tried.reach("settimeofday", ::syscall(SYS_settimeofday, nullptr, &zone));
    timex wrong{};
    wrong.modes = ADJ_TICK, wrong.tick = 0;
    tried.reach("adjtimex", ::syscall(SYS_adjtimex, &wrong));
    wrong.modes = ADJ_TICK, wrong.tick = 0;
    tried.reach("clock_adjtime", ::syscall(SYS_clock_adjtime, 0, &wrong));
    try_open(tried, "/dev/rtc0", O_RDONLY);
    try_open(tried, "/dev/ptp0", O_RDONLY);
}

} // namespace probes
