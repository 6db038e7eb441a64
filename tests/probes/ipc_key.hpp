// SPDX-License-Identifier: MIT
// The number under which a run's System V objects are found, by the probe that leaves them and the witness that removes them.
#pragma once
#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace probes {

/// FNV-1a of the tag; never IPC_PRIVATE.
constexpr key_t ipc_key(std::string_view tag) noexcept {
    std::uint32_t hash = 2166136261;
    for (char const c : tag) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<key_t>((hash & 0x7fffffff) | 1);
}

} // namespace probes
