#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# lasting.sh BIN: what a command writes lies in memory, is its own affair and need not reach a disk; where a binding is writable,
# files last: the disk is then told of them, and none of them changes who runs it.
. "$(dirname "$0")/../support/script.sh"
needs isolation sync jq
mkdir "$stage/work" && mkdir -m 777 "$stage/door"
code() { # OPTION… -- SCRIPT: its exit status
    (cd "$stage/work" && "$bin/sb-exec" --data-dir "$stage/data" "${@:1:$#-2}" -- /bin/sh -c "${!#}" >"$stage/record" 2>"$stage/err" </dev/null) || {
        fail "sb-exec: $(cat "$stage/err")"
    }
    jq -r 'select(.kind == "run").end.code' "$stage/record"
}
# the kernel itself does not flush a device that is none of a disk's, and says so
[ "$(sync -d /dev/null 2>&1 >/dev/null | wc -l)" = 1 ] || fail 'the host flushes /dev/null'
[ "$(code -- 'sync -d /dev/null')" = 0 ] || fail 'a flush reached the kernel'
[ "$(code --bind "$stage/door:/door" -- 'sync -d /dev/null')" = 0 ] || fail 'a flush reached the kernel, with a binding that nobody can write to'
[ "$(code --bind "$stage/door:/door:rw" -- 'sync -d /dev/null')" = 1 ] || fail 'with a writable binding no flush reached the kernel'
[ "$(code --bind "$stage/door:/door:rw" -- 'echo kept >/door/file && sync -d /door/file')" = 0 ] || fail 'a file that lasts could not be flushed'
[ "$(cat "$stage/door/file")" = kept ] || fail 'a file does not last'

[ "$(code -- 'touch file && chmod 6755 file && test -u file -a -g file')" = 0 ] || fail 'a build cannot set a user id in the workspace'
[ "$(code --bind "$stage/door:/door:rw" -- 'touch /door/own && chmod 755 /door/own && ! chmod 4755 /door/own && ! chmod g+s /door/own')" = 0 ] || fail 'set-user-id in a binding'
[ -z "$(find "$stage/door" -perm /6000)" ] || fail 'a set-user-id file is left'
[ $failed = 0 ] && echo 'what lasts is flushed and plain; what does not is the run'\''s own'
