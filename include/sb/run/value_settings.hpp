// SPDX-License-Identifier: MIT
// Weights of the value of a run, and prices of what it used, from the settings.
#pragma once
#include <sb/core/did_you_mean.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/metric/run_value.hpp>
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace sb::run {

/// Weights of the value and prices of resources, from the settings file.
inline result<void> read_worth(object const& settings, metric::value_weights& weights, metric::prices& prices) {
    struct place {
        std::string_view name;
        double* into;
    };
    auto const read = [&](std::string_view section, std::initializer_list<place> places) -> result<void> {
        auto const* const given = settings.if_contains(section);
        if (!given || given->is_null()) return {};
        if (!given->if_object()) return caller_error(cat("settings: ", section, ": must be a map"));
        for (auto const& [name, v] : *given->if_object()) {
            auto const there = std::find_if(places.begin(), places.end(), [&name = name](auto const& each) { return each.name == name; });
            if (there == places.end()) {
                std::vector<std::string_view> known;
                for (auto const& each : places) known.push_back(each.name);
                auto const hint = did_you_mean(name, known);
                return caller_error(cat("settings: ", section, ": unknown name \"", name, "\"", hint.empty() ? "; known names: " + joined(known, ", ") : hint));
            }
            if (!v.is_number() || number_or(v, -1) < 0) return caller_error(cat("settings: ", section, ".", name, ": must be a number, 0 or more"));
            *there->into = number_or(v, 0);
        }
        return {};
    };
    SB_CHECK(read("value_weights", {{"success", &weights.success}, {"output", &weights.output}, {"time", &weights.time}, {"memory", &weights.memory}}));
    return read("prices", {{"cpu_s", &prices.cpu_s}, {"gib_s", &prices.gib_s}, {"gib_out", &prices.gib_out}});
}

} // namespace sb::run
