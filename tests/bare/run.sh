#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--suite NAME] [--whole | --quick]: proves the README's two commands on a bare Debian, bootstrapped into a temporary folder
# (root only). Somebody without rights and root run every test there. With --quick root makes the demo only, and somebody without
# rights leaves out the tests that ask the kernel or the processors.
#
# How it works: this script makes the folder, then runs bootstrapped.sh in mount and process namespaces of its own. All mounts
# are made in there, so they are gone with the last process in there; and the processes are gone with this script, however it
# dies (parent death signal, then --kill-child). The folder is removed at the end, or by the next run when this one was killed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
suite=bookworm whole=yes
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=${2:?usage: run.sh [--suite NAME] [--whole | --quick]} && shift ;;
    --whole) whole=yes ;;
    --quick) whole=no ;;
    *) echo "bare: $1: no such option" >&2 && exit 2 ;;
    esac
    shift
done
PATH=$PATH:/usr/sbin:/sbin

skip() { echo "bare: skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip 'a Debian is bootstrapped by root: sudo make check-bare'
for program in debootstrap unshare setpriv pivot_root flock git; do
    command -v $program >/dev/null || skip "no $program here: scripts/dependencies check"
done
unshare -m -p -f --kill-child true 2>/dev/null || skip 'no mount and process namespaces can be made here'

# A folder of ours whose lock nobody holds belongs to a run that was killed.
for left in "${TMPDIR:-/tmp}"/sandbench-bare.*/; do
    [ -O "$left/lock" ] && flock -n "$left/lock" rm -rf --one-file-system "$left"
done
work=$(mktemp -d "${TMPDIR:-/tmp}/sandbench-bare.XXXXXX")
exec 9>"$work/lock"
flock 9
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM

setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
    "$here/bootstrapped.sh" "$work" "$suite" $whole
