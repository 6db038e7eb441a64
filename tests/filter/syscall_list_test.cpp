// SPDX-License-Identifier: MIT
// The lists of calls by themselves; tests/filter/filter_test.cpp has what becomes of them.
#include "support/catch.hpp"
#include <sb/filter/syscall_list.hpp>
#include <algorithm>
#include <map>
#include <seccomp.h>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace sb::filter::detail;

namespace {

using names = std::vector<std::string_view>;

template <std::size_t N>
names of(char const* const (&calls)[N]) {
    return {std::begin(calls), std::end(calls)};
}
std::map<std::string_view, names> const lists{
    {"allowed", of(always_allowed)}, {"refused", of(always_refused)}, {"flushing", of(flushing_calls)}, {"tracing", of(tracing_calls)}, {"ipc", of(ipc_calls)},
};
bool has(names const& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

} // namespace

TEST_CASE("each call is in one list, once") {
    std::map<std::string_view, std::string_view> seen;
    for (auto const& [list, calls] : lists)
        for (auto const name : calls) {
            INFO(name << " in " << list);
            CHECK(seen.emplace(name, list).second);
        }
    CHECK(seen.size() > 300);
}

TEST_CASE("no call is misspelt: what libseccomp does not know is newer than libseccomp 2.5.4") {
    std::set<std::string_view> const newer{"fchmodat2", "futex_requeue", "futex_wait", "futex_wake", "map_shadow_stack", "mseal", "riscv_hwprobe"};
    for (auto const& [list, calls] : lists)
        for (auto const name : calls) {
            INFO(name << " in " << list);
            CHECK((::seccomp_syscall_resolve_name(std::string{name}.c_str()) != __NR_SCMP_ERROR || newer.count(name) == 1));
        }
}

TEST_CASE("what Docker's default profile keeps from containers is allowed here in no list but for tracing within a run") {
    // "Significant syscalls blocked by the default profile" in Docker's manual, but for those whose arguments decide here
    for (std::string_view const name :
         {"acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "create_module", "delete_module", "finit_module", "get_kernel_syms", "init_module", "ioperm", "iopl",
          "kexec_file_load", "kexec_load", "keyctl", "lookup_dcookie", "mbind", "mount", "move_pages", "nfsservctl", "open_by_handle_at", "perf_event_open", "pivot_root",
          "query_module", "quotactl", "reboot", "request_key", "setns", "settimeofday", "stime", "swapon", "swapoff", "sysfs", "_sysctl", "umount", "umount2", "uselib",
          "userfaultfd", "ustat", "vm86", "vm86old"}) {
        INFO(name);
        for (auto const& [list, calls] : lists) CHECK((list == "refused" || !has(calls, name)));
    }
    for (std::string_view const name : {"kcmp", "process_vm_readv", "process_vm_writev", "ptrace"}) {
        INFO(name);
        CHECK(has(lists.at("tracing"), name));
    }
}

TEST_CASE("what is left out on purpose is in no list") {
    for (std::string_view const name : {"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_destroy", "io_submit", "io_getevents", "io_pgetevents", "io_cancel",
                                        "mincore", "cachestat", "mbind", "set_mempolicy_home_node", "clone3", "fanotify_init", "modify_ldt"}) {
        INFO(name);
        for (auto const& [list, calls] : lists) CHECK_FALSE(has(calls, name));
    }
}

TEST_CASE("calls of one family have one answer") {
    auto const together = [](std::string_view list, names const& family) {
        for (auto const name : family) {
            INFO(name << " in " << list);
            CHECK(has(lists.at(list), name));
        }
    };
    together("allowed", {"read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev", "pwritev2"});
    together("allowed", {"open", "openat", "openat2", "creat", "close"});
    together("allowed", {"stat", "lstat", "fstat", "newfstatat", "statx"});
    together("allowed", {"fork", "vfork", "clone", "execve", "execveat", "exit", "exit_group", "wait4", "waitid"});
    together("refused", {"fsopen", "fsconfig", "fsmount", "fspick", "move_mount", "open_tree", "mount", "mount_setattr", "umount2", "pivot_root"});
    together("refused", {"init_module", "finit_module", "delete_module"});
    together("refused", {"clock_settime", "settimeofday", "adjtimex", "clock_adjtime"});
    together("flushing", {"fsync", "fdatasync", "sync_file_range"});
    together("ipc", {"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"});
}
