// SPDX-License-Identifier: MIT
#include <sb/stats/levene.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <map>
#include <string>

using namespace sb::stats;
using namespace sb::test;

namespace {
using groups = std::vector<std::vector<double>>;
levene_answer ask(groups const& all, levene_request const& asked = {}) {
    std::vector<std::span<double const>> const spans(all.begin(), all.end());
    return levene(spans, asked);
}
levene_request request_of(std::string const& center) {
    if (center.starts_with("trimmed ")) return {levene_center::trimmed, std::stod(center.substr(8))};
    return {center == "mean" ? levene_center::mean : levene_center::median, 0.25};
}
} // namespace

TEST_CASE("Levene agrees with rational arithmetic, and with R where a mean is trimmed", "[levene:oracle]") {
    auto const file = oracle("levene.json");
    std::map<std::string, groups> data;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto& here = data[text(c, "data")];
        if (!here.empty()) continue;
        if (auto const* all = member(c, "groups")) {
            for (auto const& each : *all->if_array()) here.push_back(numbers(each));
            continue;
        }
        std::string_view constexpr halves = "halves of ";
        auto const& series = all_series().at(text(c, "data").substr(halves.size()));
        auto const middle = series.begin() + static_cast<std::ptrdiff_t>(series.size() / 2);
        here = {{series.begin(), middle}, {middle, series.end()}};
    }
    for (auto const& c : *member(file, "cases")->if_array()) {
        INFO(text(c, "data") << " " << text(c, "center"));
        auto const got = ask(data.at(text(c, "data")), request_of(text(c, "center")));
        INFO(name_of(got.why));
        REQUIRE(got);
        CHECK(got.statistic == Approx(number(*member(c, "exact"), "W")).epsilon(1e-9));
        CHECK(got.p == Approx(number(*member(c, "exact"), "p")).epsilon(1e-9));
    }
    for (auto const& c : *member(file, "R_car")->if_array()) {
        if (text(c, "data").find("off1e9") != std::string::npos) continue; // R's centre has lost the digits of what is left
        INFO(text(c, "data") << " " << text(c, "center"));
        auto const got = ask(data.at(text(c, "data")), request_of(text(c, "center")));
        REQUIRE(got);
        CHECK(got.statistic == Approx(number(c, "W")).epsilon(1e-9));
        CHECK(got.p == Approx(number(c, "p")).epsilon(1e-9));
    }
}

TEST_CASE("what Levene has no answer to gets a reason", "[levene:degenerate]") {
    auto const file = oracle("traps.json");
    int seen = 0;
    for (auto const& c : *member(file, "cases")->if_array()) {
        if (text(c, "test") != "levene") continue;
        ++seen;
        groups all;
        for (auto const& each : *member(c, "groups")->if_array()) all.push_back(numbers(each));
        auto const got = ask(all);
        if (all[0].size() == 4 && all[1] == std::vector<double>{1, 2, 3, 4}) { // one group does not spread, the other does
            CHECK(got.statistic == Approx(12));
            CHECK(got.p == Approx(0.013399964712331042).epsilon(1e-12));
        } else {
            CHECK_FALSE(got);
            CHECK(std::isnan(got.p));
            CHECK(got.why == (all[0].size() < 3 || all[1].size() < 3 ? no_answer::too_short : no_answer::constant));
        }
    }
    CHECK(seen == 7);
    CHECK(ask({}).why == no_answer::too_short);
    CHECK(ask({{1, 2, 3}}).why == no_answer::too_short);
    CHECK(ask({{1, 2, NAN}, {1, 2, 3}}).why == no_answer::not_finite);
    CHECK(ask({{0.1, 0.2, 0.3, 0.4}, {1e9 + 0.1, 1e9 + 0.1, 1e9 + 0.1, 1e9 + 0.1}}));
    CHECK(ask({{1, 2, 3}, {4, 5, 7}}, {levene_center::trimmed, 0.6}).why == no_answer::bad_request);
    // both halves lie equally far from their centres: nothing but rounding is left to measure by
    CHECK(ask({{0.1, 0.1, 0.3, 0.3}, {10.1, 10.1, 10.9, 10.9}}).why == no_answer::perfect_fit);
}

TEST_CASE("where groups lie, their order and the unit do not matter to how they spread", "[levene:property]") {
    normal_values chance{11};
    for (auto const center : {levene_center::median, levene_center::mean, levene_center::trimmed}) {
        groups const all{chance.many(12), chance.many(9, 0, 2), chance.many(20, 0, 0.5)};
        auto const want = ask(all, {center, 0.25});
        REQUIRE(want);
        groups moved = all, scaled = all, turned{all[2], all[0], all[1]};
        double by = 1000;
        for (auto& each : moved) {
            for (auto& x : each) x += by;
            by = -2 * by;
        }
        for (auto& each : scaled)
            for (auto& x : each) x *= 1e-160;
        std::reverse(turned[0].begin(), turned[0].end());
        for (auto const& other : {moved, scaled, turned}) {
            auto const got = ask(other, {center, 0.25});
            CHECK(got.statistic == Approx(want.statistic).epsilon(1e-10));
            CHECK(got.p == Approx(want.p).epsilon(1e-10));
        }
    }
}

TEST_CASE("the upper tail of F agrees with fifty-digit arithmetic", "[f_distribution:oracle]") {
    auto const all = oracle("distributions.json");
    for (auto const& c : *member(all, "F_sf")->if_array()) {
        auto const want = number(c, "sf");
        INFO("x " << number(c, "x") << " d1 " << number(c, "d1") << " d2 " << number(c, "d2"));
        CHECK(f_upper(number(c, "x"), number(c, "d1"), number(c, "d2")) == Approx(want).epsilon(want < 1e-100 ? 1e-10 : 1e-12).margin(0));
    }
    CHECK(f_upper(0, 2, 3) == 1);
    CHECK(f_upper(INFINITY, 2, 3) == 0);
    CHECK(std::isnan(f_upper(NAN, 2, 3)));
}
