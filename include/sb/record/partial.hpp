// SPDX-License-Identifier: MIT
// A record: one machine's part of a row of a ranking, to be merged with those of others.
#pragma once
#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sb {

/// What one machine knows of a row of a ranking, without any rounding: states of the same row add up.
struct partial_record {
    static constexpr auto kind = "partial";
    static constexpr int version = 1;
    std::string by; ///< as in the rank record
    std::string name;
    std::string metric;
    std::int64_t n = 0;
    /// The exact sum of the values as [m, e] pairs: each stands for m * 2^e, |m| < 2^53.
    std::vector<std::vector<std::int64_t>> sum;
    std::vector<std::vector<std::int64_t>> squares; ///< the same of their squares
    std::optional<double> last_security_score; ///< of the last line, in the order of the input, that had one
};
BOOST_DESCRIBE_STRUCT(partial_record, (), (by, name, metric, n, sum, squares, last_security_score))

} // namespace sb
