// SPDX-License-Identifier: MIT
// Opens, makes and lists folders by descriptor: a name is resolved in one folder, and no link is followed.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace sb::files {

/// Follows no link. Empty when it is not a folder that we may read; errno then has the reason.
inline unique_fd open_folder(int at, char const* name) {
    return unique_fd{::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
}

/// A place for other calls (O_PATH); `resolve` says where the way to it may not lead (RESOLVE_…). Empty where it cannot be
/// opened; errno then has the reason.
inline unique_fd place_at(int at, char const* path, std::uint64_t resolve, int flags = 0) {
    constexpr int most_attempts = 100; // when something is renamed meanwhile
    struct open_how how {};
    how.flags = static_cast<unsigned>(O_PATH | O_CLOEXEC | flags), how.resolve = resolve;
    for (int attempt = 0;; ++attempt) {
        unique_fd found{static_cast<int>(::syscall(SYS_openat2, at, path, &how, sizeof how))};
        if (found || errno != EAGAIN || attempt >= most_attempts) return found;
    }
}

/// Opens a folder whose mode keeps even its owner out, after changing that mode. Works by descriptor, because the name may
/// be a link by now.
inline unique_fd unlock_folder(int at, char const* name) {
    unique_fd const place{::openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!place || ::chmod(cat("/proc/self/fd/", place.get()).c_str(), 0700) != 0) return unique_fd{};
    return open_folder(place.get(), ".");
}

/// Makes a new folder and opens it. Only the name in `at` is resolved, whatever path leads to it by now; `called` is its
/// name in an error.
inline result<unique_fd> make_folder(int at, std::string const& name, std::string_view called) {
    if (::mkdirat(at, name.c_str(), 0700) != 0) return last_error("make folder", cat(called, "/", name));
    auto made = open_folder(at, name.c_str());
    if (!made) return last_error("open", cat(called, "/", name));
    return made;
}
/// The same for a new file in an open folder.
inline result<unique_fd> make_file(int at, std::string const& name, std::string_view called) {
    unique_fd made{::openat(at, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!made) return last_error("make", cat(called, "/", name));
    return made;
}

/// Names in a folder (`called` in an error), without "." and "..". All of them or an error: a folder that cannot be listed
/// is not an empty one. Reads through a descriptor of its own, so that no position is shared.
inline result<std::vector<std::string>> names_in(int folder, std::string_view called = {}) {
    auto again = open_folder(folder, ".");
    std::unique_ptr<DIR, int (*)(DIR*)> const entries{again ? ::fdopendir(again.get()) : nullptr, &::closedir};
    if (!entries) return last_error("list", called);
    (void)again.release(); // closedir closes it
    std::vector<std::string> names;
    for (;;) {
        errno = 0; // only this tells the end from a failure
        auto const* const entry = ::readdir(entries.get());
        if (!entry && errno != 0) return last_error("list", called);
        if (!entry) return names;
        std::string_view const name{entry->d_name};
        if (name != "." && name != "..") names.emplace_back(name);
    }
}

} // namespace sb::files
