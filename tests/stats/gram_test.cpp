// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include <sb/core/cpu.hpp>
#include <sb/stats/gram.hpp>
#include <cmath>
#include <vector>

using namespace sb::stats;

TEST_CASE("products of columns, and what they explain", "[gram:oracle][gram:property][gram:degenerate]") {
    for (auto const set : {sb::instruction_set::plain, sb::instruction_set::avx2, sb::instruction_set::avx512}) {
        if (set > sb::best_instruction_set()) continue;
        gram_unit const unit{set};
        // y on a constant and time: 1, 3, 4, 6 at 0 … 3 is 1.1 + 1.6 t, which leaves 0.2 of squares
        gram_shape const shape{3};
        REQUIRE(shape.stride == 4);
        std::vector<double> const rows{1, 0, 1, 0, 1, 1, 3, 0, 1, 2, 4, 0, 1, 3, 6, 0};
        std::vector<double> first(shape.size()), second(shape.size()), both(shape.size()), inverse(shape.stride), error(shape.stride);
        unit.add(first.data(), rows.data(), 3, shape);
        unit.add(second.data(), rows.data() + 12, 1, shape);
        unit.sum(both.data(), first.data(), second.data(), shape);
        CHECK(both[0] == 4);
        CHECK(both[1] == 6);
        CHECK(both[2] == 14);
        CHECK(both[5] == 14);
        CHECK(both[6] == 29);
        CHECK(both[10] == 62);
        auto again = both;
        REQUIRE(unit.eliminate(both.data(), inverse.data(), error.data(), shape, 1e6, 0));
        CHECK(both[6] * inverse[1] == Approx(1.6).epsilon(1e-15));
        CHECK(both[6] * both[6] * inverse[1] == Approx(12.8).epsilon(1e-15));
        CHECK(both[10] == Approx(0.2).epsilon(1e-13));
        CHECK(inverse[2] == Approx(5).epsilon(1e-13));
        CHECK(error[1] == 14 + 1.5 * 1.5 * 4); // its own, and the first column's as often as that is taken out
        CHECK(error[2] == Approx(62 + 3.5 * 3.5 * 4 + 1.6 * 1.6 * 23).epsilon(1e-14));
        auto third = again;
        CHECK_FALSE(unit.eliminate(again.data(), inverse.data(), error.data(), shape, 4, 0)); // of 14 squares of time 5 are left, known to 23 roundings
        CHECK_FALSE(unit.eliminate(third.data(), inverse.data(), error.data(), shape, 1e6, 4)); // four ones have no more than that
        std::vector<double> alike(shape.size());
        std::vector<double> const twice{1, 2, 5, 0, 1, 2, 7, 0};
        unit.add(alike.data(), twice.data(), 2, shape);
        CHECK_FALSE(unit.eliminate(alike.data(), inverse.data(), error.data(), shape, 1e6, 0));
        std::vector<double> nothing(shape.size());
        CHECK_FALSE(unit.eliminate(nothing.data(), inverse.data(), error.data(), shape, 1e6, 0));
        std::vector<double> broken(shape.size(), NAN);
        CHECK_FALSE(unit.eliminate(broken.data(), inverse.data(), error.data(), shape, 1e6, 0));
    }
}
