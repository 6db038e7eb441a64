// SPDX-License-Identifier: MIT
// What keys must know about this machine and process to make their plans, and the limits that the watcher gets from a setup.
#pragma once
#include <sb/filter/levels.hpp>
#include <sb/key/list.hpp>
#include <sb/machine/cpus.hpp>
#include <sb/machine/file_count.hpp>
#include <sb/process/limits.hpp>
#include <sb/process/task_limit.hpp>
#include <cstdint>
#include <string_view>
#include <sys/resource.h>

namespace sb::local {

inline constexpr int default_level = filter::default_level;
static_assert(default_level == key::default_security_level.count && filter::lowest_level == static_cast<int>(key::security_level.least) &&
              filter::highest_level == static_cast<int>(key::security_level.most));

/// Adds what this process can find out by itself, at this moment.
inline key::host as_seen_here(key::host host) {
    auto const most = [](int resource) {
        rlimit now{};
        ::getrlimit(static_cast<__rlimit_resource>(resource), &now);
        return now.rlim_max == RLIM_INFINITY ? key::host::unlimited : static_cast<std::int64_t>(now.rlim_max);
    };
    host.cpus = machine::usable_cpus();
    host.most_open_files = most(RLIMIT_NOFILE), host.most_address_space = most(RLIMIT_AS);
    host.kept_files = host.files / machine::files_part;
    host.most_numbered = process::most_numbered, host.own_processes = process::resident_processes;
    host.level_name = [](std::int64_t level) { return std::string_view{filter::level_of(static_cast<int>(level)).name}; };
    host.files_of = [](std::int64_t bytes, std::int64_t memory) { return process::scratch_files(bytes, memory); };
    return host;
}

/// The watcher's limits, from a setup.
inline process::limits limits_of(key::setup const& s) { return s; }

} // namespace sb::local
