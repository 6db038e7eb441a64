// SPDX-License-Identifier: MIT
// What the command of --check gets of the run: a sealed copy of its output, and no HOME of it.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace sb::local {

/// Programs act on files in their HOME (jq reads one, Python runs one). The run that is to be checked could write there,
/// so a check does not get that HOME.
inline void hide_home(std::vector<std::string>& environment) {
    for (auto& each : environment)
        if (each.starts_with("HOME=")) each.insert(0, "SB_");
    environment.emplace_back("HOME=/");
}
/// A copy of a run's output, for a check to read. The check may start programs of the run, and these must not change the
/// output or what later checks see.
inline result<unique_fd> sealed_copy(int output) {
    constexpr unsigned no_exec = 8; // MFD_NOEXEC_SEAL, Linux 6.3
    unique_fd made{::memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING | no_exec)};
    if (!made && errno == EINVAL) {
        made = unique_fd{::memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
        if (made) (void)::fchmod(made.get(), 0444);
    }
    struct stat facts {};
    if (!made || ::fstat(output, &facts) != 0) return last_error("memfd_create", "for the output");
    for (off_t at = 0; at < facts.st_size;) {
        auto const n = retry([&] { return ::sendfile(made.get(), output, &at, static_cast<std::size_t>(facts.st_size - at)); });
        if (n < 0) return last_error("copy the output");
        if (n == 0) break;
    }
    if (::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) return last_error("seal the output");
    return made;
}

} // namespace sb::local
