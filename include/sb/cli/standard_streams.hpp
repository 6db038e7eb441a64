// SPDX-License-Identifier: MIT
// Puts the null device in place of a standard stream that is closed.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>

namespace sb::cli {

/// A closed 0, 1 or 2 would be handed to the next file opened: the null device takes its place, so that reading finds the end
/// and writing fails as it should. True if standard input was closed.
inline bool open_missing_descriptors() {
    bool in_closed = false;
    for (int fd = 0; fd < 3; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) continue;
        if (fd == 0) in_closed = true;
        if (::open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0) break;
    }
    return in_closed;
}
inline bool is_null_device(int fd) {
    struct stat given {}, null {};
    return ::fstat(fd, &given) == 0 && ::stat("/dev/null", &null) == 0 && S_ISCHR(given.st_mode) && given.st_rdev == null.st_rdev;
}

} // namespace sb::cli
