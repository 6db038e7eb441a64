// SPDX-License-Identifier: MIT
// OPEN_FILES_LIMIT: how many descriptors a process may have open, and how many files all processes of a run may keep.
#pragma once
#include <sb/key/definition.hpp>
#include <algorithm>

namespace sb::key {

inline constexpr integer default_open_files{1024};

namespace detail {
inline constexpr std::int64_t least_open_files = 64; ///< on every machine

inline outcome plan_open_files(integer limit, host const& here, setup& to) {
    // counting does not see files under way in sockets, and the kernel lets a user have as many of them as this limit
    auto const most = here.kept_files / 4;
    to.open_files = here.sandboxed && most > 0 ? std::min(limit.count, std::max(most, least_open_files)) : limit.count;
    auto const held = here.most_open_files == host::unlimited ? to.open_files : std::min(to.open_files, here.most_open_files);
    return holds(held, "RLIMIT_NOFILE, each process");
}
/// Files are counted if the processes of all concurrent runs could have more than their part of the machine's table. A
/// mapping may keep a closed file.
inline void finish_open_files(outcome& told, host const& here, setup& to) {
    if (!here.sandboxed || here.kept_files <= 0) return;
    auto const jobs = std::max(here.jobs, 1);
    auto const processes = std::max({to.tree_pids, to.numbered_pids, to.user_processes});
    auto const most_each = static_cast<double>(to.open_files + here.mappings);
    if (processes >= 0 && static_cast<double>(processes) * most_each * jobs <= static_cast<double>(here.kept_files)) return;
    to.all_files = here.kept_files, to.file_shares = jobs;
    told.more = cat("; counted, fewer than ", to.all_files, " for all runs together");
}
inline std::string too_many_files(setup const& held) {
    return cat("its processes together had too many of the ", held.all_files, " files that ",
               held.file_shares > 1 ? cat("the ", held.file_shares, " runs at a time") : std::string{"a run"}, " may have open here");
}
inline constexpr end_rule open_files_ends[] = {{end_cause::files, end_class::files, too_many_files}};
} // namespace detail

inline constexpr definition open_files_limit{
    .name = "OPEN_FILES_LIMIT", .in = unit::integer, .least = 3, .most = 1048576, .ladder = "16 32 64 256 1024",
    .help = "open file descriptors per process",
    .note = "Not drawn for random presets.",
    .is_limit = true,
    .plan = typed<detail::plan_open_files>,
    .by_default = [](host const& here, setup& to) { return here.limits ? std::optional{detail::plan_open_files(default_open_files, here, to)} : std::nullopt; },
    .finish = detail::finish_open_files,
    .ends = detail::open_files_ends,
    .manual = {.how = "RLIMIT_NOFILE, each process; default 1024; at most a fortieth of fs.file-max (but 64 at least). If all runs together could "
                       "keep more than a tenth of fs.file-max, their files are also counted",
               .reached = "open fails with EMFILE, and the program decides its own end; a run whose files are too many is killed: class `files`"}};

} // namespace sb::key
