// SPDX-License-Identifier: MIT
// What makes the times of an invocation doubtful: outliers, a drift, a machine that had other work.
#pragma once
#include <sb/core/text.hpp>
#include <sb/core/units.hpp>
#include <sb/record/run.hpp>
#include <sb/stats/rank_correlation.hpp>
#include <sb/stats/robust.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sb::run {

class steadiness {
public:
    struct circumstances {
        bool warmed = false; ///< there were runs before the recorded ones
        int jobs = 1;
    };
    // Bounds: anything below may be chance, or is too small to matter.
    static constexpr std::size_t least_for_outliers = 6, least_for_drift = 10;
    static constexpr double drift_p = 0.001, least_drift = 0.05; ///< of the median
    static constexpr double least_steal = 0.01, least_load = 0.1; ///< of all processors' time

    explicit steadiness(circumstances in) : in_{in} {}

    /// Runs of the same preset with the same kind of end are comparable. Add them in the order of the runs.
    void add(run_record const& run) {
        auto const key = std::pair{run.preset_id, run.end.class_};
        auto [there, is_new] = place_.try_emplace(key, series_.size());
        if (is_new) {
            auto name = run.severity && *run.severity != "none" ? cat(run.scenario, " (", *run.severity, ")") : run.scenario;
            if (run.end.class_ != end_class::ok) name += ", runs that failed";
            series_.push_back({std::move(name), {}});
        }
        series_[there->second].walls.push_back(run.wall_s);
        host_ = run.host;
        if (run.noise) noise_.window_s += run.noise->window_s, noise_.steal_s += run.noise->steal_s, noise_.others_cpu_s += run.noise->others_cpu_s;
    }

    /// One line each, with its figures; empty when there is nothing to report.
    std::vector<std::string> remarks() const {
        std::vector<std::string> remarks;
        for (auto const& each : series_) judge(each.name, each.walls, remarks);
        judge_machine(remarks);
        return remarks;
    }

private:
    struct series {
        std::string name;
        std::vector<double> walls;
    };

    static std::string percent(double share) { return cat(fixed(share * 100, share < 0.1 ? 1 : 0), " %"); }
    static std::string small(double p) {
        char text[24];
        auto const end = std::to_chars(text, text + sizeof text, p, std::chars_format::general, 1).ptr;
        return {text, end};
    }

    void judge(std::string const& name, std::span<double const> walls, std::vector<std::string>& remarks) const {
        if (walls.size() < least_for_outliers) return;
        auto const rest = walls.subspan(1);
        auto const usual = stats::fence_of(rest);
        bool const slow_start = walls.front() > usual.hi;
        if (slow_start)
            remarks.push_back(cat(name, ": the first run took ", show_seconds(walls.front()), ", the ", rest.size(), " after it ", show_seconds(usual.median), " (median): caches were cold; ",
                              in_.warmed ? "a larger --warmup leaves such runs out" : "--warmup 1 leaves it out"));
        auto const judged = slow_start ? rest : walls;
        auto const fence = slow_start ? usual : stats::fence_of(walls);
        auto const far = [&](double x) { return std::abs(x - fence.median); };
        auto const outside = std::count_if(judged.begin(), judged.end(), [&](double x) { return !fence.holds(x); });
        if (outside > 0) {
            auto const worst = std::max_element(judged.begin(), judged.end(), [&](double a, double b) { return far(a) < far(b); });
            remarks.push_back(cat(name, ": ", outside, " of ", judged.size(), outside == 1 ? " runs is an outlier" : " runs are outliers", ": ", show_seconds(*worst), " in ",
                              outside == 1 ? "" : "the worst, ", "run ", worst - judged.begin() + (slow_start ? 2 : 1), ", against a median of ", show_seconds(fence.median),
                              " (bounds ", show_seconds(std::max(fence.lo, 0.0)), " to ", show_seconds(fence.hi), ": ten robust deviations)"));
        }
        if (judged.size() < least_for_drift) return;
        std::vector<double> order(judged.size());
        std::iota(order.begin(), order.end(), 0.0);
        auto const trend = stats::spearman(judged, order);
        if (!trend || trend.p >= drift_p) return;
        auto const third = judged.size() / 3;
        auto const early = stats::median_of(judged.first(third)), late = stats::median_of(judged.last(third));
        if (std::abs(late - early) < least_drift * fence.median || (late > early) != (trend.r > 0)) return;
        remarks.push_back(cat(name, ": the time ", late > early ? "rises" : "falls", " with the order of runs: median ", show_seconds(early), " in the first third, ", show_seconds(late),
                          " in the last (Spearman's rho ", fixed(trend.r, 2), ", p ", small(trend.p), ", n ", judged.size(), ")"));
    }

    void judge_machine(std::vector<std::string>& remarks) const {
        auto const cpus = static_cast<double>(std::max(host_.cpus, 1));
        auto const room = noise_.window_s * cpus;
        if (room > 0 && noise_.steal_s >= least_steal * room)
            remarks.push_back(cat("a hypervisor took ", percent(noise_.steal_s / room), " of the processors' time while runs were made (steal, ", fixed(noise_.steal_s, 2), " s of ", fixed(room, 1), " s)"));
        if (room > 0 && noise_.others_cpu_s >= least_load * room)
            remarks.push_back(cat(in_.jobs > 1 ? "during each run other processes, including other runs of --jobs, used " : "other processes used ", fixed(noise_.others_cpu_s / noise_.window_s, 2), " of ", host_.cpus,
                              host_.cpus == 1 ? " processor" : " processors", " while runs were made (", fixed(noise_.others_cpu_s, 1), " s in ", fixed(noise_.window_s, 1), " s)"));
        if (host_.governor && *host_.governor != "performance")
            remarks.push_back(cat("the processor frequency changes with the load (governor ", *host_.governor, "); the governor `performance` keeps it fixed"));
    }

    circumstances in_;
    std::vector<series> series_;
    std::map<std::pair<std::string, end_class>, std::size_t> place_;
    host_facts host_;
    run_noise noise_;
};

} // namespace sb::run
