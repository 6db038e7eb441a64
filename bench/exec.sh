#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exec.sh BIN PEER [RUNS] [ROUNDS]: `sb-exec --repeat RUNS -- true` beside a posix_spawn loop of the same command, in turn, so
# that what else the machine does falls on both alike. Prints the median ratio of a round and the best time of each.
set -euo pipefail
bin=${1:?usage: exec.sh BIN PEER [RUNS] [ROUNDS]} peer=${2:?} runs=${3:-2000} rounds=${4:-7}
unset "${!SANDBOX_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$bin/sb-exec" --repeat 20 -- true </dev/null >/dev/null 2>&1 # caches warm
"$peer" 20 true
for _ in $(seq "$rounds"); do
    start=$(date +%s%N)
    "$peer" "$runs" true
    between=$(date +%s%N)
    "$bin/sb-exec" --repeat "$runs" -- true </dev/null >/dev/null 2>said
    end=$(date +%s%N)
    echo "$((between - start)) $((end - between))"
done | awk -v runs="$runs" '
    { ratio[NR] = $2 / $1; if (!p || $1 < p) p = $1; if (!s || $2 < s) s = $2 }
    END {
        for (i = 1; i <= NR; ++i) for (j = i; j > 1 && ratio[j] < ratio[j - 1]; --j) { t = ratio[j]; ratio[j] = ratio[j - 1]; ratio[j - 1] = t }
        median = NR % 2 ? ratio[(NR + 1) / 2] : (ratio[NR / 2] + ratio[NR / 2 + 1]) / 2
        printf "exec: sb-exec %.0f us a run, posix_spawn %.0f us (best of %d); ratio %.2f (median), %.2f (of the best); must 1.3, goal 1.1\n", \
            s / runs / 1000, p / runs / 1000, NR, median, s / p
    }'
