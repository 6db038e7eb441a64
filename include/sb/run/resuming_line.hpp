// SPDX-License-Identifier: MIT
// The command line that goes on where a session was interrupted.
#pragma once
#include <sb/core/text.hpp>
#include <sb/run/command_line.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sb::run {

namespace detail {
/// Path of the regular file at a descriptor, relative to this folder if that is shorter; empty if it is not a regular file.
inline std::string file_at(int fd) {
    struct stat facts {};
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
    char path[4096], here[4096];
    auto const n = ::readlink(cat("/proc/self/fd/", fd).c_str(), path, sizeof path);
    if (n <= 0) return {};
    std::string_view const file{path, static_cast<std::size_t>(n)};
    if (::getcwd(here, sizeof here))
        if (auto const folder = cat(std::string_view{here}, "/"); file.starts_with(folder)) return std::string{file.substr(folder.size())};
    return std::string{file};
}
} // namespace detail

/// The command line that makes the runs which this one did not make: the same line with --resume, and with the files it read
/// and wrote. A line that is too long to be read is cut.
inline std::string resuming_line(int argc, char const* const* argv) {
    auto const in = detail::file_at(0), out = detail::file_at(1);
    bool const piped = [] {
        struct stat facts {};
        return ::fstat(0, &facts) == 0 && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
    }();
    std::string resumed = out, rest;
    for (int i = 1; i < argc; ++i) {
        std::string_view const word{argv[i]};
        if (word == "--") {
            for (; i < argc; ++i) rest += " " + typed_word(argv[i]);
        } else if (word == "--resume" && i + 1 < argc) {
            ++i;
            if (resumed.empty()) resumed = argv[i];
        } else if (word.starts_with("--resume=")) {
            if (resumed.empty()) resumed = word.substr(9);
        } else {
            rest += " " + typed_word(word);
        }
    }
    constexpr std::size_t most_shown = 4000;
    if (rest.size() > most_shown) rest = " … (the same options and command)";
    auto line = cat(piped ? "… | " : "", "sb-exec --resume ", resumed.empty() ? std::string{"FILE"} : typed_word(resumed), rest);
    if (!in.empty()) line += " < " + typed_word(in);
    if (!out.empty()) line += " >> " + typed_word(out);
    return line;
}

} // namespace sb::run
