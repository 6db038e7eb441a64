// SPDX-License-Identifier: MIT
// Command lines as a person would type them.
#pragma once
#include <sb/core/printable.hpp>
#include <sb/core/text.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sb::run {

/// One word, quoted if the shell would split it.
inline std::string shell_word(std::string_view word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%^";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string{word};
    std::string quoted = "'";
    for (char const c : word) quoted += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
    return quoted + "'";
}

/// The same for a line that a terminal shows: characters that a terminal would act on become $'\xNN', which bash, zsh and
/// ksh read.
inline std::string typed_word(std::string_view word) {
    if (printable(word) == word) return shell_word(word);
    std::string quoted = "$'";
    for (char const c : printable(word, true)) quoted += c == '\'' ? std::string{"\\'"} : std::string(1, c);
    return quoted + "'";
}

inline std::string shell_text(std::vector<std::string> const& words) {
    return joined(words, " ", shell_word);
}

} // namespace sb::run
