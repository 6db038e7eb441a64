// SPDX-License-Identifier: MIT
// Several tests at once: p values that keep the chance of a false alarm, or the share of false ones, where it is said to be.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace sb::stats {

namespace detail {

/// The places of the p values that there are (a NaN is no test that was made), the smallest first.
inline std::vector<std::size_t> by_size(std::span<double const> p) {
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t i) { return std::isnan(p[i]); });
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    return order;
}

} // namespace detail

/// Holm's: reject what is at most α, and the chance that anything was rejected wrongly is at most α, whatever the tests have to
/// do with each other.
inline std::vector<double> holm(std::span<double const> p) {
    std::vector<double> adjusted(p.begin(), p.end());
    auto const order = detail::by_size(p);
    double least = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        least = std::max(least, std::min(1.0, static_cast<double>(order.size() - i) * p[order[i]]));
        adjusted[order[i]] = least;
    }
    return adjusted;
}

/// Benjamini's and Hochberg's: reject what is at most q, and of what is rejected a share of q is wrong on average, where the tests
/// are independent or go together.
inline std::vector<double> benjamini_hochberg(std::span<double const> p) {
    std::vector<double> adjusted(p.begin(), p.end());
    auto const order = detail::by_size(p);
    double most = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        most = std::min(most, static_cast<double>(order.size()) / static_cast<double>(i + 1) * p[order[i]]);
        adjusted[order[i]] = most;
    }
    return adjusted;
}

} // namespace sb::stats
