// SPDX-License-Identifier: MIT
// A test's answer as a record: statistic and p, or the reason why there is none.
#pragma once
#include <sb/analysis/column.hpp>
#include <sb/core/value.hpp>
#include <sb/record/test.hpp>
#include <sb/stats/answer.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sb::analysis {

using columns = std::vector<column>;
using answers = std::vector<test_record>;

inline test_record begun(std::string test, std::size_t n) {
    test_record r;
    r.test = std::move(test), r.n = static_cast<std::int64_t>(n);
    return r;
}

/// Statistic and p, or the reason.
template <class Answer>
void settle(test_record& r, Answer const& answer, double statistic) {
    if (answer) r.statistic = statistic, r.p = answer.p;
    else r.reason = stats::name_of(answer.why);
}

inline value finite_or_null(double x) { return std::isfinite(x) ? value(x) : value(); }

} // namespace sb::analysis
