// SPDX-License-Identifier: MIT
// Facts about the machine that are in every record.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/record/run.hpp>
#include <cstdlib>
#include <sys/utsname.h>
#include <unistd.h>

namespace sb::run {

inline host_facts this_host() {
    host_facts facts;
    utsname name{};
    if (::uname(&name) == 0) facts.kernel = name.release;
    facts.cpus = machine::usable_cpus();
    bool const unified = ::access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    bool const hybrid = ::access("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0;
    bool const split = ::access("/sys/fs/cgroup/memory", F_OK) == 0 || ::access("/sys/fs/cgroup/cpu", F_OK) == 0;
    facts.cgroup = unified ? "v2" : split ? hybrid ? "hybrid" : "v1" : hybrid ? "hybrid" : "none";
    if (auto const governor = read_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); !governor.has_error())
        facts.governor = trim(*governor);
    if (double load[1]; ::getloadavg(load, 1) == 1) facts.load = load[0];
    return facts;
}

} // namespace sb::run
