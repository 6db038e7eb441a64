// SPDX-License-Identifier: MIT
// A level's filter of system calls, and its answers.
#pragma once
#include "support/bpf.hpp"
#include "support/catch.hpp"
#include <sb/filter/filter.hpp>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <unistd.h>
#include <utility>

namespace sb::test {

#if defined __x86_64__
constexpr std::uint32_t here = AUDIT_ARCH_X86_64;
#elif defined __aarch64__
constexpr std::uint32_t here = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t allow = SECCOMP_RET_ALLOW, kill_process = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t no(int code) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(code); }

inline filter::syscall_filter filter_of(int level, filter::filter_place const& at = {}) {
    auto made = filter::make_filter(filter::level_of(level), at);
    REQUIRE(made.has_value());
    return std::move(*made);
}
inline std::uint32_t answered(filter::syscall_filter const& filter, long number, std::initializer_list<std::uint64_t> arguments = {}, std::uint32_t arch = here) {
    seccomp_data data{};
    data.nr = static_cast<int>(number);
    data.arch = arch;
    std::copy(arguments.begin(), arguments.end(), data.args);
    return answer(filter.program, data);
}

template <class... Word>
long call(long number, Word... words) { return ::syscall(number, words...); }
constexpr std::uint64_t beyond = std::uint64_t{1} << 32; // a bit that a 32-bit argument does not have

} // namespace sb::test
