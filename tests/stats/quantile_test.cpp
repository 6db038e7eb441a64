// SPDX-License-Identifier: MIT
#include <sb/stats/quantile.hpp>
#include "support/catch.hpp"
#include "support/normal_values.hpp"
#include "support/oracle.hpp"
#include <algorithm>
#include <limits>
#include <vector>

using namespace sb::stats;
using namespace sb::test;
using column = std::vector<double>;

namespace {
constexpr quantile_rule rules[] = {quantile_rule::step, quantile_rule::weibull, quantile_rule::linear, quantile_rule::median_unbiased};
quantile_rule rule_of(std::string_view name) { return name == "step" ? rules[0] : name == "weibull" ? rules[1] : name == "linear" ? rules[2] : rules[3]; }
} // namespace

TEST_CASE("quantiles agree with fractions, and with numpy's where it does not round", "[quantile:oracle]") {
    auto const file = oracle("quantile.json");
    column room;
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const values = numbers(*member(c, "values"));
        for (auto const& each : *member(c, "quantiles")->if_array()) {
            auto const& row = *each.if_array();
            auto const rule = rule_of(sb::string_or(row[0], ""));
            double const p = sb::number_or(row[1], NAN), want = sb::number_or(row[2], NAN);
            INFO(sb::string_or(row[0], "") << " " << p << " of " << values.size());
            auto const got = quantile(values, p, rule, room);
            REQUIRE(got);
            CHECK(got.n == values.size());
            if (rule == quantile_rule::step) CHECK(got.value == want);
            else CHECK(got.value == Approx(want).epsilon(1e-13).margin(std::abs(values[0]) * 1e-14));
        }
    }
}

TEST_CASE("several quantiles are those asked for one by one, and never fall as p rises", "[quantile:property]") {
    normal_values values{12};
    column room;
    for (std::size_t const n : {1u, 2u, 7u, 64u, 501u})
        for (auto const rule : rules) {
            auto sample = values.many(n, 1e6);
            for (auto const& p : {column{0.5}, column{0.9, 0.1, 0.5, 0.5}, column{0, 0.25, 0.5, 0.75, 0.99, 1}, column{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}}) {
                column got(p.size());
                REQUIRE(quantiles(sample, p, got, rule, room) == no_answer::none);
                auto sorted = sample;
                std::sort(sorted.begin(), sorted.end());
                for (std::size_t i = 0; i < p.size(); ++i) {
                    CHECK(got[i] == quantile(sample, p[i], rule).value);
                    CHECK(got[i] == sorted_quantile(sorted, p[i], rule));
                }
            }
            double last = *std::min_element(sample.begin(), sample.end());
            CHECK(quantile(sample, 0, rule).value == last);
            for (int i = 0; i <= 200; ++i) {
                double const next = quantile(sample, i / 200.0, rule, room).value;
                CHECK(next >= last);
                last = next;
            }
            CHECK(last == *std::max_element(sample.begin(), sample.end()));
        }
}

TEST_CASE("quantiles that cannot be have a reason; equal values have themselves, to the last bit", "[quantile:degenerate]") {
    column const none, one{3}, broken{1, NAN}, endless{INFINITY, 1}, same(9, 0.1), wide{-1.7e308, 1.7e308};
    CHECK(quantile(none, 0.5).why == no_answer::too_short);
    CHECK(std::isnan(quantile(none, 0.5).value));
    CHECK(quantile(broken, 0.5).why == no_answer::not_finite);
    CHECK(quantile(endless, 0.5).why == no_answer::not_finite);
    CHECK(quantile(one, -0.1).why == no_answer::bad_request);
    CHECK(quantile(one, 1.1).why == no_answer::bad_request);
    CHECK(quantile(one, NAN).why == no_answer::bad_request);
    for (auto const rule : rules) {
        CHECK(quantile(one, 0.3, rule).value == 3);
        CHECK(quantile(same, 0.37, rule).value == 0.1);
        CHECK(std::abs(quantile(wide, 0.5, rule).value) <= 1.7e308);
    }
    CHECK(quantile(wide, 0.5).value == 0);
    column room, out(2), p(1, 0.5);
    CHECK(quantiles(same, p, out, quantile_rule::linear, room) == no_answer::bad_request);
    CHECK(sorted_quantile(same, 1) == 0.1);
}
