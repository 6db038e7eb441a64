// SPDX-License-Identifier: MIT
// Tests of mann_whitney.hpp, rank_correlation.hpp and tie_tables.hpp.
// Equal values, and many of them: tests of ranks against all orders that chance may bring.
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include <sb/core/random.hpp>
#include <sb/stats/mann_whitney.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <sb/stats/tie_tables.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using sample = std::vector<double>;

namespace {

/// All ways to have `n` values in order, some of them equal: 2^(n - 1).
sample in_order(std::size_t n, unsigned rises) {
    sample x(n);
    for (std::size_t i = 1; i < n; ++i) x[i] = x[i - 1] + (rises >> (i - 1) & 1);
    return x;
}
int sign(double a, double b) { return (a > b) - (a < b); }
int score_of(sample const& x, sample const& y) {
    int sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) sum += sign(x[i], x[j]) * sign(y[i], y[j]);
    return sum;
}
/// Twice the rank, less n + 1.
sample ranks_of(sample const& x) {
    sample ranks;
    for (double const v : x) {
        int sum = 0;
        for (double const other : x) sum += sign(v, other);
        ranks.push_back(sum);
    }
    return ranks;
}
int product_of(sample const& x, sample const& y) { return static_cast<int>(std::inner_product(x.begin(), x.end(), y.begin(), 0.0)); }
std::vector<std::size_t> counts_of(sample x) {
    std::map<double, std::size_t> counts;
    for (double const v : x) ++counts[v];
    std::vector<std::size_t> all;
    for (auto const& [v, count] : counts) all.push_back(count);
    return all;
}
/// Of all orders of y: how often each score comes.
template <class Score>
std::map<int, double> all_orders(sample const& x, sample y, Score score) {
    std::sort(y.begin(), y.end());
    std::map<int, double> found;
    double all = 0;
    do found[score(x, y)] += 1, all += 1; // orders that look the same are as many each
    while (std::next_permutation(y.begin(), y.end()));
    for (auto& [of, share] : found) share /= all;
    return found;
}
double beyond(std::map<int, double> const& chances, int score) {
    double sum = 0;
    for (auto const& [of, chance] : chances) sum += std::abs(of) >= std::abs(score) ? chance : 0;
    return sum;
}
double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }
sample flags(std::size_t zeros, std::size_t ones) {
    sample x(zeros, 0.0);
    x.insert(x.end(), ones, 1.0);
    return x;
}
sample places(std::size_t n) {
    sample x(n);
    std::iota(x.begin(), x.end(), 0.0);
    return x;
}
/// 0 but for a share of them, which are of so many kinds.
sample rare(sb::random_stream& chance, std::size_t n, double share, std::uint64_t kinds) {
    sample x(n);
    for (double& v : x) v = chance.chance(share) ? 1 + static_cast<double>(chance.below(kinds)) : 0;
    return x;
}

} // namespace

TEST_CASE("Mann and Whitney's p is that of all choices, whatever is equal", "[mann_whitney:oracle]") {
    constexpr std::size_t n = 8;
    for (unsigned rises = 1; rises < 1u << (n - 1); ++rises) {
        auto const pool = in_order(n, rises), ranks = ranks_of(pool);
        for (int chosen = 1; chosen < int{n}; ++chosen) {
            std::map<int, double> sums; // of the chosen ranks
            double all = 0;
            auto const sum_of = [&](unsigned mask) {
                double sum = 0;
                for (std::size_t i = 0; i < n; ++i) sum += mask >> i & 1 ? ranks[i] : 0;
                return static_cast<int>(sum);
            };
            for (unsigned mask = 0; mask < 1u << n; ++mask)
                if (std::popcount(mask) == chosen) sums[sum_of(mask)] += 1, all += 1;
            for (auto& [of, share] : sums) share /= all;
            for (unsigned mask = 0; mask < 1u << n; ++mask) {
                if (std::popcount(mask) != chosen) continue;
                sample a, b;
                for (std::size_t i = 0; i < n; ++i) (mask >> i & 1 ? b : a).push_back(pool[i]);
                auto const got = mann_whitney(a, b);
                if (!got || !got.exact || std::abs(got.p - beyond(sums, sum_of(mask))) > 1e-12) FAIL_CHECK(rises << " " << mask << ": " << got.p << ", not " << beyond(sums, sum_of(mask)));
            }
        }
    }
}

TEST_CASE("of rare values ranks know how rare", "[mann_whitney:oracle][rank_correlation:oracle]") {
    // hypergeometric sums, by whole numbers
    CHECK(mann_whitney(flags(1000, 0), flags(9, 1)).p == Approx(10 / 1010.0).epsilon(1e-12));
    CHECK(mann_whitney(flags(9, 1), flags(1000, 0)).p == Approx(10 / 1010.0).epsilon(1e-12));
    CHECK(mann_whitney(flags(500, 0), flags(8, 2)).p == Approx(10.0 * 9 / (510.0 * 509)).epsilon(1e-12));
    CHECK(mann_whitney(flags(2000, 0), flags(18, 2)).p == Approx(20.0 * 19 / (2020.0 * 2019)).epsilon(1e-12));
    CHECK(mann_whitney(flags(1000, 0), flags(995, 5)).p == Approx(2 * 1000.0 * 999 * 998 * 997 * 996 / (2000.0 * 1999 * 1998 * 1997 * 1996)).epsilon(1e-12));
    CHECK(mann_whitney(flags(50, 0), flags(47, 3)).p == Approx(2 * 50.0 * 49 * 48 / (100.0 * 99 * 98)).epsilon(1e-12));
    CHECK(mann_whitney(flags(500'000, 0), flags(499'998, 2)).p == Approx(2 * 499'999.0 / (2 * 999'999.0)).epsilon(1e-12));
    for (std::size_t const n : {9u, 300u, 5000u})
        for (std::size_t const ones : {1u, 2u}) {
            auto const count = static_cast<double>(n);
            double const want = ones == 1 ? 2 / count : 4 / (count * (count - 1));
            auto const order = kendall(places(n), flags(n - ones, ones)), ranks = spearman(flags(n - ones, ones), places(n));
            CHECK((order.exact && ranks.exact));
            CHECK(order.p == Approx(want).epsilon(1e-12));
            CHECK(ranks.p == Approx(want).epsilon(1e-12));
        }
    auto two = flags(98, 2), same = two;
    CHECK(kendall(two, same).p == Approx(2 / 9900.0).epsilon(1e-12)); // of 4950 pairs of places one
    two.back() = same.back() = 2; // and these the right way round
    CHECK(kendall(two, same).p == Approx(1 / 9900.0).epsilon(1e-12));
    CHECK(spearman(two, same).p == Approx(1 / 9900.0).epsilon(1e-12));
    CHECK(kendall(flags(18, 2), flags(18, 2)).p == Approx(1 / 190.0).epsilon(1e-12));
}

TEST_CASE("Kendall's p is that of all orders, whatever is equal on both sides", "[rank_correlation:oracle]") {
    constexpr std::size_t n = 6;
    auto const check = [&](sample const& x, sample const& of_y) {
        auto const chances = all_orders(x, of_y, score_of);
        auto y = of_y;
        std::sort(y.begin(), y.end());
        std::map<int, bool> done;
        do {
            auto const score = score_of(x, y);
            if (std::exchange(done[score], true)) continue;
            auto const got = kendall(x, y), turned = kendall(y, x);
            if (!got.exact || std::abs(got.p - beyond(chances, score)) > 1e-12 || std::abs(turned.p - got.p) > 1e-12)
                FAIL_CHECK(Catch::StringMaker<sample>::convert(x) << Catch::StringMaker<sample>::convert(y) << ": " << got.p << ", not " << beyond(chances, score));
        } while (std::next_permutation(y.begin(), y.end()));
    };
    for (unsigned of_x = 1; of_x < 1u << (n - 1); ++of_x)
        for (unsigned of_y = 1; of_y < 1u << (n - 1); ++of_y) check(in_order(n, of_x), in_order(n, of_y));
    for (unsigned const of_x : {0xffu, 0x01u, 0x80u, 0x10u, 0x55u, 0x24u, 0x81u}) // nine values: none equal, flags, some of a kind
        for (unsigned const of_y : {0x01u, 0x80u, 0x10u, 0x41u, 0x24u}) check(in_order(9, of_x), in_order(9, of_y));
}

TEST_CASE("tables of products are those of all orders, and as many ways lead to the same chance", "[rank_correlation:oracle][mann_whitney:property]") {
    constexpr std::size_t n = 7;
    for (unsigned of_x = 1; of_x < 1u << (n - 1); of_x += 3)
        for (unsigned of_y = 1; of_y < 1u << (n - 1); of_y += 5) {
            auto const x = ranks_of(in_order(n, of_x)), y = ranks_of(in_order(n, of_y));
            auto const chances = all_orders(x, y, product_of);
            for (auto const& [sum, chance] : chances) {
                auto const got = detail::far_tables(counts_of(x), counts_of(y), detail::table_score::products, sum);
                if (!got || std::abs(*got - beyond(chances, sum)) > 1e-12) FAIL_CHECK(of_x << " " << of_y << " " << sum << ": " << got.value_or(-1) << ", not " << beyond(chances, sum));
            }
        }
    normal_values values{8}; // sums counted value by value agree with tables of them
    for (double const grain : {1.0, 4.0, 12.0}) {
        auto a = values.many(24, 0), b = values.many(30, 0.4);
        for (auto* const each : {&a, &b})
            for (double& v : *each) v = std::floor(grain * v);
        sample pool = a;
        pool.insert(pool.end(), b.begin(), b.end());
        auto const got = mann_whitney(a, b, 0.95, 1e9);
        std::size_t const sizes[] = {a.size(), b.size()};
        std::int64_t const second[] = {0, 1};
        auto const counts = counts_of(pool);
        auto const far = static_cast<std::int64_t>(std::abs(2 * got.statistic - static_cast<double>(a.size() * b.size())));
        auto const tables = detail::tie_tables{counts, sizes, detail::table_score::products, second}.farther(far, 1e12);
        auto ranks = ranks_of(pool);
        double reached = 0;
        std::vector<std::size_t> whole;
        for (double const r : ranks) whole.push_back(static_cast<std::size_t>(r) + pool.size());
        std::sort(whole.begin(), whole.end());
        auto const most = whole.back() * b.size();
        std::vector<double> chances;
        detail::rank_sum_chances(whole, b.size(), most, chances);
        for (std::size_t sum = 0; sum <= most; ++sum)
            if (std::abs(static_cast<std::int64_t>(sum) - static_cast<std::int64_t>(b.size() * pool.size())) >= far) reached += chances[b.size() * (most + 1) + sum];
        REQUIRE(tables);
        CHECK(*tables == Approx(reached).epsilon(1e-11));
        CHECK(got.p == Approx(reached).epsilon(1e-11));
    }
}

TEST_CASE("no p is smaller than the chance of just what came", "[mann_whitney:property][rank_correlation:property]") {
    sb::random_stream chance{31};
    for (std::size_t const n : {5u, 12u, 40u, 150u, 1000u})
        for (double const share : {0.005, 0.04, 0.3, 0.9})
            for (std::uint64_t const kinds : {1u, 3u, 1000u}) {
                auto const y = rare(chance, n, share, kinds);
                auto far = y, steps = places(n); // as far out as it goes
                std::sort(far.begin(), far.end());
                if (far.front() == far.back()) continue;
                double just_this = 0; // of tables: all orders of both sides that look like this
                for (auto const c : counts_of(far)) just_this += std::lgamma(static_cast<double>(c) + 1);
                just_this -= std::lgamma(static_cast<double>(n) + 1);
                INFO(n << " values, " << share << " of " << kinds << " kinds");
                for (auto const& p : {kendall(far, far).p, spearman(far, far).p, kendall(steps, far).p, spearman(steps, far).p}) CHECK(p >= std::exp(just_this) * (1 - 1e-9));
                auto const cut = n - std::max<std::size_t>(n / 20, 1);
                sample const a(far.begin(), far.begin() + static_cast<std::ptrdiff_t>(cut)), b(far.begin() + static_cast<std::ptrdiff_t>(cut), far.end());
                std::map<double, std::pair<double, double>> counts;
                for (double const v : far) ++counts[v].first;
                for (double const v : b) ++counts[v].second;
                double log_chance = -log_choose(static_cast<double>(n), static_cast<double>(b.size()));
                for (auto const& [v, c] : counts) log_chance += log_choose(c.first, c.second);
                CHECK(mann_whitney(a, b).p >= std::exp(log_chance) * (1 - 1e-9));
                CHECK(mann_whitney(a, b, 0.95, 0).p >= std::exp(log_chance) * (1 - 1e-9));
            }
}

TEST_CASE("which side is named first does not matter, also at the bounds of counting", "[mann_whitney:property][rank_correlation:property][rates]") {
    sb::random_stream chance{77};
    int counted = 0;
    constexpr int rounds = 150;
    for (int round = 0; round < rounds; ++round) {
        auto const n = 2 + chance.below(60), m = 2 + chance.below(60), kinds = 1 + chance.below(1 + chance.below(60));
        double const share = chance.unit();
        auto const x = rare(chance, n, share, kinds), y = rare(chance, n, chance.unit(), kinds), z = rare(chance, m, share, kinds);
        INFO(n << " and " << m << " values, " << share << " of " << kinds << " kinds");
        auto const two = mann_whitney(x, z), back = mann_whitney(z, x);
        CHECK((two.exact == back.exact && two.why == back.why));
        if (two) CHECK(two.p == Approx(back.p).epsilon(1e-9));
        auto const pairs = kendall(x, y), turned = kendall(y, x);
        CHECK((pairs.exact == turned.exact && pairs.why == turned.why));
        if (pairs) CHECK(pairs.p == Approx(turned.p).epsilon(1e-9));
        counted += two.exact + pairs.exact;
    }
    CHECK((counted > rounds && counted < 2 * rounds)); // both ways are taken
}

TEST_CASE("of rare values where there is nothing ranks find something no more often than they say", "[mann_whitney:property][rank_correlation:property][rates]") {
    constexpr int rounds = 3000;
    for (std::size_t const n : {20u, 50u, 200u, 1000u})
        for (std::uint64_t const kinds : {1u, 2u}) {
            sb::random_stream chance{n + kinds};
            std::map<double, int> samples, pairs, trends; // by the level
            constexpr double levels[] = {0.05, 0.01, 0.001};
            int counted = 0;
            for (int round = 0; round < rounds; ++round) {
                double const share = n < 100 ? 0.04 : 4.0 / static_cast<double>(n);
                auto const x = rare(chance, n, share, kinds), y = rare(chance, n, share, kinds);
                std::span<double const> const all{x};
                auto const rest = n - n / 8;
                auto const two = mann_whitney(all.first(rest), all.subspan(rest));
                auto const both = kendall(x, y), trend = kendall(places(n), x);
                counted += both.exact + two.exact + trend.exact;
                for (double const level : levels) samples[level] += two.p <= level, pairs[level] += both.p <= level, trends[level] += trend.p <= level;
            }
            INFO(n << " values, " << kinds << " kinds");
            CHECK(counted == 3 * rounds);
            for (auto const* const each : {&samples, &pairs, &trends})
                for (auto const& [level, found] : *each) CHECK(found / double{rounds} <= level + 4 * std::sqrt(level / rounds) + 2.0 / rounds);
        }
}

TEST_CASE("where rare values are too many to count ranks find hardly more than they say", "[mann_whitney:property][rank_correlation:property][rates]") {
    constexpr int rounds = 1000;
    struct setting {
        std::size_t m, n;
        double share;
    };
    constexpr double levels[] = {0.05, 0.01, 0.001};
    for (auto const& [m, n, share] : {setting{5000, 100, 0.04}, setting{1000, 1000, 0.02}, setting{500, 500, 0.06}}) {
        sb::random_stream chance{m + n};
        std::map<double, int> samples, pairs, ranks; // by the level
        int counted = 0;
        for (int round = 0; round < rounds; ++round) {
            auto const x = rare(chance, m, share, 1'000'000), y = rare(chance, n, share, 1'000'000);
            auto const two = mann_whitney(x, y);
            counted += two.exact;
            for (double const level : levels) samples[level] += two.p <= level;
            if (m != n) continue;
            auto const both = kendall(x, y), rho = spearman(x, y);
            counted += both.exact + rho.exact;
            for (double const level : levels) pairs[level] += both.p <= level, ranks[level] += rho.p <= level;
        }
        INFO(m << " and " << n << " values");
        CHECK(counted < rounds);
        for (auto const* const each : {&samples, &pairs, &ranks})
            for (auto const& [level, found] : *each) CHECK(found / double{rounds} <= level + 4 * std::sqrt(level / rounds) + 2.0 / rounds);
    }
}
