// SPDX-License-Identifier: MIT
// True values from tests/oracles/, which say where they are from.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/json/parse.hpp>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sb::test {

inline value oracle(std::string const& name) {
    auto const path = std::string{SB_SOURCE_DIR} + "/tests/oracles/" + name;
    return json::parse_document(read_file(path).value(), name).value();
}
/// Null where there is none.
inline value const* member(value const& of, std::string_view key) {
    auto const* const all = of.if_object();
    return all ? all->if_contains(key) : nullptr;
}
inline double number(value const& of, std::string_view key) {
    auto const* const found = member(of, key);
    return found ? sb::number_or(*found, NAN) : NAN;
}
inline std::string text(value const& of, std::string_view key) {
    auto const* const found = member(of, key);
    return std::string{found ? sb::string_or(*found, "") : ""};
}
inline std::vector<double> numbers(value const& all) {
    std::vector<double> values;
    for (auto const& each : *all.if_array()) {
        auto const word = sb::string_or(each, "");
        values.push_back(word == "nan" || word == "NaN" ? NAN : word == "inf" || word == "Infinity" ? INFINITY : sb::number_or(each, NAN));
    }
    return values;
}
/// The series that the other files name.
inline std::map<std::string, std::vector<double>> const& all_series() {
    static auto const all = [] {
        std::map<std::string, std::vector<double>> made;
        auto const file = oracle("series.json");
        for (auto const& [name, each] : *file.if_object()) made[std::string{name}] = numbers(each.if_array() ? each : *member(each, "values"));
        return made;
    }();
    return all;
}

/// Two series, and the correlation of each window of them: calls `use(x, y, window, exact)`.
template <class Use>
void each_rolling_correlation(Use use) {
    auto const file = oracle("rolling_corr.json");
    for (auto const& c : *member(file, "cases")->if_array()) {
        auto const x = member(c, "x_values") ? numbers(*member(c, "x_values")) : all_series().at(text(c, "x"));
        std::vector<double> y;
        if (text(c, "y") == "index") for (std::size_t i = 0; i < x.size(); ++i) y.push_back(static_cast<double>(i));
        else y = all_series().at(text(c, "y"));
        use(x, y, static_cast<std::size_t>(number(c, "window")), numbers(*member(c, "exact")));
    }
}

} // namespace sb::test
