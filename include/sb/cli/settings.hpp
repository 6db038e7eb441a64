// SPDX-License-Identifier: MIT
// The settings file as one object. JSON is read here; YAML is read by `sb-settings`, which prints it as JSON, so that
// no other tool carries a YAML parser or pays for one when there is no settings file.
#pragma once
#include <sb/cli/sibling_tool.hpp>
#include <sb/cli/trust.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/parse.hpp>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace sb::cli {

inline constexpr std::size_t most_bytes_of_settings = std::size_t{16} << 20;

/// Reads an open file of that name; an error names the file, the line and what is wrong. YAML goes to `sb-settings` as its
/// standard input, so that it reads the file that was opened here, whatever has the name by then.
inline result<object> read_settings(int fd, std::string const& path) {
    std::string text;
    if (path.ends_with(".json")) {
        auto read = read_all(fd, path, most_bytes_of_settings);
        if (read.has_error()) return error{read.error().on, cat("settings ", read.error().what)};
        text = std::move(*read);
    } else {
        auto const program = sibling_tool("sb-settings");
        if (program.empty()) return system_error(cat("settings ", path, ": needs sb-settings to read YAML, which is neither beside this tool nor in a folder of PATH outside the current one; install it beside this tool, or give a .json file"));
        int status = 0;
        auto printed = output_of(program, {"--env-file", "/dev/null", "--no-json-logs", "--json", "-"}, status, fd);
        if (printed.has_error())
            return system_error(cat("settings ", path, ": needs sb-settings to read YAML, which could not be run: ", printed.error().what));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            std::string_view what = trim(*printed);
            for (std::string_view const before : {"sb-settings: ", "standard input: "})
                if (what.starts_with(before)) what.remove_prefix(before.size());
            return error{WIFEXITED(status) && WEXITSTATUS(status) == 4 ? blame::system : blame::caller, cat("settings ", path, ": ", what)};
        }
        text = std::move(*printed);
    }
    auto document = json::parse_document(text, path);
    if (document.has_error()) return caller_error(cat("settings ", document.error().what));
    auto* const o = document->if_object();
    if (!o) return caller_error(cat("settings ", path, ": must be a map of names to values"));
    return std::move(*o);
}

/// The settings that are read when none are named: sandbench/settings.yaml or .json in the first of these folders that has one;
/// empty without one. An empty folder is none.
inline std::string usual_settings(std::vector<std::string> const& folders) {
    for (auto const& folder : folders)
        for (std::string_view const name : {"/sandbench/settings.yaml", "/sandbench/settings.json"})
            if (auto path = cat(folder, name); !folder.empty() && ::access(path.c_str(), F_OK) == 0) return path;
    return {};
}

} // namespace sb::cli
