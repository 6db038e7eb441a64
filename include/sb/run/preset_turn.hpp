// SPDX-License-Identifier: MIT
// Several preset files are used in turn; which is next is kept in the data folder.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/files/own_folder.hpp>
#include <charconv>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>

namespace sb::run {

/// The number of this use of several preset files, counted in `folder`, so that they are used in turn.
inline result<std::uint64_t> next_turn(std::string const& folder) {
    SB_TRY(auto const in, files::own_folder::make(folder, files::for_data));
    auto const path = in.path() + "/preset-turn";
    unique_fd const file{::openat(in.fd(), "preset-turn", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)};
    if (!file) return last_error("open", path);
    struct stat facts {}; // others may have put something into a sticky folder
    if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() || facts.st_nlink != 1) return system_error(cat(path, ": is not a regular file of this user with one link; remove it"));
    if (retry([&] { return ::flock(file.get(), LOCK_EX); }) != 0) return last_error("lock", path);
    char text[24]{};
    auto const n = retry([&] { return ::pread(file.get(), text, sizeof text - 1, 0); });
    if (n < 0) return last_error("read", path);
    std::uint64_t turn = 0;
    std::from_chars(text, text + n, turn);
    if (::lseek(file.get(), 0, SEEK_SET) != 0) return last_error("seek in", path);
    SB_CHECK(write_all(file.get(), cat(turn + 1, "\n"), path));
    return turn;
}

} // namespace sb::run
