// SPDX-License-Identifier: MIT
// Do two things rise and fall together, along whatever curve? By ranks (Spearman) and by the order of pairs (Kendall).
//
// How it works: ranks are doubled and taken off their mean, so they are whole, ties and all. Of few values p is counted over all
// orders that one side may have. For Spearman half of the places are filled by each half of the values, and sums of the halves
// that reach far enough are counted between two sorted lists; of more values the distribution is taken for a symmetric beta one,
// as wide and as peaked as the true one, whose moments are known (Pitman 1937). For Kendall the number of pairs out of order has
// a known distribution where one side has no ties: its chances are the coefficients of a product of (1 - q^a) / (1 - q^b), Gauss's
// polynomials. With ties on both sides pairings that look the same are counted together (tie_tables.hpp); where that takes long, but most of both sides is one
// value, p goes by how often the others meet. Pairs out of order are counted as they are merged (Knight 1966).
#pragma once
#include <sb/stats/answer.hpp>
#include <sb/stats/correlation.hpp>
#include <sb/stats/saddle_point.hpp>
#include <sb/stats/student_t.hpp>
#include <sb/stats/tie_tables.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace sb::stats {

struct rank_correlation_answer {
    no_answer why = no_answer::none;
    double r = 0; ///< Spearman's rho, or Kendall's tau-b: from -1 to 1
    double p = 0; ///< two-sided, of independent pairs in no order
    bool exact = true; ///< p is counted over all orders; else by a beta distribution (Spearman) or normal ones, ties and steps allowed for
    std::size_t n = 0; ///< pairs
    explicit operator bool() const noexcept { return why == no_answer::none; }
};

/// Memory that a caller lends.
struct rank_room {
    std::vector<std::size_t> order;
    std::vector<double> x, y, spare;
    std::vector<std::size_t> counts_x, counts_y; ///< of equal values, in order
};

namespace detail {

/// Sums over groups of t equal values, as the formulas need them.
struct tie_sums {
    double pairs = 0; ///< t (t - 1) / 2
    double triples = 0; ///< t (t - 1) (t - 2)
    double spread = 0; ///< t (t - 1) (2t + 5)
    double log_orders = 0; ///< of the number of orders that do not show
    std::uint64_t step = 0; ///< that divides every difference of doubled ranks
    void add(std::size_t count) noexcept {
        if (count < 2) return;
        auto const t = static_cast<double>(count);
        pairs += t * (t - 1) / 2, triples += t * (t - 1) * (t - 2), spread += t * (t - 1) * (2 * t + 5), log_orders += log_factorial(t);
    }
    static double log_factorial(double n) noexcept { return (n + 0.5) * std::log(n) - n + std::log(2 * std::numbers::pi) / 2 + stirling_rest(n); }
};

/// Twice the rank minus n + 1; equal values share their middle rank.
inline tie_sums lay_ranks(std::span<double const> values, std::vector<std::size_t>& order, std::vector<double>& ranks, std::vector<std::size_t>* counts = nullptr) {
    auto const n = values.size();
    order.resize(n), ranks.resize(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    tie_sums ties;
    if (counts) counts->clear();
    std::size_t before = 0; // twice the rank of those before
    for (std::size_t i = 0, end = 0; i < n; i = end) {
        for (end = i + 1; end < n && values[order[end]] == values[order[i]]; ++end) {}
        for (auto at = i; at < end; ++at) ranks[order[at]] = static_cast<double>(i + end) - static_cast<double>(n);
        ties.add(end - i);
        if (counts) counts->push_back(end - i);
        if (i > 0) ties.step = std::gcd(ties.step, std::uint64_t{i + end - before});
        before = i + end;
    }
    return ties;
}

/// Lays out pairs in the order of x, those with the same x in the order of y.
inline void lay_pairs(std::span<double const> x, std::span<double const> y, std::vector<std::size_t>& order, std::vector<double>& to_x, std::vector<double>& to_y) {
    auto const n = x.size();
    order.resize(n), to_x.resize(n), to_y.resize(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b] || (x[a] == x[b] && y[a] < y[b]); });
    for (std::size_t i = 0; i < n; ++i) to_x[i] = x[order[i]], to_y[i] = y[order[i]];
}
/// Calls `use(begin, count)` for each run of equal values from `begin` to `end`.
template <class Use>
void each_tie(std::span<double const> values, std::size_t begin, std::size_t end, Use use) {
    for (auto last = begin; begin < end; begin = last) {
        for (last = begin + 1; last < end && values[last] == values[begin]; ++last) {}
        use(begin, last - begin);
    }
}

inline no_answer lacks_pairs(std::span<double const> x, std::span<double const> y) noexcept {
    if (x.size() != y.size()) return no_answer::bad_request;
    if (!all_finite(x) || !all_finite(y)) return no_answer::not_finite;
    if (x.size() < 2) return no_answer::too_short;
    auto const same = [](std::span<double const> values) { return std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; }); };
    return same(x) || same(y) ? no_answer::constant : no_answer::none;
}

inline constexpr std::size_t most_whole = 300'000; // values whose sum of products is exact
inline constexpr std::size_t most_ordered = 10; // ten values have 3.6 million orders, in 252 times two halves of 120

/// The share of the orders of y whose sum of products with x is as far from 0 as `sum`; both are whole numbers with mean 0.
inline double far_products(std::span<double const> x, std::span<double const> y, double sum) {
    auto const n = x.size(), half = n / 2;
    if (sum == 0) return 1;
    std::array<int, most_ordered> a{}, b{};
    for (std::size_t i = 0; i < n; ++i) a[i] = static_cast<int>(x[i]), b[i] = static_cast<int>(y[i]);
    std::array<int, 120> first{}, second{};
    auto const lay_sums = [&](std::array<int, most_ordered>& taken, std::size_t count, int const* with, std::array<int, 120>& to) {
        std::array<std::size_t, most_ordered> order{};
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::size_t orders = 0;
        do {
            int products = 0;
            for (std::size_t i = 0; i < count; ++i) products += with[i] * taken[order[i]];
            to[orders++] = products;
        } while (std::next_permutation(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)));
        std::sort(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(orders));
        return orders;
    };
    int const far = static_cast<int>(std::abs(sum));
    std::uint64_t reached = 0, pairs = 0;
    for (unsigned mask = 0; mask < 1u << n; ++mask) {
        if (static_cast<std::size_t>(std::popcount(mask)) != half) continue;
        std::array<int, most_ordered> in{}, out{};
        for (std::size_t i = 0, k = 0, l = 0; i < n; ++i) (mask >> i & 1 ? in[k++] : out[l++]) = b[i];
        auto const m = lay_sums(in, half, a.data(), first), o = lay_sums(out, n - half, a.data() + half, second);
        std::size_t above = o, below = o; // of the second, from which on the sum is far up, and up to which it is far down
        for (std::size_t i = 0; i < m; ++i) {
            while (above > 0 && first[i] + second[above - 1] >= far) --above;
            while (below > 0 && first[i] + second[below - 1] > -far) --below;
            reached += o - above + below;
        }
        pairs += m * o;
    }
    return static_cast<double>(reached) / static_cast<double>(pairs);
}

/// About the share of the orders of y that correlate with x by ±r or more; both have mean 0.
inline double beta_tails(std::span<double const> x, std::span<double const> y, double r) noexcept {
    auto const n = static_cast<double>(x.size());
    auto const excess = [&](std::span<double const> values) { // Fisher's fourth cumulant by the square of his second
        double two = 0, four = 0;
        for (double const v : values) two += v * v, four += v * v * v * v;
        return (n - 1) * ((n + 1) * (n * four / two / two) - 3 * (n - 1)) / ((n - 2) * (n - 3));
    };
    if (!(r > 0)) return 1;
    double const peaked = 3 * (n - 1) / (n + 1) * (1 + (n - 2) * (n - 3) / (3 * n * (n - 1) * (n - 1)) * excess(x) * excess(y));
    if (!(peaked < 2.9999)) return std::erfc(r * std::sqrt((n - 1) / 2)); // as a normal one, or more
    double const freedom = 2 * peaked / (3 - peaked) - 1, at = r * std::sqrt((n - 1) / (freedom + 1)); // of its width
    return at < 1 ? 2 * student_t_upper(at * std::sqrt(freedom / (1 - at * at)), freedom) : 0;
}

/// Counts the pairs whose larger value comes first, and sorts.
inline std::uint64_t count_inversions(std::vector<double>& values, std::vector<double>& spare) {
    auto const n = values.size();
    spare.resize(n);
    std::uint64_t found = 0;
    constexpr std::size_t few = 8;
    for (std::size_t from = 0; from < n; from += few)
        for (auto i = from + 1; i < std::min(from + few, n); ++i) {
            double const x = values[i];
            auto at = i;
            for (; at > from && values[at - 1] > x; --at) values[at] = values[at - 1];
            values[at] = x, found += i - at;
        }
    for (auto width = few; width < n; width *= 2) {
        for (std::size_t from = 0; from < n; from += 2 * width) {
            auto const middle = std::min(from + width, n), end = std::min(from + 2 * width, n);
            auto a = from, b = middle;
            for (auto to = from; to < end; ++to) {
                bool const second = a == middle || (b < end && values[b] < values[a]);
                found += second ? middle - a : 0;
                spare[to] = second ? values[b++] : values[a++];
            }
        }
        values.swap(spare);
    }
    return found;
}

/// How likely each number of pairs up to `most` stands the larger first, of n <= 50 values in no order, none equal.
inline void lay_inversion_chances(std::size_t n, std::size_t most, std::vector<double>& chances, std::vector<double>& spare) {
    chances.assign(most + 1, 0), spare.assign(most + 1, 0);
    chances[0] = 1;
    double orders = 1;
    for (std::size_t i = 2; i <= n; ++i) { // the i-th is smaller than none … all before it: a sum of i counts
        double sum = 0;
        auto const last = std::min(most, i * (i - 1) / 2);
        for (std::size_t k = 0; k <= last; ++k) spare[k] = sum += chances[k];
        for (std::size_t k = 0; k <= last; ++k) chances[k] = spare[k] - (k >= i ? spare[k - i] : 0);
        orders *= static_cast<double>(i);
    }
    for (double& each : chances) each /= orders;
}

/// The same of values of which so many each are equal, whatever their order.
inline void lay_inversion_chances(std::vector<std::size_t> counts, std::size_t most, std::vector<double>& chances) {
    std::sort(counts.begin(), counts.end(), std::greater{});
    chances.assign(most + 1, 0);
    chances[0] = 1;
    std::size_t before = counts[0], degree = 0;
    for (std::size_t at = 1; at < counts.size(); before += counts[at++])
        for (std::size_t i = 1; i <= counts[at]; ++i) { // times (1 - q^up) / (1 - q^i), and by as many orders more
            auto const up = before + i;
            degree += before;
            auto const last = std::min(most, degree);
            double const fewer = static_cast<double>(i) / static_cast<double>(up);
            for (auto k = i; k <= last; ++k) chances[k] += chances[k - i];
            for (auto k = last; k >= up; --k) chances[k] = (chances[k] - chances[k - up]) * fewer;
            for (std::size_t k = 0; k <= std::min(last, up - 1); ++k) chances[k] *= fewer;
        }
}
inline constexpr double most_inversion_steps = 5e6; // some milliseconds
/// The chance that pairs agree, less those that do not, as far from nothing as `score`, when one side has no equal values and the
/// other so many of each; none where that takes long.
inline std::optional<double> far_inversions(std::vector<std::size_t> const& counts, double score, std::vector<double>& chances) {
    double sum = 0, squares = 0, most = 0;
    for (auto const each : counts) {
        auto const c = static_cast<double>(each);
        sum += c, squares += c * c, most = std::max(most, c);
    }
    double const fewer = ((sum * sum - squares) / 2 - std::abs(score)) / 2;
    if (2 * (sum - most) * fewer > most_inversion_steps) return {};
    lay_inversion_chances(counts, static_cast<std::size_t>(fewer), chances);
    return std::min(1.0, 2 * std::accumulate(chances.begin(), chances.end(), 0.0));
}

/// Of the pairs that agree less those that do not, when nothing depends on anything (Kendall, Rank Correlation Methods 1970, 4.9).
inline double score_variance(double n, tie_sums const& x, tie_sums const& y) noexcept {
    double const ordered = n * (n - 1), plain = (ordered * (2 * n + 5) - x.spread - y.spread) / 18 + 2 * x.pairs * y.pairs / ordered;
    return n > 2 ? plain + x.triples * y.triples / (9 * ordered * (n - 2)) : plain;
}

inline constexpr std::size_t most_inverted = 50; // values whose distribution is counted, in under a millisecond

/// The chance that x and y, of so many equal values each, go together or against each other as far as `score`; none where that takes long.
inline std::optional<double> far_tables(std::span<std::size_t const> x, std::span<std::size_t const> y, table_score by, double score) {
    bool const across = x.size() != y.size() ? x.size() < y.size() : std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end()); // whichever is named first
    auto const rows = across ? y : x, columns = across ? x : y;
    std::int64_t before = 0, inversions = 0;
    for (auto const count : columns) inversions += static_cast<std::int64_t>(count);
    std::vector<std::int64_t> values;
    if (columns.size() == 2 && by == table_score::pairs) values = {0, 1}, by = table_score::products; // the ranks of the second: the pairs of both
    else
        for (auto const each : columns) {
            auto const count = static_cast<std::int64_t>(each);
            values.push_back(2 * before + count - inversions), before += count;
        }
    return tie_tables{rows, columns, by, values}.farther(static_cast<std::int64_t>(std::abs(score)));
}

/// The chance of a score so far from nothing where most of both sides is one value, at one end: by how often others meet, seldom and
/// so to one side, and by normal distributions of what those score that do: against others that do not, and among themselves.
inline double far_meetings(std::size_t values, std::size_t others_x, std::size_t others_y, double far) {
    auto const n = static_cast<double>(values), a = static_cast<double>(others_x), b = static_cast<double>(others_y);
    double p = 0;
    each_overlap(values, others_x, others_y, [&](std::size_t met, double chance) {
        auto const k = static_cast<double>(met);
        p += chance * both_tails(n * k - a * b, k * ((a - k) * (a + 1) + (b - k) * (b + 1)) / 3 + k * (k - 1) * (2 * k + 5) / 18, far);
    });
    return p;
}
/// The same of products of doubled ranks, wherever the commonest values lie.
inline double far_products(other_values const& x, other_values const& y, double far) {
    double p = 0;
    each_overlap(x.all, x.others, y.others, [&](std::size_t met, double chance) {
        auto const k = static_cast<double>(met);
        double const of_both = x.others > 1 && y.others > 1 ? 1 + (k - 1) / (static_cast<double>(x.others - 1) * static_cast<double>(y.others - 1)) : 1;
        double const variance = k * (x.mean * x.mean * y.variance * y.left_after(k) + y.mean * y.mean * x.variance * x.left_after(k) + x.variance * y.variance * of_both);
        p += chance * both_tails((k - x.share() * static_cast<double>(y.others)) * x.mean * y.mean, variance, far);
    });
    return p;
}

} // namespace detail

/// Spearman's rho. p is counted for up to ten pairs, with or without ties, and for more pairs where few values differ. Otherwise it
/// is an approximation: without ties, at eleven pairs, it is within 0.002 of the exact one and within 3 % of it down to 0.01, and
/// closer with each further pair; far out it is too large. With many equal values on both sides it may be off by 0.05.
inline rank_correlation_answer spearman(std::span<double const> x, std::span<double const> y, rank_room& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    rank_correlation_answer answer;
    auto const n = answer.n = x.size();
    answer.why = detail::lacks_pairs(x, y);
    if (!answer) return answer.r = answer.p = nan, answer;
    auto const ties_x = detail::lay_ranks(x, room.order, room.x, &room.counts_x), ties_y = detail::lay_ranks(y, room.order, room.y, &room.counts_y);
    auto const& unit = vector_unit::chosen();
    double const sum = unit.dot(room.x.data(), room.y.data(), n); // whole, and exact up to most_whole
    if (answer.exact = n <= detail::most_ordered; answer.exact) answer.p = detail::far_products(room.x, room.y, sum);
    double const xx = unit.dot(room.x.data(), room.x.data(), n), yy = unit.dot(room.y.data(), room.y.data(), n), whole = std::sqrt(xx) * std::sqrt(yy);
    answer.r = sum == xx && xx == yy ? 1 : sum == -xx && xx == yy ? -1 : std::clamp(sum / whole, -1.0, 1.0);
    if (answer.exact) return answer;
    auto const count = static_cast<double>(n);
    bool const tied = ties_x.pairs > 0 || ties_y.pairs > 0;
    if (tied && sum != 0 && n <= detail::most_whole) {
        auto const &few = room.counts_x.size() < room.counts_y.size() ? room.counts_x : room.counts_y, &many = &few == &room.counts_x ? room.counts_y : room.counts_x;
        // with two different values ranks say the same as pairs
        auto const counted = few.size() == 2 && many.size() == n ? detail::far_inversions(few, sum / count, room.spare)
                                                                 : detail::far_tables(room.counts_x, room.counts_y, detail::table_score::products, sum);
        if (counted) return answer.p = *counted, answer.exact = true, answer;
    }
    // no p is smaller than one distinguishable order, and without ties its mirror image
    double const rarest = std::exp(std::max(ties_x.log_orders, ties_y.log_orders) - detail::tie_sums::log_factorial(count)) * (tied ? 1 : 2);
    double const half_step = static_cast<double>(ties_x.step) * static_cast<double>(ties_y.step) / 2;
    double const far = std::abs(sum) - half_step;
    detail::other_values const others_x{room.counts_x}, others_y{room.counts_y};
    answer.p = std::clamp(others_x.are_few() && others_y.are_few() ? detail::far_products(others_x, others_y, far) : detail::beta_tails(room.x, room.y, far / whole), rarest, 1.0);
    return answer;
}
inline rank_correlation_answer spearman(std::span<double const> x, std::span<double const> y) {
    rank_room room;
    return spearman(x, y, room);
}

/// Kendall's tau-b. p is counted up to fifty pairs without ties, up to some hundreds with ties on one side (more where few values
/// differ), and with ties on both where pairings that do not look the same are few; else it is the normal distribution's, half a
/// step nearer (where more than half of each side are its least or its largest value: of each number of others that may meet),
/// and no less than the chance of just this pairing.
inline rank_correlation_answer kendall(std::span<double const> x, std::span<double const> y, rank_room& room) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    rank_correlation_answer answer;
    auto const n = answer.n = x.size();
    answer.why = detail::lacks_pairs(x, y);
    if (!answer) return answer.r = answer.p = nan, answer;
    detail::lay_pairs(x, y, room.order, room.x, room.y);
    detail::tie_sums ties_x, ties_y, ties_both;
    room.counts_x.clear(), room.counts_y.clear();
    detail::each_tie(room.x, 0, n, [&](std::size_t begin, std::size_t count) {
        ties_x.add(count), room.counts_x.push_back(count);
        detail::each_tie(room.y, begin, begin + count, [&](std::size_t, std::size_t same) { ties_both.add(same); });
    });
    auto const discordant = static_cast<double>(detail::count_inversions(room.y, room.spare));
    detail::each_tie(room.y, 0, n, [&](std::size_t, std::size_t count) { ties_y.add(count), room.counts_y.push_back(count); });
    auto const count = static_cast<double>(n), pairs = count * (count - 1) / 2;
    double const score = pairs - ties_x.pairs - ties_y.pairs + ties_both.pairs - 2 * discordant;
    answer.r = std::clamp(score / std::sqrt((pairs - ties_x.pairs) * (pairs - ties_y.pairs)), -1.0, 1.0);
    if (score == 0) return answer.p = 1, answer;
    bool const x_tied = ties_x.pairs > 0, y_tied = ties_y.pairs > 0;
    if (!x_tied && !y_tied && n <= detail::most_inverted) {
        detail::lay_inversion_chances(n, static_cast<std::size_t>((pairs - std::abs(score)) / 2), room.x, room.spare);
        return answer.p = std::min(1.0, 2 * std::accumulate(room.x.begin(), room.x.end(), 0.0)), answer;
    }
    std::optional<double> counted;
    if (x_tied && y_tied) counted = detail::far_tables(room.counts_x, room.counts_y, detail::table_score::pairs, score);
    else if (x_tied || y_tied) counted = detail::far_inversions(x_tied ? room.counts_x : room.counts_y, score, room.x);
    if (counted) return answer.p = *counted, answer;
    answer.exact = false;
    double const just_this = std::exp(ties_x.log_orders + ties_y.log_orders - ties_both.log_orders - detail::tie_sums::log_factorial(count));
    double const far = std::abs(score) - 1; // scores lie two apart, or less
    auto const mostly_at_an_end = [&](std::vector<std::size_t> const& counts) { return 2 * std::max(counts.front(), counts.back()) > n; };
    bool const seldom_meet = mostly_at_an_end(room.counts_x) && mostly_at_an_end(room.counts_y);
    double const p = seldom_meet ? detail::far_meetings(n, detail::other_values{room.counts_x}.others, detail::other_values{room.counts_y}.others, far)
                                 : std::erfc(far / std::sqrt(2 * detail::score_variance(count, ties_x, ties_y)));
    answer.p = std::clamp(p, just_this, 1.0);
    return answer;
}
inline rank_correlation_answer kendall(std::span<double const> x, std::span<double const> y) {
    rank_room room;
    return kendall(x, y, room);
}

} // namespace sb::stats
