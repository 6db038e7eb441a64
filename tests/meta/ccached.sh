#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With ccache a clone finds what another has compiled, and never a precompiled header that was made of other bytes, even where only
# a comment differs. ccached.sh CXX
set -u
cxx=$1
command -v ccache >/dev/null || { echo 'SKIPPED: no ccache here'; exit 77; }
case $("$cxx" --version | head -1) in *clang*) echo 'SKIPPED: only g++ has precompiled headers here'; exit 77 ;; esac
script=$(cd "$(dirname "$0")/../.." && pwd)/cmake/ccache.sh
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export CCACHE_DIR=$work/cache CCACHE_CONFIGPATH=$work/none
bad=0
clone() { # NAME COMMENT: a tree at a place of its own, built there
    mkdir -p "$work/$1/include" && cd "$work/$1" || exit 2
    printf '#pragma once\n// %s\ninline int f() { return 1; }\n' "$2" >include/x.hpp
    printf '#include <x.hpp>\n' >all.hxx
    printf '#include <x.hpp>\nint main() { return f(); }\n' >main.cpp
    "$script" "$PWD" "$cxx" -I"$PWD/include" -fpch-preprocess -MD -MF all.d -x c++-header -o all.hxx.gch -c all.hxx &&
        "$script" "$PWD" "$cxx" -I"$PWD/include" -fpch-preprocess -Winvalid-pch -include "$PWD/all.hxx" -MD -MF main.d -o main.o -c main.cpp &&
        "$cxx" -I"$PWD/include" -Winvalid-pch -include "$PWD/all.hxx" -o main main.cpp || { echo "$1 cannot be compiled"; bad=1; }
}
hits() { ccache --print-stats | awk '/^(direct|preprocessed)_cache_hit/ { sum += $2 } END { print sum }'; }
clone first one
clone second one
[ "$(hits)" = 2 ] || { echo "of a clone with the same bytes $(hits) of 2 are found"; bad=1; }
clone third two
cmp -s "$work/first/all.hxx.gch" "$work/third/all.hxx.gch" && { echo 'a precompiled header of other bytes is found'; bad=1; }
exit $bad
