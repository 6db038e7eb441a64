// SPDX-License-Identifier: MIT
// A command line as options and the values given to them.
#pragma once
#include <sb/cli/declaration.hpp>
#include <sb/core/did_you_mean.hpp>
#include <sb/core/result.hpp>
#include <sb/core/text.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb::cli {

using assignment = std::pair<option*, std::string>;

inline option* find_option(declaration& self, std::string_view flag) {
    for (auto& o : self.options) {
        if (o.flag == flag) return &o;
        for (auto const& other : o.aliases)
            if (other == flag) return &o;
    }
    return nullptr;
}
inline error unknown_option(declaration const& self, std::string_view text) {
    std::vector<std::string_view> names;
    for (auto const& o : self.options) names.push_back(o.flag);
    auto const hint = did_you_mean(text, names);
    return caller_error(cat("unknown option \"", text, "\"", hint, hint.empty() ? "; " : " ", self.name, " --help lists them"));
}

/// The command line as assignments; values are not read yet, so that the last source of each is known first.
inline result<std::vector<assignment>> read_arguments(declaration& self, std::vector<std::string>* operands, int argc, char** argv) {
    std::vector<assignment> assignments;
    int i = 1;
    auto const rest = [&] {
        for (; i < argc; ++i) operands->emplace_back(argv[i]);
    };
    for (; i < argc; ++i) {
        std::string_view word{argv[i]};
        if (word == "--") {
            ++i;
            if (!operands && i < argc) return caller_error(cat("takes no operands, but was given \"", argv[i], "\""));
            if (operands) rest();
            break;
        }
        if (!word.starts_with('-') || word == "-") {
            if (!operands) return caller_error(cat("takes no operands, but was given \"", word, "\"; ", self.name, " --help shows its use"));
            if (self.rest_is_command) {
                rest();
                break;
            }
            operands->emplace_back(word);
            continue;
        }
        std::optional<std::string> value;
        option* o = nullptr;
        if (word.starts_with("--")) {
            auto const equals = word.find('=');
            auto const name = word.substr(0, equals);
            if (equals != std::string_view::npos) value = word.substr(equals + 1);
            o = find_option(self, name);
            if (!o && name.starts_with("--no-")) {
                o = find_option(self, cat("--", name.substr(5)));
                if (o && (!o->is_switch() || value)) o = nullptr;
                if (o) value = "no";
            } else if (o && o->is_switch() && !value) {
                value = "yes";
            }
        } else {
            for (auto& each : self.options)
                if (each.letter == word[1]) o = &each;
            if (o && o->is_switch()) {
                if (word.size() > 2) o = nullptr;
                else value = "yes";
            } else if (o && word.size() > 2) value = word.substr(2);
        }
        if (!o) return unknown_option(self, word);
        if (!value) {
            if (i + 1 >= argc) return caller_error(cat(word, " needs a value: ", flag_text(*o)));
            value = argv[++i];
        }
        assignments.emplace_back(o, *value);
        if (o->greedy)
            while (i + 1 < argc && argv[i + 1][0] != '-') assignments.emplace_back(o, argv[++i]);
    }
    return assignments;
}

} // namespace sb::cli
