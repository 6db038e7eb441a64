#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A tool starts within three times the time of an empty static program, and runs no code of its own before main: its table of
# initialisers is no larger than that of a program with the same parts of the C++ runtime. It is static. Where there is no archive
# of simdjson it loads simdjson and the runtime, with everything found before main, and starts within three times the time of a
# program that loads the runtime.
# start.sh BIN CXX [static]: the third word where there is an archive
set -u
bin=$1 cxx=$2 kind=${3-}
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
# turns PROGRAM...: starts them in turns and prints the least microseconds of each, a line each
cat >"$work/turns.cpp" <<'END'
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <vector>
extern char** environ;
int main(int count, char** programs) {
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (int const fd : {1, 2}) posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0);
    std::vector<double> least(static_cast<unsigned>(count), 1e9);
    for (int turn = 0; turn < 200; ++turn)
        for (int i = 1; i < count; ++i) {
            char option[] = "--version", *words[] = {programs[i], option, nullptr};
            timespec from{}, to{};
            clock_gettime(CLOCK_MONOTONIC, &from);
            pid_t child = 0;
            int status = 0;
            if (posix_spawn(&child, programs[i], &quiet, nullptr, words, environ) != 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
            clock_gettime(CLOCK_MONOTONIC, &to);
            double const took = static_cast<double>(to.tv_sec - from.tv_sec) * 1e6 + static_cast<double>(to.tv_nsec - from.tv_nsec) / 1e3;
            if (took < least[static_cast<unsigned>(i)]) least[static_cast<unsigned>(i)] = took;
        }
    for (int i = 1; i < count; ++i) std::printf("%.0f\n", least[static_cast<unsigned>(i)]);
}
END
sed -e '1i #include <sstream>' -e 's/    try {/    if (c > 19) return static_cast<int>((std::ostringstream{} << c).str().size());\n    try {/' "$work/empty.cpp" >"$work/streams.cpp" # as simdjson does
"$cxx" -std=c++20 -O2 -static "$work/empty.cpp" -o "$work/empty" && "$cxx" -std=c++20 -O2 -static "$work/streams.cpp" -o "$work/streams" && "$cxx" -std=c++20 -O2 "$work/empty.cpp" -o "$work/shared" &&
    "$cxx" -std=c++20 -O2 "$work/turns.cpp" -o "$work/turns" || exit 2
initialisers() { # eight bytes each
    local size
    size=$(readelf -SW "$1" | sed -nE 's/^.* \.init_array +[A-Z_]+ +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) .*/\1/p')
    echo $((16#$size / 8))
}
# Boost.Asio notes its error categories and the keys of its services: in one initialiser of g++, in one for each of clang
of_asio=1
case $("$cxx" --version | head -1) in *clang*) of_asio=5 ;; esac
bad=0
tools=("$bin"/sb "$bin"/sb-*)
for tool in "${tools[@]}"; do
    name=$(basename "$tool")
    loads=$(readelf -dW "$tool" 2>/dev/null | sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p')
    model=$work/streams
    if [ -n "$loads" ]; then
        [ "$kind" != static ] || { echo "$name: is not static"; bad=1; }
        model=$work/shared
        others=$(echo "$loads" | grep -vE '^(libsimdjson|libstdc\+\+|libm|libgcc_s|libc|ld-linux-[a-z0-9_-]+)\.so\.[0-9]+$')
        [ -z "$others" ] || { echo "$name: loads $(echo $others)"; bad=1; }
        readelf -dW "$tool" | grep -q 'FLAGS.*NOW' || { echo "$name: looks functions up after main has begun"; bad=1; }
    fi
    [ "$name" = sb-settings ] && continue # yaml-cpp's own; it runs only when there is a YAML file
    has=$(initialisers "$tool") allowed=$(initialisers "$model")
    allowed=$((allowed + 1)) # Boost.JSON asks there for the end of its default memory
    case $name in
    sb-exec) allowed=$((allowed + of_asio)) ;;
    sb-doctor) allowed=$((allowed + of_asio - 1)) ;; # g++ puts them into the one that each tool has
    esac
    [ "$has" -le "$allowed" ] || { echo "$name: $has initialisers before main, an empty program and Boost have $allowed"; bad=1; }
done
mapfile -t least < <("$work/turns" "$work/empty" "$work/shared" "${tools[@]}")
[ ${#least[@]} = $((${#tools[@]} + 2)) ] || { echo 'a tool could not be started'; exit 1; }
echo "an empty static program: ${least[0]} us; one that loads the runtime: ${least[1]} us"
for i in "${!tools[@]}"; do
    name=$(basename "${tools[i]}") took=${least[i + 2]} of=${least[0]}
    echo "$name: $took us"
    if readelf -dW "${tools[i]}" 2>/dev/null | grep -q NEEDED; then of=${least[1]}; fi
    [ "$took" -le $((3 * of)) ] || { echo "$name: starts in more than three times that"; bad=1; }
done
exit $bad
