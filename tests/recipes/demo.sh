#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The demo finds the planted weakness, says so, and shows why. demo.sh BIN
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
make --no-print-directory -f recipes/demo.mk BIN="$1" OUT="$work/out" >"$work/said" 2>"$work/err" || { cat "$work/said" "$work/err"; exit 1; }
bad=0
said() { grep -qE "$1" "$work/said" || { echo "the demo does not say: $1"; bad=1; }; }
said '^#  scenario +total +mean'
said '^concurrency_spike hurts most: its runs are worth 0\.[0-9]+ less'
said 'why: [0-9]+ of 100 copies failed'
said 'report.lock exists'
said 'Not possible here.*FAILURE_MODES'
[ "$(grep -c '"kind":"run"' "$work/out/runs.jsonl")" = 30 ] || { echo "not thirty runs"; bad=1; }
[ $bad = 0 ] || cat "$work/said" "$work/err"
exit $bad
