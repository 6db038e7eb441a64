// SPDX-License-Identifier: MIT
// Reads a file that somebody else may have put there. It opens regular files only, because opening another kind may wait for
// ever or act on a device.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <cstddef>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace sb {

/// The first `most_bytes` of what `place` (opened with O_PATH) stands for. `name` is for the error.
inline result<std::string> read_regular(int place, std::size_t most_bytes, std::string const& name) {
    struct stat facts {};
    if (::fstat(place, &facts) != 0) return last_error("stat", name);
    if (!S_ISREG(facts.st_mode)) return system_error(cat("read ", name, ": not a regular file"));
    // the very file that was looked at, whatever its name leads to by now; not waited for when somebody holds a lease on it
    SB_TRY(auto const file, open_file(cat("/proc/self/fd/", place), O_RDONLY | O_NONBLOCK | O_NOCTTY));
    std::string text(most_bytes, '\0');
    std::size_t size = 0;
    while (size < most_bytes) {
        auto const n = retry([&] { return ::read(file.get(), text.data() + size, most_bytes - size); });
        if (n < 0) return last_error("read", name);
        if (n == 0) break;
        size += static_cast<std::size_t>(n);
    }
    text.resize(size);
    return text;
}

/// The first `most_bytes` of a regular file; an error for what is none.
inline result<std::string> read_regular(std::string const& path, std::size_t most_bytes) {
    SB_TRY(auto const place, open_file(path, O_PATH));
    return read_regular(place.get(), most_bytes, path);
}

} // namespace sb
