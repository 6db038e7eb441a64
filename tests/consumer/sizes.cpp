// SPDX-License-Identifier: MIT
// A consumer of one layer: sizes as people write them.
#include <sb/core/units.hpp>
#include <cstdio>

int main() {
    auto const half_gib = sb::parse_bytes("512Mi");
    auto const nonsense = sb::parse_bytes("12 parsecs");
    bool const right = half_gib && half_gib->count == 536870912 && nonsense.has_error() &&
                       nonsense.error().what.find("12 parsecs") != std::string::npos;
    std::puts(right ? "sizes: right" : "sizes: wrong");
    return right ? 0 : 1;
}
