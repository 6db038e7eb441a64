#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No tool runs code of its own before main: its table of initialisers is no larger than that of an empty program with the
# same parts of the C++ runtime.
# start.sh BIN CXX
set -u
bin=$1 cxx=$2
command -v readelf >/dev/null || { echo "SKIPPED: needs readelf (binutils)"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
# the runtime's own parts that the tools use bring theirs: exceptions, error categories, memory resources, the CPU's features
cat >"$work/empty.cpp" <<'END'
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <system_error>
int main(int c, char** v) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (c > 9 && __builtin_cpu_supports("avx2")) return 2;
#endif
    try {
        if (c > 9) throw std::runtime_error{v[0]};
    } catch (std::exception&) {
        return std::pmr::get_default_resource() == nullptr || std::system_category().message(c).empty();
    }
    return 0;
}
END
"$cxx" -std=c++20 -O2 -static "$work/empty.cpp" -o "$work/empty" || exit 2
initialisers() { # eight bytes each
    local size
    size=$(readelf -SW "$1" | sed -nE 's/^.* \.init_array +[A-Z_]+ +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) .*/\1/p')
    echo $((16#$size / 8))
}
allowed=$(initialisers "$work/empty")
bad=0
for tool in "$bin"/sb "$bin"/sb-*; do
    [ "$(basename "$tool")" = sb-settings ] && continue # yaml-cpp's own; it runs only when there is a YAML file
    has=$(initialisers "$tool")
    [ "$(basename "$tool")" != sb-exec ] || has=$((has - 1)) # Boost.Asio notes its error categories and the keys of its services
    [ "$has" -le "$allowed" ] || { echo "$(basename "$tool"): $has initialisers before main, an empty program has $allowed"; bad=1; }
    if readelf -dW "$tool" 2>/dev/null | grep -q NEEDED; then echo "$(basename "$tool"): is not static"; bad=1; fi
done
exit $bad
