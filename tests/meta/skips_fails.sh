#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# skips.sh hears of tests that are skipped on the word of our own code, and script by script a tool that says so makes them fail.
# skips_fails.sh BIN
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?the folder of the tools}" && pwd) || exit 2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
bad=0
mkdir "$work/tests" && cp -r "$here/../support" "$work/tests"
heard() { # FILE TEXT: told, with its name
    printf '%s\n' "$2" >"$work/tests/$1"
    ! "$here/skips.sh" "$work/tests" >"$work/said" && grep -q "^./$1:" "$work/said" || { echo "not heard: $2"; bad=1; }
    rm "$work/tests/$1"
}
heard one.sh 'case $(cat "$stage/err") in *"full isolation cannot be had here"*) echo "SKIPPED: $(cat "$stage/err")"; exit 77 ;; esac'
heard two.sh "sb-doctor --require full >/dev/null || { echo 'SKIPPED: needs namespaces'; exit 77; }"
heard one.cpp $'    if (made.has_error()) {\n        WARN("SKIPPED: " << made.error().what);\n        return;\n    }'
heard two.cpp $'    if (sb::filter::landlock_version() < 6) {\n        WARN("SKIPPED: an old kernel");'
"$here/skips.sh" "$work/tests" >"$work/said" || { echo "said of nothing: $(cat "$work/said")"; bad=1; }

if "$bin/../support/kernel_gives" isolation >/dev/null; then # a tool that claims that there is no isolation
    mkdir "$work/bin" && cp -r "$bin/../support" "$bin/../victims" "$work"
    printf '#!/bin/sh\necho "sb-exec: full isolation cannot be had here: it is broken" >&2\nexit 4\n' >"$work/bin/sb-exec" && chmod +x "$work/bin/sb-exec"
    cp "$bin/sb-doctor" "$work/bin"
    for name in ends sources kept lasting written_code layers_truth; do
        timeout 60 "$here/../run/$name.sh" "$work/bin" >"$work/said" 2>&1
        case $? in 0 | 77) echo "run/$name.sh does not fail when isolation is broken: $(tail -1 "$work/said")"; bad=1 ;; esac
    done
fi
exit $bad
