// SPDX-License-Identifier: MIT
// One step of a forecast: what is expected, and how far off it may be.
#pragma once

namespace sb::stats {

/// The expected value, its standard error, and the ends of the interval at the confidence that was asked for.
struct forecast_point {
    double mean = 0, error = 0, lo = 0, hi = 0;
};

} // namespace sb::stats
