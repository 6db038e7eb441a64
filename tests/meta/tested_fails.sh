#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tested.sh refuses a header without a test, a name without an include and a name of nothing, and takes a test of either kind.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "tested_fails: $*" >&2; exit 1; }
said() { "$here/tested.sh" "$work"; }
mkdir -p "$work/include/sb/core" "$work/tests/core"
touch "$work"/include/sb/core/{own,other}.hpp
printf '// the licence\n#include <sb/core/own.hpp>\n' >"$work/tests/core/own_test.cpp"
[[ "$(said)" == 'include/sb/core/other.hpp: neither'* ]] || fail 'takes a header without a test'
printf '// the licence\n// Tests of own.hpp and other.hpp.\n#include <sb/core/own.hpp>\n' >"$work/tests/core/own_test.cpp"
[ "$(said)" = 'tests/core/own_test.cpp names other.hpp and does not include it' ] || fail 'takes a name without an include'
echo '#include <sb/core/other.hpp>' >>"$work/tests/core/own_test.cpp"
said || fail 'refuses a header that a test names and includes'
mv "$work/include/sb/core/other.hpp" "$work/include/sb/core/third.hpp"
[[ "$(said)" == *'own_test.cpp names other.hpp, which is no header of core'* ]] || fail 'takes the name of nothing'
