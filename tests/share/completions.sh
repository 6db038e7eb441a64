#!/bin/bash
# SPDX-License-Identifier: MIT
# completions.sh BUILD: bash, zsh and fish load each tool's completions where a package would put them, and complete --version.
set -euo pipefail
share=$(cd "${1:?usage: completions.sh BUILD}/share" && pwd)
for shell in bash zsh fish; do
    command -v $shell >/dev/null || { echo "completions: skipped: no $shell here (scripts/dependencies check)"; exit 77; }
done
bash_completion=/usr/share/bash-completion/bash_completion
[ -e $bash_completion ] || { echo 'completions: skipped: no bash-completion here (scripts/dependencies check)'; exit 77; }
fail() { echo "completions: $*" >&2; exit 1; }

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# fish and zsh want the command itself on PATH
clean() { timeout 30 env -i HOME="$home" PATH="${share%/share}/bin:$PATH" TERM=dumb LANG=C.UTF-8 XDG_DATA_DIRS="$share:/usr/share" SHARE="$share" "$@" </dev/null; }

# each is given a line and what should be offered for its last word
in_bash() { # as bash-completion finds it: by the command's name, in XDG_DATA_DIRS
    clean bash --noprofile --norc -c "
        source $bash_completion
        __load_completion ${1%% *} || exit
        COMP_LINE='$1' COMP_POINT=\${#COMP_LINE} COMP_WORDS=($1)
        COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
        function=\$(complete -p ${1%% *} | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        \$function ${1%% *} ${1##* } x
        printf '%s\n' \"\${COMPREPLY[@]}\""
}
in_fish() { clean fish --no-config -c "set fish_complete_path \$SHARE/fish/vendor_completions.d; complete -C '$1'"; }
in_zsh() { # completes on a pseudo-terminal, as zsh does it nowhere else
    clean zsh -f -c "
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell 'PS1=; fpath=(\$SHARE/zsh/site-functions \$fpath); autoload -U compinit; compinit -D -u; echo re\"\"ady'
        zpty -r shell seen '*ready*'
        zpty -w -n shell \$'$1\\t'
        zpty -r shell seen '*${1% *} $2*' && print -- $2
        zpty -d shell"
}
offers() { # LINE WORD
    local shell offered
    for shell in bash zsh fish; do
        offered=$("in_$shell" "$1" "$2" 2>"$home/error") ||
            fail "$shell does not load the completions of ${1%% *}: $(cat "$home/error")"
        grep -q -- "^$2" <<<"$offered" || fail "$shell offers for \"$1\": \"$offered\"$(cat "$home/error")"
    done
}

files=("$share"/bash-completion/completions/*)
[ -s "${files[0]}" ] || fail "no completions in $share/bash-completion/completions"
for file in "${files[@]}"; do offers "${file##*/} --vers" --version; done
# the dispatcher offers the tools, and what the tool itself would offer
offers 'sb ex' exec
offers 'sb exec --rep' --repeat
offers 'sb --log-level info exec --order i' interleaved
echo "completions: ${#files[@]} tools in bash, zsh, fish"
