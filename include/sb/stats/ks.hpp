// SPDX-License-Identifier: MIT
// The two-sample test of Kolmogorov and Smirnov: do two samples come from one distribution? Exact, with ties.
//
// How it works: under the null hypothesis every order of the pooled values is as likely as any other, so the samples walk along
// a grid, a step right for a value of the first and a step up for one of the second. The chance of a walk that comes as far
// from the diagonal as the observed one is added up where it first does so; nothing is subtracted from one, so small
// chances keep their digits. Between equal values the distance does not count. Walks go by the toss of a coin that falls to the first sample as
// often as it has values, all places after so many tosses at once; those that reach a far place count by how likely tosses
// lead on to the end. Of two samples of one size and no equal values the sum is known in closed form.
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/kolmogorov.hpp>
#include <sb/stats/saddle_point.hpp>
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

/// Memory that a caller lends.
struct ks_room {
    std::vector<double> first, second, walks, next;
    std::vector<std::uint8_t> looks;
};

namespace detail {

/// The chance of `hits` in so many tosses; each hits with chance `a` and misses with chance `b`.
inline double coin_chance(double hits, double tosses, double a, double b) noexcept {
    double const misses = tosses - hits;
    if (hits == 0) return std::pow(b, misses);
    if (misses == 0) return std::pow(a, hits);
    return std::exp(stirling_rest(tosses) - stirling_rest(hits) - stirling_rest(misses) - deviance(hits, tosses * a) - deviance(misses, tosses * b)) *
           std::sqrt(tosses / (2 * std::numbers::pi * hits * misses));
}

/// Of all walks through an n by n grid those that come `off` steps from its diagonal (Gnedenko and Korolyuk): twice the sum of
/// (2n over n - k off) by (2n over n), k from 1, with changing sign; the first is the largest by far.
inline double far_walks_of_a_square(std::size_t n, std::size_t off) noexcept {
    double sum = 0, term = 1; // (2n over n - k off) by (2n over n)
    bool plus = true;
    for (std::size_t at = n; at >= off; plus = !plus) {
        for (std::size_t i = 0; i < off; ++i) term *= static_cast<double>(at - i) / static_cast<double>(2 * n - at + i + 1);
        at -= off;
        sum += plus ? term : -term;
        if (term < sum * 1e-18) break;
    }
    return 2 * sum;
}

/// Of all walks through an m by n grid those that are, where somebody looks, so far from the diagonal (times m n).
inline double far_walks(std::size_t m, std::size_t n, std::int64_t farthest, ks_room& room) {
    room.walks.assign(m + 3, 0), room.next.assign(m + 3, 0); // [i + 1]: at (i, s - i) after s tosses, never having been far
    room.walks[1] = 1;
    double const a = static_cast<double>(m) / static_cast<double>(m + n), b = static_cast<double>(n) / static_cast<double>(m + n);
    auto const apart = [&](std::size_t i, std::size_t s) { return std::abs(static_cast<std::int64_t>(i * n) - static_cast<std::int64_t>((s - i) * m)); };
    double const whole = coin_chance(static_cast<double>(m), static_cast<double>(m + n), a, b);
    double reached = 0;
    std::size_t low = 0, high = 0; // places that there may be walks at
    for (std::size_t s = 1; s <= m + n; ++s) {
        auto const from = std::max(low, s > n ? s - n : 0), to = std::min(high + 1, std::min(s, m));
        double const* const before = room.walks.data();
        double* const here = room.next.data();
        for (auto i = from; i <= to; ++i) here[i + 1] = b * before[i + 1] + a * before[i];
        here[from] = here[to + 2] = 0; // beside them nobody is
        low = from, high = to;
        if (room.looks[s]) {
            auto const leaves = [&](std::size_t i) {
                if (apart(i, s) < farthest) return false;
                if (here[i + 1] > 0) reached += here[i + 1] * coin_chance(static_cast<double>(m - i), static_cast<double>(m + n - s), a, b);
                here[i + 1] = 0;
                return true;
            };
            while (low <= high && leaves(low)) ++low;
            while (high > low && leaves(high)) --high;
            if (low > high) break;
        }
        std::swap(room.walks, room.next);
    }
    return reached / whole;
}

} // namespace detail

/// `most_steps`: larger grids are not counted; the limiting distribution is used instead.
inline ks_answer ks(std::span<double const> first, std::span<double const> second, ks_room& room, double most_steps = 1e8) {
    ks_answer answer;
    auto const m = first.size(), n = second.size();
    answer.first = m, answer.second = n;
    auto const none = [&](no_answer why) {
        answer.why = why, answer.statistic = answer.p = std::numeric_limits<double>::quiet_NaN();
        return answer;
    };
    if (!all_finite(first) || !all_finite(second)) return none(no_answer::not_finite);
    if (m == 0 || n == 0) return none(no_answer::too_short);
    room.first.assign(first.begin(), first.end()), room.second.assign(second.begin(), second.end());
    std::sort(room.first.begin(), room.first.end()), std::sort(room.second.begin(), room.second.end());
    // distances times m n, which are whole numbers
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
    answer.statistic = static_cast<double>(farthest) / (static_cast<double>(m) * static_cast<double>(n));
    if (farthest == 0) return answer.p = 1, answer;
    auto const both = static_cast<double>(m) * static_cast<double>(n);
    if (both > most_steps) {
        answer.exact = false;
        answer.p = kolmogorov_upper(answer.statistic * std::sqrt(both / static_cast<double>(m + n)));
        return answer;
    }
    bool const tied = std::find(room.looks.begin() + 1, room.looks.end(), 0) != room.looks.end();
    answer.p = std::min(1.0, m == n && !tied ? detail::far_walks_of_a_square(m, static_cast<std::size_t>(farthest) / m) : detail::far_walks(m, n, farthest, room));
    return answer;
}
inline ks_answer ks(std::span<double const> first, std::span<double const> second) {
    ks_room room;
    return ks(first, second, room);
}

} // namespace sb::stats
