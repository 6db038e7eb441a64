// SPDX-License-Identifier: MIT
// A record: what a treatment changed.
#pragma once
#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>

namespace sb {

/// What a treatment changed: numbers as in a sample, each the mean with it less the mean without.
struct delta_record {
    static constexpr auto kind = "delta";
    static constexpr int version = 1;
    std::optional<std::string> scenario, preset_id, module, workload, severity;
    std::optional<double> roi, raroi;
    std::optional<double> roi_delta, raroi_delta; ///< under the names that the predecessor gave them
    std::optional<std::string> metric; ///< whose number `value` is
    std::optional<double> value;
    std::optional<std::map<std::string, double>> metrics;
};
BOOST_DESCRIBE_STRUCT(delta_record, (), (scenario, preset_id, module, workload, severity, roi, raroi, roi_delta, raroi_delta, metric, value, metrics))

} // namespace sb
