// SPDX-License-Identifier: MIT
// How bad an end is, to choose the worst of several.
#pragma once
#include <sb/record/run.hpp>
#include <algorithm>
#include <iterator>

namespace sb::run {

/// 0 for ok; a larger number is worse.
inline int badness(end_class c) noexcept {
    constexpr end_class order[] = {end_class::ok,   end_class::failed, end_class::signalled, end_class::output, end_class::disk,
                                   end_class::files, end_class::pids, end_class::memory, end_class::timeout, end_class::refused, end_class::setup};
    return static_cast<int>(std::find(std::begin(order), std::end(order), c) - std::begin(order));
}

} // namespace sb::run
