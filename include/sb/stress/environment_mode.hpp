// SPDX-License-Identifier: MIT
// Environment variables for presets in general: the mode, and whether user_misuse may be drawn.
#pragma once
#include <sb/stress/overrides.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sb::stress {

/// Is it a variable that determines presets: a key that is more than a label, or one of our own few?
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

/// The only switch for user_misuse if nobody named it. It applies to random draws, to profiles laid over them, and to
/// suggestions for a module. It is on with SANDBOX_INCLUDE_USER_MISUSE=1, and in the modes canonical, chaos and robustness.
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
