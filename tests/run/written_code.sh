#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# written_code.sh BIN: at level 4 nothing is executed from where a run may write, by whatever other name that folder has: a part of
# another binding, of a system folder of another root, or of a place where root has mounted it once more.
. "$(dirname "$0")/../support/script.sh"
needs isolation jq ldd
alone "$@"
trap 'umount -R "$stage/alias" "$stage/deep/er" "$stage/root/usr/alias" 2>/dev/null || true; rm -rf "$stage"' EXIT
mkdir "$stage/work" "$stage/data"
ends() { # LEVEL OPTION… -- SCRIPT: its exit status, or the class of its end
    (cd "$stage/work" && "$bin/sb-exec" --data-dir "$stage/data" --set "SECURITY_LEVEL=$1" "${@:2:$#-3}" -- /bin/sh -c "${!#}" >"$stage/record" 2>"$stage/err" </dev/null) || {
        fail "sb-exec: $(cat "$stage/err")"
    }
    jq -r 'select(.kind == "run") | .end.code // .end.class' "$stage/record"
}
# NAME PROGRAM OPTION…: what is written to /out is executed as PROGRAM at level 3, and at level 4 it is not; what lies beside it is at both
tried() {
    local script="cp /usr/bin/env /out/made && exec $2 true"
    [ "$(ends 3 "${@:3}" -- "$script")" = 0 ] || fail "$1: at level 3: $(cat "$stage/record")"
    [ "$(ends 4 "${@:3}" -- "$script")" = 126 ] || fail "$1: $2 is executed at level 4: $(jq -c .end "$stage/record")"
}
place() { mkdir -p "$1/written" && chmod 777 "$1/written" && cp /usr/bin/env "$1/beside"; }

place "$stage/plain"
tried 'the binding itself' /out/made --bind "$stage/plain/written:/out:rw"
tried 'bound again' /again/made --bind "$stage/plain/written:/out:rw" --bind "$stage/plain/written:/again:ro"
tried 'in another binding' /all/written/made --bind "$stage/plain/written:/out:rw" --bind "$stage/plain:/all:ro"
tried 'by a path that goes back' /again/../again/made --bind "$stage/plain/written:/out:rw" --bind "$stage/plain/written:/again:ro"
[ "$(ends 4 --bind "$stage/plain/written:/out:rw" --bind "$stage/plain/beside:/beside:ro" -- '/beside true')" = 0 ] || fail 'what is not written is not executed'

# a root with no more than this takes
mkdir -p "$stage/root/usr/bin" "$stage/root/usr/local" "$stage/root/usr/alias"
for program in sh cp env true; do
    cp "$(type -P $program)" "$stage/root/usr/bin/"
    ldd "$(type -P $program)" | grep -oE '/[^ ]+' | while read -r library; do
        mkdir -p "$stage/root/usr$(dirname "${library#/usr}")" && cp "$library" "$stage/root/usr${library#/usr}"
    done
done
for each in bin lib lib64; do [ ! -d "$stage/root/usr/$each" ] || ln -s "usr/$each" "$stage/root/$each"; done
place "$stage/root/usr/local"
tried 'in another root' /usr/local/written/made --root "$stage/root" --bind "$stage/root/usr/local/written:/out:rw"
[ "$(ends 4 --root "$stage/root" --bind "$stage/root/usr/local/written:/out:rw" -- '/usr/local/beside true')" = 0 ] || fail 'beside what is written nothing is executed in another root'

if [ "${2-}" = --alone ]; then
    mkdir -p "$stage/alias" "$stage/deep/er"
    mount --bind "$stage/plain" "$stage/alias" && mount --bind "$stage/plain/written" "$stage/deep/er" && mount --bind "$stage/plain" "$stage/root/usr/alias"
    tried 'mounted once more' /again/made --bind "$stage/plain/written:/out:rw" --bind "$stage/deep/er:/again:ro"
    tried 'below what is mounted once more' /again/written/made --bind "$stage/plain/written:/out:rw" --bind "$stage/alias:/again:ro"
    tried 'written by its other name' /again/written/made --bind "$stage/alias/written:/out:rw" --bind "$stage/plain:/again:ro"
    tried 'mounted below what is shown' /again/er/made --bind "$stage/plain/written:/out:rw" --bind "$stage/deep:/again:ro"
    tried 'written where it is mounted once more' /again/written/made --bind "$stage/deep/er:/out:rw" --bind "$stage/plain:/again:ro"
    tried 'written below what is mounted' /again/made --bind "$stage/deep:/deep:rw" --bind "$stage/plain/written:/out:rw" --bind "$stage/plain/written:/again:ro"
    tried 'mounted in another root' /usr/alias/written/made --root "$stage/root" --bind "$stage/plain/written:/out:rw"
    [ "$(ends 4 --root "$stage/root" --bind "$stage/plain/written:/out:rw" -- '/usr/alias/beside true')" = 0 ] || fail 'beside what is written nothing is executed where it is mounted'
fi
[ $failed = 0 ] && echo 'what a run may write is executed by none of its names'
