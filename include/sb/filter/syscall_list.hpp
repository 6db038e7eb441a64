// SPDX-License-Identifier: MIT
// Which system calls a payload may make, by name. A call that is not listed here does not exist for it (ENOSYS).
//
// A name that the kernel's architecture or this libseccomp does not know is skipped. The call is then ENOSYS too, which is
// what programs expect of an older kernel. Some calls are left out on purpose. io_uring: a request through a ring passes no
// filter, and a ring makes sockets of every family. io_setup and similar calls: the whole host has a limited number of these
// queues, and one payload could take them all. mincore and cachestat: they show which of the host's files were read. mbind:
// its settings for each page stay in memory that no group counts, also for pages that do not exist.
#pragma once

namespace sb::filter::detail {

/// Allowed at every level. filter.hpp lists forbidden arguments of a few of them.
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
    // time, randomness, the machine
    "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "getitimer", "getrandom", "gettimeofday", "nanosleep", "setitimer", "sysinfo",
    "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "timerfd_create", "timerfd_gettime",
    "timerfd_settime", "times", "uname",
};

/// Refused with EPERM at every level, like a kernel's answer to a caller without capabilities, because callers expect it.
/// (sync is one of them: it would write back the whole host's files, and other processes would pay for it.)
inline constexpr char const* always_refused[] = {
    "acct", "adjtimex", "bpf", "chroot", "clock_adjtime", "clock_settime", "delete_module", "finit_module", "fsconfig", "fsmount", "fsopen",
    "fspick", "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "mount", "mount_setattr", "move_mount", "name_to_handle_at",
    "open_by_handle_at", "open_tree", "perf_event_open", "pivot_root", "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname",
    "setns", "settimeofday", "swapoff", "swapon", "sync", "syslog", "umount2", "vhangup",
};

/// Answered with success, without doing anything, where all that a payload writes is in memory: otherwise each call would
/// make the host's disk flush its cache. Allowed where something of the host is writable.
inline constexpr char const* flushing_calls[] = {"fdatasync", "fsync", "sync_file_range"};

/// Allowed if the level says so, else EPERM.
inline constexpr char const* tracing_calls[] = {"kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace"};

/// Allowed if the level says so, else ENOSYS: programs then try something else.
inline constexpr char const* ipc_calls[] = {
    "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd",
    "semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
};

} // namespace sb::filter::detail
