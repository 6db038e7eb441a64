// SPDX-License-Identifier: MIT
// FILE_LIMIT: how large a single file may become.
#pragma once
#include <sb/key/definition.hpp>

namespace sb::key {

namespace detail {
inline outcome plan_file(bytes limit, host const&, setup& to) {
    to.file_bytes = limit.count;
    return holds(limit.count, "RLIMIT_FSIZE, each file");
}
inline constexpr end_rule file_ends[] = {
    {end_cause::file_size, end_class::disk, [](setup const& held) { return cat("a file grew to ", held.file_bytes, " bytes, and SIGXFSZ ended its writer"); }}};
} // namespace detail

inline constexpr definition file_limit{
    .name = "FILE_LIMIT", .in = unit::bytes, .least = 1, .most = 1024 * gi, .ladder = "64Ki 1Mi 16Mi 256Mi",
    .help = "maximum size of a single file",
    .note = "Not drawn for random presets.",
    .is_limit = true,
    .plan = typed<detail::plan_file>,
    .ends = detail::file_ends,
    .manual = {.how = "RLIMIT_FSIZE, each file",
               .reached = "SIGXFSZ: class `disk` if a file of that size is left, else `signalled`. In an `rw` binding or a copied workspace the run "
                          "must have made the file; on a file system that stores no time of creation no file counts. A program that ignores the signal "
                          "gets EFBIG and decides its own end"}};

} // namespace sb::key
