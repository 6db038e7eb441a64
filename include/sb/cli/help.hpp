// SPDX-License-Identifier: MIT
// A tool's declaration as the text of --help.
#pragma once
#include <sb/cli/declaration.hpp>
#include <sb/cli/terminal.hpp>
#include <sb/core/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cli {

struct exit_meaning {
    std::string_view code, text;
};
inline constexpr exit_meaning exit_table[] = {
    {"0", "it ran"},
    {"1", "the answer is no"},
    {"2", "usage error"},
    {"3", "bad input line"},
    {"4", "the system refused"},
    {"130, 143", "interrupted; cleaned up"},
};

/// Help, with the verbs that it is for.
inline std::string own_help(option const& o) { return o.verbs.empty() ? o.help : cat(joined(o.verbs, ", "), ": ", o.help); }

/// Help with what a person needs beside it: the words, the default, the environment name.
inline std::string full_help(option const& o) {
    std::string text = own_help(o);
    if (!o.words.empty()) text += cat(" (", joined(o.words, ", "), ")");
    if (!o.is_switch() && !o.default_text.empty()) text += cat(" [", o.default_text, "]");
    if (!o.environment_names.empty()) text += cat(" [$", joined(o.environment_names, ", $"), "]");
    return text;
}

/// What a file may set that was only found in the current folder: the names, with commas between.
inline std::string harmless_text(declaration const& d) {
    std::string text;
    for (auto const& o : d.options)
        if (o.is_harmless) text += cat(text.empty() ? "" : ", ", o.section_key(), o.harmless_words.empty() ? "" : cat(" (", joined(o.harmless_words, ", "), ")"));
    for (auto const& each : d.sections) text += cat(", ", each);
    return text;
}

inline std::string usage_line(declaration const& d) {
    return cat("usage: ", d.name, " [OPTION…]", d.operands.empty() ? "" : " ", d.operands);
}

inline std::string help_text(declaration const& d, std::size_t wide) {
    constexpr std::size_t indent = 26;
    std::string out = cat(d.name, " - ", d.summary, "\n\n", usage_line(d), "\n");
    if (!d.operands_help.empty()) out += cat("  ", wrapped(d.operands_help, 2, wide), "\n");
    if (!d.reads.empty()) out += cat("reads:  ", joined(d.reads, ", "), "\n");
    if (!d.writes.empty()) out += cat("writes: ", joined(d.writes, ", "), "\n");
    auto const entry = [&](std::string_view name, std::string_view help) {
        std::string line = cat("  ", name);
        if (width(line) + 2 > indent) line += "\n" + std::string(indent, ' ');
        else line += std::string(indent - width(line), ' ');
        return cat(line, wrapped(help, indent, wide), "\n");
    };
    if (!d.verbs.empty()) out += cat("\n", d.verbs_title, ":\n");
    for (auto const& each : d.verbs) out += entry(each.name, each.help);
    for (bool const shared : {false, true}) {
        std::string part;
        for (auto const& o : d.options)
            if (o.shared == shared) part += entry(flag_text(o), full_help(o));
        if (!part.empty()) out += cat("\n", shared ? "options of every tool:\n" : "options:\n", part);
    }
    out += "\nexit status:\n";
    for (auto const& e : exit_table) {
        std::string line = cat("  ", e.code);
        out += cat(line, std::string(12 - line.size(), ' '), e.text, "\n");
    }
    return out;
}

} // namespace sb::cli
