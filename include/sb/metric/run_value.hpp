// SPDX-License-Identifier: MIT
// The value and the cost of a run (docs/design.md §2).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace sb::metric {

/// The weight of each term. Terms that do not apply to a run are left out, and the others are scaled up to 1.
struct value_weights {
    double success = 4; ///< it ended ok; this matters most
    double output = 4; ///< its output was found right
    double time = 1; ///< the share of the budget that it left
    double memory = 1; ///< the share of the limit that it left
};

/// The price of each resource, in the unit of value; 0 unless set.
struct prices {
    double cpu_s = 0, gib_s = 0, gib_out = 0;
};

struct run_facts {
    bool success = false;
    double share_ok = -1; ///< of several copies, those that ended ok; below 0: all or none, as `success` says
    std::optional<bool> output_right = {}; ///< null: nobody looked
    double wall_s = 0;
    std::optional<double> budget_s = {}; ///< null: no budget was given
    std::optional<double> peak_rss_bytes = {}, memory_limit_bytes = {};
    std::optional<double> cpu_s = {}, bytes_out = {};
};

/// In [0, 1]; null if no term that applies has a weight. Time and memory count only for a run that succeeded: to die early saves
/// nothing. Of several copies only one output was checked, so it stands for all that ended ok.
inline std::optional<double> value_of(run_facts const& run, value_weights const& weights = {}) noexcept {
    double worth = 0, whole = 0;
    auto const term = [&](double weight, double share) {
        worth += weight * std::clamp(share, 0.0, 1.0);
        whole += weight;
    };
    bool const several = run.share_ok >= 0;
    term(weights.success, several ? run.share_ok : run.success ? 1 : 0);
    if (run.output_right) term(weights.output, !*run.output_right ? 0 : several ? run.share_ok : 1);
    if (run.success && run.budget_s && *run.budget_s > 0) term(weights.time, 1 - run.wall_s / *run.budget_s);
    if (run.success && run.peak_rss_bytes && run.memory_limit_bytes && *run.memory_limit_bytes > 0)
        term(weights.memory, 1 - *run.peak_rss_bytes / *run.memory_limit_bytes);
    if (whole <= 0) return std::nullopt;
    return worth / whole;
}

/// The sum of price times resource; a resource that was not measured costs nothing.
inline double cost_of(run_facts const& run, prices const& each) noexcept {
    constexpr double gib = 1024.0 * 1024 * 1024;
    return each.cpu_s * run.cpu_s.value_or(0) + each.gib_s * run.peak_rss_bytes.value_or(0) / gib * run.wall_s +
           each.gib_out * run.bytes_out.value_or(0) / gib;
}

} // namespace sb::metric
