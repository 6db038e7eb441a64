// SPDX-License-Identifier: MIT
// Requested keys of scenarios that did not act, reported once for each scenario. Otherwise a fault that never happened would
// look like one that the workload survived.
#pragma once
#include <sb/core/text.hpp>
#include <sb/json/write.hpp>
#include <sb/record/run.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace sb::run {

/// How much of a scenario's keys acted. `as_baseline`: only the keys acted that also act on the baseline's runs.
enum class acted { all, in_part, as_baseline, nothing };

class unapplied_keys {
public:
    static constexpr std::string_view baseline = "normal";

    void add(run_record const& run) {
        if (!seen_.insert(run.preset_id).second) return; // all repetitions of a preset are alike
        auto [there, is_new] = place_.try_emplace(run.scenario, scenarios_.size());
        if (is_new) scenarios_.push_back({run.scenario, {}, {}, false});
        auto& one = scenarios_[there->second];
        for (auto const& each : run.unsupported) one.idle.insert(each.key);
        std::string effect;
        for (auto const& each : run.applied) {
            effect += cat(each.key, "=", json::text_of(each.achieved), "\n");
            one.any_acted = one.any_acted || !each.requested.is_null();
        }
        one.effects.insert(std::move(effect));
    }

    acted of(std::string const& name) const {
        auto const there = place_.find(name);
        return there == place_.end() ? acted::all : judge(scenarios_[there->second]);
    }
    bool any() const noexcept {
        return std::any_of(scenarios_.begin(), scenarios_.end(), [](auto const& each) { return !each.idle.empty(); });
    }

    /// One line per scenario, in the order in which they came; if there are very many, the first ones and their number.
    std::vector<std::string> remarks() const {
        std::vector<std::string> remarks;
        std::size_t untold = 0;
        for (auto const& each : scenarios_) {
            if (each.idle.empty()) continue;
            if (remarks.size() == most_lines) {
                ++untold;
                continue;
            }
            std::string names;
            std::size_t named = 0;
            for (auto const& key : each.idle)
                if (named < most_names) names += cat(named++ ? ", " : "", key);
            if (each.idle.size() > named) names += cat(" and ", each.idle.size() - named, " more");
            auto const much = judge(each);
            remarks.push_back(cat(each.name, ": ", names, " did not act (unsupported here)",
                              much == acted::as_baseline ? cat("; none of its keys acted, so it ran like ", baseline)
                              : much == acted::nothing   ? std::string{"; none of its keys acted"}
                                                         : std::string{}));
        }
        if (untold > 0) remarks.push_back(cat(untold, " more scenarios have keys that did not act; `unsupported` in each record names them"));
        return remarks;
    }

private:
    static constexpr std::size_t most_lines = 20, most_names = 8;
    struct scenario {
        std::string name;
        std::set<std::string> idle; // keys
        std::set<std::string> effects; // the effects of each of its presets
        bool any_acted;
    };

    acted judge(scenario const& one) const {
        if (one.idle.empty()) return acted::all;
        if (!one.any_acted) return acted::nothing;
        auto const there = place_.find(std::string{baseline});
        if (there == place_.end() || one.name == baseline) return acted::in_part;
        auto const& usual = scenarios_[there->second].effects;
        return std::includes(usual.begin(), usual.end(), one.effects.begin(), one.effects.end()) ? acted::as_baseline : acted::in_part;
    }

    std::vector<scenario> scenarios_;
    std::map<std::string, std::size_t> place_;
    std::unordered_set<std::string> seen_;
};

} // namespace sb::run
