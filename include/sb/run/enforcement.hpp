// SPDX-License-Identifier: MIT
// What a preset comes to on a host: each of its keys acts, cannot act here, or is only a name.
#pragma once
#include <sb/key/typed_preset.hpp>
#include <sb/record/run.hpp>
#include <sb/run/payload_environment.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sb::run {

/// A preset, as it takes effect on a run.
struct enforcement {
    key::setup setup;
    std::map<std::string, std::string> variables; ///< variables that keys of the preset set for the workload
    std::vector<applied_key> applied;
    std::vector<unsupported_key> unsupported;
    std::vector<std::string> informational;
    std::vector<std::string> lowered; ///< limits beyond this machine, and what is enforced instead
    std::vector<std::string> loose; ///< limits that are not enforced here, or only for single processes; each with its reason
};

/// What the caller set on the command line: it wins over the preset.
struct overrides {
    std::optional<double> timeout_s;
};

} // namespace sb::run
