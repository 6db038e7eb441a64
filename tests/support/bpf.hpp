// SPDX-License-Identifier: MIT
// What a seccomp program answers, worked out as the kernel does: the few instructions that such programs have.
#pragma once
#include <cstdint>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <vector>

namespace sb::test {

/// The program's answer (SECCOMP_RET_…); 0xdeadbeef for a program that no kernel would take. `steps` counts.
inline std::uint32_t answer(std::vector<sock_filter> const& program, seccomp_data const& data, int* steps = nullptr) {
    std::uint32_t accumulator = 0;
    for (std::size_t at = 0; at < program.size(); ++at) {
        if (steps) ++*steps;
        auto const& [code, yes, no, k] = program[at];
        switch (code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (k % 4 != 0 || k + 4 > sizeof data) return 0xdeadbeef;
            std::memcpy(&accumulator, reinterpret_cast<unsigned char const*>(&data) + k, 4);
            break;
        case BPF_ALU | BPF_AND | BPF_K: accumulator &= k; break;
        case BPF_JMP | BPF_JA: at += k; break;
        case BPF_JMP | BPF_JEQ | BPF_K: at += accumulator == k ? yes : no; break;
        case BPF_JMP | BPF_JGT | BPF_K: at += accumulator > k ? yes : no; break;
        case BPF_JMP | BPF_JGE | BPF_K: at += accumulator >= k ? yes : no; break;
        case BPF_JMP | BPF_JSET | BPF_K: at += accumulator & k ? yes : no; break;
        case BPF_RET | BPF_K: return k;
        default: return 0xdeadbeef;
        }
    }
    return 0xdeadbeef;
}

} // namespace sb::test
