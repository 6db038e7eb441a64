#!/bin/bash
# SPDX-License-Identifier: MIT
# wrong_rows.sh BIN: what is wrong in names.tsv, or between it, its page and the tools, is seen and named.
set -uo pipefail
bin=${1:?usage: wrong_rows.sh BIN}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 seen=0
fail() { echo "names: $*" >&2; failed=1; }

# The rows of standard input, | between columns, as a table.
rows() { { head -n 2 "$root/docs/reference/names.tsv"; tr '|' '\t'; } >"$work/names.tsv"; }
# refused TEXT…: $command fails and says each text
refused() {
    local said text
    said=$("${command[@]}" 2>&1) && { fail "${command[0]##*/}: accepts what is wrong"; return; }
    for text; do
        case $said in *"$text"*) seen=$((seen + 1)) ;; *) fail "${command[0]##*/}: does not say \"$text\", but: $said" ;; esac
    done
}

command=("$here/read_back.sh" "$bin" "$work/names.tsv")
rows <<'E'
Rows|SANDBOX_CYCLES|-|variable|same|sb --log-level|error|no tool reads this variable
Rows|SANDBOX_DATA_DIR|-|variable|same|sb --log-level|error|it is another option's
Rows|SANDBOX_VERBOSE|-|variable|same|sb --verbose|no-word|a value that is none
Rows|SANDBOX_DEBUG|-|variable|same|sb --debug|yes|with a warning, it says, and there is none
Rows|--runs|-|flag|alias|sb-presets --count|4|no tool takes this flag
Rows|--count|-|flag|same|sb-nowhere --count|4|no such tool
Rows|ROI_CYCLES|-|key|same|preset key|3|no preset has this key
Rows|recovery.json|-|file|same|sb|@nobody|no such function
Rows|rank-scenarios|-|command|dropped|sb-rank --by moon|-|what should take its place does not
Rows|SANDBOX_LOG_LEVEL|-|variable|later|sb-adapt|-|every tool knows it
E
refused 'SANDBOX_CYCLES: SANDBOX_CYCLES=error sb --explain has no line log-level,error,environment SANDBOX_CYCLES' \
    'SANDBOX_DATA_DIR: SANDBOX_DATA_DIR=error sb --explain has no line' \
    'SANDBOX_VERBOSE: SANDBOX_VERBOSE=no-word sb --explain fails' \
    'SANDBOX_DEBUG: no warning' \
    '--runs: sb-presets --runs 4 --explain fails' \
    '--count: there is no sb-nowhere' \
    'ROI_CYCLES: a variable of 3 does not stand in each preset' \
    'recovery.json: there is no prove_nobody' \
    'rank-scenarios: "sb-rank --by moon" takes its place, but fails' \
    'SANDBOX_LOG_LEVEL: sb knows it, and the table says later'

command=("$root/scripts/names" "$work/names.tsv" "$work/names.md")
rows <<'E'
Rows|A_ROW|-|variable|perhaps|-|-|-
Rows|A_ROW|-|variable|dropped|-|-|a reason
Rows|B_ROW|-|variable|dropped|-|-|-
Rows|C_ROW|-|variable|later|-|-|-
Rows|D_ROW|-|variable|same|sb --log-level|-|-
Rows|E_ROW|-|thing|later|sb-adapt|-|-
Rows|F_ROW|later
E
refused '"perhaps" is no fate' 'A_ROW: is there twice' 'B_ROW: what was dropped needs its reason' 'C_ROW: what comes later needs the part' \
    'D_ROW: what is ours needs a name and a proof' '"thing" is no kind' 'needs 8 columns, has 3'
[ ! -e "$work/names.md" ] || fail 'a page was made of a broken table'

command=("$root/scripts/names" --check "$root/docs/reference/names.tsv" "$work/names.md")
sed 's/`SANDBOX_CYCLES`/`SANDBOX_CIRCLES`/' "$root/docs/reference/names.md" >"$work/names.md"
refused 'run scripts/names'

documents=$root/../shared/seeds
if [ -d "$documents" ]; then
    command=("$here/complete.sh" "$documents" "$work/names.tsv")
    sed 's/\tSANDBOX_CYCLES\t/\tSANDBOX_CIRCLES\t/' "$root/docs/reference/names.tsv" >"$work/names.tsv"
    refused 'in the documents, not in the table: SANDBOX_CYCLES' 'in the table, not in the documents: SANDBOX_CIRCLES'
fi
[ $failed = 0 ] && echo "names: $seen wrong things seen"
exit $failed
