#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# peak_truth.sh BIN: what earlier runs have left in memory hides nothing of what a run uses. Each run finds 100 MiB of page cache that
# the one before it left, gives it back, uses 90 MiB, and takes as much cache again.
. "$(dirname "$0")/../support/script.sh"
needs isolation
[ -z "$cgroup" ] || export SANDBOX_CGROUP=$cgroup
mkdir -m 777 "$stage/work" "$stage/cache" && cp "$bin/../victims/victim" "$stage/work/" && cd "$stage/work"

# shellcheck disable=SC2016 # for the payload
"$bin/sb-exec" --data-dir "$stage/data" --repeat 4 --bind "$stage/cache:/cache:rw" --set DISK_LIMIT=16Mi -- \
    sh -c ': >/cache/file; ./victim memory 90 tag >/dev/null; head -c 100000000 /dev/zero >/cache/file' </dev/null >"$stage/records" 2>"$stage/err" || { cat "$stage/err" >&2; exit 1; }
if ! grep -q '"peak_rss_bytes":"memory control group' "$stage/records"; then
    kernel_gives group memory || skip 'no control group of ours counts memory'
    fail "a memory control group is ours, and the peak is of something else: $(head -n 1 "$stage/records")"
fi
number=0
while read -r record; do
    peak=$(sed -n 's/.*"peak_rss_bytes":\([0-9]*\),.*/\1/p' <<<"$record")
    [ "${peak:-0}" -ge 94371840 ] || fail "run $number used 90 MiB, and its peak is ${peak:-unknown}"
    number=$((number + 1))
done <"$stage/records"
[ $number = 4 ] || fail "$number records, not 4"

# files that are read for the first time are renewed for once: the runs after that find a clean group, and the sandbox of the last run
mkdir -m 755 "$stage/read" && for i in 1 2 3 4 5 6; do
    head -c 5000000 /dev/urandom >"$stage/read/$i" && dd of="$stage/read/$i" oflag=nocache conv=notrunc,fdatasync count=0 status=none # so that who reads first is charged
done
"$bin/sb-exec" --data-dir "$stage/data" --repeat 8 --bind "$stage/read:/read" -- sh -c 'cat /read/* >/dev/null' </dev/null >"$stage/records" 2>"$stage/err" || { cat "$stage/err" >&2; exit 1; }
new=$(grep -c '"fresh":true' "$stage/records" || true)
[ "$new" -le 3 ] || fail "$new of 8 runs that read the same files had a new sandbox"
exit $failed
