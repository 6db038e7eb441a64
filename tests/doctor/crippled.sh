#!/bin/bash
# SPDX-License-Identifier: MIT
# crippled.sh BIN: where a piece of the sandbox is forbidden, sb-doctor names it, and sb-exec says one clear line, exits 4 and
# leaves nothing behind. The pieces are forbidden to single programs, by tests/doctor/forbid and by mounts in a namespace.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?the folder of the tools}" && pwd)
. "$here/../support/needs.sh"
needs isolation
forbid=${bin%/bin}/doctor/forbid
export PATH=$bin:$PATH LC_ALL=C.UTF-8
unset "${!SANDBOX_@}" XDG_STATE_HOME
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
mkdir "$work/cwd" "$work/tmp" "$work/home" && cd "$work/cwd" || exit 2
export HOME=$work/home TMPDIR=$work/tmp
bad=0
wrong() { echo "WRONG: $*"; bad=1; }
# groups that were made since, and that nobody is in: others may run sb-exec meanwhile. What is being made or removed is so for a moment.
groups() {
    local left one id
    for _ in $(seq 50); do
        left=
        for one in $(find /sys/fs/cgroup -name 'sandbench-*' -newer "$work/mark" 2>/dev/null); do
            id=${one##*/sandbench-}
            [ -n "$(find /sys/fs/cgroup -path "*/sandbench-${id%%.*}*/cgroup.procs" -exec cat {} + 2>/dev/null)" ] || left="$left $one"
        done
        [ -n "$left" ] || return 0
        sleep 0.1
    done
    echo "$left"
}

# refuses WORDS FINDING HOW…: under HOW, the finding is not ok, and sb-exec refuses in one line that has WORDS in it
refuses() {
    local words=$1 finding=$2 status=0
    shift 2
    touch "$work/mark"
    "$@" sb-doctor >"$work/found"
    [ $? = 1 ] || wrong "$finding: sb-doctor did not answer no"
    grep -q "\"name\":\"$finding\",\"status\":\"missing\"" "$work/found" || wrong "$finding is not missing: $(grep "\"$finding\"" "$work/found")"
    grep -q '"name":"full","status":"missing"' "$work/found" || wrong "$finding: full is not missing"
    "$@" sb-exec -- true >"$work/out" 2>"$work/err" || status=$?
    [ $status = 4 ] || wrong "$finding: sb-exec exits $status"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -qF "$words" "$work/err" || wrong "$finding: sb-exec says: $(cat "$work/err")"
    [ ! -s "$work/out" ] || wrong "$finding: sb-exec made a record"
    "$@" sb-exec --allow-degraded -- true >"$work/out" 2>"$work/err" || wrong "$finding: --allow-degraded does not do without: $(cat "$work/err")"
    grep -q '"backend":"plain"' "$work/out" || wrong "$finding: the record does not say plain"
    [ -z "$(find "$TMPDIR" "$HOME" . -mindepth 1 ! -type d)$(groups)" ] || wrong "$finding: left behind: $(find "$TMPDIR" "$HOME" . -mindepth 1) $(groups)"
    printf '%-14s %s\n' "$finding" "$(sed -n '/"name":"full"/s/.*"what":"\([^"]*\)".*/\1/p' "$work/found")"
}
# goes_on FINDING HOW…: under HOW, the finding is limited, and runs go on
goes_on() {
    local finding=$1
    shift
    "$@" sb-doctor >"$work/found" || wrong "$finding: sb-doctor answers no"
    grep -q "\"name\":\"$finding\",\"status\":\"limited\"" "$work/found" || wrong "$finding is not limited: $(grep "\"$finding\"" "$work/found")"
    "$@" sb-exec -- true | grep -q '"class":"ok"' || wrong "$finding: no run"
    printf '%-14s %s\n' "$finding" "$(sed -n "/\"name\":\"$finding\"/s/.*\"what\":\"\([^\"]*\)\".*/\1/p" "$work/found")"
}

# same_words_when_busy WORDS HOW…: what a dying process has to say is not lost where its parent comes first
same_words_when_busy() {
    local words=$1 busy=()
    shift
    for _ in 1 2 3; do timeout 20 sh -c 'while :; do :; done' & busy+=($!); done
    "$@" sh -c 'for i in $(seq 60); do sb-exec -- true; done' 2>"$work/err"
    kill "${busy[@]}" 2>/dev/null
    wait "${busy[@]}" 2>/dev/null
    [ "$(grep -cF "$words" "$work/err")" = 60 ] || wrong "of 60 refusals on busy processors not all say $words: $(grep -vF "$words" "$work/err" | head -1)"
}

refuses 'Operation not permitted' seccomp "$forbid" seccomp
refuses 'Operation not permitted' namespaces "$forbid" namespaces
refuses 'Operation not permitted' mounts "$forbid" mounts
refuses 'start the loopback device: Operation not permitted' full "$forbid" loopback
goes_on landlock "$forbid" landlock
if [ "$(id -u)" = 0 ]; then
    no_groups() { unshare --mount sh -c 'for m in $(awk "{print \$5}" /proc/self/mountinfo | grep ^/sys/fs/cgroup | sort -r); do umount -l "$m"; done; exec "$@"' sh "$@"; }
    goes_on cgroup no_groups
    goes_on memory no_groups
    covered() { unshare --mount sh -c 'mount --bind /dev/null /proc/version && exec "$@"' sh "$@"; }
    # the kernel gives a new /proc to nobody who sees the old one in part; where an older, whole one is mounted out of sight, it does
    if ! covered unshare --user --map-root-user --pid --fork --mount mount -t proc proc /proc 2>/dev/null; then
        refuses 'fsmount proc' proc covered
        same_words_when_busy 'fsmount proc' covered
        covered bash -c 'mend=$(sb-doctor | sed -n "/\"name\":\"proc\"/s/.*\"mend\":\"\([^\"]*\)\".*/\1/p"); echo "               mended by: $mend"; eval "$mend" && sb-doctor --require proc --require full >/dev/null' ||
            wrong 'proc: not mended'
    fi
    in_chroot() { unshare --mount sh -c 'mount --rbind / /mnt && exec chroot /mnt sh -c "cd \"\$0\" && exec \"\$@\"" "$PWD" "$@"' sh "$@"; }
    refuses 'Operation not permitted' namespaces in_chroot
    read_only() { unshare --mount sh -c 'mount --bind "$TMPDIR" "$TMPDIR" && mount -o remount,bind,ro "$TMPDIR" && exec "$@"' sh "$@"; }
    status=0
    read_only sb-exec -- true >"$work/out" 2>"$work/err" || status=$?
    [ $status = 4 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'Read-only file system' "$work/err" || wrong "read-only TMPDIR: status $status, $(cat "$work/err")"
    read_only sb-doctor --require temp | grep -q '"name":"temp","status":"missing"' || wrong 'read-only TMPDIR: temp is not missing'
    unshare --user --map-root-user sb-doctor | grep -q '"name":"user","status":"missing"' || wrong 'a lone root: user is not missing'
fi
exit $bad
