// SPDX-License-Identifier: MIT
// Which processors we may use.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sched.h>

namespace sb::machine {

namespace detail {
/// While this process keeps to its home: all processors that it may use.
inline cpu_set_t* all_but_home() noexcept {
    static cpu_set_t cpus;
    return &cpus;
}
} // namespace detail

/// Does this process keep to its home (home_cpu)?
inline bool& is_at_home() noexcept {
    static bool so = false;
    return so;
}

/// Processors that we and what we start may use.
inline cpu_set_t allowed_cpus() noexcept {
    if (is_at_home()) return *detail::all_but_home();
    cpu_set_t mine;
    CPU_ZERO(&mine);
    if (::sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
    return mine;
}
inline int usable_cpus() noexcept {
    auto const mine = allowed_cpus();
    return std::max(CPU_COUNT(&mine), 1);
}

/// `count` of the processors that we may use, starting at the `first`-th and wrapping around.
inline cpu_set_t choose_cpus(std::int64_t count, std::size_t first) noexcept {
    auto const mine = allowed_cpus();
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    std::size_t ours[CPU_SETSIZE], n = 0;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &mine)) ours[n++] = cpu;
    auto const wanted = std::min(n, static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < wanted; ++i) CPU_SET(ours[(first + i) % n], &chosen);
    return chosen;
}

} // namespace sb::machine
