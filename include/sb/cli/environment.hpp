// SPDX-License-Identifier: MIT
// The environment, and the .env file of the current folder beneath it.
#pragma once
#include <sb/core/fd.hpp>
#include <sb/core/text.hpp>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sb::cli {

/// Looks names up: the process's environment first, then `.env`. An empty variable counts as unset.
class environment {
public:
    struct found {
        std::string value;
        bool from_file = false;
    };
    /// Without a file there is nothing to read and nothing is said.
    void read_file(std::string const& path) {
        auto const text = sb::read_file(path, std::size_t{1} << 20);
        if (text.has_error()) return;
        std::string_view all{*text};
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF"; // as some editors begin a file with
        if (all.starts_with(byte_order_mark)) all.remove_prefix(byte_order_mark.size());
        split(all, '\n', [&](std::string_view line) { read_line(trim(line)); });
    }
    std::optional<found> find(std::string const& name) const {
        if (char const* const set = std::getenv(name.c_str()); set && *set) return found{set, false};
        if (auto const at = file_.find(name); at != file_.end() && !at->second.empty()) return found{at->second, true};
        return std::nullopt;
    }
    std::string value_or(std::string const& name, std::string otherwise) const {
        auto const got = find(name);
        return got ? got->value : std::move(otherwise);
    }

private:
    /// NAME=VALUE, `export` and quotes allowed. The file may serve other programs too: what has another form is theirs.
    void read_line(std::string_view line) {
        if (line.starts_with("export ")) line = trim(line.substr(7));
        auto const equals = line.find('=');
        if (line.starts_with('#') || equals == std::string_view::npos || equals == 0) return;
        auto const name = trim(line.substr(0, equals));
        auto value = trim(line.substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        file_[std::string{name}] = std::string{value};
    }
    std::map<std::string, std::string> file_;
};

} // namespace sb::cli
