// SPDX-License-Identifier: MIT
// Signals as the kernel has them. The C library reserves two real-time signals for itself. Its posix_spawn leaves them
// ignored in the programs it starts (for example all that make starts), and exec passes that on.
#pragma once
#include <csignal>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::process {

inline constexpr int last_signal = 64;

/// The kernel's struct sigaction; zeros are the default.
struct signal_action {
    std::uintptr_t handler = 0;
    unsigned long flags = 0;
    std::uintptr_t restorer = 0;
    std::uint64_t mask = 0;
};

/// Bit 0 is signal 1.
using signal_bits = std::uint64_t;

inline signal_bits ignored_signals() noexcept {
    signal_bits ignored = 0;
    for (int s = 1; s <= last_signal; ++s) {
        signal_action now;
        if (::syscall(SYS_rt_sigaction, s, nullptr, &now, sizeof now.mask) == 0 && now.handler == reinterpret_cast<std::uintptr_t>(SIG_IGN)) ignored |= signal_bits{1} << (s - 1);
    }
    return ignored;
}

/// Resets these signals to their default. A child that shares our memory may call it.
__attribute__((no_sanitize("address", "undefined"))) inline void let_be(signal_bits which) noexcept {
    signal_action const plain{};
    for (int s = 1; s <= last_signal; ++s)
        if (which >> (s - 1) & 1) ::syscall(SYS_rt_sigaction, s, &plain, nullptr, sizeof plain.mask);
}

/// While it lives, no signal interrupts this thread: a child that it starts does not run our handlers.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t every;
        sigfillset(&every);
        ::pthread_sigmask(SIG_SETMASK, &every, &before_);
    }
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

} // namespace sb::process
