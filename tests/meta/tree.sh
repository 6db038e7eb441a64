#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What holds for every file of the tree: a licence line, no stream or locale in a header, nothing of one machine.
set -u
cd "$(dirname "$0")/../.." || exit 2
bad=0
complain() { printf '%s\n' "$2" | sed "s|\$|: $1|"; bad=1; }
files() { if [ -e .git ]; then git ls-files -co --exclude-standard "$@"; else find . -type f | sed 's|^\./||' | grep -v '^build'; fi; }

unmarked=$(files | grep -E '\.(hpp|cpp|cmake|sh|py|mk)$|CMakeLists\.txt$|^Makefile$|^scripts/|^\.ci/' | while read -r f; do
    [ -f "$f" ] && ! head -3 "$f" | grep -q 'SPDX-License-Identifier: MIT' && echo "$f"; done)
[ -z "$unmarked" ] || complain 'no SPDX-License-Identifier: MIT in its first three lines' "$unmarked"

# static start: these headers run code before main, or carry a locale
heavy=$(grep -lE '^#include <(iostream|sstream|fstream|iomanip|regex|locale|filesystem|format)>' -r include/sb tools 2>/dev/null)
[ -z "$heavy" ] || complain 'includes a stream, a locale, <regex> or <filesystem>' "$heavy"

unguarded=$(find include/sb -name '*.hpp' | while read -r f; do grep -q '^#pragma once' "$f" || echo "$f"; done)
[ -z "$unguarded" ] || complain 'no #pragma once' "$unguarded"

# one name, one meaning: who is told a header's name finds that header.
twice=$(find include/sb -name '*.hpp' | sed 's|.*/||' | sort | uniq -d | while read -r name; do find include/sb -name "$name"; done)
[ -z "$twice" ] || complain 'two headers with one name' "$twice"

unmanaged=$(for f in tools/sb*.cpp; do [ -f "${f%.cpp}.md" ] || echo "$f"; done)
[ -z "$unmanaged" ] || complain 'no manual beside it' "$unmanaged"

unfinished=$(files | grep -E '\.(hpp|cpp|sh|cmake|md|py|mk)$|^Makefile$' | grep -v '^tests/meta/tree.sh$' | xargs grep -nE '\b(TODO|FIXME|XXX)\b' 2>/dev/null | grep -v 'mktemp\|mkstemp\|mkdtemp\|XXXXXX')
[ -z "$unfinished" ] || complain 'unfinished' "$unfinished"
exit $bad
