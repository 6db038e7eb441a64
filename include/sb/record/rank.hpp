// SPDX-License-Identifier: MIT
// A record: a row of a ranking.
#pragma once
#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace sb {

/// One row of a ranking.
struct rank_record {
    static constexpr auto kind = "rank";
    static constexpr int version = 1;
    std::string by; ///< scenario, preset, module, workload or severity
    std::string name;
    std::string metric;
    double total = 0;
    std::optional<double> mean, lo, hi; ///< 95 % interval of the mean; null where n is too small
    std::int64_t n = 0;
    std::optional<double> last_security_score;
    std::optional<double> effect; ///< mean minus the baseline's mean; null without a baseline
    std::optional<bool> tie; ///< another row has the same total, or mean where rows are ordered by it
    std::optional<bool> overlaps_next; ///< some total (or mean, as above) fits this row and the next; null where either has no interval
    std::optional<bool> overlaps_baseline; ///< some mean fits this row and the baseline; null likewise, and on the baseline
};
BOOST_DESCRIBE_STRUCT(rank_record, (),
                      (by, name, metric, total, mean, lo, hi, n, last_security_score, effect, tie, overlaps_next,
                       overlaps_baseline))

} // namespace sb
