// SPDX-License-Identifier: MIT
// A number that nobody else can predict.
#pragma once
#include <sb/core/result.hpp>
#include <cstdint>
#include <sys/random.h>

namespace sb {

/// 64 bits from the kernel, never 0. An error where the kernel gives none: there is no second source that is as good.
inline result<std::uint64_t> make_secret() {
    std::uint64_t secret = 0;
    while (secret == 0)
        if (::getrandom(&secret, sizeof secret, 0) != sizeof secret) return last_error("getrandom");
    return secret;
}

} // namespace sb
