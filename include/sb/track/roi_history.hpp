// SPDX-License-Identifier: MIT
// The predecessor's roi_history.json: an object of series, or a bare list of deltas, as values by name.
#pragma once
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace sb::track {

/// Keys of which one at least makes an object a history.
inline constexpr std::string_view roi_history_keys[] = {
    "roi_history",  "raroi_history",    "module_deltas",       "module_raroi",   "metrics_history",
    "synergy_history", "synergy_metrics_history", "scenario_synergy", "scenario_roi_deltas", "scenario_raroi", "scenario_raroi_delta"};

inline bool is_roi_history(object const& o) noexcept {
    for (auto const key : roi_history_keys)
        if (o.if_contains(key)) return true;
    return false;
}

/// The name a history goes by: its folder for `…/roi_history.json`, else the file's name without its ending. (By the
/// file alone all of `run1/roi_history.json`, `run2/roi_history.json` would be one.)
inline std::string roi_history_name(std::string const& path) {
    if (path == "-") return "stdin";
    auto const base_of = [](std::string_view p) { return p.substr(p.rfind('/') == std::string_view::npos ? 0 : p.rfind('/') + 1); };
    std::string_view base = base_of(path);
    if (base == "roi_history.json") {
        if (char* const full = ::realpath(path.c_str(), nullptr)) {
            std::string_view folder{full};
            folder = folder.substr(0, folder.rfind('/'));
            std::string name{base_of(folder)};
            std::free(full);
            if (!name.empty()) return name;
        }
    }
    if (auto const dot = base.rfind('.'); dot != std::string_view::npos && dot > 0) base = base.substr(0, dot);
    return std::string{base};
}

namespace detail {

inline value const* member(value const* of, std::string_view key) noexcept {
    auto const* o = of ? of->if_object() : nullptr;
    return o ? o->if_contains(key) : nullptr;
}
/// Each number of a series, or the number itself.
template <class Use>
void each_number(value const* series, Use use) {
    if (!series) return;
    if (series->is_number()) use(number_or(*series, 0));
    else if (auto const* numbers = series->if_array())
        for (auto const& v : *numbers)
            if (v.is_number()) use(number_or(v, 0));
}
/// Each number under `key` in a list of objects.
template <class Use>
void each_entry(value const* list, std::string_view key, Use use) {
    if (auto const* entries = list ? list->if_array() : nullptr)
        for (auto const& entry : *entries) each_number(member(&entry, key), use);
}
template <class Use>
void each_named(value const* map, Use use) {
    if (auto const* o = map ? map->if_object() : nullptr)
        for (auto const& [name, v] : *o) use(name, v);
}

} // namespace detail

/// Calls `add(name, value)` for what a history holds of `metric`, and `score(name, value)` for its last security
/// score. By module: roi and raroi of each module. Else by the history's own name: roi_history, raroi_history or the
/// metric's series. Scenarios have rows of their own where the history knows them: synergy_* from scenario_synergy,
/// roi_delta and raroi_delta from the scenario maps.
template <class Add, class Score>
void read_roi_history(value const& document, std::string const& name, std::string_view by, std::string_view metric, Add add, Score score) {
    using namespace detail;
    auto const own = [&](double x) { add(name, x); };
    if (by == "severity") return; // a history knows none
    if (document.if_array()) {
        if (metric == "roi" && by != "module") each_number(&document, own);
        return;
    }
    auto const of = [&](std::string_view key) { return member(&document, key); };
    if (by == "module") {
        auto const* modules = metric == "roi" ? of("module_deltas") : metric == "raroi" ? of("module_raroi") : nullptr;
        each_named(modules, [&](std::string const& module, value const& series) { each_number(&series, [&](double x) { add(module, x); }); });
        return;
    }
    auto const* metrics = of("metrics_history");
    bool used = false;
    auto const use = [&](double x) { used = true, own(x); };
    auto const by_scenario = [&](std::string_view key, std::string_view entry) {
        if (by != "scenario") return;
        each_named(of(key), [&](std::string const& scenario, value const& v) {
            auto const each = [&](double x) { used = true, add(scenario, x); };
            if (entry.empty()) each_number(&v, each);
            else each_entry(&v, entry, each);
        });
    };
    if (metric == "roi") each_number(of("roi_history"), use);
    else if (metric == "raroi") each_number(of("raroi_history"), use);
    else if (metric == "roi_delta") by_scenario("scenario_roi_deltas", {});
    else if (metric == "raroi_delta") by_scenario("scenario_raroi_delta", {});
    else if (metric.starts_with("synergy_")) {
        by_scenario("scenario_synergy", metric);
        if (!used) each_entry(of("synergy_history"), metric, use);
        if (!used) each_number(member(of("synergy_metrics_history"), metric), use);
        if (!used) each_number(member(metrics, metric), use);
        if (by == "scenario" && of("scenario_synergy") && used) return;
    } else {
        each_number(member(metrics, metric), use);
    }
    if (!used) return;
    std::optional<double> last;
    each_number(member(metrics, "security_score"), [&](double x) { last = x; });
    if (last) score(name, *last);
}

} // namespace sb::track
