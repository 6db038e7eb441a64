#!/bin/sh
# SPDX-License-Identifier: MIT
# as_nobody.sh TEST VICTIMS: the tests of sandboxes among them, as a user without rights. Copies what they need to a folder that
# nobody can read, whatever the build's parents allow.
set -eu
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: needs root, who may become another user'; exit 77; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
chmod 755 "$stage"
mkdir "$stage/bin" "$stage/victims" "$stage/tmp" && cp "$1" "$stage/test" && cp "$2"/* "$stage/victims" && chown 65534:65534 "$stage/tmp"
cd "$stage/tmp"
SB_BIN=$stage/bin HOME=$stage/tmp TMPDIR=$stage/tmp setpriv --reuid 65534 --regid 65534 --clear-groups "$stage/test" '[sandbox]'
