// SPDX-License-Identifier: MIT
// Pairs the values of two columns line by line.
#pragma once
#include <sb/analysis/column.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace sb::analysis {

struct column_pairs {
    std::vector<column> two; ///< as many values each; the n-th of both are of one line
    std::int64_t one_sided = 0; ///< lines on which only one column has a number; both leave them out
};

namespace detail {

/// Walks over the values of a column and knows the line of each.
class line_walk {
public:
    explicit line_walk(column const& over) noexcept : column_{over} { pass_holes(); }
    std::size_t line() const noexcept { return at_ < column_.values.size() ? at_ + hole_ : std::numeric_limits<std::size_t>::max(); } ///< behind all others at the end
    double value() const noexcept { return column_.values[at_]; }
    void next() noexcept { ++at_, pass_holes(); }

private:
    void pass_holes() noexcept {
        while (hole_ < column_.holes.size() && column_.holes[hole_] == at_ + hole_) ++hole_;
    }
    column const& column_;
    std::size_t at_ = 0, hole_ = 0;
};

} // namespace detail

/// Columns of different lengths are an error, which begins with `who`.
inline result<column_pairs> in_pairs(column const& first, column const& second, std::string_view who) {
    if (first.lines() != second.lines()) {
        auto const as_many = first.values.size() == second.values.size();
        return caller_error(cat(who, ": the samples have ", first.lines(), " and ", second.lines(), " lines", as_many ? cat(", though ", first.values.size(), " numbers each; pairs are formed by line") : ""));
    }
    column_pairs pairs;
    pairs.two = {{first.name}, {second.name}};
    for (detail::line_walk a{first}, b{second};;) {
        auto const line = std::min(a.line(), b.line());
        if (line == std::numeric_limits<std::size_t>::max()) return pairs;
        bool const of_first = a.line() == line, of_second = b.line() == line;
        if (of_first && of_second) pairs.two[0].values.push_back(a.value()), pairs.two[1].values.push_back(b.value());
        else ++pairs.one_sided;
        if (of_first) a.next();
        if (of_second) b.next();
    }
}

} // namespace sb::analysis
