#!/bin/bash
# SPDX-License-Identifier: MIT
# suite.sh [--whole] [OPTION…]: the suite `vm` of .ci/run: the newest guest, the runner's own tests, then guest.sh in two of them at
# once, as root and as nobody. --whole: what guest.sh leaves to the night too. OPTIONs are run.sh's: --build FOLDER --view FOLDER for
# a build elsewhere.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "vm: skipped: $*"; exit 77; }
guest=("$here/guest.sh") limit=1500
[ "${1-}" != --whole ] || { shift && guest+=(--whole) && limit=3000; }
"${here%/tests/vm}/scripts/dependencies" --check vm || skip 'install what is missing: scripts/dependencies vm'
"$here/prepare.sh"
"$here/runner.sh"
# what a guest does is one program after the other, so that two of them take hardly longer than one
said=$(mktemp)
"$here/run.sh" --time-limit $limit "$@" --user nobody -- "${guest[@]}" >"$said" 2>&1 &
other=$!
trap 'kill "$other" 2>/dev/null || true; wait "$other" || true; rm -f "$said"' EXIT
trap 'exit 130' INT TERM HUP
failed=0
"$here/run.sh" --time-limit $limit "$@" --user root -- "${guest[@]}" || failed=1
wait "$other" || failed=1
cat "$said"
exit $failed
