#!/bin/bash
# SPDX-License-Identifier: MIT
# complete.sh DOCUMENTS [TABLE]: every name in the predecessor's documents is in names.tsv or below as no name, and the
# table has no name that the documents lack. Exit 77 where the documents are not beside the checkout.
set -euo pipefail
export LC_ALL=C
documents=${1:?usage: complete.sh DOCUMENTS [TABLE]}
table=${2:-$(cd "$(dirname "$0")/../.." && pwd)/docs/reference/names.tsv}
[ -d "$documents" ] || { echo "names: skipped: the predecessor's documents are not in $documents"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat "$documents"/* >"$work/all"

# What looks like a name and is none: word or pattern of grep -x -E, then why.
cat >"$work/not-names" <<'LIST'
ERROR_FIX                          a tag of a recorded interaction
IMPROVEMENT_PATH                   a tag of a recorded interaction
SELF_TEST                          the beginning of SELF_TEST_*
SIGINT|SIGTERM                     signals
--cov                              an option of pytest
--now|--user                       options of systemctl
--no-recursive-                    the beginning of --no-recursive-*
[a-z_]+\.md                        the documents themselves, and those they point at
(cert|key)\.pem                    a user's files in an example
(policy\.json|va\.tmpl)            a user's files in an example
(out|payload)\.txt                 a workload's files in an example
windows\.qcow2                     a user's disk image in an example
(sandbox_memory\.db|kg\.gpickle)   file names that an example chose
(m|module|helper|isolated|isolated_ping|orphan|util|main|common)\.py  modules of examples
(custom|cpu_predict)\.py           plug-ins of examples
test_[a-z_]+\.py                   the predecessor's own tests
(environment|log_tags)\.py         modules of its library, not run by a user
LIST
# the part before the reason, which two blanks or more begin
sed -E 's/  +.*//' "$work/not-names" >"$work/patterns"

{
    grep -oE '\b[A-Z][A-Z0-9]+(_[A-Z0-9]+)+' "$work/all"
    grep -oE '`[A-Z][A-Z0-9]+`' "$work/all" | tr -d '`'
    grep -oE '(^|[^-A-Za-z0-9])--[a-z][a-z0-9-]*' "$work/all" | sed 's/^[^-]*//'
    grep -oE '[A-Za-z0-9_*./-]+\.(py|sh|yaml|yml|json|jsonl|db|lock|flags|service|timer|xml|toml|txt|j2|md|gpickle|qcow2|pem|log|tmpl)\b' "$work/all" | sed 's#.*/##'
    grep -oE '[a-z_]+\.db\.lock' "$work/all"
    grep -oE '\.env\b' "$work/all"
    grep -oE '`/[a-z][a-z/<>]*`' "$work/all" | tr -d '`'
    grep -oE 'python -m [a-z_.]+' "$work/all" | sed 's/.* //'
    grep -oE 'python (-m )?[A-Za-z0-9_./]+ [a-z][a-z-]+( |$)' "$work/all" | sed -E 's/ $//; s/.* //'
} | sort -u >"$work/found"
grep -v -x -E -f "$work/patterns" "$work/found" >"$work/names" || true
[ "$(wc -l <"$work/names")" -gt 200 ] || { echo "names: only $(wc -l <"$work/names") names in $documents: are those the documents?" >&2; exit 1; }

failed=0
report() { sed "s|^|names: $1: |" >&2; failed=1; }
grep -v -e "^# " -e "^area" "$table" | cut -f 2 | sort -u >"$work/listed"
comm -23 "$work/names" "$work/listed" >"$work/missing"
[ ! -s "$work/missing" ] || report 'in the documents, not in the table' <"$work/missing"
while read -r name; do
    grep -qF -e "$name" "$work/all" || echo "$name"
done <"$work/listed" >"$work/invented"
[ ! -s "$work/invented" ] || report 'in the table, not in the documents' <"$work/invented"
while read -r pattern; do
    grep -q -x -E -e "$pattern" "$work/found" || echo "$pattern"
done <"$work/patterns" >"$work/idle"
[ ! -s "$work/idle" ] || report 'called no name, but nowhere in the documents' <"$work/idle"
[ $failed = 0 ] && echo "names: $(wc -l <"$work/names") names of the documents, all in the table of $(wc -l <"$work/listed")"
exit $failed
