// SPDX-License-Identifier: MIT
// A tool's declaration as completions for bash, zsh and fish.
#pragma once
#include <sb/cli/help.hpp>
#include <string>
#include <string_view>

namespace sb::cli {

namespace detail {

/// Inside single quotes of a shell.
inline std::string single_quoted(std::string_view text) {
    std::string out;
    for (char const c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out;
}
inline bool takes_path(option const& o) { return o.meta == "FILE" || o.meta == "DIR" || o.meta == "PATH"; }

inline std::string bash_completion(declaration const& d) {
    std::string function = d.name, flags, cases;
    for (auto& c : function)
        if (c == '-') c = '_';
    for (auto const& o : d.options) {
        flags += cat(flags.empty() ? "" : " ", o.flag);
        if (o.is_switch()) continue;
        std::string pattern = o.letter ? cat(o.flag, "|-", o.letter) : o.flag;
        if (!o.words.empty())
            cases += cat("    ", pattern, ") COMPREPLY=($(compgen -W '", single_quoted(joined(o.words, " ")), "' -- \"$cur\")); return ;;\n");
        else if (takes_path(o)) cases += cat("    ", pattern, ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
        else cases += cat("    ", pattern, ") return ;;\n");
    }
    std::string out = cat("# SPDX-License-Identifier: MIT\n_", function, "() {\n",
                          "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n  COMPREPLY=()\n");
    if (d.dispatches) // a tool's own function does the rest; asked of the tool itself, it is the right one wherever it is installed
        out += cat("  local i tool\n  for ((i = 1; i < COMP_CWORD; i++)); do\n    tool=", d.name, "-${COMP_WORDS[i]}\n"
                   "    type -P \"$tool\" >/dev/null || continue\n"
                   "    declare -F \"_${tool//-/_}\" >/dev/null || eval \"$(\"$tool\" --completion bash)\"\n"
                   "    COMP_WORDS=(\"$tool\" \"${COMP_WORDS[@]:i+1}\") COMP_CWORD=$((COMP_CWORD - i))\n"
                   "    \"_${tool//-/_}\" \"$tool\" \"$cur\" \"$prev\"\n    return\n  done\n");
    else if (d.rest_is_command)
        out += "  local i\n  for ((i = 1; i < COMP_CWORD; i++)); do\n    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
               "      if ((i + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- \"$cur\")); else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
               "      return\n    fi\n  done\n";
    auto const verbs = joined(d.verbs, " ", [](auto const& each) { return each.name; });
    if (!verbs.empty())
        out += cat("  local word chosen=\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do [[ ' ", single_quoted(verbs), " ' != *\" $word \"* ]] || chosen=$word; done\n");
    out += cat("  case $prev in\n", cases, "  esac\n  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '", single_quoted(flags), "' -- \"$cur\"))\n",
               verbs.empty() ? std::string{} : cat("  elif [[ -z $chosen ]]; then COMPREPLY=($(compgen -W '", single_quoted(verbs), "' -- \"$cur\"))\n"),
               d.dispatches ? cat("  else COMPREPLY=($(compgen -c -- \"", d.name, "-$cur\" | sort -u)) COMPREPLY=(\"${COMPREPLY[@]#", d.name, "-}\"); fi\n")
                            : std::string{"  else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"},
               "}\ncomplete -o filenames -F _", function, " ", d.name, "\n");
    return out;
}

inline std::string zsh_completion(declaration const& d) {
    auto const described = [](std::string_view text) {
        std::string out;
        for (char const c : text) {
            if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
            out += c;
        }
        return single_quoted(out);
    };
    std::string out = cat("#compdef ", d.name, "\n# SPDX-License-Identifier: MIT\n_arguments -s \\\n");
    for (auto const& o : d.options) {
        std::string action;
        if (!o.is_switch()) {
            action = cat(":", described(o.meta), ":");
            if (!o.words.empty()) action += cat("(", single_quoted(joined(o.words, " ")), ")");
            else if (takes_path(o)) action += "_files";
            else action += " ";
        }
        out += cat("  '", o.list ? "*" : "", o.flag, "[", described(own_help(o)), "]", action, "' \\\n");
    }
    if (!d.verbs.empty()) {
        out += cat("  '1:", described(d.verbs_title), ":((");
        for (auto const& each : d.verbs) out += cat(&each == &d.verbs.front() ? "" : " ", each.name, "\\:\"", described(each.help), "\"");
        out += "))' \\\n";
    }
    if (!d.dispatches) return out + (d.rest_is_command ? "  '*:: :_normal'\n" : "  '*:file:_files'\n");
    return out + cat("  '(-)1:tool:->tool' \\\n  '*:: :->rest' && return\ncase $state in\n"
                     "  tool) compadd -- ${${(k)commands[(I)", d.name, "-*]}#", d.name, "-} ;;\n"
                     "  rest) words[1]=", d.name, "-$words[1]; _normal ;;\nesac\n");
}

inline std::string fish_completion(declaration const& d) {
    std::string out = "# SPDX-License-Identifier: MIT\n";
    auto const escaped = [](std::string_view text) {
        std::string safe;
        for (char const c : text) safe += c == '\'' ? "\\'" : c == '\\' ? "\\\\" : std::string(1, c);
        return safe;
    };
    for (auto const& o : d.options) {
        out += cat("complete -c ", d.name, " -l ", o.flag.substr(2));
        if (o.letter) out += cat(" -s ", o.letter);
        if (d.dispatches) out += " -n __fish_use_subcommand";
        if (!o.is_switch()) out += !o.words.empty() ? cat(" -x -a '", single_quoted(joined(o.words, " ")), "'") : takes_path(o) ? " -r -F" : " -x";
        out += cat(" -d '", escaped(own_help(o)), "'\n");
    }
    if (d.dispatches)
        out += cat("complete -c ", d.name, " -n __fish_use_subcommand -f -a \"(complete -C ", d.name, "- | string replace ", d.name, "- '')\"\n"
                   "function __", d.name, "_rest\n  set -l words (commandline -opc)[2..]\n"
                   "  while set -q words[1]; and not type -q ", d.name, "-$words[1]; set -e words[1]; end\n"
                   "  set -q words[1]; and complete -C (string join ' ' -- ", d.name, "-$words[1] (string escape -- $words[2..]) (commandline -ct))\nend\n"
                   "complete -c ", d.name, " -n 'not __fish_use_subcommand' -f -a '(__", d.name, "_rest)'\n");
    for (auto const& each : d.verbs)
        out += cat("complete -c ", d.name, " -n __fish_use_subcommand -f -a ", each.name, " -d '", escaped(each.help), "'\n");
    return out;
}

} // namespace detail

inline std::string completion(declaration const& d, std::string_view shell) {
    if (shell == "bash") return detail::bash_completion(d);
    return shell == "zsh" ? detail::zsh_completion(d) : detail::fish_completion(d);
}

} // namespace sb::cli
