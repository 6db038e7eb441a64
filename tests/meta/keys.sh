#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A preset key is defined once: its name stands in include/sb/key/ (the labels of every preset: in record/preset.hpp) and in the
# profiles; no other header and no tool spells it. The names are those of sb-presets --list.
# keys.sh BIN [FOLDER]...: looks through these folders instead of include and tools
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${1:?the folder of the tools}
shift
[ $# -gt 0 ] || set -- include tools
names=$("$bin/sb-presets" --list --format jsonl | sed -nE 's/^\{"kind":"key","name":"([A-Z_]+)".*/\1/p')
[ "$(echo "$names" | wc -l)" -ge 50 ] || { echo "keys: sb-presets --list names no keys" >&2; exit 1; }
bad=0
found=$(grep -rnwE --include='*.hpp' --include='*.cpp' "$(echo "$names" | paste -sd'|')" "$@" |
    grep -vE '^include/sb/(key/[a-z_]+|stress/profile|record/preset)\.hpp:')
[ -z "$found" ] || { printf '%s\n' "$found" | sed 's/$/: spells the name of a preset key; include its header of sb\/key/'; bad=1; }
for name in $names; do
    defined=$(grep -rhoE "(\.name|\b[a-z_]+) = \"$name\"" include/sb/key include/sb/record | wc -l)
    [ "$defined" = 1 ] || { echo "keys: $name is defined $defined times in include/sb/key"; bad=1; }
done
exit $bad
