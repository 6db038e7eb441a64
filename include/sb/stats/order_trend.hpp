// SPDX-License-Identifier: MIT
// Does a series rise or fall with its order?
#pragma once
#include <sb/stats/student_t.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace sb::stats {

struct order_trend {
    double rho = 0; ///< Spearman's rank correlation of value and position: 1 rises, -1 falls throughout
    double p = 1; ///< two-sided, of independent values in no order
};

/// Spearman's test against the position, equal values sharing their mean rank; the tail is Student's t with n - 2
/// degrees of freedom, good from about ten values on. Nothing for fewer than three, and for values that are all equal.
inline std::optional<order_trend> order_trend_of(std::span<double const> values) {
    auto const n = values.size();
    if (n < 3) return std::nullopt;
    std::vector<std::size_t> by_size(n);
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    auto const middle = (static_cast<double>(n) - 1) / 2;
    double both = 0, ranks = 0, places = 0;
    for (std::size_t i = 0; i < n;) {
        auto end = i + 1;
        while (end < n && values[by_size[end]] == values[by_size[i]]) ++end;
        auto const rank = static_cast<double>(i + end - 1) / 2 - middle;
        for (; i < end; ++i) {
            auto const place = static_cast<double>(by_size[i]) - middle;
            both += rank * place, ranks += rank * rank, places += place * place;
        }
    }
    if (ranks == 0) return std::nullopt;
    order_trend found;
    found.rho = std::clamp(both / std::sqrt(ranks * places), -1.0, 1.0);
    auto const df = static_cast<double>(n) - 2;
    auto const t = std::abs(found.rho) * std::sqrt(df / (1 - found.rho * found.rho));
    // of n! orders two run straight up or down: no order is rarer than they are
    found.p = std::clamp(2 * student_t_upper(t, df), std::min(1.0, 2 / std::tgamma(static_cast<double>(n) + 1)), 1.0);
    return found;
}

} // namespace sb::stats
