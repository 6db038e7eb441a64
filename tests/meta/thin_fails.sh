#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# thin.sh refuses a main of 16 lines, a file of 151 and a tool without a main, and takes 15 and 150.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "thin_fails: $*" >&2; exit 1; }
tool() { # lines before main, lines of main with head and brace
    for ((i = 0; i < $1; ++i)); do echo '// a line'; done
    echo 'int main(int argc, char** argv) {'
    for ((i = 2; i < $2; ++i)); do echo '    work();'; done
    echo '}'
}
tool 135 15 >"$work/sb-a.cpp"
"$here/thin.sh" "$work" || fail 'refuses a file of 150 lines whose main has 15'
tool 136 15 >"$work/sb-a.cpp"
[ "$("$here/thin.sh" "$work")" = 'tools/sb-a.cpp has 151 lines: at most 150' ] || fail 'takes a file of 151 lines'
tool 3 16 >"$work/sb-a.cpp"
[ "$("$here/thin.sh" "$work")" = 'tools/sb-a.cpp: main has 16 lines: 1 to 15' ] || fail 'takes a main of 16 lines'
echo '// nothing' >"$work/sb-a.cpp"
! "$here/thin.sh" "$work" >/dev/null || fail 'takes a tool without a main'
