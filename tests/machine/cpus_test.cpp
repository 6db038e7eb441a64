// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/machine/cpus.hpp>
#include <unistd.h>

using namespace sb::machine;

TEST_CASE("processors are chosen among those we may use, going round") {
    auto const usable = static_cast<std::size_t>(usable_cpus());
    for (std::size_t first = 0; first < 2 * usable; ++first) {
        auto const one = choose_cpus(1, first);
        CHECK(CPU_COUNT(&one) == 1);
        auto const again = choose_cpus(1, first + usable);
        CHECK(CPU_EQUAL(&one, &again));
    }
    auto const all = choose_cpus(1000, 0);
    CHECK(CPU_COUNT(&all) == static_cast<int>(usable));
}
