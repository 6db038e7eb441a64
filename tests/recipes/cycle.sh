#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A cycle that is killed goes on where it stopped: every run once, none twice. What it shows is what was asked now.
# cycle.sh BIN
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

# what was asked changes, in one folder
bad=0
fail() { echo "$*:"; cat "$work/said"; bad=1; }
ask() { make --no-print-directory -f recipes/cycle.mk BIN="$bin" OUT="$work/other" "$@" >"$work/said" 2>&1; }
table() { sed -nE 's/^[0-9]+ +([a-z_]+) +.* ([0-9]+) +-  .*/\1:\2/p' "$work/said" | sort | paste -sd' ' -; } # name:n
shows() { [ "$(table)" = "$1" ] || fail "expected $1, got $(table)"; }
flaky='--profile flaky_upstream'
ask && fail 'a cycle of nothing'
grep -q 'say what to run' "$work/said" || fail 'it does not say that CMD is missing'
ask CMD=true REPEAT=1 PRESETS="$flaky" || fail 'the first'
shows 'flaky_upstream:1 normal:1'
ask CMD=false REPEAT=1 PRESETS="$flaky" && fail 'the runs of true pass for those of false'
grep -q 'holds runs of another workload, CMD=true' "$work/said" || fail 'it does not say whose runs are there'
ask CMD=true REPEAT=3 PRESETS="$flaky" || fail 'more of them'
shows 'flaky_upstream:3 normal:3'
[ -e "$work/other/runs-1.jsonl" ] && fail 'a larger REPEAT made all anew'
ask CMD=true REPEAT=2 PRESETS="$flaky" || fail 'fewer of them'
shows 'flaky_upstream:2 normal:2'
ask CMD=true REPEAT=2 PRESETS='--profile schema_drift' || fail 'others'
shows 'normal:2 schema_drift:2'
ask CMD=true REPEAT=2 PRESETS='--profile schema_drift' SEED=8 || fail 'another seed'
shows 'normal:2 schema_drift:2'
grep -q '"SEED":8' "$work/other/presets.jsonl" || fail 'the presets are of another seed'
before=$(stat -c %Y.%i "$work/other/runs.done")
ask CMD=true REPEAT=2 PRESETS='--profile schema_drift' SEED=8 RANK='--by severity' || fail 'the same again'
[ "$before" = "$(stat -c %Y.%i "$work/other/runs.done")" ] || fail 'it was run again'
grep -q '"by":"severity"' "$work/other/rank.jsonl" || fail 'rank.jsonl is of another RANK'
[ "$(cat "$work"/other/runs*.jsonl | grep -c '"kind":"run"')" = 18 ] || fail 'runs were lost'
make --no-print-directory -f recipes/cycle.mk BIN="$bin" OUT="$work/quoted" CMD="sh -c 'echo \"it works\"; exit 0'" REPEAT=1 PRESETS="$flaky" >"$work/said" 2>&1 || fail 'a quote in CMD'
shows 'flaky_upstream:1 normal:1'
grep -q 'it works' "$work/quoted/runs.jsonl" || fail 'a quote in CMD is lost'
exit $bad
