// SPDX-License-Identifier: MIT
// The contract of a backend: what it makes of a preset (each key acts, cannot act here, or only names), and lanes that run it.
#pragma once
#include <sb/core/result.hpp>
#include <sb/key/preset_amounts.hpp>
#include <sb/record/preset.hpp>
#include <sb/record/run.hpp>
#include <sb/run/payload_environment.hpp>
#include <sb/run/lane.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sb::run {

/// A preset as it acts on a run.
struct enforcement {
    key::setup setup;
    std::map<std::string, std::string> variables; ///< that keys of the preset set for the workload
    std::vector<applied_key> applied;
    std::vector<unsupported_key> unsupported;
    std::vector<std::string> informational;
    std::vector<std::string> lowered; ///< limits beyond this machine, and what is held instead
    std::vector<std::string> loose; ///< limits that do not hold here, or for single processes only; each with its reason
};

/// What the caller said on the command line: it wins over the preset.
struct overrides {
    std::optional<double> timeout_s;
};

/// What a backend is, for records and for people.
struct backend_facts {
    std::string name;
    std::vector<std::string> layers; ///< what it isolates
    std::string exposed; ///< one line: what it does not; empty: nothing
    std::map<std::string, std::string> sources; ///< figure -> where it comes from, when that needs saying
};

using lanes = std::vector<std::unique_ptr<lane>>;

/// A way to run things.
class backend {
public:
    virtual ~backend() = default;
    virtual backend_facts const& facts() const = 0;
    /// Every key of the preset ends up in exactly one of `applied`, `unsupported`, `informational`.
    virtual result<enforcement> plan(key::preset const& preset, overrides const& wins) const = 0;
    /// How a workload's files are looked at from here.
    virtual sight seen() const { return {}; }
    /// Lanes for so many runs at a time. They end before `close`.
    virtual result<lanes> open(int jobs) = 0;
    /// The folder that holds what lanes kept, which is then the caller's; empty: there is none.
    virtual std::string leave_kept() { return {}; }
    /// Ends all that its lanes started and left, and gives back what it took of the host.
    virtual void close() {}
};

} // namespace sb::run
