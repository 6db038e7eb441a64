#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# isolation.sh BIN PEERS [PART…]: what the sandbox costs and how true its figures are, each beside what else does it or must be
# so. Parts: start, write, throughput, figures, late, flood; without one, all. Prints a line a number, MISSED where it does
# not hold, and then exits with 1. A row that cannot be had here says "skipped".
set -uo pipefail
bin=$(cd "${1:?usage: isolation.sh BIN PEERS [PART…]}" && pwd) peers=$(cd "${2:?usage: isolation.sh BIN PEERS [PART…]}" && pwd)
shift 2
parts=${*:-start write throughput figures late flood}
for part in $parts; do
    case $part in start | write | throughput | figures | late | flood) ;; *) echo "isolation.sh: $part: not a part" >&2; exit 2 ;; esac
done
command -v jq >/dev/null || { echo 'isolation.sh: jq is not installed' >&2; exit 2; }
unset "${!SANDBOX_@}"
work=$(mktemp -d) && memory=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$work" "$memory"' EXIT
trap 'exit 130' INT TERM HUP
mkdir "$work/in" "$work/own" && cd "$work/in" || exit 4
export SANDBOX_DATA_DIR=$work/data
missed=0

# row WORDS VALUE MUST GOAL [UNIT]: VALUE is to be at most MUST, or at least where that begins with a +
row() {
    awk -v words="$1" -v value="$2" -v must="$3" -v goal="$4" -v unit="${5-}" 'BEGIN {
        bad = value == "" || (must ~ /^[+]/ ? value + 0 < must + 0 : value + 0 > must + 0)
        sub(/^[+]/, "", must)
        printf "%s; must %s%s%s%s\n", words, must, unit, goal == "" ? "" : ", goal " goal unit, bad ? "  MISSED" : ""
        exit bad }' || missed=1
}
told() { awk -F'\t' -v name="$1" -v field="$2" '$1 == name { print $field }' "$work/$3"; } # of a line of beside or interleave
in_words() { awk -F'\t' -v name="$1" -v words="$2" '$1 == name { printf "%8.0f us  x%.2f (best %.2f)  %s, n %d", $3, $7, $8, words, $2; found = 1 }
    END { if (!found) printf "       ? us  %s failed", words }' "$work/$3"; }
# Where the two differ the machine is busy, and the worse one counts; a difference below nothing is no number.
ratio() { { told "$1" 7 "$2" && told "$1" 8 "$2"; } | sort -g | awk '$1 <= 0 { bad = 1 } { last = $1 } END { if (!bad) print last }'; }
busy() { awk '$1 == "others" && $2 > 10 { printf "(other work took %d %% of the processors meanwhile: ratios of this part are not to be trusted)\n", $2 }' "$work/$1"; }
sorted() { sort -g | awk '{ all[NR] = $1 } END { if (NR) printf "%s %s %s", all[int((NR + 1) / 2)], all[NR], NR }'; } # median, largest, how many
exec_of() { timeout --foreground 120 "$bin/sb-exec" "$@" </dev/null 2>"$work/why" || echo "sb-exec: $(head -1 "$work/why")" >&2; }
true=$(type -P true) || exit 4

# ---- one run: each peer is tried once, and told of when it is not there or does not work
start() {
    others=() names=()
    peer() { # NAME WORDS WAY CMD…
        local name=$1 words=$2 way=$3 path
        shift 3
        path=$(type -P "$1") || { echo "skipped: $name (not installed)"; return; }
        shift
        if timeout --foreground 60 "$path" "${@/#---/--}" </dev/null >/dev/null 2>"$work/why"; then others+=(-- "$way=$name" "$path" "$@") names+=("$name:$words")
        else echo "skipped: $name ($(head -1 "$work/why"))"; fi
    }
    echo "-- one run of true, ratio to posix_spawn and wait"
    peer bwrap 'bwrap --unshare-all --ro-bind / /' each:20 bwrap --unshare-all --ro-bind / / "$true"
    peer bwrap+ 'bwrap, the same with --dev, --proc and --tmpfs' each:20 bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp "$true"
    peer unshare 'unshare -UrmpniuC -f' each:20 unshare -UrmpniuC -f "$true"
    peer nsjail 'nsjail -Mo' each:20 nsjail -Mo --quiet --chroot / --- "$true"
    if type -P isolate >/dev/null && isolate --init >/dev/null 2>"$work/why"; then peer isolate 'isolate --run, without control groups' each:20 isolate --run --- "$true"
    else echo "skipped: isolate ($(type -P isolate >/dev/null && head -1 "$work/why" || echo 'not installed'))"; fi
    if type -P docker >/dev/null && ! timeout --foreground 20 docker info >/dev/null 2>&1; then echo 'skipped: docker (its daemon does not answer)'
    else peer docker 'docker run --rm --network none busybox' each:1 docker run --pull never --rm --network none busybox true; fi
    # shellcheck disable=SC2016 # for that shell
    peer hyperfine 'hyperfine -N, its wall a run' whole:40 sh -c 'exec hyperfine -N --runs 40 --style none --export-json "$1/$$.json" "$2"' sh "$work/own" "$true"
    timeout --foreground 200 "$peers/beside" 20 40 each=spawn "$true" -- more:200=reused "$bin/sb-exec" --repeat @ --- "$true" \
        -- more:20=fresh "$bin/sb-exec" --fresh --repeat @ --- "$true" "${others[@]}" >"$work/one"
    busy one
    in_words spawn 'posix_spawn and wait' one && echo
    row "$(in_words reused 'sb-exec, all layers, sandbox used again' one)" "$(ratio reused one)" 1.2 1.05
    row "$(in_words fresh 'sb-exec --fresh, a new network too' one)" "$(ratio fresh one)" 4.5 2.5
    for each in "${names[@]}"; do in_words "${each%%:*}" "${each#*:}" one && echo; done
    cat "$work"/own/*.json 2>/dev/null | jq -rs 'select(length > 0) | [.[].results[].mean * 1e6] | "\(sort | .[length / 2 | floor] | round) us, hyperfine says itself (n \(length * 40))"'
}

# ---- a run that writes, under every limit; the bare one writes anew to memory, as the sandbox does
write() {
    everything='{"SCENARIO_NAME":"full","CPU_LIMIT":2,"CPU_SECONDS":10,"MEMORY_LIMIT":"256Mi","PIDS_LIMIT":64,"DISK_LIMIT":"1Gi","FILE_LIMIT":"16Mi","TIMEOUT":10,"OUTPUT_LIMIT":"1Mi","OPEN_FILES_LIMIT":64}'
    printf '%s\n' "$everything" >"$work/everything"
    echo "-- sh -c 'echo hello >FILE' under CPU, MEMORY, PIDS, DISK, FILE, OUTPUT and OPEN_FILES limits, CPU_SECONDS and TIMEOUT"
    shell='echo hello >"$1"'
    timeout --foreground 200 "$peers/beside" 20 40 each=spawn /bin/sh -c "$shell" sh "$memory/file" \
        -- more:200=reused "$bin/sb-exec" --preset-file "$work/everything" --repeat @ --- /bin/sh -c "$shell" sh file \
        -- more:20=fresh "$bin/sb-exec" --preset-file "$work/everything" --fresh --repeat @ --- /bin/sh -c "$shell" sh file >"$work/full"
    exec_of --preset-file "$work/everything" -- /bin/sh -c "$shell" sh file | jq -r '.unsupported[] | "not in force here: \(.key): \(.why)"'
    busy full
    in_words spawn 'posix_spawn and wait' full && echo
    row "$(in_words reused 'sb-exec, sandbox used again' full)" "$(ratio reused full)" 1.8 1.4
    in_words fresh 'sb-exec --fresh' full && echo
}

# ---- throughput
throughput() {
    echo "-- runs a second, --jobs 2 on $(nproc) cores"
    for program in nothing empty; do
        timeout --foreground 200 "$peers/beside" 7 4000 whole=loops /bin/sh -c '"$1" 2000 "$2" & "$1" 2000 "$2"; wait' sh "$peers/exec" "$peers/$program" \
            -- more=jobs "$bin/sb-exec" --bind "$peers" --jobs 2 --repeat @ --- "$peers/$program" >"$work/$program"
    done
    speed() { awk -v us="$(told "$1" 3 "$2")" 'BEGIN { if (us > 0) printf "%.0f", 1e6 / us }'; }
    busy nothing
    row "$(printf '%8.0f /s  a static program without a C library (two loops of posix_spawn: %.0f)' "$(speed jobs nothing)" "$(speed loops nothing)")" "$(speed jobs nothing)" +8000 15000
    printf '%8.0f /s  a static program with one (two loops: %.0f)\n' "$(speed jobs empty)" "$(speed loops empty)"
}

# ---- figures
figures() {
    echo "-- figures of the record"
    exec_of --bind "$peers" --repeat 30 -- "$peers/workload" orphans 100 300 |
        jq -r 'select(.left_running == 0) | (.stdout.head | split("\n") | map(select(. != "") | tonumber / 1e9) | add) as $own | "\(.cpu_user_s + .cpu_sys_s) \($own)"' >"$work/orphans"
    read -r cpu own off n < <(awk '{ off = ($1 - 0.2) / 0.2; off = off < 0 ? -off : off; if (off > worst) worst = off; cpu += $1; own += $2 }
        END { if (NR) printf "%.2f %.2f %.2f %d\n", cpu / NR * 1e3, own / NR * 1e3, worst * 100, NR }' "$work/orphans")
    if [ "${n:-0}" -lt 10 ]; then echo "skipped: processor time of orphans (busy: in ${n:-0} of 30 runs both got their 100 ms before the parent's end)"
    else row "$(printf '%8s ms  processor time of two orphans that take 100 ms each while their parent sleeps 300 ms (their own clocks: %s ms; at most %s %% off, n %s)' "$cpu" "$own" "$off" "$n")" "$off" 3 '' ' %'; fi

    exec_of --bind "$peers" --repeat 30 -- "$peers/workload" tree 3 64 >"$work/tree"
    if jq -e 'select(.sources.peak_rss_bytes | test("group"))' "$work/tree" >/dev/null 2>&1; then
        read -r middle worst n < <(jq -r '.peak_rss_bytes / 1048576' "$work/tree" | sorted)
        off=$(jq -r '(.peak_rss_bytes / 1048576 / 192 - 1) * 100 | fabs' "$work/tree" | sorted | cut -d' ' -f2)
        row "$(printf '%8.1f MiB  peak of 3 processes that hold 64 MiB each (largest %.1f, n %s; at most %.2f %% off)' "$middle" "$worst" "$n" "$off")" "$off" 2 '' ' %'
    else echo 'skipped: peak of a tree (no memory control group here)'; fi

    for mib in 0 500; do timeout --foreground 100 "$peers/hold" "$mib" 100 true >"$work/hold$mib" || echo "hold $mib failed" >&2; done
    peak_of() { awk '/^[0-9]/ { print $1 / 1024 }' "$work/hold$1" | sorted; }
    read -r small small_most n < <(peak_of 0)
    read -r large large_most n < <(peak_of 500)
    if [ -s "$work/hold500" ] && ! grep -q '^[0-9]' "$work/hold500"; then
        echo 'skipped: peak of true, confined by a program that holds 500 MB (no memory control group here: it is told as unknown)'
    else
        row "$(printf '%8.0f KiB  peak of true, confined by a program that holds 500 MB (most %.0f, n %s); by one that holds nothing %.0f (most %.0f); wait4 after posix_spawn says %.0f' \
            "${large:-0}" "${large_most:-0}" "${n:-0}" "${small:-0}" "${small_most:-0}" "$(awk '/wait4/ { print $2 / 1024 }' "$work/hold500")")" \
            "$(awk -v l="${large-}" -v s="${small-}" 'BEGIN { if (l != "" && s != "") print l - s }')" 256 '' ' KiB more'
    fi
}

# ---- what does not want to end
late() {
    echo "-- a program, and two more that it left, deaf to every signal, under a TIMEOUT of 20 ms"
    # shellcheck disable=SC2016
    timeout --foreground 100 "$peers/beside" 1 300 lines=deaf /bin/sh -c '"$@" | tee "$0"' "$work/deaf" "$bin/sb-exec" --bind "$peers" --timeout 0.02 --repeat 301 --- "$peers/workload" deaf 10 >"$work/late"
    read -r middle worst n < <(jq -r 'select(.end.class == "timeout") | (.wall_s - 0.02) * 1e3' "$work/deaf" | sorted)
    others=$(jq -r 'select(.end.class != "timeout") | .end.class' "$work/deaf" | sort | uniq -c | xargs)
    busy late
    row "$(printf '%8.1f ms  over-run, at most (median %.1f, n %s%s); from one record to the next 20 ms and %.1f at most' "${worst:-0}" "${middle:-0}" "${n:-0}" \
        "${others:+; ended otherwise: $others}" "$(awk -v us="$(told deaf 6 late)" 'BEGIN { print us / 1e3 - 20 }')")" "$([ -n "$others" ] || echo "${worst-}")" 50 10 ' ms'
}

# ---- what does not stop speaking; what goes to the null device is neither copied nor counted nor hashed
flood() {
    echo "-- 4 GB of output, all of it taken, counted and hashed"
    all=4000000000
    taking() { printf '"%s" --bind "%s" --set OUTPUT_LIMIT=8Gi -- ' "$bin/sb-exec" "$peers"; }
    timeout --foreground 240 "$peers/interleave" 3 "bare=\"$peers/workload\" lines $all" "ours=$(taking)\"$peers/workload\" lines $all" \
        "block=\"$peers/workload\" flood $all" "cat=sh -c '\"$peers/workload\" flood $all | cat'" "flood=$(taking)\"$peers/workload\" flood $all" \
        "capped=\"$bin/sb-exec\" --bind \"$peers\" -- \"$peers/workload\" flood $all" "little=$(taking)\"$peers/workload\" flood 4000" >"$work/flood"
    over() { awk -v a="$(told "$1" "$3" flood)" -v b="$(told "$2" "$3" flood)" 'BEGIN { if (a && b) printf "%.2f", a / b }'; }
    row "$(printf '%8.2f s  lines, as fast as a program can make them (>/dev/null: %.2f s; x%s)' "$(told ours 3 flood)" "$(told bare 3 flood)" "$(over ours bare 3)")" "$(over ours bare 3)" 1.1 '' x
    printf '%8.2f s  one block again and again (>/dev/null: %.3f s; | cat >/dev/null: %.2f s)\n' "$(told flood 3 flood)" "$(told block 3 flood)" "$(told cat 3 flood)"
    exec_of --bind "$peers" --repeat 30 -- "$peers/workload" flood $all | jq -r 'select(.end.class == "output") | .wall_s * 1e3' | sorted |
        awk '{ printf "%8.1f ms  until the default cap of 8 MiB ends it (at most %.1f, n %d)\n", $1, $2, $3 }'
    row "$(printf '%8.0f KiB  peak of the largest of our processes (after 4 kB: %.0f)' "$(told flood 4 flood)" "$(told little 4 flood)")" \
        "$(awk -v a="$(told flood 4 flood)" -v b="$(told little 4 flood)" 'BEGIN { if (a != "") print a - b }')" 1024 '' ' KiB more'
}

for part in $parts; do "$part"; done
exit $missed
