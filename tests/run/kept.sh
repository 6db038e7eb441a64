#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kept.sh BIN: what --keep and --work-copy copy takes no more room than it took, holes and names of one file counted.
set -euo pipefail
bin=$(cd "${1:?usage: kept.sh BIN}" && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
unset "${!SANDBOX_@}"
mkdir "$stage/work" "$stage/tmp" && cd "$stage/work"
export TMPDIR=$stage/tmp
failed=0
fail() { echo "kept: $*" >&2; failed=1; }
run() { # OPTION… -- COMMAND…
    "$bin/sb-exec" --data-dir "$stage/data" "$@" </dev/null >"$stage/record" 2>"$stage/err" && return
    case $(cat "$stage/err") in *'full isolation cannot be had here'*) echo "SKIPPED: $(cat "$stage/err")"; exit 77 ;; esac
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
took 20 'a file of many names'
[ "$(wc -l <"$(echo "$TMPDIR"/*/*/work.skipped)")" = 49 ] || fail "a file of many names: $(wc -l "$TMPDIR"/*/*/work.skipped) of them skipped, not 49"
rm -rf "${TMPDIR:?}"/*

truncate -s 50G holes && echo small >small
run --work-copy --set DISK_LIMIT=16Mi -- sh -c 'cat small; stat -c %s holes'
grep -q 'small\\n53687091200' "$stage/record" || fail "a workspace with a file of holes: $(cut -c 1-300 "$stage/record")"

[ $failed = 0 ] && echo 'what is kept and copied takes as little room as before'
exit $failed
