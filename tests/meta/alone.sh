#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A stranger's program that includes one header of sb::stats reads that header, what it names of stats and core, and the standard
# library: no Asio, no JSON, no range-v3, no Boost at all. How long the compiler took is printed, and measured in bench/.
# alone.sh CXX
set -u
cxx=${1:?usage: alone.sh CXX}
include=$(cd "$(dirname "$0")/../../include" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
fail() { echo "alone: $*" >&2; exit 1; }
TIMEFORMAT='%U %S'

cat >"$work/program.cpp" <<'END'
#include <sb/stats/adf.hpp>
#include <cstdio>
int main() {
    double values[40];
    unsigned state = 1;
    for (double& each : values) state = state * 1664525 + 1013904223, each = static_cast<double>(state >> 16);
    auto const got = sb::stats::adf(values);
    std::printf("%.3f %.3g\n", got.statistic, got.p);
    return got && got.p < 0.05 ? 0 : 1;
}
END
# compiled PROGRAM OPTION...: what it reads in PROGRAM.read, a file a line, and what it took of processor time in PROGRAM.took
compiled() {
    local name=$1
    shift
    { time "$cxx" -std=c++20 -O2 -MD -MF "$work/$name.d" "$@" "$work/$name.cpp" -o "$work/$name" 2>"$work/$name.err"; } 2>"$work/$name.took" ||
        { cat "$work/$name.err" >&2; fail "$name.cpp does not compile"; }
    sed 's/^[^:]*://; s/\\$//' "$work/$name.d" | tr -s ' ' '\n' | grep . | xargs realpath | sort -u | grep -v "^$work/" >"$work/$name.read"
}
compiled program -I "$include"
"$work/program" >"$work/out" || fail "the program's answer is wrong: $(cat "$work/out")"

grep "^$include/" "$work/program.read" >"$work/ours"
foreign=$(grep -vE "^$include/sb/(stats|core)/[a-z_0-9]+\.hpp$" "$work/ours")
[ -z "$foreign" ] || fail "sb/stats/adf.hpp reads of other layers: $foreign"
grep -q "^$include/sb/stats/adf.hpp$" "$work/ours" || fail 'sb/stats/adf.hpp is not among what was read'

# the standard headers that these name, by themselves
sed -nE 's/^#include (<[a-z_0-9.]+>).*/#include \1/p' "$work/program.cpp" $(cat "$work/ours") | sort -u >"$work/standard.cpp"
echo 'int main() {}' >>"$work/standard.cpp"
compiled standard
foreign=$(grep -v "^$include/" "$work/program.read" | comm -23 - "$work/standard.read")
[ -z "$foreign" ] || fail "sb/stats/adf.hpp reads what is not of the standard library: $foreign"
! grep -E '/(boost|asio|range|nlohmann|rapidjson|simdjson|yaml-cpp|Eigen)/' "$work/program.read" || fail 'the files above are read'

seconds() { awk '{ printf "%.2f", $1 + $2 }' "$1"; }
echo "alone: $(wc -l <"$work/ours") headers of ours; compiled and linked in $(seconds "$work/program.took") s of processor time, the standard headers alone in $(seconds "$work/standard.took") s"
