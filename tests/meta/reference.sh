#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/reference/ is what the tools say of themselves. reference.sh BIN [--write]
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${1:?the folder of the tools}
bad=0
for tool in tools/sb*.cpp; do
    name=$(basename "$tool" .cpp)
    page=docs/reference/$name.md
    if [ "${2-}" = --write ]; then "$bin/$name" --reference >"$page" || exit 1
    else "$bin/$name" --reference | diff -u --label "$page" --label "$name --reference" "$page" - || bad=1
    fi
done
[ $bad = 0 ] || echo "to rewrite them: tests/meta/reference.sh BIN --write"
exit $bad
