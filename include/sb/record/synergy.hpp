// SPDX-License-Identifier: MIT
// A record: what several parts do together.
#pragma once
#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>

namespace sb {

/// What several do together beyond what is expected of each alone. Names of metrics may have the prefix `synergy_` or lack it.
struct synergy_record {
    static constexpr auto kind = "synergy";
    static constexpr int version = 1;
    std::optional<std::string> scenario, preset_id, module, workload, severity;
    std::optional<double> roi, synergy_roi;
    std::optional<std::string> metric; ///< whose number `value` is
    std::optional<double> value;
    std::optional<std::map<std::string, double>> metrics;
};
BOOST_DESCRIBE_STRUCT(synergy_record, (), (scenario, preset_id, module, workload, severity, roi, synergy_roi, metric, value, metrics))

} // namespace sb
