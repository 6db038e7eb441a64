#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ends.sh BIN: a command that the sandbox's own rules keep from running is `refused` and one that cannot run is `setup`;
# a disk that was full for a while is the cause of a bad end; a sandbox is fresh for one run.
. "$(dirname "$0")/../support/script.sh"
needs isolation jq
mkdir "$stage/work" "$stage/hidden" && cd "$stage/work"
run() { # OPTION… -- COMMAND…
    "$bin/sb-exec" --data-dir "$stage/data" "$@" <"${presets-/dev/null}" >"$stage/record" 2>"$stage/err" && return
    fail "$*: $(cat "$stage/err")"
}
ends() { # WANTED NAME: what `jq` makes of all records
    jq -es "$1" "$stage/record" >/dev/null || fail "$2: $(jq -c '[.end, .limits_hit, .fresh]' "$stage/record")"
}

# refused: by the level, by the rights of a file, by what the walls hide for one preset and not for another
cp /bin/true mine
run --set SECURITY_LEVEL=3 -- ./mine
ends '.[0].end.class == "ok"' 'its own program at level 3'
run --set SECURITY_LEVEL=4 -- ./mine
ends '.[0].end | .class == "refused" and .code == null and (.reason | test("^exec: .*SECURITY_LEVEL 4 executes nothing in the workspace"))' 'its own program at level 4'
run --set SECURITY_LEVEL=4 --bind "$stage/work:/programs" -- sh -c /programs/mine
ends '.[0].end.class == "ok"' 'a program bound to be read only, at level 4'
if [ "$(id -u)" = 0 ]; then
    mkdir "$stage/own" && install -m 700 /bin/true "$stage/own/tool"
    run --bind "$stage/own" -- "$stage/own/tool"
    ends '.[0].end | .class == "refused" and (.reason | test("only the owner of the file may execute it"))' "a program of root's alone"
fi
printf '#!/bin/sh\nexit 0\n' >"$stage/hidden/here-or-there" && cp "$stage/hidden/here-or-there" here-or-there && chmod +x here-or-there "$stage/hidden/here-or-there"
cat >"$stage/presets" <<END
{"SCENARIO_NAME":"seen","ENV_PATH":"$stage/work:/usr/bin:/bin"}
{"SCENARIO_NAME":"hidden","ENV_PATH":"$stage/hidden:/usr/bin:/bin"}
{"SCENARIO_NAME":"missing","ENV_PATH":"/usr/bin:/bin"}
END
presets=$stage/presets run -- here-or-there
ends 'map({(.scenario): .end.class}) | add == {seen: "ok", hidden: "refused", missing: "setup"}' 'a command that is seen, hidden and missing'
ends 'map(select(.scenario == "hidden").end.reason)[0] | test("hidden by|not visible in the sandbox")' 'the reason for a hidden one'
# setup: neither rules nor rights
printf '#!/nowhere/sh\n' >orphaned && chmod +x orphaned
run -- ./orphaned
ends '.[0].end.class == "setup"' 'a script without its interpreter'
# and without its input, which goes while the first run is made
mkdir -m 777 "$stage/door" && echo given >"$stage/input"
(until [ -e "$stage/door/begun" ]; do sleep 0.05; done; rm "$stage/input"; : >"$stage/door/gone") & taker=$!
run --repeat 2 --stdin "$stage/input" --bind "$stage/door:/door:rw" -- sh -c ': >/door/begun; until [ -e /door/gone ]; do sleep 0.05; done'
kill "$taker" 2>/dev/null || : # it waits for a run that was not begun
ends 'map(.end.class) == ["ok", "setup"] and (.[1].end.reason | test("^open .*input: No such file"))' 'a run whose input is gone'
run --isolate basic --set SECURITY_LEVEL=4 -- ./mine
ends '.[0].end.class == "ok"' 'without walls nothing is refused'
# a program of another architecture: exit(0) of 32-bit x86, where the machine runs that
printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\124\200\4\10\64\0\0\0\0\0\0\0\0\0\0\0\64\0\40\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\200\4\10\0\200\4\10\137\0\0\0\137\0\0\0\5\0\0\0\0\20\0\0\270\1\0\0\0\61\333\315\200\0\0' >foreign && chmod +x foreign
if ./foreign 2>/dev/null; then
    run -- ./foreign
    ends '.[0].end | .class == "signalled" and .signal == 31 and (.reason | test("another architecture"))' 'a program of another architecture'
    run --isolate basic -- ./foreign
    ends '.[0].end.class == "ok"' 'the same without walls'
else
    echo 'ends: no 32-bit programs run here: that one is left out'
fi

# what a run leaves in its home has no say in its check, which finds it by another name
# shellcheck disable=SC2016 # for the payload
run --check 'jq -e ".right | not | not"' -- sh -c 'echo "{\"right\":false}"; echo "def not: true;" >"$HOME/.jq"'
ends '.[0].metrics.output_check == 0' 'a check whose program reads a file of the home'
run --check 'test "$HOME" = / && cmp -s - "$SB_HOME/out"' -- sh -c 'echo 42 | tee "$HOME/out"'
ends '.[0].metrics.output_check == 1' 'a check of what was left in the home'

# a disk that was full and is not any more; both kinds of room; and one that never was
run --set DISK_LIMIT=16Mi -- sh -c 'cat /dev/zero >big; sleep 0.1; rm big; exit 1'
ends '.[0] | .end.class == "disk" and .end.code == 1 and .limits_hit == ["DISK_LIMIT"]' 'a disk that was full'
run --set DISK_LIMIT=4Mi -- sh -c 'mkdir "$TMPDIR/f"; cd "$TMPDIR/f"; i=0; while : >$i; do i=$((i + 1)); done 2>/dev/null; sleep 0.1; cd /; rm -r "$TMPDIR/f"; exit 1'
ends '.[0] | .end.class == "disk" and .limits_hit == ["DISK_LIMIT"]' 'as many files as there may be'
run --set DISK_LIMIT=16Mi -- sh -c 'cat /dev/zero >big; sleep 0.1; rm big; exit 0'
ends '.[0] | .end.class == "ok" and .limits_hit == ["DISK_LIMIT"]' 'a full disk that did no harm'
run --set DISK_LIMIT=16Mi -- sh -c 'head -c 8000000 /dev/zero >big; sleep 0.1; rm big; exit 1'
ends '.[0] | .end.class == "failed" and .limits_hit == []' 'a disk that was half full'
run --set DISK_LIMIT=16Mi --repeat 2 -- sh -c '[ ! -e big ] && cat /dev/zero >big; rm big; exit 1'
run --set DISK_LIMIT=16Mi -- sh -c 'exit 1'
ends '.[0] | .end.class == "failed" and .limits_hit == []' 'the run after a full one'

# fresh: nothing ran there before, whenever it was made
run --repeat 3 -- true
ends 'map(.fresh) == [true, false, false]' 'the first run of a sandbox'
run --warmup 1 --repeat 2 -- true
ends 'map(.fresh) == [false, false]' 'runs after a warm-up'
run --fresh --warmup 1 --repeat 3 -- true
ends 'map(.fresh) == [true, true, true]' 'a new one for each'
run --isolate basic -- true
ends 'map(.fresh) == [null]' 'no walls'
exit $failed
