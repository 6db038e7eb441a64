// SPDX-License-Identifier: MIT
// Opens an input that the caller named. A FIFO may have no writer yet, or never get one: the tool waits and says so.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <cstddef>
#include <fcntl.h>
#include <functional>
#include <linux/magic.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace sb {

/// Called with the name of a FIFO that has had no writer for a second.
using wait_report = std::function<void(std::string const& path)>;

/// A FIFO that was made by name: to open it waits for a writer. The caller's own pipe by its name, as `<(COMMAND)` is, has one.
inline bool is_named_fifo(std::string const& path) {
    struct stat facts {};
    struct statfs system {};
    return ::stat(path.c_str(), &facts) == 0 && S_ISFIFO(facts.st_mode) && ::statfs(path.c_str(), &system) == 0 && system.f_type != PIPEFS_MAGIC;
}

/// For reading.
inline result<unique_fd> open_input(std::string const& path, wait_report const& waits = {}) {
    if (!is_named_fifo(path)) return open_file(path, O_RDONLY);
    SB_TRY(auto file, open_file(path, O_RDONLY | O_NONBLOCK)); // else this waits for a writer, and nobody hears why
    pollfd first{file.get(), POLLIN, 0};
    constexpr int patience_ms = 1000;
    if (retry([&] { return ::poll(&first, 1, waits ? patience_ms : -1); }) == 0) {
        waits(path);
        (void)retry([&] { return ::poll(&first, 1, -1); });
    }
    if (::fcntl(file.get(), F_SETFL, 0) != 0) return last_error("read", path);
    return file;
}

/// The whole of it; `limit` guards against a wrong path.
inline result<std::string> read_input(std::string const& path, wait_report const& waits = {}, std::size_t limit = std::size_t{64} << 20) {
    SB_TRY(auto const file, open_input(path, waits));
    return read_all(file.get(), path, limit);
}

} // namespace sb
