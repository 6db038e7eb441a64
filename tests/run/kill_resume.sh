#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kill_resume.sh BIN [ROUNDS]: 500 runs, SIGKILL at a random moment, then --resume: the same keys as an undisturbed
# session, none twice, and nothing left in the temporary folder, nor after a normal end or an interruption.
set -euo pipefail
bin=${1:?usage: kill_resume.sh BIN [ROUNDS]} rounds=${2:-6}
unset "${!SANDBOX_@}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
mkdir -m 777 "$work/shared" "$work/project"
export TMPDIR=$work/tmp XDG_STATE_HOME=$work/state
cd "$work"
fail() { echo "kill_resume: $*" >&2; exit 1; }
keys() { sed 's/.*"run_id":"\([0-9a-f]*\)".*/\1/' "$@" | sort; }
nothing_left() {
    [ -z "$(ls -A "$TMPDIR")" ] || fail "$1 left $(ls -A "$TMPDIR")"
    [ ! -d "$work/state/sandbench/leases" ] || [ -z "$(ls -A "$work/state/sandbench/leases")" ] || fail "$1 left a lease"
}
printf '%s\n' '{"SCENARIO_NAME":"a","TIMEOUT":20}' '{"SCENARIO_NAME":"b","TIMEOUT":20}' >presets
session() { trap - EXIT; exec "$bin/sb-exec" --allow-degraded --repeat 250 "$@" -- true <presets 2>>messages; }

began=$(date +%s%N)
(session) >undisturbed
took=$(($(date +%s%N) - began))
nothing_left "a normal end"
keys undisturbed >expected
[ "$(uniq expected | wc -l)" = 500 ] || fail "the undisturbed session made $(uniq expected | wc -l) keys, not 500"

for round in $(seq "$rounds"); do
    jobs=$((round % 2 + 1))
    moment=$(((RANDOM * 32768 + RANDOM) * (took / 1000) / 1073741824)) # microseconds, anywhere in the session's time
    (session --jobs "$jobs") >runs &
    pid=$!
    sleep "$(printf '%d.%06d' $((moment / 1000000)) $((moment % 1000000)))"
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    before=$(wc -l <runs)
    (session --resume runs) >>runs || fail "the resumed session ended with $?"
    keys runs >got
    cmp -s expected got || fail "killed after $moment us with $before records: $(comm -23 expected <(uniq got) | wc -l) keys missing, $(uniq -d got | wc -l) twice"
    # slots of a dead session clear up by themselves; their lease goes with the next start once they are done
    for lease in state/sandbench/leases/*; do [ ! -f "$lease" ] || flock --wait 30 "$lease" true || fail "$lease is still held"; done
    "$bin/sb-exec" --allow-degraded -- true </dev/null >/dev/null 2>>messages
    nothing_left "a session killed and resumed"
done

rm runs
(session --jobs 2) >runs &
pid=$!
until [ -s runs ]; do kill -0 "$pid" || fail "the session ended before it wrote a record"; done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$status" = 143 ] || fail "SIGTERM: exit status $status, not 143"
nothing_left "an interruption"
line=$(grep -o 'sb-exec --resume .*' messages | tail -1)
[ -n "$line" ] || fail "an interruption prints no line that resumes"
PATH=$bin:$PATH bash -c "$line" 2>>messages || fail "the line that resumes does not run: $line"
keys runs >got
cmp -s expected got || fail "the line that resumes does not make the rest: $line"
# a second signal ends everything now; what that leaves, the next session removes, once nobody holds it
(trap - EXIT; cd "$work/project" && exec "$bin/sb-exec" --allow-degraded --bind "$work/shared:$work/shared:rw" --repeat 3 -- sh -c "echo begun >'$work/shared/begun'; sleep 600") >runs </dev/null 2>messages &
pid=$!
until [ -s shared/begun ]; do kill -0 "$pid" || fail "the session ended before its first run began"; done
kill -TERM "$pid"
kill -TERM "$pid" 2>/dev/null || true
status=0
wait "$pid" || status=$?
[ "$status" = 143 ] || fail "two SIGTERM: exit status $status, not 143"
for left in "$TMPDIR"/* state/sandbench/leases/*; do # its slot holds them until it has ended what it ran
    [ ! -e "$left" ] || flock --wait 30 "$left" true || fail "after two SIGTERM $left is still held"
done
"$bin/sb-exec" --allow-degraded -- true </dev/null >runs 2>messages
nothing_left "the session after one that was ended at once"
echo "kill_resume: $rounds rounds of 500 runs ($((took / 1000000)) ms undisturbed), same keys, nothing left"
