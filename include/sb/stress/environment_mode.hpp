// SPDX-License-Identifier: MIT
// What the environment says of presets in general: the mode, and whether user_misuse may be drawn.
#pragma once
#include <sb/stress/overrides.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// Is that a variable which decides presets: a key that does more than label, or one of the few of our own?
inline bool is_variable(std::string_view name) {
    if (name.starts_with("SANDBOX_PRESET_") || name == "SANDBOX_INCLUDE_USER_MISUSE" || name == "SANDBOX_GENERATE_PRESETS" || name == "SANDBOX_ENV_PRESETS") return true;
    auto const* const k = key::find(name);
    return k && !k->labels();
}

/// SANDBOX_PRESET_MODE: random (the default), canonical, chaos or robustness.
inline result<std::string> preset_mode(lookup const& env) {
    constexpr std::string_view known = "random canonical chaos robustness";
    auto const mode = lowered(trim(env("SANDBOX_PRESET_MODE").value_or("random")));
    auto const words = key::words_of(known);
    if (std::find(words.begin(), words.end(), mode) != words.end()) return mode;
    return caller_error(cat("SANDBOX_PRESET_MODE: \"", mode, "\" is not one of ", key::listed(known)));
}

/// The one switch for user_misuse where nobody named it: random draws, profiles laid over them, suggestions for a
/// module. Open by SANDBOX_INCLUDE_USER_MISUSE=1, and in the modes canonical, chaos and robustness.
inline result<bool> misuse_allowed(lookup const& env) {
    SB_TRY(auto const mode, preset_mode(env));
    if (mode != "random") return true;
    auto const word = env("SANDBOX_INCLUDE_USER_MISUSE");
    if (!word) return false;
    auto const truth = key::truth_of_text(*word);
    if (!truth) return caller_error(cat("SANDBOX_INCLUDE_USER_MISUSE: \"", *word, "\" is neither yes nor no"));
    return *truth;
}

} // namespace sb::stress
