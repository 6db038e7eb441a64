// SPDX-License-Identifier: MIT
// How a watcher starts a child that its reaper cloned ahead of the run.
//
// How it works: watcher, reaper and child share a word in memory. It holds the number of the child that was requested and
// the state of that child. The child sleeps on that word. The watcher changes the word and wakes the child directly. Reaper
// and watcher change the word by compare-and-exchange: when both change it at once, one of them learns that it was late.
// There are two such words, used in turn, because the watcher requests the next child while it is still calling the one
// before.
#pragma once
#include <sb/core/clock.hpp>
#include <sb/process/raw_call.hpp>
#include <atomic>
#include <climits>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::process {

class ahead_call {
public:
    using number = std::uint32_t; ///< of a child; 0 is none

    /// For the watcher, before it requests a child. The child requested before can no longer be called.
    number expect() noexcept {
        last_ = last_ % most + 1;
        word(last_).store(last_ << state_bits | expected);
        return last_;
    }
    /// For the watcher, when the order is written. False: there is no such child.
    bool call(number n) noexcept {
        if (!change(n, called)) return false;
        ::syscall(SYS_futex, &word(n), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
        return true;
    }
    /// For the reaper, when it cannot make the child. False: the child was called already.
    bool withdraw(number n) noexcept { return change(n, withdrawn); }
    bool is_called(number n) const noexcept { return word(n).load() == (n << state_bits | called); }
    /// For the child: sleeps until it is called. False when that will never happen. It polls for `awake_ns` before it
    /// sleeps, because waking up takes longer than most children have to wait.
    __attribute__((no_sanitize("address", "undefined"))) bool wait(number n, std::int64_t awake_ns) const noexcept {
        auto const before = n << state_bits | expected;
        for (auto const until = monotonic_ns() + awake_ns; awake_ns > 0 && word(n).load() == before && monotonic_ns() < until;) {}
        while (word(n).load() == before) sleep_on(word(n), before);
        return is_called(n);
    }

private:
    enum : std::uint32_t { expected, called, withdrawn, state_bits = 2, most = 1u << 29 }; // `most` is even, so the number after the last uses the other word
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

    std::atomic<std::uint32_t>& word(number n) noexcept { return words_[n % 2]; }
    std::atomic<std::uint32_t> const& word(number n) const noexcept { return words_[n % 2]; }
    bool change(number n, std::uint32_t to) noexcept {
        auto before = n << state_bits | expected;
        return word(n).compare_exchange_strong(before, n << state_bits | to);
    }
    static void sleep_on(std::atomic<std::uint32_t> const& on, std::uint32_t value) noexcept {
        (void)raw_call(SYS_futex, reinterpret_cast<long>(&on), FUTEX_WAIT, static_cast<long>(value));
    }

    std::atomic<std::uint32_t> words_[2] = {withdrawn, withdrawn};
    std::uint32_t last_ = 0; // written by the watcher only
};

} // namespace sb::process
