// SPDX-License-Identifier: MIT
// The filter of system calls: an allow-list as a program of instructions that a child can install.
//
// How it works: the program finds a call's number in a binary tree of ranges that have one answer. The tree decides most
// numbers; the kernel (5.11) remembers such calls as allowed without running any program. Calls whose arguments matter
// (argument_rules.hpp) have their rules at the ends of the tree. libseccomp knows the numbers of names and compiles lists
// too. But its program is several times as long, and each sandbox pays for installing each instruction. The tests compare
// this program with libseccomp's.
#pragma once
#include <sb/core/result.hpp>
#include <sb/filter/argument_rules.hpp>
#include <sb/filter/levels.hpp>
#include <sb/filter/syscall_list.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sb::filter {

/// What `install` gives to the kernel.
struct syscall_filter {
    std::vector<sock_filter> program;
};

namespace detail {

/// The answer to each call number, as a program that looks numbers up.
class answer_table {
public:
    explicit answer_table(std::uint32_t otherwise) : otherwise_{otherwise} {}

    /// The answer (SECCOMP_RET_…) to a call.
    void add(std::uint32_t answer, char const* call) {
        int const number = ::seccomp_syscall_resolve_name(call);
        if (number >= 0) answers_[static_cast<std::uint32_t>(number)] = answer; // else this architecture does not have it, or it is newer than this libseccomp
    }
    template <std::size_t N>
    void add(std::uint32_t answer, char const* const (&calls)[N]) {
        for (auto const* call : calls) add(answer, call);
    }
    std::map<std::uint32_t, std::uint32_t> const& answers() const noexcept { return answers_; }

    std::vector<sock_filter> program(argument_rules const& rules) const {
        std::vector<range> ranges{{0, leaf(otherwise_)}};
        auto const add = [&](std::uint32_t first, std::vector<sock_filter> code) {
            if (!same(ranges.back().code, code)) ranges.push_back({first, std::move(code)});
        };
        auto numbers = answers_;
        for (auto const& [number, code] : rules.of_calls()) numbers.try_emplace(number, otherwise_);
        std::uint32_t next = 0;
        for (auto const& [number, answer] : numbers) {
            if (number > next) add(next, leaf(otherwise_));
            auto code = leaf(answer);
            if (auto const found = rules.of_calls().find(number); found != rules.of_calls().end()) code.insert(code.begin(), found->second.begin(), found->second.end());
            if (number == 0) ranges.front().code = std::move(code);
            else add(number, std::move(code));
            next = number + 1;
        }
        add(next, leaf(otherwise_));
#if defined(__x86_64__)
        add(0x40000000, leaf(SECCOMP_RET_KILL_PROCESS)); // x32: other calls under our architecture's name
        add(0xffffffff, leaf(otherwise_)); // not a call: a tracer makes this number of a call that it skips
#endif
        std::vector<sock_filter> made{
            {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offsetof(seccomp_data, arch))},
            {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ::seccomp_arch_native()},
            {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
            {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offsetof(seccomp_data, nr))},
        };
        auto const found = tree(ranges.data(), ranges.size());
        made.insert(made.end(), found.begin(), found.end());
        return made;
    }

private:
    struct range {
        std::uint32_t first;
        std::vector<sock_filter> code; ///< ends with an answer
    };
    static std::vector<sock_filter> leaf(std::uint32_t answer) { return {{BPF_RET | BPF_K, 0, 0, answer}}; }
    static bool same(std::vector<sock_filter> const& a, std::vector<sock_filter> const& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](sock_filter const& x, sock_filter const& y) { return x.code == y.code && x.jt == y.jt && x.jf == y.jf && x.k == y.k; });
    }
    static std::vector<sock_filter> tree(range const* from, std::size_t count) {
        if (count == 1) return from->code;
        auto const half = count / 2;
        auto const less = tree(from, half), more = tree(from + half, count - half);
        std::vector<sock_filter> code;
        constexpr std::size_t farthest = 255; // the longest jump of a condition
        bool const far = less.size() > farthest;
        code.push_back({BPF_JMP | BPF_JGE | BPF_K, static_cast<std::uint8_t>(far ? 0 : less.size()), static_cast<std::uint8_t>(far ? 1 : 0), from[half].first});
        if (far) code.push_back({BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(less.size())});
        code.insert(code.end(), less.begin(), less.end());
        code.insert(code.end(), more.begin(), more.end());
        return code;
    }
    std::uint32_t otherwise_;
    std::map<std::uint32_t, std::uint32_t> answers_;
};

inline constexpr std::uint32_t answer_refused = SECCOMP_RET_ERRNO | EPERM, answer_unknown = SECCOMP_RET_ERRNO | ENOSYS;
inline constexpr std::uint32_t answer_done = SECCOMP_RET_ERRNO | 0;

inline answer_table answers_of(security_level const& level, filter_place const& at) {
    answer_table answers{answer_unknown};
    answers.add(SECCOMP_RET_ALLOW, always_allowed);
    answers.add(answer_refused, always_refused);
    answers.add(level.traces ? std::uint32_t{SECCOMP_RET_ALLOW} : answer_refused, tracing_calls);
    if (level.ipc_objects) answers.add(SECCOMP_RET_ALLOW, ipc_calls);
    answers.add(at.host_writable ? std::uint32_t{SECCOMP_RET_ALLOW} : answer_done, flushing_calls);
    if (at.clone_key != 0) answers.add(SECCOMP_RET_ALLOW, "clone3");
    return answers;
}

} // namespace detail

/// The filter of a level: made once, installed often.
///
/// clone3 is ENOSYS for the payload, because its flags are in memory; C libraries then use clone. With a `clone_key`, chosen
/// at random, a call of clone3 whose sixth argument is the key passes. So the process that starts payloads, under the same
/// filter, can still place them in a cgroup. No payload can learn the key. It exists only in registers and in memory that
/// exec discards, of a process that cannot be traced, and the kernel shows filters to nobody without capabilities.
inline result<syscall_filter> make_filter(security_level const& level, filter_place const& at = {}) {
    std::uint32_t const kill = SECCOMP_RET_KILL_PROCESS; // libseccomp would only report an invalid argument
    if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill) < 0) return last_error("install the system-call filter");
    return syscall_filter{detail::answers_of(level, at).program(detail::rules_for_arguments(level, at))};
}

/// Applies to this thread and all that it starts, forever. Async-signal-safe; -1 and errno when the kernel refuses.
///
/// Speculation settings stay unchanged (SPEC_ALLOW). Otherwise kernels before 5.16 would slow every filtered process by
/// switching off store bypass. That guards a process against code within itself, but a payload shares its memory with
/// nobody. And a time measured with it would be true only in the sandbox.
inline int install(syscall_filter const& filter) noexcept {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    sock_fprog const program{static_cast<unsigned short>(filter.program.size()), const_cast<sock_filter*>(filter.program.data())};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0) return 0;
    if (errno != EINVAL) return -1;
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)); // before Linux 4.17
}

} // namespace sb::filter
