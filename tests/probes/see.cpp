// SPDX-License-Identifier: MIT
// Probes that read and write what belongs to the host. What could do harm is opened, never written.
#include "probe.hpp"
#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <tuple>

namespace probes {
namespace {

/// Nine ways into another process. None of them stops or changes it.
void into(attempts& tried, std::string const& who, pid_t pid) {
    tried.call("trace " + who, ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr));
    char here = 0;
    iovec local{&here, 1}, there{nullptr, 1}; // no byte is at 0: whoever may read gets EFAULT
    tried.ask("read memory of " + who, ::process_vm_readv(pid, &local, 1, &there, 1, 0) >= 0 || errno == EFAULT);
    tried.ask("write memory of " + who, ::process_vm_writev(pid, &local, 1, &there, 1, 0) >= 0 || errno == EFAULT);
    auto const folder = "/proc/" + std::to_string(pid);
    tried.call("mem of " + who, open_only(folder + "/mem", O_RDWR));
    int const handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (handle >= 0) {
        tried.call("descriptor 0 of " + who, ::syscall(SYS_pidfd_getfd, handle, 0, 0));
        ::close(handle);
    }
    tried.call("kcmp with " + who, ::syscall(SYS_kcmp, ::getpid(), pid, 3 /* KCMP_FS */, 0, 0));
}

} // namespace

void trace_others(words const& given, attempts& tried) {
    auto const canary = static_cast<pid_t>(given.number("canary"));
    if (canary > 0 && canary != ::getpid()) into(tried, "a process of the host", canary);
    into(tried, "the parent", ::getppid());
    if (own_pid_namespace(given) && ::getppid() != 1) into(tried, "process 1", 1);
}

void outside_proc(words const& given, attempts& tried) {
    auto const secret = given.text("secret");
    auto const canary = "/proc/" + given.text("canary", "0");
    for (auto const& [what, folder] : {std::pair{"a host process", canary}, std::pair{"process 1", std::string{"/proc/1"}},
                                       std::pair{"the parent", "/proc/" + std::to_string(::getppid())}}) {
        for (auto const* const file : {"/environ", "/maps", "/auxv"}) tried.ask(std::string{file + 1} + " of " + what, payload::has_byte(folder + file));
        tried.ask("a file by the root of " + std::string{what}, payload::has_byte(folder + "/root" + secret));
        char link[256];
        tried.call("cwd of " + std::string{what}, ::readlink((folder + "/cwd").c_str(), link, sizeof link));
        DIR* const open = ::opendir((folder + "/fd").c_str());
        tried.add("descriptors of " + std::string{what}, open != nullptr, errno);
        if (open) ::closedir(open);
    }
}

void proc_sys(words const&, attempts& tried) {
    for (auto const* const name : {"kernel/core_pattern", "kernel/modprobe", "kernel/hotplug", "kernel/hostname", "kernel/ns_last_pid", "kernel/pid_max",
                                   "kernel/randomize_va_space", "kernel/shmmax", "kernel/sysrq", "vm/drop_caches", "vm/overcommit_memory", "vm/panic_on_oom",
                                   "fs/binfmt_misc/register", "fs/protected_symlinks", "fs/suid_dumpable", "net/ipv4/ip_forward", "net/core/somaxconn",
                                   "user/max_user_namespaces"})
        try_open(tried, std::string{"/proc/sys/"} + name, O_WRONLY);
}

void kernel_secrets(words const&, attempts& tried) {
    for (auto const* const name : {"kallsyms", "keys", "key-users", "timer_list", "sched_debug", "slabinfo", "vmallocinfo", "iomem", "modules",
                                   "latency_stats", "scsi/scsi"})
        tried.ask(std::string{"read "} + name, payload::has_byte(std::string{"/proc/"} + name));
    try_open(tried, "/proc/kcore", O_RDONLY);
    try_open(tried, "/proc/kmsg", O_RDONLY);
    try_open(tried, "/proc/sysrq-trigger", O_WRONLY);
    try_open(tried, "/proc/irq/default_smp_affinity", O_WRONLY);
    try_open(tried, "/proc/bus/pci/devices", O_RDONLY);
    tried.call("the kernel's log", ::syscall(SYS_syslog, 10 /* its size */, nullptr, 0));
    tried.ask("/sys/kernel/debug", ::access("/sys/kernel/debug/sched", R_OK) == 0);
    tried.ask("/sys/firmware", ::access("/sys/firmware/memmap", R_OK) == 0 || ::access("/sys/firmware/acpi/tables", R_OK) == 0);
}

void sys_files(words const&, attempts& tried) {
    for (auto const* const name : {"kernel/uevent_helper", "kernel/mm/transparent_hugepage/enabled", "kernel/mm/ksm/run", "kernel/profiling", "kernel/uevent_seqnum",
                                   "class/net/lo/ifalias", "class/net/lo/mtu", "power/state", "block/loop0/queue/read_ahead_kb", "module/kernel/parameters/panic",
                                   "devices/system/cpu/cpu1/online", "fs/cgroup/cgroup.procs", "fs/cgroup/memory/cgroup.procs", "fs/cgroup/unified/cgroup.procs"})
        try_open(tried, std::string{"/sys/"} + name, O_WRONLY);
}

void cgroup_escape(words const&, attempts& tried) {
    std::string hierarchies[] = {"", "/unified", "/memory", "/pids", "/cpu,cpuacct", "/cpu", "/freezer", "/devices"};
    for (auto const& each : hierarchies) {
        auto const top = "/sys/fs/cgroup" + each;
        if (::access(top.c_str(), F_OK) != 0) continue;
        try_open(tried, top + "/cgroup.procs", O_WRONLY);
        if (::access((top + "/release_agent").c_str(), F_OK) == 0) try_open(tried, top + "/release_agent", O_WRONLY);
        tried.ask("make groups in " + top, ::access(top.c_str(), W_OK) == 0); // asked, not made
    }
    // a hierarchy of one's own, over an empty folder of a mount namespace of one's own
    tried.add("mount the hierarchy anew", in_child([] {
        if (::unshare(CLONE_NEWNS) != 0) return errno;
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
        char folder[] = "./sb-cgroup-XXXXXX";
        if (!::mkdtemp(folder)) return errno;
        int code = ::mount("none", folder, "cgroup2", 0, nullptr) == 0 || ::mount("none", folder, "cgroup", 0, "pids") == 0 ? 0 : errno;
        ::umount2(folder, MNT_DETACH);
        ::rmdir(folder);
        return code;
    }) == 0, EPERM);
}

void devices(words const&, attempts& tried) {
    // never one that acts when it is opened, as watchdogs do
    for (auto const* const name : {"mem", "port", "kmsg", "kvm", "fuse", "loop-control", "loop0", "uinput", "net/tun", "vhost-net", "userfaultfd", "sda", "vda",
                                   "nvme0n1", "console", "tty0", "tty1", "vcs", "input/event0", "snd/timer", "dri/card0", "vsock", "mapper/control", "cpu/0/msr"})
        try_open(tried, std::string{"/dev/"} + name, O_RDONLY);
    for (auto const& [what, mode, number] : {std::tuple{"memory", S_IFCHR, makedev(1, 1)}, std::tuple{"disk", S_IFBLK, makedev(254, 0)},
                                             std::tuple{"null", S_IFCHR, makedev(1, 3)}}) {
        auto const path = std::string{"./sb-node-"} + what;
        int const made = ::mknod(path.c_str(), static_cast<mode_t>(mode) | 0600u, number);
        tried.call(std::string{"make a device node for "} + what, made);
        if (made == 0) ::unlink(path.c_str());
    }
}

} // namespace probes
