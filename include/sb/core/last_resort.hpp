// SPDX-License-Identifier: MIT
// A timer that kills this process if it has not ended in time.
#pragma once
#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb {

/// Kills this process at a moment that it names itself, unless it names another by then. The kernel keeps the clock: whatever the
/// process waits for, and whoever keeps it waiting, holds nothing up. A forked child does not inherit it.
class last_resort {
public:
    last_resort() noexcept {
        sigevent how{};
        how.sigev_notify = SIGEV_SIGNAL, how.sigev_signo = SIGKILL;
        if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &how, &timer_) != 0) timer_ = -1; // then there is none, and all else is as it was
    }
    last_resort(last_resort const&) = delete;
    last_resort& operator=(last_resort const&) = delete;
    ~last_resort() {
        if (timer_ >= 0) ::syscall(SYS_timer_delete, timer_);
    }
    /// From now on, at least 1 ns. Async-signal-safe.
    void in(std::int64_t ns) noexcept { set({ns / 1'000'000'000, ns % 1'000'000'000}); }
    void never() noexcept { set({0, 0}); }

private:
    void set(timespec at) noexcept {
        itimerspec const once{{0, 0}, at};
        if (timer_ >= 0) ::syscall(SYS_timer_settime, timer_, 0, &once, nullptr);
    }
    int timer_ = -1; // as the kernel numbers it: older C libraries have these calls in a library of their own
};

} // namespace sb
