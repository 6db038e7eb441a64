// SPDX-License-Identifier: MIT
// The result of a preset's keys: what must be set up for a run.
#pragma once
#include <sb/process/limits.hpp>

namespace sb::key {

struct setup : process::limits {
    int copies = 1; ///< copies that run at the same time
};

} // namespace sb::key
