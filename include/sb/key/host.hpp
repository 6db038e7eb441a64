// SPDX-License-Identifier: MIT
// What a machine and a backend can do, as far as a key must know it to make its plan.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sb::key {

struct host {
    static constexpr std::int64_t unlimited = -1;

    bool limits = true; ///< any limit at all beyond the clock and the pipes
    bool sandboxed = false; ///< a sandbox: namespaces, a root of its own, a filter
    bool tree_memory = false, tree_pids = false, tree_cores = false, tree_time = false; ///< control groups
    bool numbered_pids = false; ///< if no group counts processes, namespaces can
    std::string why_no_memory = {}, why_no_pids = {}, why_no_cores = {}, why_no_numbers = {};
    std::int64_t memory_bytes = 0, pids = 0; ///< of the machine; 0 is unknown
    std::int64_t files = 0, mappings = 0; ///< entries of its file table; mappings of a process; 0 is unknown
    int jobs = 1; ///< concurrent runs that share it

    // facts about the backend and the planning process
    int cpus = 1; ///< processors that a run may use
    std::int64_t most_open_files = unlimited, most_address_space = unlimited; ///< the most that a process may be given
    std::int64_t kept_files = 0; ///< files of the machine's table that all runs together may keep; 0 is unknown
    std::int64_t most_numbered = 0; ///< the largest limit that namespaces enforce
    std::int64_t own_processes = 0; ///< processes of the sandbox, which the kernel counts with the payload's
    std::string_view (*level_name)(std::int64_t) = nullptr; ///< the name of a security level
    /// Files that a workspace of so many bytes may have under that memory limit of the tree (negative: none).
    std::int64_t (*files_of)(std::int64_t workspace_bytes, std::int64_t tree_memory_bytes) = nullptr;

    /// Is there a control group for a run, whatever it limits or counts?
    bool holds_trees() const noexcept { return tree_memory || tree_pids || tree_cores || tree_time; }
};

} // namespace sb::key
