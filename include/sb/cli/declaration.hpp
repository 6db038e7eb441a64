// SPDX-License-Identifier: MIT
// What a tool says of itself, once; its help, manual, completions and reference are views of this.
#pragma once
#include <sb/cli/option.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <sb/core/value.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sb::cli {

struct declaration {
    std::string name, summary, version, manual; ///< `manual`: the hand-written half, Markdown
    std::string operands, operands_help; ///< "[FILE…]"
    std::string verbs_title; ///< "tests"
    struct verb {
        std::string name, help;
    };
    std::vector<verb> verbs; ///< the words that the first operand may be, for a tool with verbs
    std::vector<std::string> reads, writes; ///< kinds of records
    std::vector<option> options;
    std::vector<std::string> sections; ///< maps of the settings that the work reads itself; none of them can harm
    std::function<result<void>(object const&)> judges; ///< settings with one of those; empty: they may hold anything
    std::function<bool(std::string_view)> looks_up; ///< is this a variable that the work looks up itself? They decide runs
    bool rest_is_command = false; ///< the operands are another program's command line
    bool dispatches = false; ///< that program is the tool NAME-WORD, WORD being the first operand
};

inline std::string flag_text(option const& o) {
    std::string text = o.letter ? cat("-", o.letter, ", ", o.flag) : o.flag;
    if (!o.is_switch()) text += cat(" ", o.meta, o.greedy ? "…" : "");
    return text;
}

} // namespace sb::cli
