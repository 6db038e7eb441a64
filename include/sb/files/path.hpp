// SPDX-License-Identifier: MIT
// Paths: which folder a path lies in, and where it really leads.
#pragma once
#include <sb/core/result.hpp>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace sb::files {

/// Is `path` this folder, or inside it? Compares only the names.
inline bool is_below(std::string_view path, std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || folder == "/" || path[folder.size()] == '/');
}

/// The path without links, "." and "..".
inline result<std::string> real_path(std::string const& path) {
    std::unique_ptr<char, decltype(&std::free)> const real{::realpath(path.c_str(), nullptr), &std::free};
    if (!real) return errno_error("find", path, errno);
    return std::string{real.get()};
}

} // namespace sb::files
