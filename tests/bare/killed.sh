#!/bin/bash
# SPDX-License-Identifier: MIT
# killed.sh [--whole]: kills run.sh without warning, during the bootstrap and inside the bare machine; nothing may be left but its folder,
# and that is gone after the next run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export TMPDIR
TMPDIR=$(mktemp -d)
trap 'rm -rf --one-file-system "$TMPDIR"' EXIT
fail() { echo "killed: $*" >&2; exit 1; }

mounts=$(cat /proc/self/mountinfo)
# killed_at FILE PATTERN: kills when a line of FILE (in the run's folder) matches; the pipe ends when the last process has.
killed_at() {
    coproc run { exec "$here/run.sh" 2>&1; }
    local pid=$run_PID out=${run[0]} line status=0
    while read -r line <&"$out"; do
        echo "$line"
        [[ $line != *"$1"* ]] || break
    done
    [ -n "$line" ] || { wait "$pid" || status=$?; [ $status = 77 ] && exit 77; fail "the run ended before \"$1\", status $status"; }
    "${@:2}"
    kill -KILL "$pid"
    timeout 60 cat <&"$out" >/dev/null || fail 'processes of the killed run are still there'
    wait "$pid" 2>/dev/null || true
    [ "$(cat /proc/self/mountinfo)" = "$mounts" ] || fail 'the mounts of this machine changed'
    ls -d "$TMPDIR"/sandbench-bare.*/ >/dev/null || fail 'the run was not killed in time: it had cleaned up'
}
mounted_proc() { # waits until debootstrap has mounted /proc in there: in its own namespace, seen through one of its processes
    local tries
    for ((tries = 0; tries < 600; ++tries)); do
        grep -qs " $TMPDIR/sandbench-bare[^ ]*/root/proc " /proc/[0-9]*/mountinfo && return
        sleep 0.1
    done
    fail 'debootstrap mounted nothing in a minute'
}
killed_at 'bootstrap a minimal' mounted_proc
inside='apt-get install' # and while it compiles, with --whole
[ "${1-}" != --whole ] || inside='git clone, make demo'
killed_at "$inside" true
[ "$(ls -d "$TMPDIR"/sandbench-bare.*/ | wc -l)" = 1 ] || fail 'the second run did not remove what the first one left'
echo 'killed: nothing left'
