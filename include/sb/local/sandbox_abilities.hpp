// SPDX-License-Identifier: MIT
// The limits that a sandbox can enforce here: by control groups, else by process namespaces, within the size of the machine.
#pragma once
#include <sb/cgroup/cgroup_host.hpp>
#include <sb/cgroup/cgroup_limits.hpp>
#include <sb/key/host.hpp>
#include <sb/machine/file_count.hpp>
#include <sb/process/payload_user.hpp>
#include <sb/process/task_limit_here.hpp>

namespace sb::local {

inline void learn_machine(key::host& can) {
    can.sandboxed = true;
    auto const size = cgroup::machine_size::read();
    can.memory_bytes = size.memory_bytes, can.pids = size.pids;
    can.files = machine::most_files_here(), can.mappings = machine::most_mappings_here();
}

inline void learn_groups(key::host& can, cgroup::cgroup_host const& groups, process::payload_user const& user) {
    using cgroup::controller;
    can.tree_memory = groups.has(controller::memory), can.why_no_memory = groups.why_not(controller::memory);
    can.tree_pids = groups.has(controller::pids), can.why_no_pids = groups.why_not(controller::pids);
    can.tree_cores = groups.has(controller::cpu), can.why_no_cores = groups.why_not(controller::cpu);
    can.tree_time = groups.has(controller::cpuacct);
    if (can.tree_pids) return;
    auto const limit = process::can_limit_tasks(user);
    can.numbered_pids = !limit.has_error();
    if (limit.has_error()) can.why_no_numbers = limit.error().what;
}

} // namespace sb::local
