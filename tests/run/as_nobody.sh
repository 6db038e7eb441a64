#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# as_nobody.sh SCRIPT BIN: SCRIPT BIN as a user without rights, from a folder of that user's. The script and the tools are
# copied to where nobody can read them, whatever the build's parents allow.
set -euo pipefail
script=${1:?usage: as_nobody.sh SCRIPT BIN} bin=$(cd "${2:?usage: as_nobody.sh SCRIPT BIN}" && pwd)
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: needs root, who may become another user'; exit 77; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
mkdir "$stage/bin" "$stage/tmp" && cp "$bin"/sb* "$stage/bin" && cp "$script" "$stage/script" && { [ ! -d "$bin/../victims" ] || cp -r "$bin/../victims" "$stage"; } && chown 65534:65534 "$stage/tmp"
cd "$stage/tmp"
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$stage/tmp" TMPDIR="$stage/tmp" bash "$stage/script" "$stage/bin" || status=$?
exit $status
