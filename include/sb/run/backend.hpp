// SPDX-License-Identifier: MIT
// What a preset asks for, and what a backend makes of it: each key acts, cannot act here, or only names.
#pragma once
#include <sb/core/result.hpp>
#include <sb/isolate/limits.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/run.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sb::run {

/// A preset as it acts on a run.
struct enforcement {
    isolate::limits held;
    int copies = 1;
    std::map<std::string, std::string> variables; ///< that keys of the preset set for the workload
    std::vector<applied_key> applied;
    std::vector<unsupported_key> unsupported;
    std::vector<std::string> informational;
};

/// What the caller said on the command line: it wins over the preset.
struct overrides {
    std::optional<double> timeout_s;
};

/// A way to run things. Every key of the preset ends up in exactly one of `applied`, `unsupported`, `informational`.
struct backend {
    std::string name;
    std::vector<std::string> layers; ///< what it isolates
    std::string open; ///< one line: what it does not
    std::map<std::string, std::string> sources; ///< figure -> where it comes from, when that needs saying
    result<enforcement> (*enforce)(preset_record const&, overrides const&);
};

} // namespace sb::run
