#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh BIN OUT SAMPLE - what `make demo` shows
set -eu
bin=$(cd "$1" && pwd) out=$2 sample=$3
PATH=$bin:$PATH
mkdir -p "$out"
rm -f "$out"/*.jsonl
profiles='tight_memory small_files few_descriptors short_deadline concurrency_spike'

cat <<END
A small report program ($sample/report) under five kinds of stress and under none, five runs each:

  sb-presets --with-baseline --seed 7 --profile-file $sample/profiles.json --profile $profiles |
    sb-exec --repeat 5 --check $sample/check -- $sample/report |
    sb-rank

END
# shellcheck disable=SC2086 # the profiles are words
sb-presets --with-baseline --seed 7 --profile-file "$sample/profiles.json" --profile $profiles >"$out/presets.jsonl"
sb-exec --allow-degraded --repeat 5 --seed 7 --check "$sample/check" -- "$sample/report" <"$out/presets.jsonl" >"$out/runs.jsonl"
sb-rank --format table "$out/runs.jsonl"
echo
sb-rank --format csv "$out/runs.jsonl" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { name = $column["name"]; effect = $column["effect"]; high = $column["hi"]; if (name == "normal") floor = $column["lo"]
      if (effect != "" && effect < worst) { worst = effect; which = name; upper = high } }
    END {
        if (which == "" || upper >= floor) print "No scenario hurts the program beyond the noise."
        else printf "%s hurts most: its runs are worth %.2f less than undisturbed runs, and the intervals do not overlap.\n", which, -worst
    }'
reason=$(sed -n 's/.*"scenario":"concurrency_spike".*"end":{[^}]*"reason":"\([^"]*\)".*"stderr":{[^}]*"head":"\([^"\\]*\).*/\1\n  it said: \2/p' "$out/runs.jsonl" | head -2)
[ -z "$reason" ] || printf '  why: %s\n' "$reason"
unsupported=$(sed -n 's/.*"unsupported":\(.*\),"informational".*/\1/p' "$out/runs.jsonl" | grep -o '{"key":"[A-Z_]*"' | sort -u | cut -d'"' -f4 | paste -sd' ' -)
[ -z "$unsupported" ] || printf '\nNot possible here, as each record says: %s\n' "$unsupported"
printf '\nThe records are in %s/. Run `build/bin/sb-doctor` to see what this host can isolate.\n' "$out"
