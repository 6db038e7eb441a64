#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How fast sb-presets writes random presets, on one core. presets.sh BIN [COUNT]
# Prints the best of five runs: lines, bytes, seconds, MB/s of output; exit 1 under 300 MB/s.
set -euo pipefail
bin=${1:?usage: presets.sh BIN [COUNT]}
count=${2:-1000000}
tool=$bin/sb-presets
bytes=$("$tool" --count "$count" --seed 1 | wc -c)
best=
for _ in 1 2 3 4 5; do
    start=$(date +%s%N)
    "$tool" --count "$count" --seed 1 --threads 1 >/dev/null
    took=$(($(date +%s%N) - start))
    if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
done
awk -v n="$count" -v b="$bytes" -v ns="$best" 'BEGIN {
    rate = b / ns * 1e3
    printf "sb-presets: %d presets, %d bytes, %.3f s, %.0f MB/s\n", n, b, ns / 1e9, rate
    exit rate < 300 }'
