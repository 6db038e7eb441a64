// SPDX-License-Identifier: MIT
// An environment that a test makes up.
#pragma once
#include <sb/stress/preset_source.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sb::test {

inline stress::lookup lookup_in(std::map<std::string, std::string> variables) {
    return [all = std::move(variables)](std::string const& name) -> std::optional<std::string> {
        auto const at = all.find(name);
        return at == all.end() ? std::nullopt : std::optional{at->second};
    };
}

} // namespace sb::test
