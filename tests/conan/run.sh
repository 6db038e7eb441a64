#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh: `conan create` with its test_package, against a local recipes index that wraps the system's packages (system.py) under
# their public names and the versions found here. The client comes from PyPI once, into build/conan-VERSION; everything else is offline.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=${here%/tests/conan}
version=2.34.0
venv=$source/build/conan-$version
fail() { echo "conan: $*" >&2; exit 1; }
command -v python3 >/dev/null || { echo 'conan: skipped: no Python here (scripts/dependencies check)'; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { tail -n 60 "$work/log" >&2; fail "failed: $*"; }; }

if ! [ -e "$venv/done" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv" || fail 'python3 -m venv does not work here (scripts/dependencies check)'
    quietly "$venv/bin/pip" install --disable-pip-version-check "conan==$version"
    touch "$venv/done"
fi
conan=$venv/bin/conan
export CONAN_HOME=$work/home
quietly "$conan" profile detect
"$conan" remote remove conancenter >/dev/null 2>&1

# The index: a recipe for each library of docs/dependencies.txt that a layer needs, at the version that the system has.
headers=$source/build/deps/usr/include
[ -d "$headers" ] || headers=''
macros() { # HEADER WORDS
    printf '#include <%s>\n%s\n' "$1" "$2" | "${CXX:-c++}" -E -P -x c++ ${headers:+-isystem "$headers"} - | tail -n 1
}
there=''
while IFS='|' read -r _ _ package _ _ target _ versions pc; do
    [ -n "$versions" ] || continue
    name=${target%%::*} && name=${name,,} libs=''
    case $name in
    boost) version=$(macros boost/version.hpp BOOST_VERSION) && version=$((version / 100000)).$((version / 100 % 1000)).$((version % 100)) ;;
    range-v3) version=$(macros range/v3/version.hpp 'RANGE_V3_MAJOR RANGE_V3_MINOR RANGE_V3_PATCHLEVEL' | tr ' ' .) ;;
    *) version=$(pkg-config --modversion "$pc") && libs=$(pkg-config --libs-only-l "$pc" | sed 's/-l//g') ;;
    esac
    recipe=$work/index/recipes/$name
    mkdir -p "$recipe/all"
    case $package in *'*') only=True ;; *) only=False ;; esac
    sed -e "s|NAME|$name|; s|TARGET|$target|; s|PKG_CONFIG|$pc|; s|HEADERS_ONLY|$only|; s|INCLUDE|$headers|; s|LIBS|$libs|" "$here/system.py" >"$recipe/all/conanfile.py"
    printf 'versions:\n  "%s":\n    folder: all\n' "$version" >"$recipe/config.yml"
    there+=" $name/$version"
done < <(grep '^[^#|]*|[^|]*|[^|]*|[^|]*|[^|]' "$source/docs/dependencies.txt")
quietly "$conan" remote add system "$work/index" --type local-recipes-index

echo "-- conan create, with the system's$there"
(cd "$source" && quietly "$conan" create . --build=missing -s compiler.cppstd=20 \
    -c tools.cmake.cmake_layout:test_folder="$work/test")
grep -qF '{"kind":"upload"' "$work/log" || { cat "$work/log" >&2; fail 'test_package did not run its example'; }

echo '-- the package holds every header and the licence, and nothing else'
ours=$(sed -n 's/^project(sandbench VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
id=$("$conan" list "sandbench/$ours:*" --format=json 2>/dev/null | sed -n 's/^ *"\([0-9a-f]\{40\}\)".*/\1/p' | head -n 1)
package=$("$conan" cache path "sandbench/$ours:$id")
(cd "$source/include" && find sb -name '*.hpp' | sort) >"$work/ours"
(cd "$package/include" && find . -type f | sed 's|^\./||' | sort) >"$work/theirs"
diff "$work/ours" "$work/theirs" || fail 'headers differ'
cmp "$source/LICENSE" "$package/licenses/LICENSE"

echo '-- C++17 is refused with its reason'
! "$conan" install --requires="sandbench/$ours" -s compiler.cppstd=17 >"$work/log" 2>&1 || fail 'C++17 was accepted'
grep -q 'cppstd (17) is lower than the required' "$work/log" || { cat "$work/log" >&2; fail 'refused for another reason'; }

echo '-- without the layer that needs it, without yaml-cpp'
quietly "$conan" install --requires="sandbench/$ours" -o 'sandbench/*:with_yaml=False' -g PkgConfigDeps -s compiler.cppstd=20 --output-folder "$work/less"
[ -e "$work/less/sandbench-json.pc" ] && [ ! -e "$work/less/yaml-cpp.pc" ] && [ ! -e "$work/less/sandbench-yaml.pc" ] || fail 'it asks for yaml-cpp all the same'

echo '-- each layer links what it links in CMake'
quietly "$conan" install --requires="sandbench/$ours" --build=missing -g PkgConfigDeps -s compiler.cppstd=20 --output-folder "$work/pc"
quietly cmake -S "$source" -B "$work/cmake" -DSB_BUILD_TOOLS=OFF -DSB_BUILD_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$work/prefix"
quietly cmake --install "$work/cmake"
for layer in "$work/prefix/share/pkgconfig"/sandbench*.pc; do
    name=$(basename "$layer" .pc)
    links() { PKG_CONFIG_PATH=$1 pkg-config --libs-only-l --libs-only-other "$name" | tr ' ' '\n' | sed 's/^-pthread$/-lpthread/' | grep . | sort -u || true; }
    diff <(links "$work/prefix/share/pkgconfig") <(links "$work/pc") || fail "$name: < CMake, > conanfile.py"
done
