#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No tool runs code of its own before main: its table of initialisers is no larger than an empty program's.
# start.sh BIN CXX
set -u
bin=$1 cxx=$2
command -v readelf >/dev/null || { echo "SKIPPED: needs readelf (binutils)"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
printf '#include <string>\nint main(int c, char** v) { std::string s{v[0]}; try { if (c > 9) throw s; } catch (std::string&) { return 1; } return 0; }\n' >"$work/empty.cpp"
"$cxx" -O2 -static "$work/empty.cpp" -o "$work/empty" || exit 2
initialisers() { # eight bytes each
    local size
    size=$(readelf -SW "$1" | sed -nE 's/^.* \.init_array +[A-Z_]+ +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) .*/\1/p')
    echo $((16#$size / 8))
}
allowed=$(initialisers "$work/empty")
bad=0
for tool in "$bin"/sb "$bin"/sb-*; do
    [ "$(basename "$tool")" = sb-settings ] && continue # yaml-cpp's own; it runs only when there is a YAML file
    has=$(initialisers "$tool")
    [ "$has" -le "$allowed" ] || { echo "$(basename "$tool"): $has initialisers before main, an empty program has $allowed"; bad=1; }
    if readelf -dW "$tool" 2>/dev/null | grep -q NEEDED; then echo "$(basename "$tool"): is not static"; bad=1; fi
done
exit $bad
