// SPDX-License-Identifier: MIT
// The environment, and beneath it a file of variables that the caller named.
#pragma once
#include <sb/cli/trust.hpp>
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sb::cli {

inline constexpr std::size_t most_bytes_of_variables = std::size_t{1} << 20;

struct file_variable {
    std::string value;
    std::int64_t line = 0;
};

/// One NAME=VALUE per line; `export` and quotes are allowed. Lines in any other form are for other programs and are skipped.
inline std::map<std::string, file_variable> read_variables(std::string_view text) {
    std::map<std::string, file_variable> variables;
    std::int64_t number = 0;
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF"; // as some editors begin a file with
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    split(text, '\n', [&](std::string_view line) {
        ++number;
        line = trim(line);
        if (line.starts_with("export ")) line = trim(line.substr(7));
        auto const equals = line.find('=');
        if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) return;
        auto const name = trim(line.substr(0, equals));
        auto value = trim(line.substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        variables[std::string{name}] = {std::string{value}, number};
    });
    return variables;
}

/// Looks names up: the process's environment first, then the file that was named. An empty variable counts as unset.
class environment {
public:
    struct found {
        std::string value;
        bool from_file = false;
    };
    result<void> read_file(std::string const& path) {
        SB_TRY(auto const file, open_regular(path, true));
        SB_TRY(auto const text, read_all(file.fd.get(), path, most_bytes_of_variables));
        file_ = read_variables(text), file_name_ = path;
        return {};
    }
    /// The file's; empty without one.
    std::string const& file_name() const noexcept { return file_name_; }
    std::optional<found> find(std::string const& name) const {
        if (char const* const set = std::getenv(name.c_str()); set && *set) return found{set, false};
        if (auto const at = file_.find(name); at != file_.end() && !at->second.value.empty()) return found{at->second.value, true};
        return std::nullopt;
    }
    std::string value_or(std::string const& name, std::string otherwise) const {
        auto const variable = find(name);
        return variable ? variable->value : std::move(otherwise);
    }
    /// A folder by its variable: a relative path counts as none, as the XDG rules have it.
    std::string folder(std::string const& name) const {
        auto const variable = find(name);
        return variable && variable->value.starts_with('/') ? variable->value : std::string{};
    }

private:
    std::map<std::string, file_variable> file_;
    std::string file_name_;
};

} // namespace sb::cli
