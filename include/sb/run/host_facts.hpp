// SPDX-License-Identifier: MIT
// Facts about the machine that are in every record.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/record/run.hpp>
#include <cstdlib>
#include <string>
#include <sys/utsname.h>
#include <unistd.h>

namespace sb::run {

/// `sys`: where the kernel's /sys is mounted.
inline host_facts this_host(std::string const& sys = "/sys") {
    host_facts facts;
    utsname name{};
    if (::uname(&name) == 0) facts.kernel = name.release;
    facts.cpus = machine::usable_cpus();
    auto const has = [&](char const* entry) { return ::access(cat(sys, "/fs/cgroup/", std::string_view{entry}).c_str(), F_OK) == 0; };
    bool const unified = has("cgroup.controllers"), hybrid = has("unified/cgroup.controllers"), split = has("memory") || has("cpu");
    facts.cgroup = unified ? "v2" : split ? hybrid ? "hybrid" : "v1" : hybrid ? "hybrid" : "none";
    if (auto const governor = read_file(sys + "/devices/system/cpu/cpu0/cpufreq/scaling_governor"); !governor.has_error())
        facts.governor = trim(*governor);
    if (double load[1]; ::getloadavg(load, 1) == 1) facts.load = load[0];
    return facts;
}

} // namespace sb::run
