// SPDX-License-Identifier: MIT
// How much processor time another process has used.
#pragma once
#include <cstdint>
#include <ctime>
#include <sys/types.h>

namespace sb::machine {

/// Processor time of a process so far, with its threads and those that have ended; 0 when it is gone.
inline std::int64_t process_cpu_ns(pid_t pid) noexcept {
    constexpr int scheduler_time = 2; // the kernel's number for this clock of a process; the C library would check once more that the process exists
    auto const its = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | scheduler_time);
    timespec t{};
    if (pid <= 0 || ::clock_gettime(its, &t) != 0) return 0;
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

} // namespace sb::machine
