#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What has no answer gets none from sb-stat, but its reason, and exit status 1; what has one gets it. traps.sh BIN
set -u
export PATH=${1:?the folder of the tools}:$PATH LC_ALL=C.UTF-8
traps=$(cd "$(dirname "$0")/../oracles" && pwd)/traps.json
command -v jq >/dev/null || { echo 'SKIPPED: needs jq'; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
bad=0 asked=0
judge() { # WORDS DEGENERATE: of the record in `got`, with the exit status before it
    asked=$((asked + 1))
    local want='.statistic != null and .p != null and .reason == null' status=0
    if [ "$2" != null ]; then want='.statistic == null and .p == null and (.reason | length) > 0' status=1; fi
    [ "$(head -1 got)" = $status ] && tail -n +2 got | jq -e "$want" >/dev/null || { echo "$1 ($2): $(tr '\n' ' ' <got)"; bad=1; }
}
while IFS=$'\t' read -r number words regression degenerate; do
    jq -r ".cases[$number].x[]" "$traps" >x
    sb-stat adf --regression "$regression" x >record 2>&1
    { echo $?; cat record; } >got
    [ "$words" != 'pure sine' ] || degenerate='regular only in the rounding of its decimals'
    judge "adf $words $regression" "$degenerate"
done < <(jq -r '.cases | to_entries[] | select(.value.test == "adf" and .value.x) | [.key, .value.case, .value.regression, (.value.degenerate // "null")] | @tsv' "$traps")
# of Levene's the reason follows from the groups: fewer than three values cannot spread, and none that are all as far from their middle
while IFS=$'\t' read -r number degenerate; do
    rm -f group.*
    jq -r ".cases[$number].groups | to_entries[] | .key as \$k | \"\(\$k)\", (.value[] | \"\(\$k) \(.)\")" "$traps" | while read -r k x; do
        if [ -z "$x" ]; then : >"group.$k"; else echo "$x" >>"group.$k"; fi
    done
    sb-stat levene group.* >record 2>&1
    { echo $?; cat record; } >got
    judge "levene $number" "$degenerate"
done < <(jq -r '.cases | to_entries[] | select(.value.test == "levene") |
    [.key, (if (.value.groups | map(length) | min) < 3 then "too short" elif (.value.groups | map(unique | length) | max) == 1 then "constant" else "null" end)] | @tsv' "$traps")
[ $asked -gt 60 ] || { echo "only $asked traps were found"; exit 1; }
echo "$asked traps"
exit $bad
