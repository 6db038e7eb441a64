// SPDX-License-Identifier: MIT
// Normal values for simulations, the same from the same seed.
#pragma once
#include <sb/core/random.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace sb::test {

/// By Sandbox and Muller.
class normal_values {
public:
    explicit normal_values(std::uint64_t seed) : chance_{seed} {}
    double next() { return std::sqrt(-2 * std::log(1 - chance_.unit())) * std::cos(2 * std::numbers::pi * chance_.unit()); }
    std::vector<double> many(std::size_t n, double mean = 0, double scale = 1) {
        std::vector<double> all(n);
        for (double& x : all) x = mean + scale * next();
        return all;
    }

private:
    random_stream chance_;
};

} // namespace sb::test
