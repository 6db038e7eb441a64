// SPDX-License-Identifier: MIT
// A record: one number of a history.
#pragma once
#include <boost/describe.hpp>
#include <map>
#include <optional>
#include <string>

namespace sb {

/// One measurement of a history: what a scenario, preset, module or workload was worth once. Of the names those are there that
/// the writer knows; the number is `roi`, `raroi` or `value`, one of `metrics`, or `value` under the name that `metric` says.
struct sample_record {
    static constexpr auto kind = "sample";
    static constexpr int version = 1;
    std::optional<std::string> scenario, preset_id, module, workload, severity;
    std::optional<std::string> arm; ///< off: without the result; such samples are compared, not ranked
    std::optional<double> roi, raroi;
    std::optional<std::string> metric; ///< whose number `value` is
    std::optional<double> value;
    std::optional<std::map<std::string, double>> metrics;
};
BOOST_DESCRIBE_STRUCT(sample_record, (), (scenario, preset_id, module, workload, severity, arm, roi, raroi, metric, value, metrics))

} // namespace sb
