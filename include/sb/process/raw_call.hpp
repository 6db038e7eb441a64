// SPDX-License-Identifier: MIT
// A system call without the C library, which would write `errno`: a child that borrows its parent's memory has its parent's,
// and the parent may be at work.
#pragma once
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::process {

/// What the kernel answers: errors are below zero.
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
