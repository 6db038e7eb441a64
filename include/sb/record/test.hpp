// SPDX-License-Identifier: MIT
// A record: the answer of a statistical test.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sb {

/// What a test has besides statistic and p: each is there, or null, as the test knows it.
struct test_member {
    enum class type : std::uint8_t { number, integer, text, truth, numbers, list };
    char const* name;
    type is;
    char const* of; ///< the tests, apart by a blank
    char const* what;
};
inline constexpr test_member test_members[] = {
    {"regression", test_member::type::text, "adf kpss pp", "deterministic terms of the regression: n, c, ct or ctt"},
    {"lag", test_member::type::integer, "adf kpss pp", "lagged differences in the regression, or lags of the window"},
    {"nobs", test_member::type::integer, "adf pp", "rows of the regression"},
    {"ic", test_member::type::number, "adf", "value of the criterion that chose the lag"},
    {"critical", test_member::type::numbers, "adf pp", "critical values of the statistic at 1%, 5% and 10%, for this number of values"},
    {"level_statistic", test_member::type::number, "pp", "the test of the coefficient itself"},
    {"level_p", test_member::type::number, "pp", "p of level_statistic"},
    {"center", test_member::type::text, "levene", "centre from which spread was measured"},
    {"groups", test_member::type::integer, "levene", "samples"},
    {"exact", test_member::type::truth, "ks trend", "p was counted exactly, including ties; else it is the limit for large samples"},
    {"outside", test_member::type::integer, "psi", "values of the second sample outside the range of the first"},
    {"first", test_member::type::text, "ks psi compare correlation", "file or group of the first sample"},
    {"second", test_member::type::text, "ks psi compare correlation", "file or group of the second sample"},
    {"left_out", test_member::type::integer, "compare correlation", "pairs left out because only one side has a number"},
    {"difference", test_member::type::number, "compare", "second mean minus first mean"},
    {"equivalence_p", test_member::type::number, "compare", "p of the equivalence test; small if the means differ by less than the margin"},
    {"rank_p", test_member::type::number, "compare", "p of the Mann-Whitney test"},
    {"rank_exact", test_member::type::truth, "compare", "rank_p was counted exactly, including ties; else it is the limit for large samples"},
    {"effect", test_member::type::number, "compare", "probability that a second value is larger than a first; equal values count half"},
    {"shift", test_member::type::number, "compare", "median of all differences (Hodges and Lehmann)"},
    {"shift_lo", test_member::type::number, "compare", "lower end of its interval"},
    {"shift_hi", test_member::type::number, "compare", "the upper end"},
    {"spearman", test_member::type::number, "correlation", "rank correlation"},
    {"spearman_p", test_member::type::number, "correlation", "p of spearman"},
    {"spearman_exact", test_member::type::truth, "correlation", "spearman_p was counted exactly, including ties; else it is approximate"},
    {"kendall", test_member::type::number, "correlation", "pair correlation (tau-b)"},
    {"kendall_p", test_member::type::number, "correlation", "p of kendall"},
    {"kendall_exact", test_member::type::truth, "correlation", "kendall_p was counted exactly, including ties; else it is the limit for large samples"},
    {"tau", test_member::type::number, "trend", "Kendall's tau-b of value and position; p tests it"},
    {"intercept", test_member::type::number, "trend", "height of the line at the first value"},
    {"confidence", test_member::type::number, "ci correlation trend forecast", "confidence of the intervals"},
    {"method", test_member::type::text, "ci", "how the interval was made"},
    {"lo", test_member::type::number, "ci compare correlation trend converged", "the lower end of the interval of statistic; in compare, of difference"},
    {"hi", test_member::type::number, "ci compare correlation trend converged", "the upper end"},
    {"model", test_member::type::text, "forecast", "forecasting model"},
    {"aicc", test_member::type::number, "forecast", "AICc of the model, by which it was chosen"},
    {"steps", test_member::type::list, "forecast", "mean, lo and hi of each step ahead"},
    {"judged", test_member::type::integer, "forecast", "number of last values that were forecast from those before, to judge the model"},
    {"mae", test_member::type::number, "forecast", "mean absolute error of these forecasts"},
    {"skill", test_member::type::number, "forecast", "improvement over repeating the last value: 1 is exact, 0 no better"},
    {"mase", test_member::type::number, "forecast", "mae divided by the mean change from value to value"},
    {"points", test_member::type::list, "changepoint", "each change: at (the first value that is different, from 1), p, mean_before, mean_after"},
    {"converged", test_member::type::truth, "converged", "true if the series is shown to have converged; null without an answer"},
    {"because", test_member::type::text, "converged", "what is missing for a yes"},
    {"drift", test_member::type::number, "converged", "change that the slope adds"},
    {"drift_lo", test_member::type::number, "converged", "lower end of its interval"},
    {"drift_hi", test_member::type::number, "converged", "the upper end"},
    {"effective_n", test_member::type::number, "converged", "number of independent values with as much information"},
    {"spread_p", test_member::type::number, "converged", "p of the test that both halves have the same spread, corrected for the number of series"},
    {"adf_p", test_member::type::number, "converged", "p of adf"},
    {"kpss_p", test_member::type::number, "converged", "p of kpss"},
};

/// What a statistical test says of some values; or why it says nothing.
struct test_record {
    static constexpr auto kind = "test";
    static constexpr int version = 1;
    std::string test; ///< adf, kpss, …
    std::optional<std::string> name; ///< of the values: a file, or what they share
    std::optional<double> statistic, p;
    std::optional<std::string> p_bound; ///< "<=" or ">=": no more is known of p than that
    std::int64_t n = 0;
    std::optional<std::string> reason; ///< why there is no answer
    object besides = {}; ///< see test_members

    object to_object() const {
        auto const or_null = [](auto const& x) { return x ? value(*x) : value(); };
        object o{{"kind", kind}, {"v", version}, {"test", test}};
        if (name) o["name"] = *name;
        o["statistic"] = or_null(statistic), o["p"] = or_null(p);
        if (p_bound) o["p_bound"] = *p_bound;
        o["n"] = n, o["reason"] = or_null(reason);
        for (auto const& [key, v] : besides) o[key] = v;
        return o;
    }
    static result<test_record> from_object(object const& o) {
        test_record r;
        auto const text = [](value const& v) { return v.if_string() ? std::optional{*v.if_string()} : std::nullopt; };
        auto const number = [](value const& v) { return v.is_number() ? std::optional{number_or(v, 0)} : std::nullopt; };
        for (auto const& [key, v] : o) {
            if (key == "kind" || key == "v") continue;
            if (key == "test") r.test = string_or(v, {});
            else if (key == "name") r.name = text(v);
            else if (key == "statistic") r.statistic = number(v);
            else if (key == "p") r.p = number(v);
            else if (key == "p_bound") r.p_bound = text(v);
            else if (key == "n" && v.if_int64()) r.n = *v.if_int64();
            else if (key == "reason") r.reason = text(v);
            else r.besides[key] = v;
        }
        if (r.test.empty()) return input_error("no \"test\"");
        return r;
    }
    static object schema() {
        object const number{{"type", array{"number", "null"}}};
        object properties{{"kind", object{{"const", kind}}},
                          {"v", object{{"const", version}}},
                          {"test", object{{"type", "string"}}},
                          {"name", object{{"type", "string"}}},
                          {"statistic", number},
                          {"p", number},
                          {"p_bound", object{{"enum", array{"<=", ">="}}}},
                          {"n", object{{"type", "integer"}}},
                          {"reason", object{{"type", array{"string", "null"}}}}};
        for (auto const& each : test_members) {
            object of{{"type", type_of(each.is)}};
            of["description"] = cat(each.of, ": ", each.what);
            properties[each.name] = std::move(of);
        }
        return {{"type", "object"}, {"properties", std::move(properties)}, {"required", array{"kind", "v", "test", "statistic", "p", "n", "reason"}}};
    }

private:
    static value type_of(test_member::type is) {
        switch (is) {
        case test_member::type::integer: return "integer";
        case test_member::type::text: return "string";
        case test_member::type::truth: return array{"boolean", "null"};
        case test_member::type::numbers: return "object";
        case test_member::type::list: return "array";
        case test_member::type::number: break;
        }
        return array{"number", "null"};
    }
};

} // namespace sb
