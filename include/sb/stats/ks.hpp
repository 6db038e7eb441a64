// SPDX-License-Identifier: MIT
// The two-sample test of Kolmogorov and Smirnov: do two samples come from one distribution? Exact, with ties.
//
// How it works: under the null hypothesis every order of the pooled values is as likely as any other, so the samples walk along
// a grid, a step right for a value of the first and a step up for one of the second. The chance of a walk that comes as far
// from the diagonal as the one that was seen is added up where it first does so; nothing is taken away from one, so small
// chances keep their digits. Between equal values nobody looks.
#pragma once
#include <sb/stats/answer.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

namespace sb::stats {

struct ks_answer {
    no_answer why = no_answer::none;
    double statistic = 0, p = 0;
    bool exact = true; ///< else by Kolmogorov's limit, for samples whose grid is large
    std::size_t first = 0, second = 0; ///< values
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// P(K >= x) of Kolmogorov's limit.
inline double kolmogorov_upper(double x) noexcept {
    if (!(x > 0)) return 1;
    if (x < 1) { // the other form of the same series, which ends soon here
        double sum = 0;
        double const step = std::numbers::pi * std::numbers::pi / (8 * x * x);
        for (int k = 1; k < 40; k += 2) sum += std::exp(-k * k * step);
        return 1 - std::sqrt(2 * std::numbers::pi) / x * sum;
    }
    double sum = 0;
    for (int k = 1; k < 40; ++k) {
        double const term = std::exp(-2.0 * k * k * x * x);
        sum += k % 2 ? term : -term;
        if (term < 1e-18 * sum) break;
    }
    return 2 * sum;
}

/// Memory that a caller lends.
struct ks_room {
    std::vector<double> first, second, chances;
    std::vector<std::uint8_t> looks;
};

/// `most_steps`: of the grid, that are counted one by one; beyond, the limit is taken.
inline ks_answer ks(std::span<double const> first, std::span<double const> second, ks_room& room, double most_steps = 1e8) {
    ks_answer got;
    auto const m = first.size(), n = second.size();
    got.first = m, got.second = n;
    auto const none = [&](no_answer why) {
        got.why = why, got.statistic = got.p = std::numeric_limits<double>::quiet_NaN();
        return got;
    };
    if (!all_finite(first) || !all_finite(second)) return none(no_answer::not_finite);
    if (m == 0 || n == 0) return none(no_answer::too_short);
    room.first.assign(first.begin(), first.end()), room.second.assign(second.begin(), second.end());
    std::sort(room.first.begin(), room.first.end()), std::sort(room.second.begin(), room.second.end());
    // distances times m n, so that they are whole
    auto const apart = [&](std::size_t i, std::size_t j) {
        auto const a = static_cast<std::int64_t>(i * n), b = static_cast<std::int64_t>(j * m);
        return a < b ? b - a : a - b;
    };
    std::int64_t farthest = 0;
    room.looks.assign(m + n + 1, 0); // after so many values: the next is another
    for (std::size_t i = 0, j = 0; i < m || j < n;) {
        double const x = j == n || (i < m && room.first[i] <= room.second[j]) ? room.first[i] : room.second[j];
        while (i < m && room.first[i] == x) ++i;
        while (j < n && room.second[j] == x) ++j;
        room.looks[i + j] = 1;
        farthest = std::max(farthest, apart(i, j));
    }
    got.statistic = static_cast<double>(farthest) / (static_cast<double>(m) * static_cast<double>(n));
    if (farthest == 0) return got.p = 1, got;
    auto const both = static_cast<double>(m) * static_cast<double>(n);
    if (both > most_steps) {
        got.exact = false;
        got.p = kolmogorov_upper(got.statistic * std::sqrt(both / static_cast<double>(m + n)));
        return got;
    }
    // chances[i] of being at (i, j) without having come as far, column by column
    room.chances.assign(m + 1, 0);
    double reached = 0;
    for (std::size_t j = 0; j <= n; ++j)
        for (std::size_t i = 0; i <= m; ++i) {
            double here = 0;
            auto const left = [&](std::size_t a, std::size_t b) { return static_cast<double>(m + n - a - b); };
            if (i == 0 && j == 0) here = 1;
            if (j > 0) here += room.chances[i] * static_cast<double>(n - j + 1) / left(i, j - 1);
            if (i > 0) here += room.chances[i - 1] * static_cast<double>(m - i + 1) / left(i - 1, j);
            if (room.looks[i + j] && apart(i, j) >= farthest) reached += here, here = 0;
            room.chances[i] = here;
        }
    got.p = std::min(reached, 1.0);
    return got;
}
inline ks_answer ks(std::span<double const> first, std::span<double const> second) {
    ks_room room;
    return ks(first, second, room);
}

} // namespace sb::stats
