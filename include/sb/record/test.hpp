// SPDX-License-Identifier: MIT
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sb {

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
    object besides = {}; ///< what this test has besides: `lag`, `critical`, `lo` …

    object to_object() const {
        auto const or_null = [](auto const& x) { return x ? value{*x} : value{}; };
        object o{{"kind", kind}, {"v", version}, {"test", test}};
        if (name) o.set("name", *name);
        o.set("statistic", or_null(statistic)), o.set("p", or_null(p));
        if (p_bound) o.set("p_bound", *p_bound);
        o.set("n", n), o.set("reason", or_null(reason));
        for (auto const& [key, v] : besides) o.set(key, v);
        return o;
    }
    static result<test_record> from_object(object const& o) {
        test_record r;
        auto const text = [](value const& v) { return v.if_string() ? std::optional{*v.if_string()} : std::nullopt; };
        auto const number = [](value const& v) { return v.is_number() ? std::optional{v.number_or(0)} : std::nullopt; };
        for (auto const& [key, v] : o) {
            if (key == "kind" || key == "v") continue;
            if (key == "test") r.test = v.string_or({});
            else if (key == "name") r.name = text(v);
            else if (key == "statistic") r.statistic = number(v);
            else if (key == "p") r.p = number(v);
            else if (key == "p_bound") r.p_bound = text(v);
            else if (key == "n" && v.if_integer()) r.n = *v.if_integer();
            else if (key == "reason") r.reason = text(v);
            else r.besides.set(key, v);
        }
        if (r.test.empty()) return input_error("no \"test\"");
        return r;
    }
    static object schema() {
        object const number{{"type", array{"number", "null"}}};
        return {{"type", "object"},
                {"properties",
                 object{{"kind", object{{"const", kind}}},
                        {"v", object{{"const", version}}},
                        {"test", object{{"type", "string"}}},
                        {"name", object{{"type", "string"}}},
                        {"statistic", number},
                        {"p", number},
                        {"p_bound", object{{"enum", array{"<=", ">="}}}},
                        {"n", object{{"type", "integer"}}},
                        {"reason", object{{"type", array{"string", "null"}}}}}},
                {"required", array{"kind", "v", "test", "statistic", "p", "n", "reason"}}};
    }
};

} // namespace sb
