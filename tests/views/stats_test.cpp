// SPDX-License-Identifier: MIT
#include <sb/core/random.hpp>
#include <sb/views/stats.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <array>
#include <deque>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

using namespace sb::test;
namespace stats = sb::stats;

namespace {
template <class Series>
concept rolls = requires(Series&& series) { std::forward<Series>(series) | sb::stats::rolling(2); };
std::vector<double> wandering(std::size_t n) {
    sb::random_stream chance{3};
    std::vector<double> all{100};
    while (all.size() < n) all.push_back(0.9 * all.back() + static_cast<double>(chance.below(2001)) / 100 - 10);
    return all;
}
bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }
} // namespace

TEST_CASE("a series, its windows, their tests: a pipe", "[views/stats:oracle]") {
    auto const& nile = all_series().at("Nile");
    // statsmodels 0.15.0, adfuller and kpss of Nile[0:50], [25:75] and [50:100]
    struct seen {
        double adf;
        int lag;
        double kpss, mean;
    };
    std::array<seen, 3> const want{{{-0.71966987660279291, 10, 0.75559110414985264, 984.32000000000005}, {-5.2510106745518641, 3, 0.20621594310580732, 849.89999999999998}, {-5.6530114994930125, 0, 0.1826176843197983, 854.38}}};
    std::size_t i = 0;
    auto const windows = nile | sb::stats::rolling(50);
    for (auto const& got : windows | sb::stats::adf()) {
        if (i % 25 == 0) {
            CHECK(got.statistic == Approx(want[i / 25].adf).epsilon(1e-9));
            CHECK(got.lag == want[i / 25].lag);
            CHECK((windows | sb::stats::kpss())[static_cast<std::ptrdiff_t>(i)].statistic == Approx(want[i / 25].kpss).epsilon(1e-9));
            CHECK((windows | sb::stats::mean_of())[static_cast<std::ptrdiff_t>(i)].mean == Approx(want[i / 25].mean).epsilon(1e-12));
        }
        ++i;
    }
    CHECK(i == 51);
}

TEST_CASE("windows are spans of the series itself, read when they are looked at", "[views/stats:property]") {
    std::vector<double> series{1, 2, 3, 4, 5};
    auto const windows = series | stats::rolling(3);
    static_assert(ranges::random_access_range<decltype(windows)> && ranges::sized_range<decltype(windows)>);
    static_assert(std::same_as<ranges::range_value_t<decltype(windows)>, std::span<double const>>);
    CHECK(ranges::size(windows) == 3);
    CHECK(windows[1].data() == series.data() + 1);
    int calls = 0;
    auto const firsts = windows | stats::each([&](std::span<double const> values) { return ++calls, values.front(); });
    CHECK(calls == 0);
    CHECK(firsts[2] == 3);
    CHECK(calls == 1);
    series[2] = 30;
    CHECK(firsts[2] == 30);
    CHECK((windows | stats::median_of() | ranges::to<std::vector>) == std::vector<double>{2, 4, 5});
    CHECK((windows | stats::each(stats::moments::of) | ranges::views::transform([](auto const& all) { return *all.mean(); }) | ranges::to<std::vector>) == std::vector<double>{11, 12, 13});
    auto const spread = stats::rolling(3) | stats::each([](auto values) { return values.back() - values.front(); }); // a pipe without its series
    CHECK((series | spread | ranges::to<std::vector>) == std::vector<double>{29, 2, -25});
}

TEST_CASE("every contiguous range rolls, and no temporary one", "[views/stats:property]") {
    static_assert(rolls<std::vector<double>&> && rolls<std::vector<double> const&> && rolls<std::span<double const>> && rolls<std::array<double, 4>&> && rolls<double (&)[4]>);
    static_assert(!rolls<std::vector<double>> && !rolls<std::deque<double>&>);
    std::array<int, 4> const whole{1, 2, 3, 4};
    CHECK((whole | stats::rolling(2) | stats::each([](std::span<int const> pair) { return pair[0] * pair[1]; }) | ranges::to<std::vector>) == std::vector<int>{2, 6, 12});
    double const raw[]{1, 5, 2};
    CHECK((raw | stats::rolling(2) | stats::median_of() | ranges::to<std::vector>) == std::vector<double>{3, 3.5});
}

TEST_CASE("in whatever order windows are looked at, each has its own test", "[views/stats:property]") {
    auto series = wandering(200);
    auto const want = [&](std::size_t first) { return stats::adf(std::span{series}.subspan(first, 50)); };
    auto const same = [](stats::adf_answer const& got, stats::adf_answer const& by_itself) {
        return got.lag == by_itself.lag && near(got.statistic, by_itself.statistic) && near(got.p, by_itself.p);
    };
    auto const tests = series | stats::rolling(50) | stats::adf();
    std::size_t i = 0;
    for (auto const& got : tests) CHECK(same(got, want(i++)));
    CHECK(i == 151);
    for (auto const& got : tests | ranges::views::reverse | ranges::views::take(20)) CHECK(same(got, want(--i)));
    for (std::size_t const at : {7UL, 7UL, 8UL, 8UL, 9UL, 3UL, 100UL, 101UL, 99UL}) CHECK(same(tests[static_cast<std::ptrdiff_t>(at)], want(at)));
    auto it = tests.begin() + 20;
    CHECK(same(*it, want(20)));
    series[40] += 3; // under its feet
    for (i = 21; i < 30; ++i) CHECK(same(*++it, want(i)));
    auto const copy = tests;
    CHECK(same(copy[30], want(30)));
    CHECK(same(tests[31], want(31)));
    auto const with_trend = series | stats::rolling(50) | stats::adf({stats::trend::linear, stats::lag_choice::fixed, 2});
    CHECK(near(with_trend[60].statistic, stats::adf(std::span{series}.subspan(60, 50), {stats::trend::linear, stats::lag_choice::fixed, 2}).statistic));
    CHECK(with_trend[60].lag == 2);
    // spans that are no windows
    auto const halves = std::array{std::span<double const>{series}.first(100), std::span<double const>{series}.last(100)};
    auto const of_halves = halves | stats::adf() | ranges::to<std::vector>;
    REQUIRE(of_halves.size() == 2);
    CHECK(of_halves[1].statistic == stats::adf(std::span{series}.last(100)).statistic);
    CHECK(ranges::distance(tests | ranges::views::filter([](auto const& got) { return got.p < 0.05; })) > 0);
}

TEST_CASE("no windows, and windows without an answer", "[views/stats:degenerate]") {
    std::vector<double> const none, three{1, 2, 3};
    CHECK(ranges::empty(none | stats::rolling(1)));
    CHECK(ranges::empty(three | stats::rolling(0)));
    CHECK(ranges::empty(three | stats::rolling(4) | stats::adf()));
    CHECK(ranges::size(three | stats::rolling(3)) == 1);
    for (auto const& got : three | stats::rolling(2) | stats::adf()) CHECK(got.why == stats::no_answer::too_short);
    for (auto const& got : three | stats::rolling(2) | stats::kpss()) CHECK(got.why == stats::no_answer::too_short);
    std::vector<double> const flat(60, 5.0), gone{1, NAN, 3, 4};
    for (auto const& got : flat | stats::rolling(50) | stats::adf()) CHECK(got.why == stats::no_answer::constant);
    for (auto const& got : flat | stats::rolling(50) | stats::kpss()) CHECK(got.why == stats::no_answer::constant);
    auto const means = gone | stats::rolling(2) | stats::mean_of() | ranges::to<std::vector>;
    CHECK(means[0].why == stats::no_answer::not_finite);
    CHECK(means[2].mean == 3.5);
    CHECK(stats::adf({}).why == stats::no_answer::too_short); // still the function
}
