// SPDX-License-Identifier: MIT
// Which level of each profile is requested.
#pragma once
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <map>
#include <string>
#include <string_view>

namespace sb::stress {

/// One level for all, or one for each named profile; empty if nothing was requested.
struct severity {
    std::string for_all;
    std::map<std::string, std::string, std::less<>> by_profile;

    /// "high", or "hostile_input=low,concurrency_spike=high", or both: "low,schema_drift=high".
    static result<severity> parse(std::string_view text) {
        severity s;
        std::string wrong;
        split(text, ',', [&](std::string_view part) {
            part = trim(part);
            auto const equals = part.find('=');
            auto const profile = trim(part.substr(0, equals));
            auto const level = equals == std::string_view::npos ? std::string_view{} : trim(part.substr(equals + 1));
            if (profile.empty() || (equals != std::string_view::npos && level.empty()))
                wrong = part.empty() ? "empty item between commas" : cat("\"", part, "\"");
            else if (equals != std::string_view::npos) {
                if (auto const [before, is_new] = s.by_profile.emplace(profile, level); !is_new && before->second != level)
                    wrong = cat("\"", part, "\" after \"", profile, "=", before->second, "\"");
            } else if (!s.for_all.empty()) wrong = cat("\"", part, "\" after \"", s.for_all, "\"");
            else s.for_all = profile;
        });
        if (!trim(text).empty() && !wrong.empty())
            return caller_error(cat("severity: ", wrong,
                "; write a level (low, high), or PROFILE=LEVEL with commas between"));
        return s;
    }
};

} // namespace sb::stress
