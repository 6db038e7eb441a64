// SPDX-License-Identifier: MIT
// The contract of a backend: what it does with a preset, and the lanes that run it. CONTRIBUTING.md says how to add one.
#pragma once
#include <sb/core/result.hpp>
#include <sb/key/typed_preset.hpp>
#include <sb/run/enforcement.hpp>
#include <sb/run/find_program.hpp>
#include <sb/run/lane.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sb::run {

/// Description of a backend, for records and for people.
struct backend_facts {
    std::string name;
    std::vector<std::string> layers; ///< what it isolates
    std::string exposed; ///< one line: what it does not isolate; empty: nothing
    std::map<std::string, std::string> sources; ///< figure -> where it comes from, if that needs an explanation
};

using lanes = std::vector<std::unique_ptr<lane>>;

/// A way to run things.
class backend {
public:
    virtual ~backend() = default;
    virtual backend_facts const& facts() const = 0;
    /// Every key of the preset ends up in exactly one of `applied`, `unsupported`, `informational`.
    virtual result<enforcement> plan(key::preset const& preset, overrides const& wins) const = 0;
    /// How this backend looks at a workload's files.
    virtual sight seen() const { return {}; }
    /// Opens lanes for so many concurrent runs. They end before `close`.
    virtual result<lanes> open(int jobs) = 0;
    /// The folder with what the lanes kept, which then belongs to the caller; empty: there is none.
    virtual std::string leave_kept() { return {}; }
    /// Ends all that its lanes started and left, and gives back what it used of the host.
    virtual void close() {}
};

} // namespace sb::run
