#!/bin/sh
# SPDX-License-Identifier: MIT
# A line of may_skip that names no probe, or has a word that means nothing, fails whatever is run: may_skip_fails.sh BIN.
set -u
here=$(cd "$(dirname "$0")" && pwd)
witness=$1/../probes/sb-witness
stage=$(mktemp -d) || exit 2
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
failed=0
complain() { echo "$1: $(head -3 "$stage/said")"; failed=1; }
page() { "$witness" --may-skip "$1" --write - >"$stage/said" 2>&1; }

page "$here/may_skip" || complain 'the list as it is fails'
for line in 'no_such_probe groupless # renamed' '3 groupless # a number' 'memory_bomb grouples # a word of nobody' 'no_such_probe'; do
    { cat "$here/may_skip" && echo "$line"; } >"$stage/may_skip"
    page "$stage/may_skip"
    [ $? = 2 ] && grep -qF "$stage/may_skip: ${line%% *}: " "$stage/said" || complain "not told: $line"
done
"$witness" --may-skip "$stage/may_skip" disk_flush >"$stage/said" 2>&1
[ $? = 2 ] || complain 'a probe is run with a list that is wrong'
exit $failed
