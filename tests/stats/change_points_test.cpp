// SPDX-License-Identifier: MIT
// Tests of change_points.hpp, energy_split.hpp and energy_walk.hpp.
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/stats/change_points.hpp>
#include <sb/stats/energy_split.hpp>
#include <sb/stats/energy_walk.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using series = std::vector<double>;

namespace {

/// By the definition, distance by distance.
split by_definition(series const& x, std::size_t least) {
    split best;
    for (auto at = least; at < x.size(); ++at)
        for (auto end = at + least; end <= x.size(); ++end) {
            double before = 0, between = 0, after = 0;
            for (std::size_t i = 0; i < end; ++i)
                for (auto j = i + 1; j < end; ++j) (j < at ? before : i >= at ? after : between) += std::abs(x[i] - x[j]);
            auto const m = static_cast<double>(at), n = static_cast<double>(end - at);
            double const gain = 2 / (m + n) * (between - (m > 1 ? n * before / (m - 1) : 0) - (n > 1 ? m * after / (n - 1) : 0));
            if (gain > best.gain) best = {at, end, gain};
        }
    return best;
}
std::vector<std::size_t> places(change_answer const& got) {
    std::vector<std::size_t> all;
    for (auto const& each : got.points) all.push_back(each.at);
    return all;
}

} // namespace

TEST_CASE("the clearest split agrees with apache/otava's own distances", "[change_points:oracle]") {
    auto const all = oracle("changepoint.json");
    int asked = 0;
    split_finder finder;
    for (auto const& c : *member(all, "cases")->if_array()) {
        auto const x = numbers(*member(c, "values"));
        auto const& want = *member(c, "e_divisive_first_split");
        auto const got = finder.best(x);
        INFO(text(c, "case"));
        CHECK(got.gain == Approx(number(want, "qhat")).epsilon(1e-9).margin(1e-12));
        if (number(want, "qhat") > 0) {
            CHECK(got.at == static_cast<std::size_t>(number(want, "tau")));
            CHECK(got.end == static_cast<std::size_t>(number(want, "kappa")));
        } else CHECK(got.at == 0);
        ++asked;
    }
    CHECK(asked == 8);
}

TEST_CASE("the clearest split is that of the definition, for all lengths and shortest stretches", "[change_points:property]") {
    sb::random_stream chance{7};
    split_finder finder; // its memory is that of the call before
    for (int round = 0; round < 400; ++round) {
        series x(1 + chance.below(40));
        for (double& each : x) each = round % 2 ? chance.unit() : static_cast<double>(chance.below(4));
        auto const least = 1 + chance.below(6);
        auto const got = finder.best(x, least), want = by_definition(x, least);
        INFO("n " << x.size() << " least " << least << " at " << got.at << " " << got.end << " for " << want.at << " " << want.end);
        CHECK(got.gain == Approx(want.gain).epsilon(1e-9).margin(1e-11));
        if (got.gain > 0) CHECK((got.at >= least && got.end >= got.at + least && got.end <= x.size()));
        auto far = x; // what all share does not matter
        for (double& each : far) each += 1 << 20;
        CHECK(finder.best(far, least).gain == Approx(got.gain).epsilon(1e-8).margin(1e-8));
    }
}

TEST_CASE("every instruction set finds the same split, to the byte", "[change_points:property]") {
    sb::random_stream chance{17};
    split_finder plain{sb::instruction_set::plain};
    for (auto const set : {sb::instruction_set::avx2, sb::instruction_set::avx512}) {
        if (set > sb::best_instruction_set()) continue;
        split_finder other{set};
        for (int round = 0; round < 300; ++round) {
            series x(2 + chance.below(round < 250 ? 60 : 400));
            for (double& each : x) each = round % 3 ? chance.unit() : static_cast<double>(chance.below(5));
            auto const least = 1 + chance.below(7);
            auto const a = plain.best(x, least), b = other.best(x, least);
            INFO("n " << x.size() << " least " << least);
            CHECK((a.at == b.at && a.end == b.end && a.gain == b.gain));
        }
    }
}

TEST_CASE("the clearest split is that of the definition for shortest stretches up to half of the values", "[change_points:property]") {
    sb::random_stream chance{17};
    split_finder finder;
    for (std::size_t const least : {7u, 8u, 9u, 10u, 16u, 17u, 20u, 25u, 30u})
        for (std::size_t const n : {2 * least, 2 * least + 1, std::size_t{60}, std::size_t{61}}) {
            series x(n);
            for (double& each : x) each = chance.unit();
            auto const got = finder.best(x, least), want = by_definition(x, least);
            INFO("n " << n << " least " << least);
            CHECK(got.gain == Approx(want.gain).epsilon(1e-9).margin(1e-11));
            CHECK((got.at == want.at && got.end == want.end));
        }
}

TEST_CASE("changes of mean and of spread are found where they are", "[change_points:property]") {
    normal_values chance{8};
    series steps = chance.many(60, 0, 1);
    for (auto const& more : {chance.many(50, 6, 1), chance.many(70, -3, 1)}) steps.insert(steps.end(), more.begin(), more.end());
    auto const got = change_points(steps);
    REQUIRE(got);
    CHECK(places(got) == std::vector<std::size_t>{60, 110});
    for (auto const& each : got.points) CHECK((each.gain > 0 && each.p <= 0.05));
    series louder = chance.many(100, 0, 1);
    auto const wild = chance.many(100, 0, 5);
    louder.insert(louder.end(), wild.begin(), wild.end());
    auto const spread = change_points(louder);
    REQUIRE(spread.points.size() >= 1);
    CHECK(std::abs(static_cast<double>(spread.points[0].at) - 100) <= 8);
    series spike = chance.many(41, 0, 0.1);
    spike[20] = 100;
    CHECK(change_points(spike).points.empty()); // one value is no stretch
}

TEST_CASE("the oracles' steps are found, and nothing where nothing is", "[change_points:oracle]") {
    auto const all = oracle("changepoint.json");
    for (auto const& c : *member(all, "cases")->if_array()) {
        auto const name = text(c, "case");
        auto const got = change_points(numbers(*member(c, "values")));
        INFO(name);
        REQUIRE(got);
        if (name.starts_with("nochange") || name.starts_with("constant") || name.starts_with("one_outlier")) CHECK(places(got).empty());
        if (name == "otava test_single_series") CHECK(places(got) == std::vector<std::size_t>{10});
        if (name == "Nile") CHECK(places(got) == std::vector<std::size_t>{28});
        if (name == "steps_a") CHECK(places(got) == std::vector<std::size_t>{60, 100});
        if (name == "variance_change_a") CHECK(places(got) == std::vector<std::size_t>{80});
        CHECK(got.points.size() <= 2);
    }
}

TEST_CASE("a series that does not change raises an alarm as rarely as is said", "[change_points:property]") {
    normal_values chance{9};
    constexpr int rounds = 400;
    int alarms = 0, skewed = 0;
    for (int round = 0; round < rounds; ++round) {
        change_request asked;
        asked.seed = static_cast<std::uint64_t>(round), asked.shuffles = 99;
        auto x = chance.many(40);
        alarms += !change_points(x, asked).points.empty();
        for (double& each : x) each = std::exp(2 * each);
        skewed += !change_points(x, asked).points.empty();
    }
    double const error = 3 * std::sqrt(0.05 * 0.95 / rounds);
    CHECK(alarms / double{rounds} == Approx(0.05).margin(error));
    CHECK(skewed / double{rounds} == Approx(0.05).margin(error));
}

TEST_CASE("the same seed gives the same answer, and another hardly another", "[change_points:property]") {
    normal_values chance{10};
    auto x = chance.many(30);
    auto const later = chance.many(30, 1.2);
    x.insert(x.end(), later.begin(), later.end());
    auto const one = change_points(x), again = change_points(x);
    REQUIRE(one.points.size() == again.points.size());
    CHECK((one.p == again.p && one.most_gain == again.most_gain));
    change_request other;
    other.seed = 99;
    CHECK(change_points(x, other).p == Approx(one.p).margin(0.03));
}

TEST_CASE("where no change can be looked for it is said", "[change_points:degenerate]") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(change_points({}).why == no_answer::too_short);
    CHECK(change_points(series{1, 2, 3}).why == no_answer::too_short);
    CHECK(change_points(series(9, 1)).why == no_answer::too_short);
    CHECK(change_points(series{1, 2, nan, 3, 4, 5, 6, 7, 8, 9}).why == no_answer::not_finite);
    CHECK(change_points(series{1e308, -1e308, 3, 4, 5, 6, 7, 8, 9, 1}).why == no_answer::not_finite);
    auto const flat = change_points(series(20, 4));
    CHECK((flat && flat.points.empty() && flat.p == 1));
    change_request wrong;
    wrong.alpha = 0;
    CHECK(change_points(series(20, 4), wrong).why == no_answer::bad_request);
    wrong = {};
    wrong.least = 0;
    CHECK(change_points(series(20, 4), wrong).why == no_answer::bad_request);
}
