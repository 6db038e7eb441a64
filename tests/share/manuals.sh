#!/bin/bash
# SPDX-License-Identifier: MIT
# manuals.sh BUILD: each tool's manual page is what mandoc and man call one, and has the sections that a reader looks for.
set -euo pipefail
share=${1:?usage: manuals.sh BUILD}/share
for program in mandoc man; do
    command -v $program >/dev/null || { echo "manuals: skipped: no $program here (scripts/dependencies check)"; exit 77; }
done
fail() { echo "manuals: $*" >&2; exit 1; }

pages=("$share"/man/man1/*.1)
[ -s "${pages[0]}" ] || fail "no pages in $share/man/man1"
# no date on purpose: the same source gives the same bytes
said=$(mandoc -Tlint -Wwarning "${pages[@]}" | grep -v 'missing date, using "": TH' || true)
[ -z "$said" ] || fail "mandoc says: $said"
for page in "${pages[@]}"; do
    name=$(basename "$page" .1)
    text=$(MANPATH=$share/man MANWIDTH=100 man -E ascii -P cat "$name" 2>/dev/null | col -b) || fail "man $name does not show it"
    for section in NAME SYNOPSIS OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
        grep -q "^$section" <<<"$text" || fail "$name.1: no section $section"
    done
done
echo "manuals: ${#pages[@]} pages"
