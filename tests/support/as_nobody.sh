#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# as_nobody.sh BIN SCRIPT ARGUMENT…: SCRIPT with these arguments as a user without rights, from a folder of that user's. Its folder
# and the build's programs are copied to where nobody can read them, whatever the build's parents allow; the argument BIN is the copy.
set -euo pipefail
bin=$(cd "${1:?usage: as_nobody.sh BIN SCRIPT ARGUMENT…}" && pwd) script=${2:?usage: as_nobody.sh BIN SCRIPT ARGUMENT…}
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: needs root, who may become another user'; exit 77; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
chmod 755 "$stage"
mkdir "$stage/bin" "$stage/tests" "$stage/tmp"
cp "$bin"/sb* "$stage/bin"
for folder in support victims probes; do [ ! -d "$bin/../$folder" ] || cp -r "$bin/../$folder" "$stage"; done
folder=$(cd "$(dirname "$script")" && pwd)
cp -r "$folder" "${folder%/*}/support" "$stage/tests"
chown 65534:65534 "$stage/tmp"
words=()
for word in "${@:3}"; do [ "$word" = "$1" ] && words+=("$stage/bin") || words+=("$word"); done
cd "$stage/tmp"
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups env SB_BIN="$stage/bin" HOME="$stage/tmp" TMPDIR="$stage/tmp" \
    "$stage/tests/${folder##*/}/${script##*/}" ${words[@]+"${words[@]}"} || status=$?
exit $status
