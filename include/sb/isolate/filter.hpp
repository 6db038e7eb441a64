// SPDX-License-Identifier: MIT
// The filter of system calls: an allow-list, compiled once by libseccomp into plain instructions that a child can install.
//
// How it works: the program has two parts. The first looks at arguments: it answers what an allowed call may not be asked
// (a namespace, a raw socket, a terminal's input) and lets all else go on to the second, which libseccomp compiles from
// names alone. Almost every call is therefore decided by its number, and such calls the kernel (5.11) remembers as
// allowed without running any program. libseccomp could do the first part too, but it has neither "is not" for a part of
// an argument nor "any of these bits": the same rules take it a thousand instructions.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/isolate/argument_rules.hpp>
#include <sb/isolate/security_level.hpp>
#include <sb/isolate/syscall_list.hpp>
#include <cerrno>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <memory>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::isolate {

/// What `install` hands to the kernel.
struct syscall_filter {
    std::vector<sock_filter> program;
};

namespace detail {

/// A list of names on its way to a program. What goes wrong is kept until `compile`.
class name_list {
public:
    /// `tree`: look numbers up in a binary tree instead of one by one.
    name_list(std::uint32_t otherwise, bool tree) : rules_{::seccomp_init(otherwise)} {
        if (!rules_) {
            fail("seccomp_init", -ENOMEM);
            return;
        }
        // ours is the only architecture; libseccomp counts x32 on x86-64 as a wrong one
        check("bad architecture", ::seccomp_attr_set(rules_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
        check("optimise", ::seccomp_attr_set(rules_.get(), SCMP_FLTATR_CTL_OPTIMIZE, tree ? 2 : 1));
    }

    /// The answer to a call: `SCMP_ACT_ALLOW` or `SCMP_ACT_ERRNO(…)`.
    void add(std::uint32_t answer, char const* call) {
        if (failed_.code != 0) return;
        int const number = ::seccomp_syscall_resolve_name(call);
        if (number < 0) return; // not a call of this architecture, or newer than this libseccomp
        check(call, ::seccomp_rule_add_array(rules_.get(), answer, number, 0, nullptr));
    }
    template <std::size_t N>
    void add(std::uint32_t answer, char const* const (&calls)[N]) {
        for (auto const* call : calls) add(answer, call);
    }

    result<std::vector<sock_filter>> compile() {
        if (failed_.code != 0) return errno_error("seccomp", failed_.what, -failed_.code);
        unique_fd const file{::memfd_create("filter", MFD_CLOEXEC)}; // libseccomp 2.5 writes to descriptors only
        if (!file) return last_error("memfd_create", "system-call filter");
        if (int const code = ::seccomp_export_bpf(rules_.get(), file.get()); code < 0) return errno_error("seccomp_export_bpf", {}, -code);
        auto const bytes = ::lseek(file.get(), 0, SEEK_END);
        std::vector<sock_filter> program(bytes > 0 ? static_cast<std::size_t>(bytes) / sizeof(sock_filter) : 0);
        if (program.empty() || ::pread(file.get(), program.data(), static_cast<std::size_t>(bytes), 0) != bytes)
            return system_error("seccomp_export_bpf: the program cannot be read back");
        return program;
    }

private:
    struct release {
        void operator()(void* rules) const noexcept { ::seccomp_release(rules); }
    };
    void fail(char const* what, int code) noexcept {
        if (failed_.code == 0) failed_ = {what, code};
    }
    void check(char const* what, int code) noexcept {
        if (code < 0) fail(what, code);
    }
    std::unique_ptr<void, release> rules_;
    struct {
        char const* what = nullptr;
        int code = 0;
    } failed_;
};

inline void decide_by_name(name_list& rules, security_level const& level, std::uint64_t key) {
    auto const refused = SCMP_ACT_ERRNO(EPERM);
    rules.add(SCMP_ACT_ALLOW, always_allowed);
    rules.add(refused, always_refused);
    rules.add(level.traces ? SCMP_ACT_ALLOW : refused, tracing_calls);
    if (level.ipc_objects) rules.add(SCMP_ACT_ALLOW, ipc_calls);
    if (key != 0) rules.add(SCMP_ACT_ALLOW, "clone3");
}

inline result<syscall_filter> make_filter(security_level const& level, std::uint64_t key, bool tree) {
    name_list names{SCMP_ACT_ERRNO(ENOSYS), tree};
    decide_by_name(names, level, key);
    SB_TRY(auto const second, names.compile());
    auto program = rules_for_arguments(level, key).program(::seccomp_arch_native());
    program.insert(program.end(), second.begin(), second.end());
    return syscall_filter{std::move(program)};
}

} // namespace detail

/// The filter of a level. Costs one to two milliseconds: make it once, install it often.
///
/// clone3 is ENOSYS for the payload (C libraries then use clone), for its flags lie in memory. With a `key`, chosen at
/// random, a call of clone3 whose sixth argument is the key passes: so the process that starts payloads, under the same
/// filter, can still place them in a cgroup. No payload can learn the key: it lies in registers and in memory that exec
/// takes away, of a process that cannot be traced, and the kernel shows filters to nobody without capabilities.
inline result<syscall_filter> make_filter(security_level const& level, std::uint64_t key = 0) {
    std::uint32_t const kill = SECCOMP_RET_KILL_PROCESS; // libseccomp would only say that it is an invalid argument
    if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill) < 0) return last_error("filter system calls");
    return detail::make_filter(level, key, true);
}

/// Holds this thread and all that it starts, for ever. Async-signal-safe; -1 and errno when the kernel refuses.
///
/// Speculation stays as it is (SPEC_ALLOW): kernels before 5.16 would else slow every filtered process by switching off
/// store bypass, which guards a process against code within itself; a payload shares its memory with nobody, and a figure
/// measured with it would be true of the sandbox alone.
inline int install(syscall_filter const& filter) noexcept {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    sock_fprog const program{static_cast<unsigned short>(filter.program.size()), const_cast<sock_filter*>(filter.program.data())};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) return 0;
    if (errno != EINVAL) return -1;
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)); // before Linux 4.17
}

} // namespace sb::isolate
