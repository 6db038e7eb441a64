// SPDX-License-Identifier: MIT
// Tests of cusum.hpp, cusum_run_length.hpp and scaled_moments.hpp.
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <sb/stats/cusum.hpp>
#include <sb/stats/cusum_run_length.hpp>
#include <sb/stats/moments.hpp>
#include <sb/stats/scaled_moments.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

sb::value const& oracles() {
    static auto const all = oracle("cusum.json");
    return all;
}
sb::array const& cases(std::string_view name) { return *member(oracles(), name)->if_array(); }

/// Values until the alarm, at most so many.
std::int64_t run_length(cusum chart, std::function<double()> const& next, std::int64_t most) {
    for (std::int64_t n = 1; n <= most; ++n)
        if (chart.push(next())) return n;
    return most;
}

} // namespace

TEST_CASE("run lengths are those of the integral, of a Markov chain and of the printed tables", "[cusum_run_length:oracle]") {
    for (auto const& c : cases("run_length")) {
        double const got = cusum_run_length(number(c, "k"), number(c, "h"), number(c, "shift"));
        INFO("k " << number(c, "k") << ", h " << number(c, "h") << ", shift " << number(c, "shift"));
        CHECK(got == Approx(number(c, "integral")).epsilon(1e-10));
        CHECK(got == Approx(number(c, "chain")).epsilon(1e-6));
    }
    for (auto const& table : cases("montgomery"))
        for (auto const& row : *member(table, "rows")->if_array()) {
            auto const cells = numbers(row);
            double const got = cusum_run_length(0.5, number(table, "h"), cells[0]);
            CHECK(std::abs(got - cells[1]) <= (cells[1] >= 100 ? 0.51 : cells[1] >= 10 ? 0.051 : 0.0101));
        }
}

TEST_CASE("the threshold asked for by its false alarms is the one the tables have", "[cusum_run_length:oracle]") {
    for (auto const& c : cases("design")) {
        auto const got = design_cusum(number(c, "quiet"), number(c, "shift"));
        REQUIRE(got);
        INFO("quiet " << number(c, "quiet") << ", shift " << number(c, "shift"));
        CHECK(got.h == Approx(number(c, "h")).epsilon(number(c, "quiet") > 1e5 ? 1e-7 : 1e-9));
        CHECK(got.quiet == Approx(number(c, "quiet")).epsilon(1e-9));
        CHECK(got.k == number(c, "shift") / 2);
    }
    for (auto const& row : cases("hawkins")) {
        auto const cells = numbers(row); // k and h for 370 values
        CHECK(design_cusum(370, 2 * cells[0]).h == Approx(cells[1]).margin(0.0101));
    }
}

TEST_CASE("run lengths grow with the threshold and fall with the shift, whichever way they are found", "[cusum_run_length:property]") {
    for (double const k : {0.0, 0.1, 0.5, 1.0}) {
        double before = 0;
        for (double h = 0; h <= 12; h += 0.75) {
            double const now = cusum_run_length(k, h);
            CHECK(now > before);
            CHECK(cusum_run_length(k, h, 0.7) == Approx(cusum_run_length(k, h, -0.7)).epsilon(1e-12));
            CHECK(cusum_run_length(k, h, 0.7) <= now);
            before = now;
        }
        CHECK(cusum_run_length(k, 0) == Approx(1 / std::erfc(k / std::sqrt(2.0))).epsilon(1e-12)); // each value alone
    }
    // where the one way hands over to the other
    CHECK(cusum_run_length(0.05, 60.000001) == Approx(cusum_run_length(0.05, 60)).epsilon(1e-3));
    CHECK(cusum_run_length(0, 60.000001, 0.5) == Approx(cusum_run_length(0, 60, 0.5)).epsilon(5e-3));
    double delay = 0;
    for (double quiet = 10; quiet < 2e9; quiet *= 10) {
        auto const got = design_cusum(quiet, 0.5);
        REQUIRE(got);
        CHECK(got.delay > delay);
        delay = got.delay;
    }
}

TEST_CASE("scores have the tail of their t value", "[cusum:oracle]") {
    for (auto const& row : cases("scores")) {
        auto const cells = numbers(row);
        INFO("t " << cells[0] << ", df " << cells[1]);
        CHECK(normal_score_of_t(cells[0], cells[1]) == Approx(cells[2]).epsilon(1e-9).margin(1e-15));
    }
}

TEST_CASE("charts, alarms and their beginnings are those of the definition", "[cusum:oracle][scaled_moments:oracle]") {
    int alarms = 0;
    for (auto const& c : cases("charts"))
        for (auto const* const way : {"known", "learned"}) {
            auto const values = numbers(*member(c, "values"));
            auto const& right = *member(c, way);
            auto chart = way[0] == 'k' ? cusum::known(number(c, "mean"), number(c, "stddev"), 0.5, 5) : cusum{0.5, 5};
            auto const& rows = *member(right, "rows")->if_array();
            // a value beside 1e9 is a double of 1e-7, so its score is
            double const digits = number(c, "mean") > 1e8 ? 1e-6 : 1e-11;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                auto const cells = numbers(rows[i]);
                auto const got = chart.push(values[i]);
                INFO(way << " " << i);
                CHECK((got.why == no_answer::none) == !std::isnan(cells[0]));
                if (got.why == no_answer::none) CHECK(got.score == Approx(cells[0]).epsilon(1e-9).margin(digits));
                CHECK(got.up == Approx(cells[1]).epsilon(1e-9).margin(10 * digits));
                CHECK(got.down == Approx(cells[2]).epsilon(1e-9).margin(10 * digits));
                CHECK(bool(got) == (member(right, "alarm")->if_object() && i + 1 == rows.size()));
            }
            auto const got = chart.status();
            if (!got) continue;
            ++alarms;
            auto const& alarm = *member(right, "alarm");
            CHECK(static_cast<double>(got.at) == number(alarm, "at"));
            CHECK(static_cast<double>(got.since) == number(alarm, "since"));
            CHECK((got.alarm == change_side::up) == (text(alarm, "side") == "up"));
            CHECK(got.shift == Approx(number(alarm, "shift")).epsilon(1e-6));
        }
    CHECK(alarms == 10);
}

TEST_CASE("false alarms come as seldom as was asked for, also where the level is learned", "[cusum:property][cusum_run_length:property]") {
    auto const how = design_cusum(300);
    REQUIRE(how);
    normal_values chance{41};
    constexpr int rounds = 800;
    double known = 0, learned = 0, unit = 0, held = 0;
    int early = 0, held_early = 0;
    for (int round = 0; round < rounds; ++round) {
        auto const next = [&] { return 7 + 3 * chance.next(); };
        known += static_cast<double>(run_length(cusum::known(7, 3, how.k, how.h), next, 100'000));
        auto const n = run_length(cusum{how}, next, 100'000);
        learned += static_cast<double>(n - 2); // the first two are not scored
        early += n <= 50;
        auto const m = run_length(cusum::held_to_start(10, how.k, how.h), next, 2000);
        held_early += m - 10 <= 50, held += 1;
        unit += 300;
    }
    double const error = 1 / std::sqrt(static_cast<double>(rounds)); // of a run length as widely spread as it is long
    CHECK(known / unit == Approx(1).margin(3 * error));
    CHECK(learned / unit == Approx(1).margin(3 * error));
    CHECK(early / held == Approx(0.14).margin(0.05)); // 1 - exp(-46/300) or so
    CHECK(held_early / held > 0.3); // what is held to ten values is not what was asked for, as is said
}

TEST_CASE("a change is found as soon as is said, and dated", "[cusum:property]") {
    auto const how = design_cusum(1000, 1);
    REQUIRE(how);
    normal_values chance{42};
    constexpr int rounds = 600, quiet = 100;
    double known = 0, learned = 0, from = 0, size = 0;
    int found = 0, false_alarms = 0;
    for (int round = 0; round < rounds; ++round) {
        known += static_cast<double>(run_length(cusum::known(0, 1, how.k, how.h), [&] { return 1 + chance.next(); }, 10'000));
        cusum chart{how};
        std::int64_t n = 0;
        while (n < quiet + 1000 && !chart.push(chance.next() - (n >= quiet ? 1.5 : 0))) ++n;
        auto const got = chart.status();
        if (got.at < quiet) {
            ++false_alarms;
            continue;
        }
        found += got.alarm == change_side::down;
        learned += static_cast<double>(got.at - quiet + 1), from += static_cast<double>(got.since - quiet), size += got.shift;
    }
    CHECK(known / rounds == Approx(how.delay).epsilon(0.1));
    CHECK(false_alarms < 0.13 * rounds);
    CHECK(found >= 0.99 * (rounds - false_alarms));
    CHECK(learned / found < 12); // a level of a hundred values costs a little
    CHECK(std::abs(from / found) < 3);
    CHECK(size / found == Approx(-1.6).margin(0.3));
}

TEST_CASE("neither the place nor the unit of the stream matters", "[cusum:property][scaled_moments:property]") {
    normal_values chance{43};
    std::vector<double> x(60);
    for (double& each : x) each = std::round(chance.next() * 4096) / 4096;
    for (int const power : {-1000, -530, 497, 1000}) {
        cusum plain{0.5, 4}, scaled{0.5, 4};
        scaled_moments of_plain, of_scaled;
        double const unit = std::ldexp(1.0, power);
        for (double const each : x) {
            auto const a = plain.push(each), b = scaled.push(each * unit);
            CHECK(((std::isnan(a.score) && std::isnan(b.score)) || a.score == b.score));
            CHECK((of_plain.push(each) && of_scaled.push(each * unit)));
        }
        CHECK(of_scaled.mean() == of_plain.mean() * unit);
        CHECK(of_scaled.stddev() == of_plain.stddev() * unit);
        CHECK(of_scaled.distance(unit) == of_plain.distance(1));
        auto const peer = moments::of(x);
        CHECK(of_plain.mean() == Approx(*peer.mean()).epsilon(1e-14).margin(1e-15));
        CHECK(of_plain.stddev() == Approx(*peer.stddev()).epsilon(1e-14));
    }
    cusum plain{0.5, 4}, far{0.5, 4};
    for (double const each : x) {
        auto const a = plain.push(each), b = far.push(each + 1073741824);
        CHECK(b.up == Approx(a.up).margin(1e-9)); // every digit of these survives the way
    }
}

TEST_CASE("an alarm stays, and what follows it is the caller's choice", "[cusum:property]") {
    normal_values chance{44};
    cusum chart{0.5, 5};
    for (int n = 0; n < 30; ++n) chart.push(chance.next());
    REQUIRE_FALSE(chart.status());
    while (!chart.push(6 + chance.next())) continue;
    auto const first = chart.status();
    CHECK(first.at >= 30);
    CHECK(first.since >= 28);
    double const level = chart.mean();
    for (int n = 0; n < 50; ++n) CHECK(chart.push(chance.next()).at == first.at);
    CHECK(chart.mean() == level); // nothing is learned from what may be another level
    auto rearmed = chart;
    rearmed.rearm();
    CHECK_FALSE(rearmed.status());
    CHECK(rearmed.mean() == level);
    CHECK(rearmed.push(0).score < 1);
    CHECK(rearmed.seen() == chart.seen() + 1);
    chart.reset();
    CHECK(chart.seen() == 0);
    CHECK(chart.push(6).why == no_answer::too_short);
    for (int n = 0; n < 30; ++n) chart.push(6 + chance.next());
    CHECK_FALSE(chart.status()); // the new level is the level now
    CHECK(chart.mean() == Approx(6).margin(1));
}

TEST_CASE("what no level can be had from raises no alarm and says why", "[cusum:degenerate][scaled_moments:degenerate]") {
    cusum chart{0.5, 4};
    CHECK(chart.push(3).why == no_answer::too_short);
    CHECK(chart.push(3).why == no_answer::too_short);
    for (int n = 0; n < 100; ++n) CHECK(chart.push(3).why == no_answer::constant);
    CHECK(std::isnan(chart.status().score));
    CHECK_FALSE(chart.push(4)); // the first that moves: nothing to measure it by
    CHECK(chart.push(3).why == no_answer::none);
    CHECK(chart.push(no_number).why == no_answer::not_finite);
    CHECK(chart.push(infinite).why == no_answer::not_finite);
    CHECK(chart.push(3).why == no_answer::none); // one lost value is not the end of the stream
    CHECK(chart.seen() == 107);
    CHECK(std::isfinite(chart.push(1e300).score));
    cusum wide{0.5, 4};
    wide.push(1e308), wide.push(1.1e308), wide.push(0.9e308);
    CHECK(wide.push(-1.7e308).why == no_answer::not_finite);
    for (auto const& [k, h] : {std::pair{-1.0, 4.0}, {no_number, 4.0}, {0.5, -1.0}, {0.5, no_number}, {0.5, infinite}}) {
        CHECK(cusum{k, h}.push(1).why == no_answer::bad_request);
        CHECK(std::isnan(cusum_run_length(k, h)));
    }
    CHECK(cusum::known(0, 0, 0.5, 4).push(1).why == no_answer::bad_request);
    CHECK(cusum::known(no_number, 1, 0.5, 4).push(1).why == no_answer::bad_request);
    CHECK(cusum::known(0, 1e-300, 0.5, 4).push(1e300).alarm == change_side::up);
    auto held = cusum::held_to_start(5, 0.5, 4);
    for (int n = 0; n < 5; ++n) CHECK(held.push(n).why == no_answer::too_short);
    CHECK(held.push(2).why == no_answer::none);
    CHECK(held.mean() == 2);
    auto flat = cusum::held_to_start(0, 0.5, 4); // two at least
    flat.push(1), flat.push(1);
    CHECK(flat.push(2).why == no_answer::constant);

    scaled_moments none;
    CHECK((none.count() == 0 && none.mean() == 0 && none.stddev() == 0 && none.constant()));
    CHECK((none.push(5) && none.mean() == 5 && none.stddev() == 0 && none.constant()));
    CHECK_FALSE(none.push(no_number));
    CHECK_FALSE(none.push(-infinite));
    CHECK((none.push(5) && none.count() == 2 && none.constant()));
    CHECK((none.push(7) && none.stddev() == Approx(std::sqrt(4.0 / 3))));

    CHECK(normal_score_of_t(0, 3) == 0);
    CHECK(normal_score_of_t(infinite, 3) == 38);
    CHECK(normal_score_of_t(-infinite, 3000) == -38);
    CHECK(normal_score_of_t(1e200, 3) == 38);
    CHECK(normal_score_of_t(1e150, 1) == normal_score_of_t(infinite, 1));
}

TEST_CASE("a threshold that cannot be had is not made up", "[cusum_run_length:degenerate]") {
    for (auto const& got : {design_cusum(1), design_cusum(1.2, 0.5), design_cusum(no_number), design_cusum(infinite), design_cusum(1e10), design_cusum(1000, 0), design_cusum(1000, -1),
             design_cusum(1000, no_number), design_cusum(1000, 11)}) {
        CHECK(got.why == no_answer::bad_request);
        CHECK(std::isnan(got.h));
        CHECK(cusum{got}.push(1).why == no_answer::bad_request);
    }
    CHECK(std::isnan(cusum_run_length(0.5, 5, no_number)));
    CHECK(cusum_run_length(0.5, 5, 1e6) == 1);
}
