// SPDX-License-Identifier: MIT
// Closes all descriptors but a few, in a child that executes no other program.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <sys/syscall.h>
#include <unistd.h>

namespace sb::process {

/// Closes all descriptors but the first three and `kept`.
template <std::size_t Count>
void close_all_but(std::array<int, Count> kept) noexcept {
    std::sort(kept.begin(), kept.end());
    unsigned next = 3;
    for (int const fd : kept) {
        if (fd < 3) continue;
        if (static_cast<unsigned>(fd) > next) ::syscall(SYS_close_range, next, static_cast<unsigned>(fd) - 1, 0u);
        next = static_cast<unsigned>(fd) + 1;
    }
    ::syscall(SYS_close_range, next, ~0u, 0u);
}

} // namespace sb::process
