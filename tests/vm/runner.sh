#!/bin/bash
# SPDX-License-Identifier: MIT
# runner.sh: holds run.sh to what it says of itself: streams, status, time limit, a guest that fails, and that nothing is left
# behind when it is killed at any time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd -P)
export TMPDIR
work=$(mktemp -d)
TMPDIR=$work/tmp
mkdir "$TMPDIR"
trap 'rm -rf --one-file-system "$work"' EXIT
fail() { echo "vm runner: $*" >&2; for file in out err; do tail -n 70 "$work/$file" >&2 || true; done; exit 1; }
begin=$SECONDS
say() { printf 'vm runner: %3s s  %s\n' $((SECONDS - begin)) "$*"; }

mounts=$(cat /proc/self/mountinfo)
clean() { # the folder of temporary files is in the command line of whatever run.sh starts
    [ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls -A "$TMPDIR")"
    ! grep -ls "[/]${TMPDIR#/}" /proc/[0-9]*/cmdline || fail 'a process is left' # [/]: not the one that looks
    [ "$(cat /proc/self/mountinfo)" = "$mounts" ] || fail 'the mounts of this machine changed'
}
# wants STATUS ARGUMENT…: run.sh ends with STATUS and leaves nothing
wants() {
    local wanted=$1 status=0
    shift
    "$here/run.sh" "$@" >"$work/out" 2>"$work/err" || status=$?
    [ $status = "$wanted" ] || fail "status $status, not $wanted: $*"
    clean
}
cd "$here"

# shellcheck disable=SC2016 # for the guest's shell
wants 42 -- sh -c 'seq 200000; echo "an error" >&2; touch "$1/vm-trial" && ls; sleep 1000 & exit 42' sh "$here"
[ "$(head -n 200000 "$work/out" | cksum)" = "$(seq 200000 | cksum)" ] || fail 'the output is not what was written'
[ "$(cat "$work/err")" = 'an error' ] || fail 'the error output is not what was written'
grep -qx vm-trial "$work/out" && [ ! -e "$here/vm-trial" ] || fail 'the source tree was not a writable view, or this one was written to'
# shellcheck disable=SC2016
[ "$({ "$here/run.sh" --time-limit 60 -- sh -c 'seq 1000000; exit 5' || echo "status $?" >"$work/err"; } | head -n 1)" = 1 ] || fail 'a reader that leaves'
grep -qx 'status 5' "$work/err" || fail 'the guest waits for a reader that has left'
say 'streams and status come through whole; what is left running is killed; the source tree is a view'

mkdir "$work/it's, shared"
touch "$work/it's, shared/before"
# shellcheck disable=SC2016
wants 137 --user nobody --no-delegate --env "SAY=it's \$HOME" --share-rw "$work/it's, shared" -- \
    sh -c 'id -u; echo "$SAY"; ls "$1"; stat -c %u /sys/fs/cgroup/job; kill -KILL $$' sh "$work/it's, shared"
[ "$(cat "$work/out")" = $'65534\nit\'s $HOME\nbefore\n0' ] || fail 'user, environment, share or cgroup is not as asked'
# shellcheck disable=SC2016
wants 0 --share-rw "$work/it's, shared" -- sh -c 'echo written >"$1/after"' sh "$work/it's, shared"
[ "$(cat "$work/it's, shared/after")" = written ] || fail 'a shared folder was not written to'
say 'user, environment, names with quotes and commas, a shared folder, a command ended by a signal'

wants 124 --time-limit 8 -- sleep 1000
grep -q 'time limit of 8 s' "$work/err" || fail 'the time limit is not named'
mkdir "$work/heard"
: >"$work/out"
{ timeout 100 sh -c 'until grep -qx said "$1/out"; do sleep 0.1; done' sh "$work" && touch "$work/heard/it"; } &
hearing=$!
# shellcheck disable=SC2016
wants 125 --share-rw "$work/heard" -- sh -c 'echo said; until [ -e "$1/it" ]; do sleep 0.1; done; echo c >/proc/sysrq-trigger; sleep 1000' sh "$work/heard"
wait $hearing && [ "$(cat "$work/out")" = said ] || fail 'what was said before the panic is lost'
grep -q 'Kernel panic' "$work/err" || fail 'the panic is not shown'
say 'the time limit ends it; a panic is shown'

current=$(readlink "${here%/tests/vm}/build/vm/current")
mkdir -p "$work/broken/$current"
ln -s "$current" "$work/broken/current"
echo nothing | tee "$work/broken/current/kernel" >"$work/broken/current/initramfs"
wants 125 --cache "$work/broken" -- true
wants 2 --user somebody -- true
wants 2
say 'a guest that cannot start is an error'

# killed SIGNAL LINE: when LINE is printed (none: at once), with SIGNAL; the pipe ends when the last process has.
killed() {
    coproc run { exec "$here/run.sh" -- sh -c 'echo up; sleep 1000' 2>&1; }
    local pid=$run_PID out=${run[0]} line
    disown "$pid" # no word of the shell's about its end
    if [ -n "$2" ]; then read -r line <&"$out" && [ "$line" = "$2" ] || fail "said $line"; else sleep "$3"; fi
    kill "-$1" "$pid"
    timeout 20 cat <&"$out" >/dev/null || fail "SIG$1: processes are still there"
    clean
}
killed KILL up
killed TERM up
for delay in 0.05 0.1 0.2 0.4 0.8 1.6; do killed KILL '' $delay; done
say 'killed at any time, it leaves no process, no mount and no file'

"$here/prepare.sh" "$work/vm" 2>"$work/err" &
sleep 2
kill -KILL $! && wait $! 2>/dev/null || true
"$here/prepare.sh" "$work/vm" 2>"$work/err" || fail 'prepare.sh after a killed one'
[ "$(cd "$work/vm" && echo *)" = "$(readlink "$work/vm/current") current lock" ] || fail "prepare.sh left $(ls "$work/vm")"
wants 0 --cache "$work/vm" -- true
say 'a guest whose making was killed is made by the next'
