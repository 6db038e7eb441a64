// SPDX-License-Identifier: MIT
// The file that every run gets as its standard input (--stdin).
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/watch/input_file.hpp>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace sb::run {

/// Opens the file for the workload's standard input, before workers are forked. Each run reads it from the start, so it must
/// be a file that can be read again.
inline result<watch::input_file> find_input_file(std::string const& path) {
    if (path == "null" || path == watch::nothing_to_read) return watch::input_file{};
    auto const wrong = [&](std::string_view why) { return caller_error(cat("--stdin ", path, ": ", why)); };
    if (path == "-") return wrong("needs a file, because each run reads it from the beginning; standard input is for presets");
    auto const unfit = [&](struct stat const& facts) { return wrong(S_ISDIR(facts.st_mode) ? "is a folder" : "must be a file that can be read more than once"); };
    struct stat there {}; // a pipe has no path at which it could be opened again, and the error must say that it is a pipe
    if (::stat(path.c_str(), &there) == 0 && !watch::input_file::takes(there)) return unfit(there);
    auto file = watch::input_file::open(path);
    if (file.has_error()) return system_error(cat("--stdin: ", file.error().what));
    if (!watch::input_file::takes(file->facts())) return unfit(file->facts());
    if (::access(file->name().c_str(), R_OK) != 0) return last_error("--stdin: open", path);
    return file;
}

} // namespace sb::run
