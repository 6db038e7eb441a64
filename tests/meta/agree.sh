#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Help, manual, reference page, completions and --explain know the same options, because one declaration makes them.
# agree.sh BIN
set -u
bin=$(cd "${1:?the folder of the tools}" && pwd) || exit 2
reference=$(cd "$(dirname "$0")/../../docs/reference" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2 # no .env and no settings file of the caller's
bad=0
flags() { grep -oE -- '--[a-z][a-z-]*[a-z]' | sort -u; }
for tool in "$bin"/sb "$bin"/sb-*; do
    name=$(basename "$tool")
    "$tool" --help | grep -E '^  (-[a-z], )?--' | sed -E 's/^  (-[a-z], )?(--[a-z-]+).*/\2/' | sort -u >"$work/help"
    same() { # a view, and the options it shows; at the end of a pipe, where no variable of ours can be set
        diff "$work/help" - >"$work/diff" || { echo "$name: --help and $1 differ:"; cat "$work/diff"; return 1; }
    }
    "$tool" --man | grep -A1 '^\.TP' | grep '^\\fB' | sed 's/\\-/-/g' | flags | same 'the manual page' || bad=1
    grep -E '^\| `(-[a-z], )?--' "$reference/$name.md" | cut -d'|' -f2 | flags | same "docs/reference/$name.md" || bad=1
    "$tool" --completion bash | sed -n "s/.*\[\[ \$cur == -\* \]\].*compgen -W '\([^']*\)'.*/\1/p" | flags | same 'the completion for bash' || bad=1
    "$tool" --completion zsh | grep -oE "^  '\*?--[a-z-]+" | flags | same 'the completion for zsh' || bad=1
    "$tool" --completion fish | grep '^complete ' | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/' | sort -u | same 'the completion for fish' || bad=1
    "$tool" --explain | tail -n +2 | sed 's/^\([^,]*\),.*/--\1/' | sort -u >"$work/explained"
    asking='--completion --explain --help --man --reference --schema --version'
    printf '%s\n' $asking | sort - "$work/explained" | same '--explain' || bad=1
done
exit $bad
