#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kept.sh BIN: what --keep and --work-copy copy takes no more room than it took, holes and names of one file counted.
. "$(dirname "$0")/../support/script.sh"
needs isolation
mkdir "$stage/work" "$stage/tmp" && cd "$stage/work"
export TMPDIR=$stage/tmp
run() { # OPTION… -- COMMAND…
    "$bin/sb-exec" --data-dir "$stage/data" "$@" </dev/null >"$stage/record" 2>"$stage/err" && return
    fail "$*: $(cat "$stage/err")"
}
took() { # MIB NAME: kept at most
    local kib
    kib=$(du -sk "$TMPDIR" | cut -f1)
    [ "$kib" -le $(($1 * 1024)) ] || fail "$2 took $kib KiB"
}

# shellcheck disable=SC2016 # for the payload
run --keep --set DISK_LIMIT=16Mi -- sh -c 'truncate -s 300M holes; (echo start; head -c 100000 /dev/urandom; truncate -s 100M /dev/stdout; echo end) >>between; cp between "$TMPDIR"; cksum <between; truncate -s 300M /tmp/holes'
took 20 'files of holes'
for each in work tmp; do [ "$(stat -c %s "$TMPDIR"/*/*/$each/holes)" = 314572800 ] || fail "$each: the file of holes is $(stat -c %s "$TMPDIR"/*/*/$each/holes) bytes"; done
for each in work tmp; do grep -q "$(cksum <"$(echo "$TMPDIR"/*/*/$each/between)")" "$stage/record" || fail "$each: what is between holes is other than it was"; done
rm -rf "${TMPDIR:?}"/*

run --keep --set DISK_LIMIT=16Mi -- sh -c 'head -c 7000000 /dev/zero >one; i=0; while [ $i -lt 50 ]; do ln one name$i; i=$((i + 1)); done'
took 8 'a file of many names'
for each in "$TMPDIR"/*/*/work.skipped; do [ ! -e "$each" ] || fail "a file of many names: skipped are $(head -3 "$each")"; done
[ "$(stat -c %h "$TMPDIR"/*/*/work/one)" = 51 ] || fail "a file of 51 names has $(stat -c %h "$TMPDIR"/*/*/work/one)"
rm -rf "${TMPDIR:?}"/*

# what cannot be kept is skipped, and a name cannot forge a line: 8 EiB but a page, which no disk takes
echo gone >"$(printf 'a\nforged')"
run --keep -- bash -c 'truncate -s 9223372036854771712 "$(printf "huge\033[31m\nb: forged")"; mkfifo "$(printf "c\134\nd: forged")"; rm a*; echo rest >rest'
[ "$(cat "$TMPDIR"/*/*/work/rest)" = rest ] || fail 'one file that cannot be kept took the rest along'
[ "$(cat "$TMPDIR"/*/*/work.removed)" = 'a\x0aforged' ] || fail "the list of what was removed is $(cat -v "$TMPDIR"/*/*/work.removed)"
if [ "$(stat -f -c %T "$TMPDIR")" != tmpfs ]; then # which takes such files
    wanted='c\x5c\x0ad: forged: not a file, folder or link
huge\x1b[31m\x0ab: forged: File too large'
    [ "$(sort "$TMPDIR"/*/*/work.skipped)" = "$wanted" ] || fail "the list of what was skipped is $(cat -v "$TMPDIR"/*/*/work.skipped)"
fi
rm -rf "${TMPDIR:?}"/* a*

run --keep -- sh -c 'mkfifo $(seq -f f%g 0 1002)'
[ "$(tail -n 1 "$TMPDIR"/*/*/work.skipped)" = '\... and 3 more' ] || fail "a list of 1003 ends in $(tail -n 1 "$TMPDIR"/*/*/work.skipped)"
rm -rf "${TMPDIR:?}"/*

if [ "$(id -u)" = 0 ]; then # a disk of its own, full before all is kept: small files find room behind a large one, and the run is recorded
    mkdir "$stage/small"
    # shellcheck disable=SC2016 # for the other shell
    unshare --mount --propagation private bash -c 'mount -t tmpfs -o size=4m tmpfs "$0" && TMPDIR=$0 "$1/sb-exec" --data-dir "$2" --keep -- sh -c "head -c 8000000 /dev/zero >big; echo rest >rest" && cat "$0"/sb-exec-*/*/work/rest "$0"/sb-exec-*/*/work.skipped' \
        "$stage/small" "$bin" "$stage/data" </dev/null >"$stage/record" 2>"$stage/err" || fail "a disk that is full ends the session: $(cat "$stage/err")"
    [ "$(tail -n +2 "$stage/record")" = 'rest
big: No space left on device' ] || fail "on a disk that is full are kept: $(tail -n +2 "$stage/record")"
fi

truncate -s 50G holes && echo small >small
run --work-copy --set DISK_LIMIT=16Mi -- sh -c 'cat small; stat -c %s holes'
grep -q 'small\\n53687091200' "$stage/record" || fail "a workspace with a file of holes: $(cut -c 1-300 "$stage/record")"

[ $failed = 0 ] && echo 'what is kept and copied takes as little room as before'
exit $failed
