#!/bin/bash
# SPDX-License-Identifier: MIT
# Ordinary programs in the sandbox, as they are: run.sh [--bin FOLDER] [--nobody] [--without] [NAME…]. Each NAME.sh beside this
# says in its head what it needs, with which options of sb-exec it runs, and what it prints. It runs twice, the second time in the
# sandbox that the first run used. It is held when both records say `ok` and both runs printed these lines. --without runs the
# scripts without a sandbox (postgres refuses root). --nobody is for root, who becomes that user. SB_PROGRAM_OPTIONS is given to
# sb-exec. What is not installed is skipped: scripts/dependencies programs.
set -uo pipefail
flags=--without
. "$(dirname "$0")/../support/runner.sh"
# the system's programs, which every sandbox shows: not what somebody has in a home
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ $# -gt 0 ] || for script in "$here"/*.sh; do [ "${script##*/}" = run.sh ] || set -- "$@" "$(basename "$script" .sh)"; done

held=0 broken=0 skipped=0
verdict() { # held|broken|skipped NAME WORDS
    printf '%-10s %-8s %s\n' "$2" "$1" "$3"
    (($1 += 1))
}
for name; do
    script=$here/$name.sh
    [ -r "$script" ] && [ "$name" != run ] || { echo "run.sh: $name: no such program" >&2; exit 2; }
    needs=$(sed -n 's/^# needs: //p' "$script") options=$(sed -n 's/^# options: //p' "$script") wanted=$(sed -n 's/^# prints: //p' "$script")
    bash -c "$needs" >"$stage/needs" 2>&1 || { verdict skipped "$name" "not installed: $needs"; continue; }
    mkdir "$stage/$name" "$stage/$name/work" "$stage/$name/home" "$stage/$name/tmp" && cp "$script" "$stage/$name/work" && cd "$stage/$name/work" || exit 2
    why='' took=$EPOCHREALTIME
    if [ "$given" = " --without " ]; then
        out=$(HOME=$stage/$name/home TMPDIR=$stage/$name/tmp timeout -k 5 120 bash "./$name.sh" 2>"$stage/said") || why="status $?"
        [ "$out" = "$wanted" ] || why="${why:+$why; }it printed: $out"
    else
        # shellcheck disable=SC2086 # words are meant
        HOME=$stage/$name/home TMPDIR=$stage/$name/tmp timeout -k 5 300 "$bin/sb-exec" --data-dir "$stage/$name/data" --timeout 120 --repeat 2 --set OPEN_FILES_LIMIT=1024 \
            $options ${SB_PROGRAM_OPTIONS-} -- bash "./$name.sh" >"$stage/records" 2>"$stage/said" </dev/null || why="sb-exec ended with $?"
        [ "$(wc -l <"$stage/records")" = 2 ] || why="${why:+$why; }$(wc -l <"$stage/records") records, not 2"
        jq -r '.stderr.head' "$stage/records" >>"$stage/said"
        while read -r class reason; do [ "$class" = ok ] || why="${why:+$why; }class $class ($reason)"; done < <(jq -r '.end | "\(.class) \(.reason)"' "$stage/records")
        while read -r out; do
            out=$(jq -r . <<<"$out") && [ "$out" = "$wanted" ] || why="${why:+$why; }it printed: $out"
        done < <(jq -c '.stdout.head' "$stage/records")
    fi
    took=$(((${EPOCHREALTIME/./} - ${took/./}) / 1000))
    if [ -z "$why" ]; then
        verdict held "$name" "$took ms$([ "$given" = " --without " ] || jq -rs '(if .[0].max_pids then "\(map(.max_pids) | max) processes, " else "" end) as $processes
            | ", \($processes)\(map(.peak_rss_bytes // 0) | max / 1048576 | floor) MiB at most"' "$stage/records")"
    else
        verdict broken "$name" "$why"
        tail -n 40 "$stage/said" | sed 's/^/        /'
    fi
    cd "$stage" && chmod -R u+rwX "$name" && rm -rf "$name"
done
echo "$held held, $broken broken, $skipped skipped"
[ $broken = 0 ] || exit 1
[ $skipped = 0 ] || exit 77
