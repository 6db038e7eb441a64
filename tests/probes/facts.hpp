// SPDX-License-Identifier: MIT
// The probes: what each tries, what must come of it, what holds it, and how it is run inside and outside.
#pragma once
#include <string_view>
#include <vector>

namespace probes {

/// One run of a probe in the sandbox.
struct variant {
    char const* does = "";       ///< the word do=… that it is given
    char const* preset = "";     ///< members of the preset, beside a name and a TIMEOUT of 20 s
    char const* ends = "ok";     ///< classes of end that are right
    char const* limit = "";      ///< the key that holds it
    bool named = false;          ///< limits_hit must name the key
};

enum class where { plain, space, root }; ///< a control's place: bare, in throw-away namespaces, bare and as root

struct fact {
    int number;
    char const* name;
    char const* tried;   ///< as the manual page says it
    char const* outcome; ///< the safe one
    char const* held_by;
    std::vector<variant> variants{variant{}};
    where control = where::plain;
    char const* control_words = "";           ///< smaller counts
    std::vector<char const*> control_does{};  ///< when not every variant can be shown
    char const* options = "";                 ///< of sb-exec
    int runs = 1;
};

inline std::vector<fact> const& facts() {
    constexpr auto killed_or_not = "ok memory signalled";
    static std::vector<fact> const all{
        {1, "fork_bomb", "500 processes", "fork fails at the limit; the tree ends; the record names PIDS_LIMIT", "pids control group, or pid_max of a process namespace",
         {{"", R"("PIDS_LIMIT":64)", "ok pids", "PIDS_LIMIT", true}}, where::space},
        {2, "thread_bomb", "500 threads", "the same limit", "pids control group, or pid_max of a process namespace", {{"", R"("PIDS_LIMIT":64)", "ok pids", "PIDS_LIMIT", true}}, where::space},
        {3, "memory_bomb", "128 MiB touched: anonymous, memfd, /dev/shm, /tmp, a tree of small processes", "an end inside the group alone, class memory; or the write fails",
         "memory control group; size of each tmpfs",
         {{"anon", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"memfd", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"shm", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"tmpfs", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"tree", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"}},
         where::space},
        {4, "cache_pressure", "128 MiB locked; 128 MiB of a file kept in memory", "charged to the group; no more stays than the limit", "memory control group, RLIMIT_MEMLOCK",
         {{"lock", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"}, {"cache", R"("MEMORY_LIMIT":"64Mi")", "ok memory signalled disk", "MEMORY_LIMIT"}},
         where::space, "", {"cache"}},
        {5, "disk_fill", "64 MiB in each folder it can write; a sparse file; 50,000 files", "no space left at the quota; the host has its space back", "workspace of limited bytes and inodes",
         {{"bytes", R"("DISK_LIMIT":"16Mi")", "ok disk", "DISK_LIMIT"},
          {"sparse", R"("DISK_LIMIT":"16Mi")", "ok disk", "DISK_LIMIT"},
          {"inodes", R"("DISK_LIMIT":"16Mi")", "ok disk", "DISK_LIMIT"}},
         where::space},
        {6, "file_limit", "4 MiB in one file, by write, ftruncate and fallocate; deaf to SIGXFSZ", "SIGXFSZ, or EFBIG for the deaf", "RLIMIT_FSIZE",
         {{"", R"("FILE_LIMIT":"1Mi")", "ok disk", "FILE_LIMIT"}}, where::space},
        {7, "descriptors", "4096 open files; 4096 descriptors under way in sockets", "EMFILE, ETOOMANYREFS; the supervisor still opens files", "RLIMIT_NOFILE",
         {{"", R"("OPEN_FILES_LIMIT":64)", "ok", "OPEN_FILES_LIMIT"}}},
        {8, "cpu_spin", "4 s of processor time, deaf to SIGXCPU", "ended by CPU_SECONDS or TIMEOUT, 200 ms late at most", "RLIMIT_CPU, control group, clock of the supervisor",
         {{"cpu", R"("CPU_SECONDS":1)", "signalled timeout", "CPU_SECONDS", true}, {"wall", R"("TIMEOUT":1)", "timeout", "TIMEOUT", true}}, where::plain, "seconds=1"},
        {9, "endless", "to outlast the limit: asleep and deaf; stopped", "ended by TIMEOUT, 200 ms late at most", "clock of the supervisor, SIGKILL to the tree",
         {{"sleep", R"("TIMEOUT":1)", "timeout", "TIMEOUT", true}, {"stop", R"("TIMEOUT":1)", "timeout", "TIMEOUT", true}}, where::plain, "seconds=1"},
        {10, "output_flood", "1 GiB to standard output, to standard error", "cut at the cap; the record says truncated; our memory stays flat", "OUTPUT_LIMIT",
         {{"out", R"("OUTPUT_LIMIT":"1Mi")", "output", "OUTPUT_LIMIT", true}, {"err", R"("OUTPUT_LIMIT":"1Mi")", "output", "OUTPUT_LIMIT", true}}, where::plain, "mib=64"},
        {11, "raw_bytes", "escape sequences, NUL, broken UTF-8, no line end", "escaped in the record; a terminal never gets one raw", "JSON writer, table writer"},
        {12, "forged_records", "lines that look like our records, to every descriptor", "one record, ours", "output is data; the report channel is read for figures alone"},
        {13, "daemonise", "a daemon that left session, group and parent", "nothing runs on", "pid namespace"},
        {14, "orphan_pipe", "an orphan that holds standard output for 20 s", "the run ends when its first process does", "supervisor does not wait for the pipe"},
        {15, "time_bomb", "a child that acts a second after the end", "killed with the tree", "pid namespace"},
        {16, "kill_others", "signals to a host process, to its group, to all, to process 1", "ESRCH or EPERM; all are alive", "pid namespace, another user id, Landlock"},
        {17, "signal_supervisor", "signals to its group and session, SIGKILL by parent's death, to the parent", "no effect; the next run is whole", "own session, pid namespace", {variant{}},
         where::plain, "", {}, "--repeat 2", 2},
        {18, "supervisor_killed", "to outlive the supervisor, killed with SIGKILL", "the payload dies; the next start clears up", "pid namespace, PDEATHSIG, label",
         {{"top", "", "ok", ""}, {"all", "", "ok", ""}}, where::plain, "", {""}},
        {19, "trace_others", "ptrace, process_vm_*, mem, pidfd_getfd, kcmp on a host process, the parent, process 1", "EPERM or ESRCH", "pid namespace, non-dumpable init, seccomp"},
        {20, "outside_proc", "environment, root, cwd and descriptors of others in /proc", "not there, or closed", "own /proc, non-dumpable init"},
        {21, "proc_sys", "18 files of /proc/sys opened for writing", "EROFS or EACCES; host values unchanged", "/proc/sys read-only, user id that is not root's", {variant{}}, where::space},
        {22, "kernel_secrets", "kallsyms, kcore, keys, sysrq, the kernel's log", "masked or EPERM", "masked /proc, seccomp"},
        {23, "sys_files", "14 files of /sys opened for writing", "EROFS, EACCES or not there", "no /sys, or read-only", {variant{}}, where::root},
        {24, "cgroup_escape", "cgroup.procs, release_agent, new groups, a hierarchy mounted anew", "EROFS, EACCES or not there", "no control group files, cgroup namespace", {variant{}}, where::space},
        {25, "raise_limits", "own limits raised; limits, rank and processors of others; OOM score; real time", "EPERM; values unchanged", "rlimits, no capability, seccomp",
         {{"", R"("OPEN_FILES_LIMIT":64,"FILE_LIMIT":"1Mi","CPU_SECONDS":30)", "ok", ""}}},
        {26, "mounts", "mount, remount, umount, pivot_root, fsopen, move_mount, open_tree, chroot", "EPERM or ENOSYS", "no capability, seccomp", {variant{}}, where::space},
        {27, "namespaces", "unshare, clone, clone3, setns, also by a leaked descriptor", "EPERM or ENOSYS", "seccomp"},
        {28, "leave_root", "a file outside by path, by .., by an inherited folder, by chroot in chroot", "stays inside", "pivoted root, no inherited descriptor"},
        {29, "inherited", "descriptors 3 to 1023, a current folder outside", "0, 1, 2 and the report channel alone", "close_range before exec"},
        {30, "overwrite_launcher", "the launcher's file, by /proc and by its path, for writing", "ETXTBSY, EROFS or EACCES; the file unchanged", "read-only binds, non-dumpable init"},
        {31, "terminal", "TIOCSTI, TIOCLINUX, TIOCSCTTY, also with high bits set", "no terminal; nothing is typed", "own session, minimal /dev, seccomp"},
        {32, "keyrings", "add_key, request_key, keyctl, persistent keyring", "ENOSYS or EPERM", "seccomp"},
        {33, "rare_calls", "bpf, perf, userfaultfd, io_uring, kexec, modules, file handles, quota, acct, swap, reboot, ports, personality", "ENOSYS or EPERM each", "seccomp, no capability"},
        {34, "odd_sockets", "AF_ALG, AF_VSOCK, AF_PACKET, netlink but routes, raw, 9 more families, the host's abstract names", "EAFNOSUPPORT, EPERM, ECONNREFUSED", "seccomp, network namespace"},
        {35, "path_sockets", "a socket of the host by its path; docker, D-Bus, systemd, X11, ssh-agent", "not there", "pivoted root"},
        {36, "network", "a service on the host's loopback; routes to the metadata service and to name servers", "refused, no route", "network namespace"},
        {37, "result_races", "links to a secret and folders that turn into links, while results are collected", "never followed", "collector resolves one name at a time", {variant{}}, where::plain, "", {}, "--keep"},
        {38, "special_files", "FIFO, socket, device, depth 3000, names that are no text, as results", "no hang; the record is valid", "collector opens nothing that is no file", {variant{}}, where::plain, "", {},
         "--keep"},
        {39, "set_user_id", "set-user-id programs, capabilities, uid 0, groups", "no gain; NoNewPrivs; all five capability sets empty", "no_new_privs, capabilities dropped, nosuid"},
        {40, "devices", "24 device files opened, device nodes made", "absent or EPERM", "minimal /dev, nodev", {variant{}}, where::root},
        {41, "core_dump", "RLIMIT_CORE changed, a core of 16 MiB", "none is written, or handed to a program of the host's", "RLIMIT_CORE 1, seccomp"},
        {42, "environment", "secrets, LD_PRELOAD, GCONV_PATH and proxies in the environment", "declared variables alone", "environment by allow-list"},
        {43, "set_clock", "settimeofday, adjtimex, clock_adjtime, rtc", "EPERM; the host's time unchanged", "no capability, seccomp", {variant{}}, where::root},
        {44, "ipc_objects", "System V and POSIX objects left for the next run", "the next run finds none, nor does the host", "ipc namespace, dirty check", {variant{}}, where::space, "twice=1",
         {}, "--repeat 2", 2},
        {45, "kernel_objects", "4096 inotify and epoll instances, 512 pipes of 1 MiB, 200,000 timers", "a limit stops each", "RLIMIT_NOFILE, RLIMIT_SIGPENDING",
         {{"", R"("OPEN_FILES_LIMIT":64,"MEMORY_LIMIT":"256Mi")", "ok memory", ""}}, where::space},
        {46, "stubborn_files", "immutable files, closed folders, depth 4000, held open", "all is removed, or what stays is said", "purge that resolves one name at a time", {variant{}}, where::plain, "", {},
         "--repeat 2", 2},
        {47, "bombs", "JSON that is deep, wide, long and huge, as reports and as input to every tool; YAML aliases of aliases", "bounds on size and depth; memory stays flat", "readers with bounds",
         {{"report", "", "ok output", ""}}, where::plain, "", {"naive"}},
        {48, "neighbours", "two runs side by side: the same names, port and socket", "they do not meet", "all namespaces, own view of the folder", {variant{}}, where::space, "twice=1"},
        {49, "forged_figures", "a check passed, a value of 1e308, no time used: as reports, while the check outlasts its time", "names that are ours and values outside of their range are not taken",
         "reserved names; --value-range; a value stands only with a right output", {variant{}}, where::plain, "", {"naive"}, "--check=sleep\t60 --check-timeout 200ms"},
        {50, "forged_ends", "SIGXFSZ, SIGSYS, SIGXCPU and SIGKILL raised as a limit would", "signalled; no limit is named",
         "the slot looks for the file of that size and at the process's own time",
         {{"xfsz", R"("FILE_LIMIT":"1Mi")", "signalled"}, {"sys", "", "signalled"}, {"xcpu", R"("CPU_SECONDS":1)", "signalled"}, {"kill", R"("CPU_SECONDS":1)", "signalled"}}},
        {51, "forged_names", "names with escape sequences and line ends, a file larger than any disk, one file of a hundred names, as results",
         "what cannot be kept is skipped and named in one line; names are escaped; links stay links; the run is recorded", "copier that skips, one place that escapes", {variant{}}, where::plain, "", {}, "--keep"},
        {52, "bait", "a FIFO as command, as interpreter; an interpreter that is a device", "refused or ended at once; none is opened", "regular files alone are opened, and never waited for"},
        {53, "report_flood", "the report channel without end", "256 KiB are kept, the rest is read a little at a time", "bounds on bytes, lines and rate of reports", {variant{}}, where::plain, "seconds=60", {"naive"}},
        {54, "jit_budget", "32 long socket filters, 7 system-call filters of 4096 instructions, eBPF on sockets: all from one budget of the host's", "EPERM; EINVAL for system-call filters", "seccomp"},
        {55, "attributes", "64 KiB of access rights on a file; 20,000 folders with 4 KiB of rights", "E2BIG; no space left where half of MEMORY_LIMIT is so taken",
         "seccomp, number of files in the workspace",
         {{"size", "", "ok", ""}, {"number", R"("MEMORY_LIMIT":"64Mi")", "ok disk memory signalled", "MEMORY_LIMIT"}}, where::space},
        {56, "disk_flush", "fsync and its kin of a file of the host", "answered without the kernel, or ENOSYS", "seccomp"},
        {57, "cache_eviction", "a file of the host dropped from memory; five ways to ask whether it is there", "it stays; each way is refused", "seccomp"},
        {58, "suid_left", "set-user-id and set-group-id files in a writable binding, ten ways; devices 0:0", "EPERM, or ENOSYS for openat2", "seccomp"},
        {59, "socket_options", "multicast groups joined and left; the host's counts of sockets and networks", "ENODEV, ENOPROTOOPT", "seccomp", {variant{}}, where::space},
        {60, "kernel_stores", "rules of memory, keys of TCP, encapsulated UDP, queues of errors and times: what no group counts; pages merged with others', a core for itself", "ENOSYS, ENOPROTOOPT, EINVAL; a queue of errors stays empty", "seccomp"},
        {61, "huge_pages", "huge pages by memfd, mmap and shmget: from the host's pool, which no group counts", "EINVAL, ENOMEM, EPERM", "seccomp"},
        {62, "ranks", "what the caller has: real time, rank, disk before others, spared by the killer, and the rights to it", "none of it is the payload's", "reset where sandboxes are made; rlimits",
         {variant{}}, where::root},
        {63, "kept_groups", "supplementary groups of root's; files of /etc that are open to a group alone", "no group; the files are not there", "groups dropped; of /etc what everybody may read",
         {{"first"}, {"second"}, {"third"}}, where::root, "", {""}},
        {64, "host_at_work", "interrupts, pressure (also a trigger), locks, disks and memory of the host in /proc; boot_id", "not there, or empty; boot_id is the session's own", "masked /proc"},
        {65, "mapped_code", "files of a rw binding, and of a second view of it, mapped as code, executed, given to ld.so; memory files", "EACCES or EPERM at levels 4 and 5", "noexec mounts, Landlock, seccomp",
         {{"strict", R"("SECURITY_LEVEL":4)", "ok", ""}, {"compute", R"("SECURITY_LEVEL":5)", "ok", ""}}, where::plain, "", {""}},
        {66, "folder_settings", "settings and .env in the folder of the run ask for no isolation, a folder of the host and another data folder; both are FIFOs",
         "ignored, with a line that says so; nothing waits", "settings that decide a run are taken from files that the caller named",
         {{"isolate", "", "ok", ""}, {"bind", "", "ok", ""}, {"variables", "", "ok", ""}, {"data", "", "ok", ""}, {"fifo", "", "ok", ""}}},
        {67, "file_table", "files without end: in one process, in many, also under PIDS_LIMIT, kept by mappings; threads with tables of their own, three ways", "EMFILE; EPERM and EINVAL; whoever gets to a part of fs.file-max is ended, and the record names OPEN_FILES_LIMIT",
         "RLIMIT_NOFILE, count of the run's files, seccomp",
         {{"one", "", "ok", "OPEN_FILES_LIMIT"},
          {"many", "", "files", "OPEN_FILES_LIMIT", true},
          {"numbered", R"("PIDS_LIMIT":1000)", "files", "OPEN_FILES_LIMIT", true},
          {"threads", "", "ok", ""},
          {"mapped", "", "files", "OPEN_FILES_LIMIT", true}}},
        {68, "sibling_quota", "all pipe pages and all descriptors under way that a user may have", "another session has its own, where root started them; where not, it still runs", "a user of its own for each session of root's",
         {{"hoard", R"("TIMEOUT":90)", "ok", ""}}, where::plain, "", {"both"}},
        {69, "socket_buffers", "128 MiB in buffers of TCP, UDP, UNIX and netlink sockets, and held back in UDP sockets; 12 % of the host's memory for all sockets", "on v1 no more than as much again as the limit; no more than a tenth",
         "memory control group, its limit for sockets (v1); the slot looks what they hold",
         {{"tcp", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"udp", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"unix", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"netlink", R"("MEMORY_LIMIT":"64Mi")", killed_or_not, "MEMORY_LIMIT"},
          {"corked", R"("MEMORY_LIMIT":"64Mi","OPEN_FILES_LIMIT":4096)", killed_or_not, "MEMORY_LIMIT"},
          {"tcp_share", "", "ok memory", ""},
          {"udp_share", "", "ok memory", ""}},
         where::plain, "mib=16 share=1"},
        {70, "crowd", "600 processes that all run and share a map of 128 MiB, under TIMEOUT 3 s", "ended by TIMEOUT, 2 s late at most", "rank of the init; SIGKILL to the tree",
         {{"", R"("TIMEOUT":3)", "timeout", ""}}, where::plain, "count=150 seconds=1 mib=8"},
        {71, "kernel_keeps", "128 MiB of file locks; 7 % of the machine's memory kept by single bytes in a TCP socket", "the run is ended, as memory", "the slot looks how the kernel's own memory grows",
         {{"locks", R"("MEMORY_LIMIT":"64Mi","OPEN_FILES_LIMIT":4096)", killed_or_not, "MEMORY_LIMIT"}, {"pages", "", "ok memory", ""}}, where::plain, "mib=16 share=1"},
    };
    return all;
}

} // namespace probes
