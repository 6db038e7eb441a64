#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Static tools take the archive of libseccomp, sanitized and shared ones the library, and a build folder that changes its mind
# follows. configure.sh CXX
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
bad=0
expect() { # the ending of what is linked, the build folder, options
    local ending=$1 folder=$work/$2 found
    shift 2
    cmake -S "$source" -B "$folder" -DCMAKE_CXX_COMPILER="$cxx" -DSB_BUILD_TESTS=OFF "$@" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
    found=$(sed -n 's/^libseccomp_LIBRARY:FILEPATH=//p' "$folder/CMakeCache.txt")
    [[ $found == *"$ending" ]] || { echo "with '$*' libseccomp is $found, not one that ends in $ending"; bad=1; }
}
cxx=${1:?usage: configure.sh CXX}
expect .a plain
expect .so plain -DSB_STATIC=OFF
expect .a plain -DSB_STATIC=ON
expect .so sanitized -DSB_SANITIZE=address
exit $bad
