# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What a script about the tools begins with, sourced by SCRIPT BIN: the folder of the tools as `bin`, a folder `stage` that goes away
# with the script, `fail` and `needs`.
set -euo pipefail
name=$(basename "$0" .sh)
bin=$(cd "${1:?usage: $name.sh BIN}" && pwd)
cgroup=${SANDBOX_CGROUP-} # where this is not alone in its group, it names one that may be used
unset "${!SANDBOX_@}"
failed=0
fail() { echo "$name: $*" >&2; failed=1; }
. "$(dirname "${BASH_SOURCE[0]}")/needs.sh"
# alone "$@": once more in a mount namespace of its own, where what root mounts is gone with it; nothing to do for others
alone() {
    [ "$(id -u)" = 0 ] && [ "${2-}" != --alone ] || return 0
    rm -rf "$stage"
    exec unshare --mount --propagation private "$0" "$bin" --alone
}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
