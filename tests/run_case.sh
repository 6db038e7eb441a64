#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs one golden case: run_case.sh [--accept] CASE_FOLDER, the tools in $BIN. Exit 77: skipped, and it says why.
set -u
accept=no
[ "${1-}" = --accept ] && { accept=yes; shift; }
case_dir=$(cd "${1:?the case folder}" && pwd) || exit 2
export PATH=${BIN:?the folder of the tools}:$PATH CASE_DIR=$case_dir
# nothing of the caller's may colour the result
must_isolate=${SB_MUST_ISOLATE-}
unset NO_COLOR CLICOLOR_FORCE LOG_LEVEL XDG_STATE_HOME XDG_CONFIG_HOME "${!SANDBOX_@}" "${!SB_@}"
export LC_ALL=C.UTF-8 TZ=UTC TERM=dumb
umask 022 # files that the group may write are not trusted

need() { # one word of `needs`: present on this host?
    case $1 in
        root) [ "$(id -u)" = 0 ] ;;
        unprivileged) [ "$(id -u)" != 0 ] ;;
        full) [ -w /dev/full ] ;;
        terminal) command -v script >/dev/null ;;
        namespaces) # asked without our own code; in CI they are there
            "$BIN/../support/kernel_gives" isolation && return
            [ -z "$must_isolate" ] || { echo 'isolation must be had here' && exit 1; }
            return 1
            ;;
        outside-tmp) [[ $case_dir != /tmp/* ]] ;; # where a sandbox has its own
        cpus-2) [ "$(nproc)" -ge 2 ] ;;
        *) command -v "$1" >/dev/null ;;
    esac
}
if [ -f "$case_dir/needs" ]; then
    while read -r word; do
        [ -z "$word" ] || need "$word" || { echo "SKIPPED: needs $word, which this host lacks"; exit 77; }
    done <"$case_dir/needs"
fi

work=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/cwd" "$work/home" "$work/tmp"
export HOME=$work/home TMPDIR=$work/tmp
input=/dev/null
[ -f "$case_dir/in" ] && input=$case_dir/in
(cd "$work/cwd" && exec bash -c "$(cat "$case_dir/cmd")") <"$input" >"$work/out" 2>"$work/err"
echo $? >"$work/status"
# what is of this run alone
sed -i -e "s#$work/cwd#CWD#g" -e "s#$work/home#HOME#g" -e "s#$work/tmp#TMPDIR#g" -e "s#$case_dir#CASE_DIR#g" "$work/out" "$work/err"

if [ $accept = yes ]; then
    cp "$work/out" "$case_dir/out"
    if [ -s "$work/err" ]; then cp "$work/err" "$case_dir/err"; else rm -f "$case_dir/err"; fi
    if [ "$(cat "$work/status")" != 0 ]; then cp "$work/status" "$case_dir/status"; else rm -f "$case_dir/status"; fi
    exit 0
fi
failed=0
same() { # what was expected, what came
    local expected=$case_dir/$1
    [ -f "$expected" ] || { expected=$work/expected; printf '%s' "${2-}" >"$expected"; }
    diff -u --label "expected $1" --label "got $1" "$expected" "$work/$1" || failed=1
}
same status $'0\n'
same out
same err
[ $failed = 0 ] || { echo "cmd: $(cat "$case_dir/cmd")"; echo "to accept: make accept CASE=$(basename "$(dirname "$case_dir")")/$(basename "$case_dir")"; }
exit $failed
