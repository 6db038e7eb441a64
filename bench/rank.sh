#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sb-rank beside its peers on one 200 MB file of results (make_records, seed 1), whole processes, interleaved in one
# run, best of ROUNDS. rank.sh BUILD [ROUNDS] [MEGABYTES]
# What is not installed is skipped aloud. Exit 1 when a number that must hold does not.
set -euo pipefail
build=$(cd "${1:?usage: rank.sh BUILD [ROUNDS] [MEGABYTES]}" && pwd) rounds=${2:-9} megabytes=${3:-200}
tool=$build/bin/sb-rank
for peers in "$build/bin" "$build/bench"; do [ -x "$peers/interleave" ] && break; done
here=$(cd "$(dirname "$0")" && pwd)
work=${SB_BENCH_DIR:-$build/bench-data}
mkdir -p "$work"
file=$work/records-$megabytes.jsonl
[ -s "$file" ] || { "$peers/make_records" "$megabytes" 1 >"$file.part" && mv "$file.part" "$file"; }
cat "$file" >/dev/null # into the page cache
skip() { echo "skipped: $1" >&2; }

quick=("ours, 1 thread=$tool --threads 1 $file" "ours, 2 threads=$tool --threads 2 $file" "wc -l=wc -l $file")
slow=() query=
if [ -x "$peers/peer_simdjson" ]; then
    quick+=("simdjson, 1 thread=$peers/peer_simdjson $file 1" "simdjson, 2 threads=$peers/peer_simdjson $file 2")
else skip "the simdjson peer (no libsimdjson when it was built)"; fi
if command -v jq >/dev/null; then
    cat >"$work/rank.jq" <<'JQ'
reduce inputs as $r ({}; .[$r.scenario] |= {sum: (.sum + $r.roi), n: (.n + 1), last: $r.metrics.security_score})
| to_entries | sort_by(-.value.sum)[] | [.key, .value.sum, .value.n, .value.last] | @tsv
JQ
    slow+=("jq=jq -nr -f $work/rank.jq $file")
else skip "jq (not installed)"; fi
if command -v npm >/dev/null && command -v node >/dev/null; then
    export SB_DUCKDB=$work/duckdb
    mkdir -p "$SB_DUCKDB"
    if [ -d "$SB_DUCKDB/node_modules/@duckdb/node-api" ] ||
        (cd "$SB_DUCKDB" && echo '{}' >package.json && timeout 300 npm install --silent --no-audit --no-fund @duckdb/node-api >/dev/null 2>&1); then
        for n in 1 2; do
            slow+=("DuckDB, $n threads=node $here/duckdb.mjs $file $n 2>>$work/query-$n")
            rm -f "$work/query-$n"
        done
        query=yes
    else skip "DuckDB (its npm package cannot be had)"; fi
else skip "DuckDB (no npm)"; fi

{
    "$peers/interleave" "$rounds" "${quick[@]}"
    [ ${#slow[@]} = 0 ] || "$peers/interleave" 3 "${slow[@]}"
    if [ -n "$query" ]; then
        for n in 1 2; do printf 'DuckDB, %s threads, query alone\t%s\t%s\t0\t0\n' "$n" "$(sort -n "$work/query-$n" | head -n 1)" "$(sort -n "$work/query-$n" | sed -n 2p)"; done
    fi
} >"$work/rank.tsv"

# a pipe of 2 GB: ten times the file
pipe_peak=$({ for _ in $(seq $((2000 / megabytes))); do cat "$file"; done; } | "$peers/interleave" 1 "pipe=$tool --threads 2" | cut -f 4)

awk -F '\t' -v bytes="$(stat -c %s "$file")" -v peak="$pipe_peak" '
    { name[NR] = $1; best[$1] = $2; median[$1] = $3; memory[$1] = $4; cpu[$1] = $5 }
    function must(what, holds) { printf "%-58s %s\n", what, holds ? "holds" : "MISSED"; if (!holds) missed = 1 }
    END {
        one = best["ours, 1 thread"]; two = best["ours, 2 threads"]
        printf "%-32s %9s %9s %9s %9s %8s %8s\n", "", "best ms", "median", "cpu ms", "MB/s", "peak MB", "of ours"
        for (i = 1; i <= NR; ++i) { n = name[i]
            printf "%-32s %9.2f %9.2f %9.2f %9.0f %8.1f %7.2fx\n", n, best[n] * 1e3, median[n] * 1e3, cpu[n] * 1e3, bytes / best[n] / 1e6, memory[n] / 1024, best[n] / (n ~ /1 thread/ ? one : two) }
        print ""
        if ("jq" in best) must(sprintf("jq / ours = %.0f (must 100, goal 225)", best["jq"] / two), best["jq"] / two >= 100)
        if ("DuckDB, 2 threads" in best) must(sprintf("DuckDB / ours, processes, 2 threads = %.1f (must 5)", best["DuckDB, 2 threads"] / two), best["DuckDB, 2 threads"] / two >= 5)
        if ("simdjson, 1 thread" in best) must(sprintf("simdjson / ours, 1 thread = %.2f (must 1)", best["simdjson, 1 thread"] / one), best["simdjson, 1 thread"] >= one)
        if ("simdjson, 2 threads" in best) must(sprintf("simdjson / ours, 2 threads = %.2f (must 1)", best["simdjson, 2 threads"] / two), best["simdjson, 2 threads"] >= two)
        must(sprintf("ours / wc -l, 2 threads = %.2f (must 2, goal < 1)", two / best["wc -l"]), two <= 2 * best["wc -l"])
        must(sprintf("memory on a 2 GB pipe = %.1f MB (must 16, goal 8)", peak / 1024), peak / 1024 <= 16)
        exit missed
    }' "$work/rank.tsv"
