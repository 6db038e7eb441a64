// SPDX-License-Identifier: MIT
// A system call without the C library. The C library would write `errno`. A child that borrows its parent's memory shares
// the parent's `errno`, and the parent may be running.
#pragma once
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::process {

/// The kernel's answer: errors are below zero.
inline long raw_call(long number, long a, long b, long c, long d = 0) noexcept {
#if defined(__x86_64__)
    register long fourth asm("r10") = d;
    asm volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    return number;
#elif defined(__aarch64__)
    register long answer asm("x0") = a;
    register long second asm("x1") = b;
    register long third asm("x2") = c;
    register long fourth asm("x3") = d;
    register long call asm("x8") = number;
    asm volatile("svc #0" : "+r"(answer) : "r"(second), "r"(third), "r"(fourth), "r"(call) : "memory");
    return answer;
#else
    auto const answer = ::syscall(number, a, b, c, d);
    return answer < 0 ? -errno : answer;
#endif
}

} // namespace sb::process
