#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every number that must hold, beside its peers, in one run: run.sh BUILD. Exit 1 when one of them does not hold.
# A busy machine makes worse numbers of all; the ratios are within one run, and the load is printed.
set -uo pipefail
build=$(cd "${1:?usage: run.sh BUILD}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
bin=$build/bin peers=$build/bench
missed=0
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
echo "load $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) cores"

echo; echo "== sb-rank on 200 MB"
"$here/rank.sh" "$build" || missed=1

echo; echo "== sb-presets --count 1000000 --seed 1"
"$here/presets.sh" "$bin" || missed=1

echo; echo "== sb-exec --repeat 2000 -- true"
"$here/exec.sh" "$bin" "$peers/exec" | tee "$work/exec"
sed -nE 's/.*ratio ([0-9.]+) \(median\).*/\1/p' "$work/exec" | awk '{ exit !($1 <= 1.3) }' || { echo 'MISSED'; missed=1; }

echo; echo "== isolation: what it costs, and how true its figures are"
"$here/isolation.sh" "$bin" "$peers" || missed=1

echo; echo "== statistics"
"$here/stats.sh" "$build" || missed=1

echo; echo "== what is called converged, by simulation; into docs/explanation/convergence.md"
"$peers/settled" "$here/../docs/explanation/convergence.md" || missed=1

echo; echo "== how often tests and intervals are wrong, by simulation; into the same page"
"$peers/error_rates" "$here/../docs/explanation/convergence.md" || missed=1

echo; echo "== start to end of sb-rank on one record"
(cd "$work" && "$bin/sb-exec" -- true </dev/null >record.jsonl 2>/dev/null)
others=()
command -v jq >/dev/null && others=(-- jq -c .) || echo 'skipped: jq (not installed)' >&2
RECORD=$work/record.jsonl "$peers/latency" start 500 "$peers/empty" -- "$bin/sb-rank" "${others[@]}" | awk '
    { median[NR] = $1; printf "%9.0f us (p99 %.0f)  %s\n", $1, $2, $3 }
    END {
        printf "an empty static program: x%.2f; must 3, goal 1.3%s\n", median[2] / median[1], (median[2] / median[1] <= 3 ? "" : "  MISSED")
        if (NR > 2) printf "jq: %.1fx faster; must 12%s\n", median[3] / median[2], (median[3] / median[2] >= 12 ? "" : "  MISSED")
        exit !(median[2] / median[1] <= 3 && (NR < 3 || median[3] / median[2] >= 12)) }' || missed=1

echo; echo "== one record through three of our tools in a pipe, and back"
"$peers/latency" pipe 2000 cat -- cat -- cat | awk '{ printf "%9.0f us (p99 %.0f)  three cat\n", $1, $2 }'
(cd "$work" && "$peers/latency" pipe 2000 "$bin/sb-exec" --- true -- "$bin/sb-exec" --- true -- "$bin/sb-exec" --- true) | awk '
    { printf "%9.0f us (p99 %.0f)  three sb-exec, which hand on what is no preset; must 150, goal 100%s\n", $1, $2, ($1 <= 150 ? "" : "  MISSED")
      exit !($1 <= 150) }' || missed=1

echo; [ $missed = 0 ] && echo 'every number that must hold does' || echo 'a number that must hold does not'
exit $missed
