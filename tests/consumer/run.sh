#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh BUILD: installs BUILD into a folder, moves that folder, and builds a stranger's project against it in each way we promise.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=${here%/tests/consumer}
build=${1:?usage: run.sh BUILD}
cxx=${CXX:-c++}
command -v pkg-config >/dev/null || { echo 'consumer: skipped: no pkg-config here (scripts/dependencies test)'; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "consumer: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "failed: $*"; }; }
refused() { ! "$@" >"$work/log" 2>&1 || fail "should have failed: $*"; }

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved"
moved=$work/moved
unset CMAKE_PREFIX_PATH sandbench_DIR PKG_CONFIG_PATH
deps=$source/build/deps/usr # where scripts/dependencies unpacked what it could not install
if [ -d "$deps" ]; then export CMAKE_PREFIX_PATH=$deps CPLUS_INCLUDE_PATH=$deps/include; fi

echo '-- what is installed knows nothing of where it came from'
if grep -rlF -e "$work/first" -e "$source" "$moved/share" "$moved/include"; then fail 'the files above name the build machine'; fi

echo '-- each tool brings its manual, completions and schema'
for tool in "$moved"/bin/*; do
    [ -e "$tool" ] || continue
    name=${tool##*/}
    for file in man/man1/$name.1 bash-completion/completions/$name zsh/site-functions/_$name fish/vendor_completions.d/$name.fish sb/schemas/$name.json; do
        [ -s "$moved/share/$file" ] || fail "share/$file is not there"
    done
    quietly "$tool" --version
done

project() { # NAME OPTION...: the consumer through CMake
    local name=$1
    shift
    quietly cmake -S "$here" -B "$work/$name" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror' "$@"
    quietly cmake --build "$work/$name" --parallel "$(nproc)"
    quietly ctest --test-dir "$work/$name" --no-tests=error --output-on-failure
}

skipped=0
confines() { # BINARY: it holds a command, measures it, and leaves nothing behind
    local why
    if ! why=$("$build/support/kernel_gives" isolation); then # asked without our own code
        [ -z "${SB_MUST_ISOLATE-}" ] || fail "isolation must be had here: $why"
        echo "consumer: confine: built, not run: no isolation here: $why"
        skipped=1
        return
    fi
    local folder status
    folder=$(mktemp -d "$work/folder.XXXXXX")
    printf 'seen\n' >"$folder/file"
    status=0
    "$1" "$folder" sh -c 'cat file; echo mine >file; cat file; test ! -e /root && test -z "$(ls -A ~)" && exit 3' >"$work/out" 2>"$work/err" || status=$?
    [ $status = 1 ] && [ "$(cat "$work/out")" = $'seen\nmine' ] || { cat "$work/out" "$work/err" >&2; fail "confine: ended with $status"; }
    grep -q '^exit status 3; 0\.[0-9]* s, 0\.[0-9]* s of processor time, [0-9.]* MiB at most, 0 left running$' "$work/err" || { cat "$work/err" >&2; fail 'confine: that is no figure'; }
    [ "$(cat "$folder/file")" = seen ] && [ "$(ls "$folder")" = file ] || fail 'confine: the command wrote in the folder itself'
    "$1" "$folder" sh -c 'trap "" TERM INT; sleep 60 & sleep 60' 2>"$work/err" && fail 'confine: a minute is more than it had'
    grep -q '^it exceeded its time limit; 5\.' "$work/err" || { cat "$work/err" >&2; fail 'confine: the time limit did not act'; }
    rm -r "$folder"
}

echo '-- find_package' # optimised, for what a compiler warns of then; the other ways are about what is found
project whole -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_BUILD_TYPE=Release
confines "$work/whole/confine"

echo '-- find_package of one layer: what other layers need may be absent'
project core -DCMAKE_PREFIX_PATH="$moved" -DONLY_CORE=ON -DCMAKE_DISABLE_FIND_PACKAGE_Threads=ON -DCMAKE_DISABLE_FIND_PACKAGE_libseccomp=ON -DCMAKE_DISABLE_FIND_PACKAGE_yaml-cpp=ON -DCMAKE_DISABLE_FIND_PACKAGE_range-v3=ON -DCMAKE_DISABLE_FIND_PACKAGE_simdjson=ON
refused cmake -S "$here" -B "$work/absent" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_DISABLE_FIND_PACKAGE_Threads=ON

echo '-- add_subdirectory'
project folder -DSANDBENCH_SOURCE="$source"
confines "$work/folder/confine"
[ ! -d "$work/folder/bin" ] || fail 'add_subdirectory built our tools too'

echo '-- pkg-config'
export PKG_CONFIG_PATH=$moved/share/pkgconfig
version=$(sed -n 's/^project(sandbench VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
[ "$(pkg-config --modversion sandbench)" = "$version" ] || fail "pkg-config says $(pkg-config --modversion sandbench), CMakeLists.txt says $version"
for program in visits:sandbench sizes:sandbench-core windows:sandbench-views confine:sandbench-local; do
    name=${program%:*}
    read -ra flags <<<"$(pkg-config --cflags --libs "${program#*:}")"
    quietly "$cxx" -std=c++20 -Wall -Wextra -Werror "$here/$name.cpp" "${flags[@]}" -o "$work/$name"
    if [ "$name" = confine ]; then confines "$work/$name"; else "$work/$name"; fi
done
[ $skipped = 0 ] || echo 'consumer: SKIPPED in part: confine was not run, as namespaces cannot be made here'
