// SPDX-License-Identifier: MIT
// Which system calls a payload may make, by name; a call that stands nowhere here does not exist for it (ENOSYS).
//
// A name that the kernel's architecture or this libseccomp does not know is passed over: the call is then ENOSYS too,
// which is what programs expect of an older kernel. io_uring is left out on purpose: what is asked through a ring passes
// no filter, and a ring makes sockets of every family. So is io_setup with its kin: there are so many of its queues for the
// whole host, and one payload could have them all. And mincore and cachestat: they tell what of the host's files was read.
// And mbind: what it is told of each page stays in memory that no group counts, also for pages that are not there.
#pragma once

namespace sb::filter::detail {

/// Allowed at every level. What a few of them may not be asked stands in filter.hpp.
inline constexpr char const* always_allowed[] = {
    // files
    "access", "chdir", "chmod", "chown", "close", "close_range", "copy_file_range", "creat", "dup", "dup2", "dup3", "faccessat", "faccessat2",
    "fadvise64", "fallocate", "fchdir", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fcntl", "fgetxattr",
    "flistxattr", "flock", "fremovexattr", "fsetxattr", "fstat", "fstatfs", "ftruncate", "futimesat", "getcwd", "getdents", "getdents64",
    "getxattr", "inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch", "ioctl", "lchown", "lgetxattr", "link", "linkat",
    "listxattr", "llistxattr", "lremovexattr", "lseek", "lsetxattr", "lstat", "memfd_create", "mkdir", "mkdirat", "mknod", "mknodat", "newfstatat",
    "open", "openat", "openat2", "pipe", "pipe2", "pread64", "preadv", "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead",
    "readlink", "readlinkat", "readv", "removexattr", "rename", "renameat", "renameat2", "rmdir", "sendfile", "setxattr", "splice", "stat",
    "statfs", "statx", "symlink", "symlinkat", "tee", "truncate", "umask", "unlink", "unlinkat", "utime", "utimensat", "utimes",
    "vmsplice", "write", "writev",
    // waiting
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "pause", "poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4",
    // sockets
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg",
    "sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketpair",
    // memory
    "brk", "get_mempolicy", "madvise", "map_shadow_stack", "membarrier", "mlock", "mlock2", "mlockall", "mmap", "mprotect",
    "mremap", "mseal", "msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free", "pkey_mprotect", "remap_file_pages", "set_mempolicy",
    // processes and threads
    "arch_prctl", "capget", "capset", "clone", "execve", "execveat", "exit", "exit_group", "fork", "futex", "futex_requeue", "futex_wait",
    "futex_waitv", "futex_wake", "get_robust_list", "get_thread_area", "getcpu", "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp",
    "getpid", "getppid", "getpriority", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "getuid", "ioprio_get",
    "ioprio_set", "kill", "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "personality", "pidfd_open",
    "pidfd_send_signal", "prctl", "prlimit64", "restart_syscall", "riscv_flush_icache", "riscv_hwprobe", "rseq", "rt_sigaction", "rt_sigpending",
    "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max",
    "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
    "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield", "seccomp", "set_robust_list", "set_thread_area",
    "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups", "setpgid", "setpriority", "setregid", "setresgid", "setresuid", "setreuid",
    "setrlimit", "setsid", "setuid", "sigaltstack", "tgkill", "tkill", "unshare", "vfork", "wait4", "waitid",
    // time, chance, the machine
    "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "getrandom", "gettimeofday", "nanosleep", "setitimer", "sysinfo",
    "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create", "timerfd_gettime",
    "timerfd_settime", "times", "uname",
};

/// Answered with EPERM at every level, as a kernel answers who has no capability: their callers expect that word.
/// (sync among them: it would write back the whole host's files, and the neighbours would pay.)
inline constexpr char const* always_refused[] = {
    "acct", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "delete_module", "finit_module", "fsconfig", "fsmount", "fsopen",
    "fspick", "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "mount", "mount_setattr", "move_mount", "name_to_handle_at",
    "open_by_handle_at", "open_tree", "perf_event_open", "pivot_root", "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname",
    "setns", "settimeofday", "swapoff", "swapon", "sync", "syslog", "umount2", "vhangup",
};

/// Done as far as a payload can tell, where all that it writes lies in memory: the kernel would have the host's disk write its own
/// cache out, for each call anew. Allowed where something of the host's is writable.
inline constexpr char const* flushing_calls[] = {"fdatasync", "fsync", "sync_file_range"};

/// Allowed where the level says so, EPERM elsewhere.
inline constexpr char const* tracing_calls[] = {"kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace"};

/// Allowed where the level says so, ENOSYS elsewhere: programs try something else then.
inline constexpr char const* ipc_calls[] = {
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd",
    "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
};

} // namespace sb::filter::detail
