// SPDX-License-Identifier: MIT
// The environment of a workload.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <sb/json/write.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sb::run {

using variables = std::map<std::string, std::string>;

inline constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

/// The variables that are copied from the caller's environment: where programs are, which language, which user. No token, no
/// proxy, no library path.
inline bool is_passed_on(std::string_view name) noexcept {
    for (std::string_view const each : {"PATH", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "USER", "LOGNAME", "SHELL"})
        if (name == each) return true;
    // not every name that begins with LC_: ssh forwards such names, and people use them for other things
    for (std::string_view const each : {"ALL", "CTYPE", "NUMERIC", "TIME", "COLLATE", "MONETARY", "MESSAGES", "PAPER", "NAME", "ADDRESS", "TELEPHONE", "MEASUREMENT", "IDENTIFICATION"})
        if (name.starts_with("LC_") && name.substr(3) == each) return true;
    return false;
}

/// The variables of `caller` (NAME=VALUE, ended by null) that the list above allows; PATH is always present.
inline variables passed_on(char const* const* caller) {
    variables kept;
    for (; caller && *caller; ++caller) {
        std::string_view const entry{*caller};
        auto const equals = entry.find('=');
        if (equals != std::string_view::npos && is_passed_on(entry.substr(0, equals)))
            kept[std::string{entry.substr(0, equals)}] = entry.substr(equals + 1);
    }
    kept.try_emplace("PATH", default_path);
    return kept;
}

/// `NAME=VALUE`, or `NAME` for the caller's value of it.
inline result<void> add_variable(variables& to, std::string_view text) {
    auto const equals = text.find('=');
    std::string const name{text.substr(0, equals)};
    if (name.empty()) return caller_error(cat("--env \"", text, "\": write NAME or NAME=VALUE"));
    if (equals != std::string_view::npos) {
        to[name] = text.substr(equals + 1);
        return {};
    }
    char const* const here = std::getenv(name.c_str());
    if (!here) return caller_error(cat("--env ", name, ": the variable is not set here; write ", name, "=VALUE"));
    to[name] = here;
    return {};
}

/// A preset's value as a variable: text unchanged, an array of words separated by commas, the rest as JSON.
inline std::string variable_text(value const& v) {
    if (auto const* s = v.if_string()) return std::string{*s};
    if (v.is_null()) return {};
    if (auto const* list = v.if_array()) {
        std::string joined;
        bool words = true;
        for (auto const& each : *list) {
            words = words && each.if_string();
            joined += cat(joined.empty() ? "" : ",", string_or(each, {}));
        }
        if (words) return joined;
    }
    return json::text_of(v);
}

/// NAME=VALUE for each, sorted by name. A value that contains a NUL ends there, as in C.
inline std::vector<std::string> as_strings(variables const& given) {
    std::vector<std::string> out;
    out.reserve(given.size() + 2);
    for (auto const& [name, text] : given) out.push_back(cat(name, "=", text.c_str()));
    return out;
}

} // namespace sb::run
