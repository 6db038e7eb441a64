#!/bin/sh
# SPDX-License-Identifier: MIT
# batch.sh TESTS FILE…: prints a file that compiles these files of tests, in the folder TESTS, at once: what many of them include is
# then read, instantiated and optimised once, which takes a third of the time. Each is in a namespace of its own, so that their
# names cannot meet; all that they include comes before.
set -eu
cd "$1" && shift
grep -h '^#include [<"]' "$@" | sort -u
for file; do
    name=${file##*/}
    printf 'namespace %s {\n#include "%s"\n}\n' "${name%.cpp}" "$file"
done
