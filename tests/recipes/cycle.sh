#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A cycle that is killed goes on where it stopped: every run once, none twice. cycle.sh BIN
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cycle() { "$@" make --no-print-directory -f recipes/cycle.mk BIN="$bin" OUT="$work/out" CMD=true REPEAT=400 PRESETS='--profile schema_drift --profile flaky_upstream'; }
bin=$1
mkdir "$work/out" && touch "$work/out/runs.jsonl"
cycle exec setsid >"$work/first" 2>&1 &
group=$! # the leader of a group of its own
for _ in $(seq 5000); do # killed while it runs: as soon as it has written some, and long before all
    [ "$(wc -l <"$work/out/runs.jsonl")" -ge 5 ] && break
done
kill -KILL -- "-$group"
wait 2>/dev/null
[ "$(wc -l <"$work/out/runs.jsonl")" -lt 1200 ] || { echo "it was over before it could be killed"; exit 1; }
rm -f "$work/out/runs.done"
cycle >"$work/second" 2>&1 || { cat "$work/second"; exit 1; }
runs=$(grep -o '"run_id":"[^"]*"' "$work/out/runs.jsonl" | wc -l)
kinds=$(grep -o '"run_id":"[^"]*"' "$work/out/runs.jsonl" | sort -u | wc -l)
[ "$runs" = 1200 ] && [ "$kinds" = 1200 ] || { echo "expected 1200 runs, each once; got $runs with $kinds ids"; exit 1; }
grep -q '^#  scenario' "$work/second" || { echo "no table:"; cat "$work/second"; exit 1; }
