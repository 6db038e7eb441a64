// SPDX-License-Identifier: MIT
#include <sb/core/random.hpp>
#include <sb/stats/rolling_adf.hpp>
#include "support/catch.hpp"
#include "support/oracle.hpp"
#include <string>

using namespace sb::stats;
using namespace sb::test;

namespace {
trend trend_of(std::string_view word) { return word == "n" ? trend::none : word == "c" ? trend::constant : word == "ct" ? trend::linear : trend::quadratic; }
lag_choice choice_of(std::string_view word) { return word == "AIC" ? lag_choice::aic : word == "BIC" ? lag_choice::bic : word == "t-stat" ? lag_choice::t_stat : lag_choice::fixed; }

/// Noise around nothing, even enough for what is tested here.
double noise(sb::random_stream& chance) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>(chance.below(2000001)) / 1e6 - 1;
    return sum;
}
std::map<std::string, std::vector<double>> hard_series(std::size_t n) {
    sb::random_stream chance{11};
    std::map<std::string, std::vector<double>> all;
    double walk = 0, back = 0, smooth = 0, jumps = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double const e = noise(chance), t = static_cast<double>(i);
        walk += e, back = 0.9 * back + e, smooth = 0.97 * smooth + back, jumps += i % 70 == 69 ? 1e6 : e;
        all["walk"].push_back(walk);
        all["walk at 1e9"].push_back(1e9 + walk);
        all["comes back"].push_back(back);
        all["smooth"].push_back(smooth);
        all["jumps"].push_back(jumps);
        all["line"].push_back(t + 0.01 * e);
        all["steep"].push_back(1000 * t + e);
        all["spikes of 1e9"].push_back(i % 130 == 70 ? 1e9 * e : e);
        all["spikes of 1e100"].push_back(i % 170 == 70 ? 1e100 : e);
        all["spikes of 1e200 at 1e9"].push_back(i % 170 == 70 ? 1e200 : 1e9 + e);
        all["waves"].push_back(std::sin(t * 0.3) + 1e-3 * e);
        all["whole"].push_back(std::floor(2 * e));
        all["gaps"].push_back(i % 150 == 90 ? NAN : e);
        all["still"].push_back(i % 160 < 80 ? 5 : e);
        all["stairs"].push_back(std::floor(t / 40));
        all["ramp, then noise"].push_back(i % 160 < 80 ? 0.1 * static_cast<double>(i % 160) : e);
        all["small and large"].push_back(i / 90 % 2 == 1 ? 1e-150 * e : 1e150 * e);
    }
    return all;
}
/// But for rounding; of the criterion of a line adf() itself has no more digits.
bool same(adf_answer const& got, adf_answer const& want) {
    auto const near = [](double a, double b, double by) { return std::abs(a - b) <= by * std::max(1.0, std::abs(b)); };
    if (got.why != want.why || got.n != want.n) return false;
    if (!want) return std::isnan(got.statistic) && std::isnan(got.p);
    return got.lag == want.lag && got.used == want.used && got.critical == want.critical && near(got.statistic, want.statistic, 1e-9) && near(got.criterion, want.criterion, 1e-7) && near(got.p, want.p, 1e-9);
}
void check_same(adf_answer const& got, adf_answer const& want) {
    if (same(got, want)) return;
    CHECK(name_of(got.why) == std::string{name_of(want.why)});
    CHECK(got.lag == want.lag);
    CHECK(got.criterion == want.criterion);
    REQUIRE(got.statistic == want.statistic);
}
} // namespace

TEST_CASE("every window agrees with exact arithmetic", "[rolling_adf:oracle]") {
    auto const file = oracle("rolling_adf.json");
    std::map<std::string, std::vector<double>> series;
    for (auto const& [name, each] : *member(file, "series")->if_object()) series[std::string{name}] = numbers(each);
    double worst = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const& values = series.at(text(c, "series"));
        adf_request const asked{trend_of(text(c, "regression")), choice_of(text(c, "autolag")), static_cast<int>(number(c, "maxlag"))};
        auto const got = rolling_adf(values, static_cast<std::size_t>(number(c, "window")), asked);
        for (auto const& each : *member(c, "answers")->if_array()) {
            INFO(text(c, "series") << " " << text(c, "regression") << " " << text(c, "autolag") << " from " << number(each, "first"));
            auto const& here = got.at(static_cast<std::size_t>(number(each, "first")));
            REQUIRE(here);
            CHECK(here.lag == static_cast<int>(number(each, "lag")));
            CHECK(here.used == static_cast<std::size_t>(number(each, "nobs")));
            auto const want = number(each, "stat");
            if (std::abs(want) > 1e6) { // where the huge value is first, its fall is explained but for a billionth
                CHECK(here.statistic == Approx(want).epsilon(1e-7));
                continue;
            }
            CHECK(here.statistic == Approx(want).epsilon(1e-9));
            worst = std::max(worst, std::abs(here.statistic - want) / std::max(1.0, std::abs(want)));
            if (asked.choice != lag_choice::fixed) CHECK(here.criterion == Approx(number(each, "ic")).epsilon(1e-9).margin(1e-9));
        }
    }
    INFO(worst * 1e12 << "e-12");
    CHECK(worst < 1e-10);
}

TEST_CASE("every window has the answer of the test alone", "[rolling_adf:property][rolling_adf:degenerate]") {
    for (auto const& [name, values] : hard_series(400))
        for (auto const with : {trend::none, trend::constant, trend::linear, trend::quadratic})
            for (auto const& [window, choice, lags] : {std::tuple{std::size_t{50}, lag_choice::aic, -1}, {std::size_t{50}, lag_choice::t_stat, 5}, {std::size_t{31}, lag_choice::bic, -1}, {std::size_t{120}, lag_choice::fixed, 2}, {std::size_t{20}, lag_choice::fixed, 0}}) {
                adf_request const asked{with, choice, lags};
                auto const got = rolling_adf(values, window, asked);
                adf_room room;
                REQUIRE(got.size() == values.size() - window + 1);
                for (std::size_t i = 0; i < got.size(); ++i) {
                    INFO(name << ", trend " << terms_of(with) << ", window " << window << " from " << i);
                    check_same(got[i], adf(std::span{values}.subspan(i, window), asked, room));
                }
            }
}

TEST_CASE("nothing drifts, however many windows pass after a huge value", "[rolling_adf:property]") {
    sb::random_stream chance{5};
    adf_window moving{50};
    std::vector<double> all;
    adf_room room;
    for (int i = 0; i < 30000; ++i) {
        all.push_back(1e9 + (i == 100 ? 1e15 : noise(chance)));
        auto const got = moving.push(all.back());
        if (i < 49 || (i % 97 != 0 && i > 300)) continue;
        check_same(*got, adf(std::span{all}.last(50), {}, room));
    }
}

TEST_CASE("units do not move the rolling statistic, and every instruction set gives the same bytes", "[rolling_adf:property]") {
    auto const values = hard_series(300).at("comes back");
    for (auto const with : {trend::none, trend::constant, trend::linear}) {
        auto const want = rolling_adf(values, 50, {with, lag_choice::aic, -1});
        for (int const power : {-900, -500, -33, 33, 500, 900}) {
            auto scaled = values;
            for (auto& x : scaled) x = std::ldexp(x, power);
            auto const got = rolling_adf(scaled, 50, {with, lag_choice::aic, -1});
            for (std::size_t i = 0; i < want.size(); ++i) REQUIRE(got[i].statistic == want[i].statistic);
        }
        for (auto const set : {sb::instruction_set::plain, sb::instruction_set::avx2, sb::instruction_set::avx512}) {
            if (set > sb::best_instruction_set()) continue;
            gram_unit const unit{set};
            adf_window moving{50, {with, lag_choice::aic, -1}, unit};
            for (std::size_t i = 0; i < values.size(); ++i)
                if (auto const got = moving.push(values[i])) {
                    REQUIRE(got->statistic == want[i - 49].statistic);
                    REQUIRE(got->criterion == want[i - 49].criterion);
                }
        }
    }
}

TEST_CASE("what has no answer by itself has none as a window, before and after other values", "[rolling_adf:degenerate]") {
    auto const file = oracle("traps.json");
    int seen = 0, without = 0;
    adf_room room;
    sb::random_stream chance{17};
    for (auto const& c : *member(file, "cases")->if_array()) {
        if (text(c, "test") != "adf") continue;
        ++seen;
        auto const trap = numbers(*member(c, "x"));
        if (trap.empty()) continue;
        for (auto const window : {trap.size(), trap.size() * 2 / 3}) {
            double const size = std::isfinite(trap.front()) && trap.front() != 0 ? std::abs(trap.front()) : 1;
            std::vector<double> values;
            for (std::size_t i = 0; i < window; ++i) values.push_back(size * noise(chance));
            values.insert(values.end(), trap.begin(), trap.end());
            for (std::size_t i = 0; i < window; ++i) values.push_back(size * noise(chance));
            adf_request const asked{trend_of(text(c, "regression")), lag_choice::aic, -1};
            auto const got = rolling_adf(values, window, asked);
            for (std::size_t i = 0; i < got.size(); ++i) {
                INFO(text(c, "case") << " " << text(c, "regression") << ", window " << window << " from " << i);
                check_same(got[i], adf(std::span{values}.subspan(i, window), asked, room));
                without += !got[i];
            }
        }
    }
    CHECK(seen == 69);
    CHECK(without > 500);
}

TEST_CASE("windows too short, too long or asked too much", "[rolling_adf:degenerate]") {
    auto const values = hard_series(60).at("walk");
    CHECK(rolling_adf(values, 0).empty());
    CHECK(rolling_adf(values, 61).empty());
    CHECK(rolling_adf({}, 5).empty());
    CHECK(rolling_adf(values, 60).size() == 1);
    for (std::size_t window = 1; window <= 8; ++window) {
        INFO(window);
        auto const got = rolling_adf(values, window);
        for (std::size_t i = 0; i < got.size(); ++i) check_same(got[i], adf(std::span{values}.subspan(i, window)));
    }
    CHECK(rolling_adf(values, 20, {trend::constant, lag_choice::aic, 9}).at(3).why == no_answer::bad_request);
    CHECK(rolling_adf(values, 20, {trend::none, lag_choice::fixed, 9}).at(3).why == no_answer::no_freedom);
    adf_window never{0};
    CHECK_FALSE(never.push(1));
    CHECK_FALSE(never.push(2));
    std::vector<double> wide(40, 1e308);
    for (std::size_t i = 0; i < wide.size(); i += 2) wide[i] = -1e308;
    for (auto const& each : rolling_adf(wide, 20)) CHECK(each.why == no_answer::not_finite);
    std::array<adf_answer, 3> few; // no more than there is room for
    CHECK(rolling_adf(values, 50, {}, few) == 11);
    CHECK(few[2].statistic == rolling_adf(values, 50).at(2).statistic);
}
