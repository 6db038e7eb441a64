// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <sb/stats/arma_search.hpp>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using series = std::vector<double>;

TEST_CASE("the best place found is level in all directions, or on the boundary", "[arma_search:property][minimise:property]") {
    for (auto const* name : {"Nile", "lh", "LakeHuron", "dev_ar2_50", "dev_wn_20"}) {
        auto const& values = all_series().at(name);
        std::vector<double> data;
        for (double const x : values) data.push_back(1), data.push_back((x - values[0]) / (1 + std::abs(values[0])));
        arma_search_room room;
        arma_search search{data, values.size(), 1, {}, room};
        for (auto const& [p, q] : {std::array<std::size_t, 2>{1, 0}, {0, 1}, {1, 1}, {2, 1}, {2, 2}, {3, 3}}) {
            INFO(name << " " << p << q);
            auto place = search.best(p, q);
            auto likelihood = search.of(p, q);
            CHECK(likelihood.value({place.x.data(), p + q}) == Approx(place.value).epsilon(1e-12));
            std::array<double, 16> slope{};
            likelihood.gradient({slope.data(), p + q});
            for (std::size_t i = 0; i < p + q; ++i)
                if (p + q < 6) CHECK(std::abs(slope[i]) < 0.02 * std::sqrt(static_cast<double>(values.size())));
            // more terms are never worse
            if (p > 0) CHECK(place.value <= search.best(p - 1, q).value + 2e-3);
            if (q > 0) CHECK(place.value <= search.best(p, q - 1).value + 2e-3);
        }
    }
}
